"""Sources to a base: nested sizes for training; dev and test sets that share no text with them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import config, files, logs, specs
from poshgrid.corpora.schema import SENTENCES, SOURCE
from poshgrid.errors import PoshgridError, did_you_mean

HELDOUT = ("dev", "test")
SPLITS = ("train", *HELDOUT)

log = logs.get(__name__)


def mix(spec: specs.BaseSpec, sources: dict[str, Path], output: Path) -> dict[str, Any]:
    """Write a base's sentences (``schema.SENTENCES``) and ``statistics.json`` beside them.

    Documents of a source are put in a seeded order; size *s* takes sentences in that order until
    the source's words at *s* are reached (paper, Table 2), so that a smaller size lies inside a
    larger. Dev and test are drawn, sentence by sentence, from texts that occur once in all the
    base's sources: train, dev and test share no text. They are the same for all sizes.

    Args:
        spec: the mixture and the grid's sizes.
        sources: source -> its table (``schema.SOURCE``).
        output: ``.../sentences.parquet``.

    Returns:
        Words and sentences by split, size and source.

    Raises:
        PoshgridError: a source is not given, is too small, or gets fewer words at a larger size.
    """
    budgets = _budgets(spec)
    pool = {name: _ordered(name, sources, spec.base.seed) for name in budgets}
    once = pl.concat([frame["text"] for frame in pool.values()]).is_unique()
    chosen, start = [], 0
    for name, frame in pool.items():
        unique = once.slice(start, frame.height)
        start += frame.height
        chosen.extend(_choose(spec, name, frame.with_columns(once=unique), budgets[name]))
    order = {(split, name): i for i, (split, name) in enumerate(_cells(budgets))}
    chosen.sort(key=lambda part: order[part[0], part[1]])
    table = pl.concat([frame for _, _, frame in chosen]).with_row_index("sent_id")
    statistics = _statistics(spec, table, pool, budgets)
    files.write_table(table.cast({"sent_id": pl.UInt32}), output, SENTENCES)
    files.write_json(output.with_name("statistics.json"), statistics)
    log.info("%s: %s sentences", spec.base.name, f"{table.height:,}")
    return statistics


def _cells(budgets: dict[str, dict[str, int]]) -> list[tuple[str, str]]:
    return [(split, name) for split in SPLITS for name in budgets]


def _budgets(spec: specs.BaseSpec) -> dict[str, dict[str, int]]:
    """Return source -> size (ascending) -> training words."""
    base = spec.base
    budgets: dict[str, dict[str, int]] = {}
    for portion in base.sources:
        place = f"bases: {base.name}: sources: {portion.source}: words"
        amounts: dict[str, int] = {}
        for size in sorted(spec.sizes, key=config.words):
            if size not in portion.words:
                raise PoshgridError(f"{place}: no size {size}{did_you_mean(size, portion.words)}")
            amounts[size] = portion.words[size]
        for (small, few), (large, more) in zip(
            amounts.items(), list(amounts.items())[1:], strict=False
        ):
            if more < few:
                raise PoshgridError(
                    f"{place}: {large} has {more:,} words, fewer than {small} with {few:,}; "
                    "sizes are nested: a larger one must not give a source fewer words"
                )
        if portion.source in budgets:
            raise PoshgridError(f"{place}: the source is listed twice; add the two together")
        budgets[portion.source] = amounts
    smallest = min(spec.sizes, key=config.words)
    if not sum(amounts[smallest] for amounts in budgets.values()):
        raise PoshgridError(f"bases: {base.name}: size {smallest} has no words from any source")
    return budgets


def _ordered(name: str, sources: dict[str, Path], seed: int) -> pl.DataFrame:
    """Read a source and put its documents in a seeded order."""
    if name not in sources:
        raise PoshgridError(f"source {name!r} is not among the inputs{did_you_mean(name, sources)}")
    frame = files.read_table(sources[name], SOURCE)
    documents = frame["document"].unique().sort()
    digests = [_digest(seed, name, document) for document in documents]
    keys = pl.DataFrame(
        {"document": documents, "key": digests}, schema_overrides={"key": pl.String}
    )
    return frame.join(keys, on="document", how="left").sort("key", "document", "position")


def _digest(seed: int, *words: str) -> str:
    return hashlib.blake2b("\0".join((str(seed), *words)).encode(), digest_size=8).hexdigest()


def _choose(
    spec: specs.BaseSpec, name: str, frame: pl.DataFrame, budget: dict[str, int]
) -> list[tuple[str, str, pl.DataFrame]]:
    """Return (split, source, rows of ``schema.SENTENCES`` without ``sent_id``)."""
    asked = _heldout_words(spec, budget)
    largest = max(budget.values())
    size = next(size for size, words in budget.items() if words == largest)
    remedy = "lower its words or add text"
    what = f"{largest:,} at {size} after {asked['dev']:,} for dev and {asked['test']:,} for test"
    needed = largest + sum(asked.values())
    _require(spec, name, needed, int(frame["n_words"].sum()), what=what, remedy=remedy)
    heldout, parts = _heldout(spec, name, frame, asked), []
    for split, rows in heldout.items():
        parts.append((split, name, _finish(frame[rows["row"].to_list()], name, split, "")))
    taken = pl.concat([rows.select("row") for rows in heldout.values()])
    rest = frame.with_row_index("row").join(taken, on="row", how="anti", maintain_order="left")
    # Dev and test may have run over by less than a sentence each: count what they have left.
    left = int(rest["n_words"].sum())
    _require(spec, name, largest, left, what=f"{what} are taken", remedy=remedy)
    # A sentence belongs to a size if the words before it have not yet reached the size's budget.
    before = pl.col("n_words").cast(pl.UInt64).cum_sum() - pl.col("n_words")
    smallest = pl.lit("")
    for label, words in reversed(budget.items()):
        smallest = pl.when(before < words).then(pl.lit(label)).otherwise(smallest)
    train = rest.filter(before < largest)
    return [("train", name, _finish(train, name, "train", smallest)), *parts]


def _finish(frame: pl.DataFrame, name: str, split: str, size: pl.Expr | str) -> pl.DataFrame:
    return frame.select(
        pl.lit(name).alias("source"),
        "document", "position", "text", "n_words",
        pl.lit(split).alias("split"),
        pl.int_range(pl.len(), dtype=pl.UInt32).alias("rank"),
        (pl.lit(size) if isinstance(size, str) else size).alias("size"),
    )  # fmt: skip


def _heldout_words(spec: specs.BaseSpec, budget: dict[str, int]) -> dict[str, int]:
    """Return split -> words that a source gives, by its share of the smallest size."""
    smallest = min(spec.sizes, key=config.words)
    total = sum(portion.words[smallest] for portion in spec.base.sources)
    share = budget[smallest] / total
    return {
        "dev": round(spec.base.dev_words * share),
        "test": round(spec.base.test_words * share),
    }


def _heldout(
    spec: specs.BaseSpec, name: str, frame: pl.DataFrame, asked: dict[str, int]
) -> dict[str, pl.DataFrame]:
    """Return split -> columns row (of ``frame``) and n_words, in their order of choice."""
    candidates = frame.select("n_words", "text", "once").with_row_index("row").filter("once")
    keys = [_digest(spec.base.seed, "heldout", text) for text in candidates["text"]]
    candidates = candidates.select("row", "n_words").with_columns(
        key=pl.Series(keys, dtype=pl.String)
    )
    candidates = candidates.sort("key", "row")
    found: dict[str, pl.DataFrame] = {}
    for split, words in asked.items():
        before = candidates["n_words"].cast(pl.UInt64).cum_sum() - candidates["n_words"]
        found[split] = candidates.filter(before < words)
        taken = int(found[split]["n_words"].sum())
        what = f"for {split}, in sentences that occur only once"
        remedy = f"lower {split}_words or add text"
        _require(spec, name, words, taken, what=what, remedy=remedy)
        candidates = candidates.slice(found[split].height)
    return found


def _require(
    spec: specs.BaseSpec, name: str, needed: int, available: int, *, what: str, remedy: str
) -> None:
    """Raise :class:`PoshgridError` if a source has fewer words than are needed of it."""
    if available < needed:
        raise PoshgridError(
            f"bases: {spec.base.name}: source {name!r} is too small: needs {needed:,} words "
            f"({what}), has {available:,}, short by {needed - available:,}; {remedy}"
        )


def _statistics(
    spec: specs.BaseSpec,
    table: pl.DataFrame,
    pool: dict[str, pl.DataFrame],
    budgets: dict[str, dict[str, int]],
) -> dict[str, Any]:
    """Return words and sentences by source, of the pool, each size, dev and test (Tables 2, 4)."""
    sizes = sorted(spec.sizes, key=config.words)
    train = table.filter(pl.col("split") == "train")
    return {
        "base": spec.base.name,
        "pool": _counts(
            pl.concat([f.with_columns(source=pl.lit(name)) for name, f in pool.items()]), list(pool)
        ),
        "train": {
            size: _counts(train.filter(pl.col("size").is_in(sizes[: i + 1])), list(pool))
            for i, size in enumerate(sizes)
        },
        **{s: _counts(table.filter(pl.col("split") == s), list(pool)) for s in HELDOUT},
        "budget": {size: {name: budgets[name][size] for name in budgets} for size in sizes},
    }


def _counts(frame: pl.DataFrame, names: list[str]) -> dict[str, Any]:
    counted = frame.group_by("source").agg(
        words=pl.col("n_words").sum(),
        sentences=pl.len(),
        documents=pl.col("document").n_unique(),
    )
    by_source = {row.pop("source"): row for row in counted.to_dicts()}
    nothing = {"words": 0, "sentences": 0, "documents": 0}
    words, sentences = int(frame["n_words"].sum()), frame.height
    return {
        "words": words,
        "sentences": sentences,
        "words_per_sentence": round(words / sentences, 3) if sentences else 0.0,
        "sources": {name: by_source.get(name, nothing) for name in names},
    }
