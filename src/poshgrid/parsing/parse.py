"""Parsing one shard of a base's sentences."""

from __future__ import annotations

import time
from pathlib import Path

import polars as pl

from poshgrid import logs, plugins, specs
from poshgrid.corpora.schema import SENTENCES
from poshgrid.errors import PoshgridError
from poshgrid.files import read_table, write_table
from poshgrid.parsing.schema import PARSES
from poshgrid.parsing.tree import Tree
from poshgrid.parsing.words import tokenize

ENGINES = "poshgrid.parsing.engines"
_PIECE = 1_000  # sentences between two steps of the progress bar
_EMPTY = Tree((), (), (), (), ())


def parse(spec: specs.ParseSpec, sentences: Path, model: Path, output: Path) -> dict[str, object]:
    """Parse the ``shard``-th of ``shards`` contiguous parts of a base's table.

    A text that occurs often (*yeah*) is parsed once. Texts are parsed in the order of their length,
    so that a batch holds little padding; the table is in the order of the base.

    Args:
        spec: the parser and which shard of how many, counted from 0.
        sentences: the base's table.
        model: folder of the parser.
        output: table to write.

    Returns:
        Sentences, distinct texts, words, seconds of parsing and sentences per second.

    Raises:
        PoshgridError: no such shard, or no model in the folder.
    """
    if not 0 <= spec.shard < spec.shards:
        raise PoshgridError(f"{output}: shard {spec.shard} of {spec.shards}; counted from 0")
    name = spec.parser.name
    if not model.is_dir() or not any(model.iterdir()):
        raise PoshgridError(
            f"{model}: no model of parser {name!r}; either set parsers.treebank to train one, "
            "or set parsers.model to the folder of a trained model"
        )
    frame = read_table(sentences, SENTENCES).select("sent_id", "text")
    first = frame.height * spec.shard // spec.shards
    last = frame.height * (spec.shard + 1) // spec.shards
    frame = frame[first:last]
    texts = frame["text"].to_list()
    words = {text: tokenize(text) for text in dict.fromkeys(texts)}
    todo = sorted(
        (text for text in words if words[text]), key=lambda text: (len(words[text]), text)
    )
    options = plugins.options(ENGINES, spec.parser.engine, spec.parser.options)
    parser = plugins.load(ENGINES, spec.parser.engine).load(model, options)
    start = time.monotonic()
    trees: dict[str, Tree] = {}
    pieces = [todo[place : place + _PIECE] for place in range(0, len(todo), _PIECE)]
    for piece in logs.progress(pieces, f"parsing with {name}, thousands"):
        trees.update(zip(piece, parser.parse([words[text] for text in piece]), strict=True))
    seconds = time.monotonic() - start
    found = [trees.get(text, _EMPTY) for text in texts]
    columns = ("form", "upos", "feats", "head", "deprel")
    table = pl.DataFrame(
        {"sent_id": frame["sent_id"], **{c: [list(getattr(t, c)) for t in found] for c in columns}},
        schema=PARSES,
    )
    write_table(table, output, PARSES)
    return {
        "sentences": table.height,
        "distinct_texts": len(todo),
        "words": sum(map(len, found)),
        "seconds": round(seconds, 1),
        "sentences_per_second": round(len(todo) / seconds, 1) if seconds else None,
    }
