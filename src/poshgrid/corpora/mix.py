"""Mix sources into a corpus: nested training sizes; dev and test sets without their text."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid.config import specs
from poshgrid.config.runs import SPLITS
from poshgrid.config.sizes import words as words_of
from poshgrid.core import database, files, logs
from poshgrid.core.errors import PoshgridError, check_known
from poshgrid.corpora import conservation
from poshgrid.corpora.budgets import budgets as budgets_of
from poshgrid.corpora.budgets import check_enough
from poshgrid.corpora.budgets import heldout as heldout_of
from poshgrid.corpora.schema import SENTENCES, SOURCE, digest, normal

log = logs.get(__name__)

_SENTENCES = """
    create table sentences as
    select row, source, first, n_words, key, draw, position, normal
    from texts join (
        select source, document, min(row) as first from texts group by source, document
    ) using (source, document)
"""
"""Sentences as numbers; a document is identified by the number of its first row."""

_ONCE = """
    create table once as
    select
        *, row_number() over by_key as place, sum(n_words) over by_key - n_words as before
    from (
        select
            any_value(row) as row, any_value(source) as source, any_value(first) as first,
            any_value(n_words) as n_words, key
        from sentences group by key having count(*) = 1
    )
    window by_key as (
        partition by source order by key rows between unbounded preceding and current row
    )
"""
"""Sentences whose text occurs once in all sources, in the order of their digests; ``before``: words
of the earlier sentences of the same source."""

_CHOSEN = """
    create table chosen (
        row uinteger, source usmallint, split varchar, first uinteger, n_words uinteger,
        rank uinteger, before bigint
    )
"""
"""The chosen sentences; ``before``: words of the earlier training sentences of the same source."""

_HELD_OUT = """
    insert into chosen
    select row, source, '{split}', first, n_words, place - 1 - {places}, null
    from once where source = {number} and before >= {start} and before < {end}
"""

_PUBLISHED = """
    insert into chosen
    select
        row, source, '{split}', first, n_words,
        row_number() over (order by row) - 1, null
    from texts join (select row, first from sentences) using (row)
    where source = {number} and regexp_matches(document, '^{split}[-/]')
"""

_OTHER = """
    select document from texts
    where source = {number} and not regexp_matches(document, '^(train|dev|test)[-/]')
    limit 1
"""

_TRAIN = """
    insert into chosen
    select
        row, source, 'train', first, n_words,
        row_number() over by_draw - 1, sum(n_words) over by_draw - n_words as before
    from sentences anti join (select row from chosen where source = {number}) using (row)
    where source = {number}
    window by_draw as (
        order by draw, first, position, row rows between unbounded preceding and current row
    )
    qualify before < {words}
"""
"""Documents in the order of their digests; a sentence is chosen if those before it have too few
words."""

_WRITTEN = """
    select document, position, text, n_words, rank, {size} as size
    from texts join (
        select row, rank, before, first from chosen where source = {number} and split = '{split}'
    ) using (row)
    where source = {number}
    order by {order}
"""

_ORDERS = {
    "shuffled": "rank",
    "given": "first, position, rank",
    "reversed": "first desc, position, rank",
}
"""``corpora[].order`` -> the order in which training sentences are written; documents stay
whole."""


def mix(spec: specs.CorpusSpec, sources: dict[str, Path], output: Path) -> dict[str, Any]:
    """Write a corpus's sentences (``schema.SENTENCES``) and its ``statistics.json``.

    The documents of a source are put into a seeded random order. A size takes sentences in that
    order until the source's words at that size are reached (paper, Table 2), so that a larger size
    includes every smaller one. Training sentences are written in that order, or in the source's own
    (``corpora[].order``).

    Dev and test sentences are drawn one by one from texts that occur once in all sources of the
    corpus, so train, dev and test share no text. With published splits they are the documents that
    the reader names ``dev-...``, ``dev/...``, ``test-...`` or ``test/...``. They are the same for
    all sizes. Spare training sentences belong to no size: they refill conditions, as far as a
    source has them.

    Sentences are sorted, counted and stored in a database, so that memory does not grow with the
    corpus. Meanwhile the output folder holds about five times the text of the sources.

    Args:
        spec: the mixture and the grid's sizes.
        sources: source -> its table (``schema.SOURCE``).
        output: ``.../sentences.parquet``.

    Returns:
        Words and sentences by split, size and source.

    Raises:
        PoshgridError: a source is missing, is too small, gets fewer words at a larger size or
            shares documents with another, or training text is also held out.
    """
    budgets = budgets_of(spec.corpus, spec.sizes)
    heldout = heldout_of(spec.corpus, spec.sizes)
    with database.opened(output.parent) as tables:
        tables.load("texts", _texts(list(budgets), sources, spec.corpus.seed))
        for statement in (_SENTENCES, _ONCE, _CHOSEN):
            tables.run(statement)
        faults = conservation.copied(tables, spec.corpus.name, list(budgets))
        # first: nothing can be held out of duplicated text
        conservation.settle(faults, spec.corpus.allow)
        for number, name in enumerate(budgets):
            _choose(tables, spec, number, name, budgets[name], heldout[name])
        faults += conservation.leaked(tables, spec.corpus.name)
        allowed = conservation.settle(faults, spec.corpus.allow)
        with files.table_writer(output, SENTENCES) as append:
            first = 0
            for frame in _rows(tables, budgets, spec.corpus.order):
                ids = pl.int_range(first, first + frame.height, dtype=pl.UInt32, eager=True)
                append(frame.with_columns(sent_id=ids))
                first += frame.height
        statistics = _statistics(tables, spec, budgets) | allowed
    files.write_json(output.with_name("statistics.json"), statistics)
    log.info("%s: %s sentences", spec.corpus.name, f"{first:,}")
    return statistics


def _texts(names: list[str], sources: dict[str, Path], seed: int) -> Iterator[pl.DataFrame]:
    """Yield the sources' rows with their numbers and the digests that order documents and texts."""
    first = 0
    for number, name in enumerate(names):
        check_known("no --source for", name, sources)
        for batch in files.table_batches(sources[name], SOURCE):
            draws = {
                document: digest(seed, name, document) for document in batch["document"].unique()
            }
            keys = [digest(seed, "heldout", text) for text in batch["text"]]
            yield batch.with_columns(
                pl.lit(number, pl.UInt16).alias("source"),
                pl.int_range(first, first + batch.height, dtype=pl.UInt32).alias("row"),
                pl.Series("draw", [draws[document] for document in batch["document"]], pl.UInt64),
                pl.Series("key", keys, pl.UInt64),
                normal(batch["text"]).alias("normal"),
            )
            first += batch.height


def _choose(
    tables: database.Database,
    spec: specs.CorpusSpec,
    number: int,
    name: str,
    budget: dict[str, int],
    asked: dict[str, int],
) -> None:
    """Choose the dev, test and training sentences of a source."""
    require = partial(check_enough, spec.corpus, name)
    largest = max(budget.values())
    available = _facts(tables, "sentences", f"source = {number}")["words"]
    if spec.corpus.splits == "published":
        for split in SPLITS[1:]:
            tables.run(_PUBLISHED.format(split=split, number=number))
            own = _facts(tables, "chosen", f"source = {number} and split = '{split}'")["words"]
            if not own:
                raise PoshgridError(
                    f"corpora: {spec.corpus.name}: source {name!r} has no {split} text of its own; "
                    "leave out the source's words and share, or `splits: published`; the readers "
                    "text (files or folders train, dev and test) and gulordava have such text"
                )
            available -= own
        if other := tables.rows(_OTHER.format(number=number)):
            raise PoshgridError(
                f"corpora: {spec.corpus.name}: source {name!r}: {other[0][0]} is in no file or "
                "folder train, dev or test; with `splits: published` remove it from the source"
            )
        asked = {}
    require(largest + sum(asked.values()), available, "training, dev and test")
    start = places = 0
    for split, amount in asked.items():
        end = start + amount
        tables.run(
            _HELD_OUT.format(split=split, number=number, start=start, end=end, places=places)
        )
        taken = _facts(tables, "chosen", f"source = {number} and split = '{split}'")
        require(amount, taken["words"], f"{split}, in sentences that occur only once")
        start, places = start + taken["words"], places + taken["sentences"]
    # Dev and test may each exceed their words by a part of a sentence: check what remains.
    require(largest, available - start, "training, after dev and test")
    words = math.ceil(largest * (1 + spec.corpus.spare))
    tables.run(_TRAIN.format(number=number, words=words))


def _rows(
    tables: database.Database, budgets: dict[str, dict[str, int]], order: str
) -> Iterator[pl.DataFrame]:
    """Yield the corpus's rows without ``sent_id``, in batches, one split after the other."""
    for split in SPLITS:
        for number, (name, budget) in enumerate(budgets.items()):
            train = split == "train"
            query = _WRITTEN.format(
                size=_size(budget) if train else "''",
                number=number,
                split=split,
                order=_ORDERS[order if train else "shuffled"],
            )
            for frame in tables.pieces(query):
                yield frame.with_columns(source=pl.lit(name), split=pl.lit(split))


def _size(budget: dict[str, int]) -> str:
    """Return SQL for the smallest size that includes a sentence.

    This is the first size whose number of words is larger than the words before the sentence.
    """
    cases = (f"when before < {words} then '{size}'" for size, words in budget.items())
    return f"case {' '.join(cases)} else '' end"


def _statistics(
    tables: database.Database, spec: specs.CorpusSpec, budgets: dict[str, dict[str, int]]
) -> dict[str, Any]:
    """Return words and sentences by source: all, each size, dev and test (paper, Tables 2, 4)."""

    def counts(table: str, where: str, size: str = "") -> dict[str, Any]:
        by_source = {}
        for number, (name, budget) in enumerate(budgets.items()):
            largest = budget[size] if size else max(budget.values())
            condition = f"source = {number} and {where.format(words=largest)}"
            by_source[name] = _facts(tables, table, condition)
        words = sum(facts["words"] for facts in by_source.values())
        sentences = sum(facts["sentences"] for facts in by_source.values())
        return {
            "words": words,
            "sentences": sentences,
            "words_per_sentence": round(words / sentences, 3) if sentences else 0.0,
            "sources": by_source,
        }

    sizes = sorted(spec.sizes, key=words_of)
    train = "split = 'train' and before"
    return {
        "corpus": spec.corpus.name,
        "pool": counts("sentences", "true"),
        "train": {size: counts("chosen", f"{train} < {{words}}", size) for size in sizes},
        "spare": counts("chosen", f"{train} >= {{words}}"),
        **{split: counts("chosen", f"split = '{split}'") for split in SPLITS[1:]},
        "budget": {size: {name: budgets[name][size] for name in budgets} for size in sizes},
    }


def _facts(tables: database.Database, table: str, where: str) -> dict[str, int]:
    [(words, sentences, documents)] = tables.rows(
        "select coalesce(sum(n_words), 0), count(*), count(distinct first) "
        f"from {table} where {where}"
    )
    return {"words": int(words), "sentences": sentences, "documents": documents}
