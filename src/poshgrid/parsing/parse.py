"""Parse one shard of a corpus's sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import config
from poshgrid.config import specs
from poshgrid.core import logs, plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import read_table, write_table
from poshgrid.core.plugins import ENGINES
from poshgrid.corpora.schema import SENTENCES
from poshgrid.parsing.schema import PARSES
from poshgrid.parsing.tokenize import tokenize
from poshgrid.parsing.tree import Tree

_PIECE = 1_000  # sentences between two steps of the progress bar
_LISTS = [column for column in PARSES if column != "sent_id"]


def parse(spec: specs.ParseSpec, sentences: Path, model: Path, output: Path) -> dict[str, object]:
    """Parse the ``shard``-th of ``shards`` contiguous parts of a corpus's table.

    Args:
        spec: the parser, the number of the shard (from 0) and the number of shards.
        sentences: the corpus's table.
        model: folder of the parser.
        output: table to write, in the order of the corpus.

    Returns:
        Number of sentences, and of distinct ones, which were parsed.

    Raises:
        PoshgridError: no model in the folder, or the parser changed the words.
    """
    part = (spec.shard, spec.shards)
    frame = read_table(sentences, SENTENCES, ["sent_id", "text"], part=part)
    words = {text: tuple(tokenize(text, spec.parser.language)) for text in frame["text"].unique()}
    trees = parse_words(spec.parser, model, filter(None, words.values()))
    trees[()] = Tree([], [], [], [], [])  # a sentence without words
    rows = [trees[words[text]] for text in frame["text"]]
    columns = {name: [list(getattr(tree, name)) for tree in rows] for name in _LISTS}
    table = pl.DataFrame({"sent_id": frame["sent_id"], **columns}, schema=PARSES)
    write_table(table, output, PARSES)
    return {"sentences": table.height, "parsed": len(trees) - 1}


def parse_text(parser: config.Parser, model: Path, text: str) -> Tree:
    """Parse one sentence.

    Args:
        parser: a parser of the configuration.
        model: its folder.
        text: the sentence.

    Raises:
        PoshgridError: no model in the folder, or no word in the text.
    """
    words = tokenize(text, parser.language)
    if not words:
        raise PoshgridError("the sentence has no word; give one, in quotation marks")
    return parse_words(parser, model, [words])[tuple(words)]


def parse_words(
    parser: config.Parser, model: Path, sentences: Iterable[Sequence[str]]
) -> dict[tuple[str, ...], Tree]:
    """Parse tokenized sentences: each distinct one (*yeah*) once.

    They are parsed in the order of their length, so that a batch holds little padding.

    Args:
        parser: a parser of the configuration.
        model: its folder.
        sentences: their words; in any order.

    Returns:
        Words -> tree.

    Raises:
        PoshgridError: no model in the folder, or the parser changed the words.
    """
    engine = _load(parser, model)
    todo = sorted(set(map(tuple, sentences)), key=lambda words: (len(words), words))
    pieces = [todo[start : start + _PIECE] for start in range(0, len(todo), _PIECE)]
    trees: dict[tuple[str, ...], Tree] = {}
    for piece in logs.progress(pieces, f"parsing with {parser.name}, thousands"):
        for words, tree in zip(piece, engine.parse([list(w) for w in piece]), strict=True):
            if tuple(tree.form) != words:
                raise PoshgridError(f"{model}: parser {parser.name!r} changed the words {words}")
            trees[words] = tree
    return trees


def _load(parser: config.Parser, model: Path) -> Any:  # noqa: ANN401 - an engine's Parser
    if not model.is_dir() or not any(model.iterdir()):
        raise PoshgridError(
            f"{model}: no model of parser {parser.name!r}; train one from its treebank, or set "
            "parsers[].model to the folder of a trained one"
        )
    options = plugins.options(ENGINES, parser.engine, parser.options)
    return plugins.load(ENGINES, parser.engine).load(model, options, parser.language)
