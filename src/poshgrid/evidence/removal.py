"""What a condition goes without: what its filters remove, or as much at random; and its refill.

Of a control as much is gone as from another condition, and none of it is evidence. A condition that
lost its evidence has lost sentences, too, and its models may be worse for that alone. A control
loses as many of the same sources and lengths (and kinds) at random; what the filters take stays in,
so that the two conditions differ in it and in little else.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl

from poshgrid.config import Filter, specs, words
from poshgrid.corpora.schema import trains
from poshgrid.errors import PoshgridError
from poshgrid.evidence.matching import match
from poshgrid.evidence.schema import Labels

_TOLERANCE = 0.001  # of a source's words, between what a control and its condition go without


def control(spec: specs.ConditionSpec, train: pl.DataFrame) -> pl.Series:
    """Return which of a base's training sentences a control goes without.

    The sentences that each size adds are matched by themselves: what is gone at a size is so at
    every larger one, and so is what refills it.

    Args:
        spec: the control.
        train: all training sentences of the base, with their labels and ``gone``: what the
            condition goes without that it is a control of.

    Raises:
        PoshgridError: no choice is as many, or as long; or sentences have no tree that are to be
            matched by it.
    """
    rows = _kinds(spec, train)
    chosen: list[int] = []
    for size in _strata(spec, rows):
        stratum = rows.filter(pl.col("size") == size)
        if stratum["gone"].any():
            chosen += _matched(spec, stratum, size)
    return train["sent_id"].is_in(pl.Series(chosen, dtype=pl.UInt32).implode())


def _kinds(spec: specs.ConditionSpec, train: pl.DataFrame) -> pl.DataFrame:
    """Return what sentences are matched by: ``source`` is their kind, ``of`` their source."""
    by = spec.condition.match
    unknown = train.filter(pl.any_horizontal(pl.col(by).is_null())).height if by else 0
    if unknown:
        raise PoshgridError(
            f"condition {spec.condition.name!r} at {spec.size}: a control matched by "
            f"{' and '.join(by)} needs every sentence parsed, and {unknown:,} are not; "
            "set evidence.parse: all"
        )
    source = pl.col("source").cast(pl.String)
    kind = [
        pl.when(name).then(pl.lit(f", {name}")).otherwise(pl.lit(f", no {name}")) for name in by
    ]
    return train.select(
        "sent_id", "n_words", "gone", pl.col("size").cast(pl.String),
        of=source, source=pl.concat_str([source, *kind]),
    )  # fmt: skip


def _strata(spec: specs.ConditionSpec, rows: pl.DataFrame) -> list[str]:
    """Return the sizes whose own sentences a control is chosen from, ascending; "": spare ones.

    Those beyond its own size matter to what refills it.
    """
    names = sorted((name for name in rows["size"].unique() if name), key=words)
    if spec.condition.refill:
        return [*names, ""]
    return [name for name in names if words(name) <= words(spec.size)]


def _matched(spec: specs.ConditionSpec, stratum: pl.DataFrame, size: str) -> list[int]:
    """Return as many others as are gone from the sentences that a size adds."""
    condition = spec.condition
    pool, rest = stratum.filter("gone"), stratum.filter(~pl.col("gone"))
    # The kinds of a source share what its words may differ by
    number = pl.col("n_words").cast(pl.Int64).sum().over("of") // 2 ** len(condition.match)
    allowed = dict(stratum.select("source", number).unique().iter_rows())
    seeds = [condition.seed, zlib.crc32(b"control"), zlib.crc32(size.encode())]
    generator = np.random.default_rng(seeds)
    try:
        return list(match(pool, pool.height, rest, allowed, _TOLERANCE, generator).places)
    except PoshgridError as error:
        reason = str(error).rpartition("; ")[0]  # less the remedy, which is another here
        raise PoshgridError(
            f"condition {condition.name!r} at {spec.size}: no control of {condition.control!r}: "
            f"{reason}; give the base more words, or match by less"
        ) from error


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
    last = int(filtered.select(pl.col("sent_id").max()).item()) + 1
    ranks = np.random.default_rng(condition.seed).random(last)
    chosen = np.argsort(ranks[filtered["sent_id"]], kind="stable")[:number]
    places: list[int] = np.sort(chosen).tolist()
    return filtered[places]


def _refill(
    spec: specs.ConditionSpec, left: pl.DataFrame, whole: pl.DataFrame, further: pl.DataFrame
) -> pl.DataFrame:
    """Replace the words that are gone by the next sentences of the same source.

    A source's further sentences, those of larger sizes and the base's spare ones, follow in the
    order of choice until it has as many words as the base at this size. The removal looks at them,
    too: what is in a condition at a size is so at every larger size.

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
        own = further.filter(pl.col("source").cast(pl.String) == source).sort("rank")
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
