"""Accuracy of every run: counts, means and SDs over seeds, tests against 50%, nulls beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from poshgrid import files, logs
from poshgrid.config.runs import COUNTED, REFERENCE, UNTRAINED, WORD_NULLS
from poshgrid.config.specs import JudgementSpec
from poshgrid.errors import PoshgridError
from poshgrid.evaluation import judgements
from poshgrid.statistics import intervals, levels, nulls, parts, rivals, tests
from poshgrid.statistics.schema import ACCURACY, BESIDE_NULLS, COUNTS, PARTS
from poshgrid.statistics.tally import POINT, ROW, Tally, count, trained, written
from poshgrid.tables import formats

log = logs.get(__name__)


def accuracy(
    spec: JudgementSpec,
    scores: Path,
    items: dict[str, Path],
    conditions: Path | None,
    output: Path,
    rules: dict[str, Path] | None = None,
    *,
    sums: bool = True,
) -> dict[str, Any]:
    """Judge all runs of a target and write counts and accuracies.

    Args:
        spec: the runs (condition/size/learner/regimen/bias/seedN) and the facts of their cells.
        scores: folder of score files: ``{run}/{suite}.parquet`` below it.
        items: suite -> its table of pairs.
        conditions: folder of conditions: ``{condition}/{size}/statistics.json`` below it says how
            many words a cell's models were trained on, which its size may not. None: nobody knows
            better than the spec.
        output: folder for counts.parquet, accuracy.parquet, .csv and nulls.parquet, .csv.
        rules: suite -> what rules make of its pairs: rivals beside the nulls.
        sums: whether scores are sums over tokens; of means alone nobody knows what sums would say.

    Returns:
        Numbers of runs, judgements and ties.

    Raises:
        PoshgridError: see :func:`judgements.judged`; or a run's cell or
            the words of it are unknown.
    """
    if not spec.runs or not items:
        raise PoshgridError(
            "job: spec: nothing to judge: give at least one run and one suite of items"
        )
    known = trained(spec, Path(conditions)) if conditions else spec
    counts, tallies = count(known, Path(scores), items)
    found = summarise(counts, _bounds(tallies), spec.tolerance)
    if not sums:
        found = found.with_columns(mean_sum=pl.lit(None, pl.Float64))
    found = _beside_rivals(found, tallies, items, rules or {})
    output = Path(output)
    files.write_table(written(counts, spec.sets), output / "counts.parquet", COUNTS)
    formats.write(found, output, "accuracy", ACCURACY)
    by_null = [
        nulls.beside(each.sums(), seeds, each.margins, each.places, spec.cells)
        for suite, of_suite in tallies.items()
        for each, seeds in [(of_suite["phenomenon"], _phenomena(found, suite))]
    ]
    formats.write(pl.concat(by_null), output, "nulls", BESIDE_NULLS)
    facts = {
        "runs": len(spec.runs),
        "suites": sorted(items),
        "judgements": int(counts["n"].sum()),
        "ties": int(counts["ties"].sum()),
        "replicates": intervals.REPLICATES,
    }
    log.info(
        "%d runs, %s judgements, %d ties", facts["runs"], f"{facts['judgements']:,}", facts["ties"]
    )
    return facts


def summarise(counts: pl.DataFrame, bounds: pl.DataFrame, tolerance: float) -> pl.DataFrame:
    """Return accuracies over seeds at every level.

    Args:
        counts: columns of ``COUNTS``, and ``by_sum`` and ``by_mean``: pairs right if scores were
            sums or means over tokens.
        bounds: of every mean, as :func:`intervals.bootstrap` returns them.
        tolerance: distance of a null from 50% (share) beyond which a row names it.

    Returns:
        Columns of ``ACCURACY`` but for those of rivals, sorted by condition, words, the other axes,
        suite and level.
    """
    by = [*POINT, "seed"]
    also = list(judgements.REDUCTIONS)
    whole = levels.by_level(counts, by, tuple(also)).with_columns(part=pl.lit(""))
    rows = (
        pl.concat([whole, *(_of_parts(counts, by, also, level) for level in PARTS)], how="diagonal")
        .sort("seed")
        .group_by(ROW, maintain_order=True)
        .agg(
            mean=pl.col("accuracy").mean(),
            sd=pl.col("accuracy").std(ddof=1),
            n_seeds=pl.len().cast(pl.UInt32),
            n_pairs=pl.max("n").cast(pl.UInt32),
            mean_sum=pl.col("by_sum").mean(),
            mean_mean=pl.col("by_mean").mean(),
            each_correct="correct",
            each_n="n",
        )
    )
    rows = _tested(rows)
    rows = _beside_nulls(rows.join(bounds, on=ROW, how="left"), tolerance)
    words = counts.select("condition", "size", "words").unique()
    return (
        rows.join(words, on=["condition", "size"])
        .sort(
            "condition", "words", "size", "learner", "regimen", "bias", "suite", levels.rank(),
            "category", "phenomenon", "part",
        )
        .select(name for name in ACCURACY if name not in rivals.FOUND)
    )  # fmt: skip


def _of_parts(counts: pl.DataFrame, by: list[str], also: list[str], level: str) -> pl.DataFrame:
    """Return accuracies of the templates, or cells, of phenomena that have several."""
    return (
        parts.divided(counts, level)
        .group_by(*by, "category", "phenomenon", "part")
        .agg(pl.col("correct", "n", *also).sum())
        .with_columns(
            (pl.col(name) / pl.col("n")).alias("accuracy" if name == "correct" else name)
            for name in ("correct", *also)
        )
        .with_columns(level=pl.lit(level))
    )


def _beside_rivals(
    rows: pl.DataFrame,
    tallies: dict[str, dict[str, Tally]],
    items: dict[str, Path],
    rules: dict[str, Path],
) -> pl.DataFrame:
    """Add the best rival of each phenomenon, and whether it is learned."""
    found = []
    for suite, of_suite in tallies.items():
        tally = of_suite["phenomenon"]
        by_rule: dict[str, np.ndarray] = {}
        if suite in rules:
            pairs = judgements.read_items(items[suite])
            for rule, said in rivals.read_rules(rules[suite], pairs).items():
                by_rule[rule] = tally.of(said["correct"].to_numpy())
        found.append(rivals.against(tally.sums(), by_rule, _phenomena(rows, suite)))
    beside = pl.concat(found).with_columns(level=pl.lit("phenomenon"))
    on = [*POINT, "level", "category", "phenomenon"]
    return rows.join(beside, on=on, how="left", maintain_order="left").select(list(ACCURACY))


def _phenomena(rows: pl.DataFrame, suite: str) -> pl.DataFrame:
    return rows.filter((pl.col("suite") == suite) & (pl.col("level") == "phenomenon"))


def _bounds(tallies: dict[str, dict[str, Tally]]) -> pl.DataFrame:
    """Return intervals of every mean, by pair and by set, and whether parts are apart."""
    found = []
    for of_suite in tallies.values():
        for level, tally in of_suite.items():
            by_pair, by_set = tally.sums(), tally.sums(whole=True)
            bootstrap = intervals.bootstrap if level == "phenomenon" else parts.by_part
            on = [*POINT, "category", "phenomenon", "level" if level == "phenomenon" else "part"]
            bounds = bootstrap(by_pair).join(
                bootstrap(by_set).rename({"low": "by_set_low", "high": "by_set_high"}), on=on
            )
            if level == "phenomenon":
                bounds = bounds.with_columns(part=pl.lit(""))
            else:
                bounds = bounds.with_columns(level=pl.lit(level))
            found.append(bounds.join(tally.shares(level), on=ROW, how="left"))
        if "template" in of_suite:
            tested = parts.apart(of_suite["template"].sums())
            found[-len(of_suite)] = found[-len(of_suite)].join(
                tested.with_columns(level=pl.lit("phenomenon")),
                on=[*POINT, "level", "category", "phenomenon"],
                how="left",
            )
    table = pl.concat(found, how="diagonal")
    if "p_apart" not in table.columns:
        table = table.with_columns(p_apart=pl.lit(None, dtype=pl.Float64))
    return table


def _beside_nulls(rows: pl.DataFrame, tolerance: float) -> pl.DataFrame:
    """Add the means of the nulls of the same condition and size, and which are far from 50%."""
    place = ["condition", "size", "suite", "level", "category", "phenomenon", "part"]
    untrained = pl.col("regimen") == UNTRAINED
    of_null = {UNTRAINED: (untrained & (pl.col("bias") == "none"), [*place, "learner"])}
    for null in WORD_NULLS:
        of_null[null] = ((pl.col("regimen") == COUNTED) & (pl.col("learner") == null), place)
    for null, (its_rows, key) in of_null.items():
        means = rows.filter(its_rows).select(*key, pl.col("mean").alias(null))
        rows = rows.join(means, on=key, how="left")
    compared = ~pl.col("regimen").is_in(REFERENCE)
    rows = rows.with_columns(pl.when(compared).then(pl.col(*of_null)))
    # The last bits of a mean are no difference: 55% is not further than 5 points from 50%.
    is_far = [
        pl.when((pl.col(null) - tests.CHANCE).abs() > tolerance + 1e-9).then(pl.lit(null))
        for null in of_null
    ]
    return rows.with_columns(far=pl.concat_str(is_far, separator=", ", ignore_nulls=True))


def _tested(rows: pl.DataFrame) -> pl.DataFrame:
    """Add both tests against 50% to rows with lists of each seed's correct and n."""
    pooled: list[float | None] = []
    combined: list[float | None] = []
    for level, correct, n in rows.select("level", "each_correct", "each_n").iter_rows():
        countable = level in ("phenomenon", "category")
        pooled.append(tests.chi_square(sum(correct), sum(n)) if countable else None)
        combined.append(tests.combine_seeds(correct, n) if countable else None)
    rows = rows.with_columns(
        pl.Series("p_pooled", pooled, dtype=pl.Float64),
        pl.Series("combined", combined, dtype=pl.Float64),
    )
    # A column of the paper's tables is one point of the grid: Holm corrects for its rows.
    columns: dict[tuple[Any, ...], list[int]] = {}
    for i, key in enumerate(rows.select(*POINT, "level").iter_rows()):
        columns.setdefault(key, []).append(i)
    corrected: list[float | None] = [None] * rows.height
    for members in columns.values():
        found = [p for i in members if (p := combined[i]) is not None]  # of a level: all or none
        if found:
            for i, p in zip(members, tests.holm(found), strict=True):
                corrected[i] = p
    return rows.with_columns(
        pl.Series("p_fisher_holm", corrected, dtype=pl.Float64),
        pl.Series("stars_pooled", [tests.stars(p) for p in pooled], dtype=pl.String),
        pl.Series("stars_fisher_holm", [tests.stars(p) for p in corrected], dtype=pl.String),
    )
