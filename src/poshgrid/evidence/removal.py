"""What a condition goes without: what its filters remove, or as much at random; and its refill."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl

from poshgrid.config import Filter
from poshgrid.corpora.schema import trains
from poshgrid.errors import PoshgridError
from poshgrid.evidence.control import control
from poshgrid.evidence.schema import Labels
from poshgrid.grid import specs


def out(labels: Labels, filters: Iterable[Filter], *, backstop: bool) -> pl.Expr:
    """Return whether any of the filters, in its reading, removes a sentence.

    Args:
        labels: what the evidence table says.
        filters: of a condition.
        backstop: whether readings that have a backstop remove by it, too.
    """
    columns = [
        name
        for each in filters
        for name in labels.removing(each.name, each.reading, backstop=backstop)
    ]
    return pl.any_horizontal([pl.lit(False), *columns])


@dataclass(frozen=True)
class Chosen:
    """Which training sentences of a base a condition has, before any is put back.

    Attributes:
        train: all training sentences of the base, of larger sizes and spare ones, too, with their
            labels and ``gone``: whether the condition goes without it.
        whole: those of the size.
        left: those that its removal leaves.
        filled: those with what takes the place of what is gone.
        kept: those that its down-sampling keeps.
    """

    train: pl.DataFrame
    whole: pl.DataFrame
    left: pl.DataFrame
    filled: pl.DataFrame
    kept: pl.DataFrame


def choose(spec: specs.ConditionSpec, labels: Labels, train: pl.DataFrame) -> Chosen:
    """Choose the training sentences of a condition at a size.

    Args:
        spec: the condition.
        labels: what the evidence table says.
        train: all training sentences of the base, with their labels.

    Raises:
        PoshgridError: nothing is left, or a control, a refill or a down-sampling lacks sentences.
    """
    train = train.with_columns(gone=out(labels, spec.filters, backstop=spec.backstop))
    if spec.control:
        train = train.with_columns(gone=control(spec, train))
    inside = trains(train, spec.size)
    whole = train.filter(inside)
    left = whole.filter(~pl.col("gone"))
    if left.is_empty():
        raise PoshgridError(
            f"condition {spec.condition.name!r} at {spec.size} has no train sentences; give base "
            f"{spec.condition.base!r} more words (bases.sources)"
        )
    filled = _refill(spec, left, whole, train.filter(~inside & ~pl.col("gone")))
    return Chosen(train, whole, left, filled, _downsample(spec, filled, whole.height))


def _downsample(spec: specs.ConditionSpec, filtered: pl.DataFrame, total: int) -> pl.DataFrame:
    """Keep a share of the base's sentences, in their order: the same ones in all conditions.

    Every sentence has a rank that depends on the seed and on its sent_id, and the first are kept.

    Args:
        spec: the condition.
        filtered: the sentences that its filters leave.
        total: sentences of the base at the size.

    Raises:
        PoshgridError: the filters leave fewer than are to be kept.
    """
    condition = spec.condition
    if condition.downsample == 1:
        return filtered
    number = int(condition.downsample * total)
    if filtered.height < number:
        raise PoshgridError(
            f"condition {condition.name!r} at {spec.size}: {number:,} sentences are to be kept "
            f"(downsample {condition.downsample:g} of {total:,}), and its filters leave "
            f"{filtered.height:,}; lower downsample, for all conditions of the base, to "
            f"{int(filtered.height / total * 1000) / 1000:g}"
        )
    last = int(filtered["sent_id"].max() or 0) + 1  # type: ignore[arg-type]
    ranks = np.random.default_rng(condition.seed).random(last)
    chosen = np.argsort(ranks[filtered["sent_id"]], kind="stable")[:number]
    return filtered[np.sort(chosen).tolist()]


def _refill(
    spec: specs.ConditionSpec, left: pl.DataFrame, whole: pl.DataFrame, further: pl.DataFrame
) -> pl.DataFrame:
    """Replace the words that are gone by the next sentences of the same source.

    A source's further sentences, those of larger sizes and the base's spare ones, follow in their
    order until it has as many words as the base at this size. The removal looks at them, too: what
    is in a condition at a size is so at every larger size.

    Args:
        spec: the condition.
        left: the sentences that its removal leaves.
        whole: the base's of the size.
        further: the others of the base that the condition does not go without.

    Raises:
        PoshgridError: a source has too few further sentences.
    """
    if not spec.condition.refill:
        return left
    mine = words_by_source(left)
    parts = [left]
    for source, number in words_by_source(whole).items():
        lacking = number - mine.get(source, 0)
        own = further.filter(pl.col("source").cast(pl.String) == source)
        before = own["n_words"].cast(pl.Int64).cum_sum() - own["n_words"]
        there = int(own["n_words"].cast(pl.Int64).sum())
        if there < lacking:
            raise PoshgridError(
                f"condition {spec.condition.name!r} at {spec.size}: source {source!r} lacks "
                f"{lacking - there:,} words to refill the {lacking:,} that are gone; raise "
                f"spare of base {spec.condition.base!r}, or give the source more text"
            )
        parts.append(own.filter(before < lacking))
    return pl.concat(parts).sort("sent_id")


def words_by_source(rows: pl.DataFrame) -> dict[str, int]:
    """Return source -> its words, sorted."""
    counted = rows.group_by(pl.col("source").cast(pl.String)).agg(
        pl.col("n_words").cast(pl.Int64).sum()
    )
    return dict(sorted(counted.iter_rows()))


def facts(
    labels: Labels, filters: Iterable[Filter], rows: pl.DataFrame, *, backstop: bool
) -> dict[str, dict[str, int]]:
    """Return what each filter removes: ``filter.reading`` -> counts.

    Args:
        labels: what the evidence table says.
        filters: of a condition.
        rows: sentences with their labels.
        backstop: whether readings that have a backstop remove by it, too.

    Returns:
        ``rule``: sentences that the rule removes; ``backstop``: further sentences that only their
        words remove; ``words``: words in both.
    """
    found = {}
    for each in filters:
        removing = labels.removing(each.name, each.reading, backstop=backstop)
        rule, gone = rows[removing[0]], rows.select(pl.any_horizontal(removing)).to_series()
        found[str(each)] = {
            "rule": int(rule.sum()),
            "backstop": int((gone & ~rule).sum()),
            "words": int(rows["n_words"].filter(gone).cast(pl.Int64).sum()),
        }
    return found
