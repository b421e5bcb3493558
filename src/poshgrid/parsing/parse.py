"""Parse one shard of a corpus's sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from poshgrid import config, logs, plugins
from poshgrid.config import specs
from poshgrid.corpora.schema import SENTENCES
from poshgrid.errors import PoshgridError
from poshgrid.files import read_table, write_table
from poshgrid.parsing.schema import PARSES
from poshgrid.parsing.tree import Tree
from poshgrid.parsing.words import tokenize
from poshgrid.plugins import ENGINES

T = TypeVar("T")
_PIECE = 1_000  # sentences between two steps of the progress bar
_LISTS = [column for column in PARSES if column != "sent_id"]
_TREES = {"text": pl.String, **{column: PARSES[column] for column in _LISTS}}


def parse(
    spec: specs.ParseSpec,
    sentences: Path,
    model: Path,
    output: Path,
    wanted: Callable[[Sequence[str]], bool] = bool,
) -> dict[str, object]:
    """Parse the ``shard``-th of ``shards`` contiguous parts of a corpus's table.

    Each distinct text (*yeah*) is parsed once. Texts that are not wanted are not parsed: their
    lists are empty. Texts are parsed in the order of their length, so that a batch holds little
    padding; the table keeps the order of the corpus.

    Args:
        spec: the parser, the number of the shard (from 0) and the number of shards.
        sentences: the corpus's table.
        model: folder of the parser.
        output: table to write.
        wanted: returns whether a text with these words is parsed (the screen of ``spec.screens``).

    Returns:
        Number of sentences, of distinct texts, of texts parsed, and of sentences with a tree.

    Raises:
        PoshgridError: no model in the folder.
    """
    parser = _load(spec.parser, model)
    shard = (spec.shard, spec.shards)
    frame = read_table(sentences, SENTENCES, ["sent_id", "text"], part=shard)
    distinct = frame["text"].unique(maintain_order=True).to_list()
    words = {
        text: tokens for text in distinct if wanted(tokens := tokenize(text, spec.parser.language))
    }
    todo = sorted(words, key=lambda text: (len(words[text]), text))
    parsed = [pl.DataFrame(schema=_TREES)]
    for piece in _pieces(todo, spec.parser):
        parsed.append(_table(piece, parser.parse([words.pop(text) for text in piece])))
    table = (
        frame.join(pl.concat(parsed), on="text", how="left", maintain_order="left")
        .with_columns(pl.col(column).fill_null([]) for column in _LISTS)
        .select(list(PARSES))
    )
    write_table(table, output, PARSES)
    lengths = table["form"].list.len()
    return {
        "sentences": table.height,
        "distinct_texts": len(distinct),
        "parsed": len(todo),
        "parsed_sentences": int((lengths > 0).sum()),
    }


def _table(texts: list[str], trees: list[Tree]) -> pl.DataFrame:
    """Return trees as columns, which need a tenth of the memory of the objects."""
    columns = {column: [list(getattr(tree, column)) for tree in trees] for column in _LISTS}
    return pl.DataFrame({"text": texts, **columns}, schema=_TREES)


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
    """Parse tokenized sentences: each distinct one once, in the order of length.

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
    trees: dict[tuple[str, ...], Tree] = {}
    for piece in _pieces(todo, parser):
        for words, tree in zip(piece, engine.parse([list(w) for w in piece]), strict=True):
            if tuple(tree.form) != words:
                raise PoshgridError(f"{model}: parser {parser.name!r} changed the words {words}")
            trees[words] = tree
    return trees


def _pieces(todo: list[T], parser: config.Parser) -> Iterable[list[T]]:
    pieces = [todo[start : start + _PIECE] for start in range(0, len(todo), _PIECE)]
    return logs.progress(pieces, f"parsing with {parser.name}, thousands")


def _load(parser: config.Parser, model: Path) -> Any:  # noqa: ANN401 - an engine's Parser
    if not model.is_dir() or not any(model.iterdir()):
        raise PoshgridError(
            f"{model}: no model of parser {parser.name!r}; train one from its treebank, or set "
            "parsers[].model to the folder of a trained one"
        )
    options = plugins.options(ENGINES, parser.engine, parser.options)
    return plugins.load(ENGINES, parser.engine).load(model, options, parser.language)
