"""What else goes when a filter removes: sentences, words, constructions and word forms, by source.

A removal has a price: with the questions that hold evidence go other relative clauses, long
sentences, words. What is hit more than its share of the words tells what a difference between a
condition and its base may be due to besides the evidence; its control loses as much, at random.

Word forms are counted by source, too: how far do the two unigram distributions diverge?
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from poshgrid import logs
from poshgrid.config import specs
from poshgrid.config.sizes import words
from poshgrid.corpora.schema import trains
from poshgrid.corpora.words import WORD
from poshgrid.errors import PoshgridError
from poshgrid.evidence.constructions import BY_WORDS, CONSTRUCTIONS
from poshgrid.evidence.schema import BY_TREE, COLLATERAL, CONDITION, Labels
from poshgrid.evidence.sentences import side_by_side
from poshgrid.files import (
    read_json,
    read_schema,
    table_batches,
    write_json,
    write_table,
)


@dataclass(frozen=True)
class Trained:
    """A condition's training sentences.

    Attributes:
        path: of their table.
        own: by sent_id, whether the sentence stands in its own place.
        put: by sent_id, how often it stands in the place of another.
        left: by sent_id, whether it gave way to another.
        words: in all.
    """

    path: Path
    own: np.ndarray
    put: np.ndarray
    left: np.ndarray
    words: int

    @classmethod
    def of(cls, path: Path) -> Trained:
        """Read a condition's ``train.parquet``.

        Raises:
            PoshgridError: the table is missing or broken.
        """
        columns = ["sent_id", "replaced", "n_words"]
        last, words = -1, 0
        for batch in table_batches(path, CONDITION, columns):
            if batch["sent_id"].has_nulls():
                raise PoshgridError(
                    f"{path}: a sentence has no sent_id; run poshgrid condition again"
                )
            last = max(last, *batch.select(pl.col(columns[:2]).max().fill_null(0)).row(0))
            words += int(batch["n_words"].cast(pl.Int64).sum())
        own, put, left = (np.zeros(last + 1, kind) for kind in (bool, np.uint32, bool))
        for batch in table_batches(path, CONDITION, columns):
            stays = batch["replaced"].is_null()
            own[batch["sent_id"].filter(stays)] = True
            np.add.at(put, batch["sent_id"].filter(~stays).to_numpy(), 1)
            left[batch["replaced"].drop_nulls()] = True
        return cls(path, own, put, left, words)

    def rows(self, first: int, number: int) -> tuple[pl.Series, pl.Series, pl.Series]:
        """Return ``own``, ``put`` and ``left`` of some sentences of the base.

        Args:
            first: the first one's sent_id.
            number: how many.
        """
        own, put, left = (
            pl.Series(np.pad(part, (0, number - len(part))))
            for part in (each[first : first + number] for each in (self.own, self.put, self.left))
        )
        return own, put, left


Forms = dict[str, Counter[str]]
"""Source -> word form -> how often it occurs."""


def count(batch: pl.DataFrame, forms: Forms) -> None:
    """Add the word forms of some sentences.

    A form is in lower case, with typewriter apostrophes, cut as for the n-gram nulls: marks are
    forms of their own.

    Args:
        batch: columns ``source`` and ``text``.
        forms: what they are added to.
    """
    text = pl.col("text").str.to_lowercase().str.replace_all("’", "'", literal=True)
    found = (
        batch.select("source", form=text.str.extract_all(WORD.pattern))
        .explode("form")
        .drop_nulls("form")
        .group_by("source", "form")
        .len()
    )
    for source, form, number in found.iter_rows():
        forms.setdefault(source, Counter())[form] += number


def divergence(before: Mapping[str, int], after: Mapping[str, int]) -> float | None:
    """Return the Jensen-Shannon divergence of two unigram distributions, in bits (Lin 1991).

    Args:
        before: form -> how often it occurs.
        after: the same of the other text.

    Returns:
        0 where they are the same, 1 where no form is shared; ``None`` if one of them has no word.
    """
    from scipy.special import rel_entr

    forms = sorted({*before, *after})  # sums depend on the order
    one, other = (np.array([each.get(f, 0) for f in forms], float) for each in (before, after))
    if not one.sum() or not other.sum():
        return None
    one, other = one / one.sum(), other / other.sum()
    mean = (one + other) / 2
    nats = (rel_entr(one, mean).sum() + rel_entr(other, mean).sum()) / 2
    return round(max(0.0, float(nats / np.log(2))), 8)


ALL = "all"
LONG = 15
"""A sentence is long above so many words."""
PARSED, OVER = "parsed", f"over_{LONG}_words"
MEASURES = ("sentences", "words", PARSED, OVER, *CONSTRUCTIONS)
SETS = ("before", "after", "removed", "removed_by_rule", "removed_by_backstop")
_BASE = ("sent_id", "source", "text", "n_words", "split", "size")
_AGAIN = "run poshgrid condition again"


def collateral(
    spec: specs.CollateralSpec, condition: Path, sentences: Path, evidence: Path, output: Path
) -> dict[str, object]:
    """Write ``collateral.parquet`` and ``statistics.json`` of a condition that goes without.

    What is counted *before* are the base's training sentences at the size; *after* are the
    condition's own, which may have been refilled, down-sampled or re-inserted; *removed* is what
    its filters, or the control, take out of the former. Questions, wh-questions, reflexives and
    long sentences are told by the words; other constructions are counted among parsed sentences.

    The divergence is between the word forms before and after. Tables are read piece by piece; of a
    sentence six bytes are kept.

    Args:
        spec: the condition, its size, and whether the backstop is on.
        condition: folder of its tables.
        sentences: the base's table.
        evidence: labels of the base, from which the condition was made.
        output: folder to write to.

    Returns:
        The content of ``statistics.json``.

    Raises:
        PoshgridError: the condition goes without nothing, or a table is not of the others.
    """
    chosen = spec.condition
    if not (chosen.filters or chosen.control) or spec.size in chosen.unfiltered_sizes:
        raise PoshgridError(
            f"condition {chosen.name!r} at {spec.size} is its base: nothing was removed; name a "
            "condition with filters, or a control, at a size that is filtered"
        )
    statistics = condition / "statistics.json"
    made = _made(spec, statistics)
    trained = Trained.of(condition / "train.parquet")
    made["words", "after"] = trained.words
    after: Forms = {}
    for batch in table_batches(trained.path, CONDITION, ["source", "text"]):
        count(batch, after)
    counts, before = _counts(spec, trained, sentences, evidence)
    table = _table(spec, counts)
    found = {(row["source"], row["measure"]): row for row in table.iter_rows(named=True)}
    _hold_together(found, made, statistics, sentences)
    parsed, bits = {}, {}
    for source in table["source"].unique(maintain_order=True):
        number, known = (found[source, each]["before"] for each in ("sentences", PARSED))
        parsed[source] = round(known / number, 8) if number else None
        bits[source] = divergence(before.get(source, {}), after.get(source, {}))
    total = (sum(forms.values(), Counter[str]()) for forms in (before, after))
    bits[ALL] = divergence(*total)
    facts: dict[str, object] = {
        "condition": chosen.name,
        "base": chosen.base,
        "size": spec.size,
        "control": chosen.control,
        "words": {
            "nominal": words(spec.size),
            "before": found[ALL, "words"]["before"],
            "actual": found[ALL, "words"]["after"],
        },
        "parsed": {ALL: parsed.pop(ALL), "sources": parsed},
        "divergence": {ALL: bits.pop(ALL), "sources": bits},
    }
    write_table(table, output / "collateral.parquet", COLLATERAL)
    write_json(output / "statistics.json", facts)
    logs.get(__name__).info(
        "%s at %s: %s of %s sentences removed", chosen.name, spec.size,
        found[ALL, "sentences"]["removed"], found[ALL, "sentences"]["before"],
    )  # fmt: skip
    return facts


def _made(spec: specs.CollateralSpec, path: Path) -> dict[tuple[str, str], int]:
    """Return what the statistics of the condition say, which must be the spec's."""
    found = read_json(path)
    try:
        place = found["condition"], found["size"]
        counted = {
            ("sentences", "before"): int(found["whole"]["sentences"]),
            ("words", "before"): int(found["whole"]["words"]),
            ("sentences", "removed"): int(found["removed_sentences"]),
        }
    except (KeyError, TypeError, ValueError) as error:
        raise PoshgridError(
            f"{path}: not the statistics of a filtered condition; {_AGAIN}"
        ) from error
    if place != (spec.condition.name, spec.size):
        raise PoshgridError(
            f"{path}: of condition {place[0]!r} at {place[1]}, not {spec.condition.name!r} at "
            f"{spec.size}; give --condition its folder"
        )
    return counted


def _counts(
    spec: specs.CollateralSpec, trained: Trained, sentences: Path, evidence: Path
) -> tuple[pl.DataFrame, Forms]:
    """Return sums by source, a column for each measure and set, and the base's word forms."""
    labels = Labels.of(read_schema(evidence))
    labels.hold(spec.condition.filters, evidence)
    rules, backstops = [], []
    for each in spec.condition.filters:
        rule, *by_words = labels.removing(each.name, each.reading, backstop=spec.backstop)
        rules.append(rule)
        backstops += by_words
    forms: Forms = {}
    parts = []
    columns = ["sent_id", *dict.fromkeys([*rules, *backstops]), *BY_TREE]
    for first, rows in _rows(sentences, evidence, labels, columns):
        at_size = trains(rows, spec.size).alias("before")
        count(rows.filter(at_size), forms)
        by_rule, looks = (
            rows.select(pl.any_horizontal([pl.lit(False), *names])).to_series()
            for names in (rules, backstops)
        )
        own, put, left = trained.rows(first, rows.height)
        gone = by_rule | looks
        wrong = rows["sent_id"].filter(gone & own)
        if len(wrong):
            raise PoshgridError(
                f"{trained.path}: sent_id {wrong[0]} is a sentence that the filters of "
                f"{spec.condition.name!r} remove, by {evidence}: the one was not made from the "
                f"other; {_AGAIN}"
            )
        if spec.condition.control:
            gone = ~(own | left)
        sets = pl.DataFrame(
            [
                at_size,
                (put + own.cast(pl.Int64)).alias("after"),
                (at_size & gone).alias("removed"),
                (at_size & by_rule).alias("removed_by_rule"),
                (at_size & looks & ~by_rule).alias("removed_by_backstop"),
            ]
        ).cast(pl.Int64)
        parts.append(_summed(_measured(rows).hstack(sets)))
    if not parts:
        raise PoshgridError(f"{sentences}: no sentences; run poshgrid mix again")
    if len(trained.own) > first + rows.height:
        raise PoshgridError(
            f"{trained.path}: sent_id {len(trained.own) - 1} is not in {sentences}; {_AGAIN}"
        )
    return pl.concat(parts).group_by("source").sum().sort("source"), forms


def _rows(
    sentences: Path, evidence: Path, labels: Labels, columns: list[str]
) -> Iterator[tuple[int, pl.DataFrame]]:
    """Yield pieces of the base beside their labels, and the number of their first row."""
    first = 0
    for base, told in side_by_side(sentences, _BASE, evidence, labels, columns):
        number = pl.int_range(first, first + base.height, dtype=pl.UInt32, eager=True)
        for path, found in ((sentences, base), (evidence, told)):
            if not found["sent_id"].equals(number):
                raise PoshgridError(
                    f"{path}: from row {first:,} on, it has not one row for each sentence of "
                    f"{sentences}, in its order; run the rule that makes it again"
                )
        yield first, base.hstack(told.drop("sent_id"))
        first += base.height


def _measured(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the source and the measures of sentences; an unknown construction counts nothing."""
    return rows.select(
        "source",
        pl.lit(1).alias("sentences"),
        pl.col("n_words").alias("words"),
        pl.col(BY_TREE[0]).is_not_null().alias(PARSED),
        (pl.col("n_words") > LONG).alias(OVER),
        *(test.alias(name) for name, test in BY_WORDS.items()),
        *(pl.col(name).fill_null(value=False) for name in BY_TREE),
    ).cast(dict.fromkeys(MEASURES, pl.Int64))


def _summed(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.group_by("source").agg(
        (pl.col(measure) * pl.col(each)).sum().alias(f"{measure}/{each}")
        for measure in MEASURES
        for each in SETS
    )


def _table(spec: specs.CollateralSpec, counts: pl.DataFrame) -> pl.DataFrame:
    """Return the tidy table; what is not known is null."""
    whole = counts.select(pl.lit(ALL).alias("source"), pl.exclude("source").sum())
    rows: list[dict[str, Any]] = []
    for found in pl.concat([counts, whole]).iter_rows(named=True):
        for measure in MEASURES:
            row = {each: found[f"{measure}/{each}"] for each in SETS}
            for each in SETS:
                trees = found[f"{PARSED}/{each}"] or not found[f"sentences/{each}"]
                if measure in BY_TREE and not trees:
                    row[each] = None
            if spec.condition.control:
                row["removed_by_rule"] = row["removed_by_backstop"] = None
                if spec.condition.downsample < 1:  # what was removed, and what merely not drawn?
                    row["removed"] = None
            rows.append({"source": found["source"], "measure": measure, **row})
    return pl.DataFrame(rows, schema=COLLATERAL)


def _hold_together(
    found: dict[tuple[str, str], dict[str, Any]],
    made: dict[tuple[str, str], int],
    path: Path,
    sentences: Path,
) -> None:
    """Refuse a condition that was made from other tables."""
    for (measure, column), told in made.items():
        counted = found[ALL, measure][column]
        if counted is not None and told != counted:
            raise PoshgridError(
                f"{path}: {measure} {column}: {told:,}, but {counted:,} by {sentences} and its "
                f"labels: the one was not made from the other; {_AGAIN}"
            )
