"""Accuracy of every run: counts, means and SDs over seeds, tests against 50%, nulls beside them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from poshgrid import files, logs
from poshgrid.errors import PoshgridError
from poshgrid.runs import COUNTED, PRETRAINED, REFERENCE, UNTRAINED, WORD_NULLS
from poshgrid.specs import JudgementSpec
from poshgrid.statistics import (
    intervals,
    judgements,
    levels,
    parts,
    rivals,
    runs,
    tables,
    tests,
    writing,
)
from poshgrid.statistics.schema import ACCURACY, COUNTS, PARTS, RUN_AXES

_POINT = [*RUN_AXES, "suite"]
_ROW = [*_POINT, "level", "category", "phenomenon", "part"]
_UNIT = ["category", "phenomenon", "template", "cell", "lexical_set"]

log = logs.get(__name__)


def accuracy(
    spec: JudgementSpec,
    scores: Path,
    items: dict[str, Path],
    conditions: Path | None,
    output: Path,
    rules: dict[str, Path] | None = None,
) -> dict[str, Any]:
    """Judge all runs of a target and write counts and accuracies.

    Args:
        spec: the runs (condition/size/learner/regimen/bias/seedN) and the facts of their cells.
        scores: folder of score files: ``{run}/{suite}.parquet`` below it.
        items: suite -> its table of pairs.
        conditions: folder of conditions: ``{condition}/{size}/statistics.json`` below it says how
            many words a cell's models were trained on, which its size may not. None: nobody knows
            better than the spec.
        output: folder for counts.parquet and accuracy.parquet, .csv, .tex.
        rules: suite -> what rules make of its pairs: rivals beside the nulls.

    Returns:
        Numbers of runs, judgements and ties.

    Raises:
        PoshgridError: see :func:`judgements.judged`; or a run is misnamed, given twice, or its cell
            or the words of it unknown.
    """
    if not spec.runs or not items:
        raise PoshgridError(
            "--spec: nothing to judge: give at least one run and one suite of items"
        )
    trained = _trained(spec, Path(conditions)) if conditions else spec
    counts, tallies = _count(trained, Path(scores), items)
    found = summarise(counts, _bounds(tallies), spec.tolerance)
    found = _beside_rivals(found, tallies, items, rules or {})
    output = Path(output)
    files.write_table(_written(counts, spec.sets), output / "counts.parquet", COUNTS)
    writing.write(found, output, "accuracy", ACCURACY, tables.accuracy_tex(found))
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


def _trained(spec: JudgementSpec, conditions: Path) -> JudgementSpec:
    """Return the spec with the words that each cell's models were trained on."""
    cells = dict(spec.cells)
    for name in {run.rpartition("/")[0].rsplit("/", 3)[0] for run in spec.runs} & cells.keys():
        if name.partition("/")[0] == PRETRAINED:
            continue  # nobody knows
        path = conditions / name / "statistics.json"
        try:
            words = int(files.read_json(path)["splits"]["train"]["words"])
        except (KeyError, TypeError, ValueError) as error:
            raise PoshgridError(
                f"{path}: not the statistics of a condition; run poshgrid condition again"
            ) from error
        cells[name] = cells[name].model_copy(update={"words": words})
    return spec.model_copy(update={"cells": cells})


def summarise(counts: pl.DataFrame, bounds: pl.DataFrame, tolerance: float) -> pl.DataFrame:
    """Return accuracies over seeds at every level.

    Args:
        counts: columns of ``COUNTS``, and ``by_sum`` and ``by_mean``: pairs right if scores were
            sums or means over tokens.
        bounds: of every mean, as :func:`intervals.bootstrap` returns them.
        tolerance: distance of a null from 50% (share) beyond which a row names it.

    Returns:
        Columns of ``ACCURACY``, sorted by condition, words, the other axes, suite and level.
    """
    by = [*_POINT, "seed"]
    also = list(judgements.REDUCTIONS)
    whole = levels.by_level(counts, by, tuple(also)).with_columns(part=pl.lit(""))
    rows = (
        pl.concat([whole, *(_of_parts(counts, by, also, level) for level in PARTS)], how="diagonal")
        .sort("seed")
        .group_by(_ROW, maintain_order=True)
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
    rows = _beside_nulls(rows.join(bounds, on=_ROW, how="left"), tolerance)
    words = counts.select("condition", "size", "words").unique()
    return (
        rows.join(words, on=["condition", "size"])
        .sort(
            "condition", "words", "size", "learner", "regimen", "bias", "suite", levels.rank(),
            "category", "phenomenon", "part",
        )
        .with_columns(pl.lit(None, dtype=kind).alias(name) for name, kind in rivals.FOUND.items())
        .select(list(ACCURACY))
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
    tallies: dict[str, dict[str, _Tally]],
    items: dict[str, Path],
    rules: dict[str, Path],
) -> pl.DataFrame:
    """Add the best rival of each phenomenon, and whether it is learned."""
    on = [*_POINT, "category", "phenomenon"]
    found = []
    for suite, of_suite in tallies.items():
        tally = of_suite["phenomenon"]
        by_rule: dict[str, np.ndarray] = {}
        if suite in rules:
            pairs = judgements.read_items(items[suite])
            for rule, said in rivals.read_rules(rules[suite], pairs).items():
                by_rule[rule] = tally.of(said["correct"].to_numpy())
        mine = rows.filter((pl.col("suite") == suite) & (pl.col("level") == "phenomenon"))
        found.append(rivals.against(tally.sums(), by_rule, mine))
    beside = pl.concat(found).with_columns(level=pl.lit("phenomenon"))
    kept = rows.drop(list(rivals.FOUND))
    return kept.join(beside, on=[*on, "level"], how="left", maintain_order="left").select(
        list(ACCURACY)
    )


def _bounds(tallies: dict[str, dict[str, _Tally]]) -> pl.DataFrame:
    """Return intervals of every mean, by pair and by set, and whether parts are apart."""
    found = []
    for of_suite in tallies.values():
        for level, tally in of_suite.items():
            by_pair, by_set = tally.sums(), tally.sums(whole=True)
            bootstrap = intervals.bootstrap if level == "phenomenon" else parts.by_part
            on = [*_POINT, "category", "phenomenon", "level" if level == "phenomenon" else "part"]
            bounds = (
                bootstrap(by_pair)
                .join(
                    bootstrap(by_set).rename({"low": "by_set_low", "high": "by_set_high"}), on=on
                )
            )  # fmt: skip
            if level == "phenomenon":
                bounds = bounds.with_columns(part=pl.lit(""))
            else:
                bounds = bounds.with_columns(level=pl.lit(level))
            found.append(bounds.join(tally.shares(level), on=_ROW, how="left"))
        if "template" in of_suite:
            tested = parts.apart(of_suite["template"].sums())
            found[-len(of_suite)] = found[-len(of_suite)].join(
                tested.with_columns(level=pl.lit("phenomenon")),
                on=[*_POINT, "level", "category", "phenomenon"], how="left",
            )  # fmt: skip
    table = pl.concat(found, how="diagonal")
    if "p_apart" not in table.columns:
        table = table.with_columns(p_apart=pl.lit(None, dtype=pl.Float64))
    return table


def _written(counts: pl.DataFrame, by_set: list[str]) -> pl.DataFrame:
    """Return counts by template, and by lexical set in suites for which a model asks."""
    split = pl.when(pl.col("suite").is_in(by_set)).then(pl.col("lexical_set")).otherwise(pl.lit(""))
    key = [name for name in COUNTS if name not in ("correct", "ties", "n")]
    return (
        counts.with_columns(lexical_set=split)
        .group_by(key, maintain_order=True)
        .agg(pl.col("correct", "ties", "n").sum())
        .select(list(COUNTS))
        .cast(COUNTS)
    )


class _Tally:
    """What points of a grid got right, set by set, of one way to divide a suite.

    Args:
        suite: its name.
        units: what is judged, in the order of judgements: category, phenomenon, lexical_set, and
            part where a level below the phenomenon is meant; rows that do not enter have a null.
        points: the columns of a point, and seeds.
    """

    def __init__(self, suite: str, units: pl.DataFrame, points: pl.DataFrame) -> None:
        self._suite, self._points = suite, points
        kept = units.drop_nulls()
        self._sets = kept.group_by(kept.columns).agg(n=pl.len()).sort(kept.columns)
        codes = self._sets.drop("n").with_row_index("set")
        joined = units.join(codes, on=kept.columns, how="left", maintain_order="left")
        known = joined["set"].is_not_null().to_numpy()
        self._at, self._of = np.flatnonzero(known), joined["set"].drop_nulls().to_numpy()
        self._correct = np.zeros((self._sets.height, points.height))
        self._whole = np.zeros_like(self._correct)

    def of(self, correct: np.ndarray) -> np.ndarray:
        """Return how many of each set's pairs are right."""
        return np.bincount(self._of, correct[self._at], minlength=self._sets.height)

    def add(self, point: int, correct: np.ndarray) -> None:
        """Count a run. A set is as right as its worst pair: a tie is half."""
        self._correct[:, point] += self.of(correct)
        worst = np.ones(self._sets.height)
        np.minimum.at(worst, self._of, correct[self._at])
        self._whole[:, point] += worst

    def sums(self, *, whole: bool = False) -> intervals.SetSums:
        """Return sums over seeds; ``whole``: of sets, each of which counts as one."""
        if not whole:
            return intervals.SetSums(self._suite, self._sets, self._points, self._correct)
        one = self._sets.with_columns(n=pl.lit(1, dtype=pl.UInt32))
        return intervals.SetSums(self._suite, one, self._points, self._whole)

    def shares(self, level: str) -> pl.DataFrame:
        """Return ``n_sets`` and ``by_set`` at every level that this division has."""
        by = [*_POINT, "seeds"]
        place = [name for name in ("category", "phenomenon", "part") if name in self._sets.columns]
        rows = pl.concat(
            self._sets.select(place).with_columns(
                *(pl.lit(value).alias(name) for name, value in point.items()),
                suite=pl.lit(self._suite),
                correct=pl.Series(self._whole[:, i]) / point["seeds"],
                n=pl.lit(1),
            )
            for i, point in enumerate(self._points.iter_rows(named=True))
        )
        if level == "phenomenon":
            found = levels.by_level(rows, by).with_columns(part=pl.lit(""))
        else:
            found = rows.group_by(*by, *place).agg(pl.col("correct", "n").sum())
            found = found.with_columns(accuracy=pl.col("correct") / pl.col("n"))
            found = found.with_columns(level=pl.lit(level))
        return found.select(*_ROW, by_set="accuracy", n_sets=pl.col("n").cast(pl.UInt32))


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


def _count(
    spec: JudgementSpec, scores: Path, items: dict[str, Path]
) -> tuple[pl.DataFrame, dict[str, dict[str, _Tally]]]:
    """Return counts by template, cell and, where asked for, set; and tallies of each suite.

    A run's judgements are counted and forgotten. Of sets, which may be as many as pairs, some
    numbers for each are kept.
    """
    of_runs = _of_runs(spec)
    points = list(dict.fromkeys(_point(facts) for facts in of_runs.values()))
    seeds = Counter(_point(facts) for facts in of_runs.values())
    columns = pl.DataFrame(points, schema=list(RUN_AXES), orient="row").with_columns(
        seeds=pl.Series([seeds[point] for point in points])
    )
    found = []
    tallies: dict[str, dict[str, _Tally]] = {}
    for suite in sorted(items):
        pairs = judgements.read_items(items[suite])
        key = [name for name in _UNIT if name != "lexical_set" or suite in spec.sets]
        for run, facts in logs.progress(of_runs.items(), f"judging {suite}", len(of_runs)):
            judged = judgements.judged(scores / run / f"{suite}.parquet", pairs, spec.scoring)
            if suite not in tallies:  # all runs judge the same pairs
                tallies[suite] = _tallies(suite, judged, columns)
            for tally in tallies[suite].values():
                tally.add(points.index(_point(facts)), judged["correct"].to_numpy())
            found.append(
                judged.group_by(key)
                .agg(
                    pl.col("correct", *judgements.REDUCTIONS).sum(),
                    ties=(pl.col("correct") == 0.5).sum(),
                    n=pl.len(),
                )
                .with_columns(pl.lit(value).alias(name) for name, value in facts.items())
                .with_columns(suite=pl.lit(suite))
            )
    counts = pl.concat(found, how="diagonal")
    if "lexical_set" not in counts.columns:
        counts = counts.with_columns(lexical_set=pl.lit(""))
    counts = (
        counts.with_columns(pl.col("lexical_set").fill_null(""))
        .select(*COUNTS, "cell", *judgements.REDUCTIONS)
        .cast(COUNTS)
        .sort("condition", "words", *RUN_AXES[1:], "seed", "suite", *_UNIT)
    )
    return counts, tallies


def _tallies(suite: str, judged: pl.DataFrame, points: pl.DataFrame) -> dict[str, _Tally]:
    """Return a tally of phenomena, and one of each level below that has several parts."""
    units = judged.select("item_id", *_UNIT)
    key = ["category", "phenomenon", "lexical_set"]
    found = {"phenomenon": _Tally(suite, units.select(key), points)}
    for level in PARTS:
        divided = parts.divided(units, level).select("item_id", "part")
        if divided.height:
            joined = units.join(divided, on="item_id", how="left", maintain_order="left")
            found[level] = _Tally(suite, joined.select(*key, "part"), points)
    return found


def _point(facts: dict[str, Any]) -> tuple[str, ...]:
    return tuple(facts[axis] for axis in RUN_AXES)


def _of_runs(spec: JudgementSpec) -> dict[str, dict[str, Any]]:
    """Return each run with its columns, sorted by name."""
    found = {run: _facts(spec, run) for run in sorted(spec.runs)}
    twice = [run for run, times in Counter(spec.runs).items() if times > 1]
    if twice:
        raise PoshgridError(
            f"--spec: runs: {twice[0]!r} is given {Counter(spec.runs)[twice[0]]} times, and would "
            "count as so many seeds; copy the command of the job log whole"
        )
    return found


def _facts(spec: JudgementSpec, run: str) -> dict[str, Any]:
    """Return the columns that a run's name and its cell give."""
    axes = runs.axes(run)
    cell = spec.cells.get(f"{axes['condition']}/{axes['size']}")
    if cell is None:
        raise PoshgridError(
            f"--spec: cells: nothing on {axes['condition']}/{axes['size']}, which run {run!r} "
            "belongs to; copy the command of the job log whole"
        )
    return {
        **axes,
        "words": cell.words,
        "source": cell.source,
        "filtered": cell.filtered,
    }


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
    for i, key in enumerate(rows.select(*_POINT, "level").iter_rows()):
        columns.setdefault(key, []).append(i)
    corrected: list[float | None] = [None] * rows.height
    for members in columns.values():
        if combined[members[0]] is not None:
            for i, p in zip(members, tests.holm([combined[i] for i in members]), strict=True):
                corrected[i] = p
    return rows.with_columns(
        pl.Series("p_fisher_holm", corrected, dtype=pl.Float64),
        pl.Series("stars_pooled", [tests.stars(p) for p in pooled], dtype=pl.String),
        pl.Series("stars_fisher_holm", [tests.stars(p) for p in corrected], dtype=pl.String),
    )
