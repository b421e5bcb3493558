"""Sets of filler x gap: surprisal in the critical region, its differences, and their statistics.

In bits, S = -log2 p(region), with the signs of Lan, Chemla & Katzir (2024) and Pistotti et al.
(2025, section 3.1):

    delta(filler) = S(-gap, filler) - S(+gap, filler)
    did           = delta(+filler) - delta(-filler)

A model succeeds on a set if delta(+filler) > 0 (after "who ... __ is likely to upset" the gap is
expected more than an object) and if did > 0 (the filler makes the gap more expected, whatever else
makes it so). The earlier studies (Wilcox, Futrell & Levy 2024) take the difference the other way
round, +gap less -gap, and succeed below 0; and they average over the tokens of the region, not sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import polars as pl

from poshgrid import files, logs
from poshgrid.benchmark.schema import PARADIGMS
from poshgrid.errors import PoshgridError
from poshgrid.evaluation.judge import TIE
from poshgrid.evaluation.schema import PARADIGM_SCORES
from poshgrid.files import Schema
from poshgrid.statistics import intervals
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.statistics.tables import escape

Sign = Literal["lan2024", "earlier"]
Reduction = Literal["sum", "mean"]

SUBSETS = ("all", "unambiguous", "ambiguous")
MEASURES = ("delta_plus_filler", "delta_minus_filler", "did")
COLUMNS: Schema = {
    "category": pl.String,
    "phenomenon": pl.String,
    "subset": pl.String,  # one of SUBSETS; sets whose subject may be read as a clause are ambiguous
    "measure": pl.String,  # one of MEASURES
    "n": pl.UInt32,  # sets of four sentences
    "correct": pl.Float64,  # sets on the right side of 0, a tie counted as half
    "ties": pl.UInt32,  # sets at 0
    "accuracy": pl.Float64,  # share of sets, 0-1
    "low": pl.Float64,  # 95% Wilson interval of the accuracy
    "high": pl.Float64,
    "low_clustered": pl.Float64,  # 95% interval of the accuracy, sets clustered by lexical set;
    "high_clustered": pl.Float64,  # null with fewer than two lexical sets
    "mean": pl.Float64,  # bits (reduction "mean": bits per token), with the sign asked for
    "sd": pl.Float64,  # the same unit, over sets; null, as all that follows, with one set
    "mean_low": pl.Float64,  # 95% t interval of the mean
    "mean_high": pl.Float64,
    "t": pl.Float64,  # one-sample t test against 0; null, as its p values, where sd is 0
    "df": pl.UInt32,
    "p_one": pl.Float64,  # one-tailed, in the direction of success
    "p_two": pl.Float64,  # two-tailed
}
"""What :func:`measures` returns: a row for each phenomenon, subset and measure.

``delta_minus_filler`` is right on the other side of 0: without a filler, the object is expected.
"""
TABLE: Schema = {
    **dict.fromkeys(RUN_AXES, pl.String),
    "seed": pl.UInt32,
    "suite": pl.String,
    **COLUMNS,
}
"""``measures.parquet``: the same of every run."""

_CELLS = {
    "s_plus_filler_gap": (True, True),
    "s_plus_filler": (True, False),
    "s_minus_filler_gap": (False, True),
    "s_minus_filler": (False, False),
}

log = logs.get(__name__)


def write(
    runs: Sequence[str],
    scores: Path,
    suite: str,
    items: Path,
    output: Path,
    *,
    sign: Sign,
    reduction: Reduction,
) -> dict[str, Any]:
    """Measure all runs of a target on a suite of filler x gap.

    Args:
        runs: condition/size/learner/regimen/bias/seedN of each.
        scores: folder of score files: ``{run}/{suite}.parquet`` below it (``PARADIGM_SCORES``).
        suite: the suite's name.
        items: its sets (``PARADIGMS``).
        output: folder for measures.parquet, .csv and .tex.
        sign: ``lan2024``: -gap less +gap; ``earlier``: the other way round.
        reduction: surprisal of a region: ``sum`` or ``mean`` over its tokens.

    Returns:
        Numbers of runs, sets and ties, scores of checkpoints left out, and the conventions.

    Raises:
        PoshgridError: no run, a misnamed one, or a file that is missing or does not fit.
    """
    if not runs:
        raise PoshgridError("--spec: runs: nothing to measure; give at least one run")
    sets = files.read_table(items, PARADIGMS)
    parts, checkpoints = [], 0
    for run in logs.progress(sorted(runs), "measuring runs"):
        axes = _axes(run)
        path = Path(scores) / run / f"{suite}.parquet"
        found = files.read_table(path, PARADIGM_SCORES)
        checkpoints += found["step"].count()
        part = measures(found, sets, sign=sign, reduction=reduction, place=str(path))
        parts.append(
            part.with_columns(
                *(pl.lit(value).alias(name) for name, value in axes.items()),
                suite=pl.lit(suite),
            ).cast({"seed": pl.UInt32})
        )
    table = pl.concat(parts).select(list(TABLE))
    output = Path(output)
    files.write_table(table, output / "measures.parquet", TABLE)
    with files.atomic(output / "measures.csv") as temporary:
        table.write_csv(temporary, float_precision=6)
    files.write_text(output / "measures.tex", tex(table, sign=sign, reduction=reduction))
    whole = table.filter(pl.col("subset") == "all")
    facts = {
        "runs": len(runs),
        "sets": sets["item_id"].n_unique(),
        "ties": int(whole["ties"].sum()),
        "checkpoint_scores_left_out": checkpoints,
        "sign": sign,
        "reduction": reduction,
    }
    log.info("%s: %d runs, %s sets", suite, facts["runs"], f"{facts['sets']:,}")
    return facts


def measures(
    scores: pl.DataFrame,
    items: pl.DataFrame,
    *,
    sign: Sign,
    reduction: Reduction,
    place: str = "scores",
) -> pl.DataFrame:
    """Return the measures of one run.

    Args:
        scores: columns of ``PARADIGM_SCORES``; rows of checkpoints (``step`` not null) are left
            out.
        items: columns of ``PARADIGMS``.
        sign: ``lan2024``: -gap less +gap; ``earlier``: the other way round.
        reduction: surprisal of a region: ``sum`` or ``mean`` over its tokens.
        place: what an error message calls the scores.

    Returns:
        Columns of ``COLUMNS``, sorted by category, phenomenon, subset and measure.

    Raises:
        PoshgridError: a sentence has no score, two, or one that is not a number.
    """
    each = differences(scores, items, sign=sign, reduction=reduction, place=place)
    long = each.unpivot(
        MEASURES,
        index=["item_id", "category", "phenomenon", "lexical_set", "ambiguous"],
        variable_name="measure",
        value_name="value",
    )
    subsets = {
        "all": pl.lit(value=True), "unambiguous": ~pl.col("ambiguous"), "ambiguous": "ambiguous",
    }  # fmt: skip
    long = pl.concat(
        long.filter(chosen).with_columns(subset=pl.lit(subset))
        for subset, chosen in subsets.items()
    )
    tie = TIE / math.log(2)
    towards = _direction("measure", sign) * pl.col("value")
    long = long.with_columns(
        correct=pl.when(pl.col("value").abs() <= tie).then(0.5).otherwise((towards > 0).cast(float))
    )
    key = ["category", "phenomenon", "subset", "measure"]
    rows = (
        long.sort(*key, "item_id")
        .group_by(key, maintain_order=True)
        .agg(
            pl.col("correct").sum(),
            pl.len().alias("n"),
            (pl.col("correct") == 0.5).sum().alias("ties"),
            pl.col("value").alias("values"),
        )
    )
    frame = pl.DataFrame(
        [
            {**{k: v for k, v in row.items() if k != "values"}, **_described(row, sign)}
            for row in rows.iter_rows(named=True)
        ],
        schema={name: kind for name, kind in COLUMNS.items() if "clustered" not in name},
    )
    return (
        frame.join(_clustered(long), on=key, how="left")
        .with_columns(
            low_clustered=(pl.col("accuracy") - pl.col("half")).clip(0, 1),
            high_clustered=(pl.col("accuracy") + pl.col("half")).clip(0, 1),
        )
        .sort("category", "phenomenon", _rank("subset", SUBSETS), _rank("measure", MEASURES))
        .select(list(COLUMNS))
    )


def differences(
    scores: pl.DataFrame,
    items: pl.DataFrame,
    *,
    sign: Sign,
    reduction: Reduction,
    place: str = "scores",
) -> pl.DataFrame:
    """Return surprisals and their differences, one row for each set; see :func:`measures`.

    Returns:
        item_id, category, phenomenon, lexical_set, ambiguous; the surprisals s_plus_filler_gap,
        s_plus_filler, s_minus_filler_gap, s_minus_filler; delta_plus_filler, delta_minus_filler,
        did (bits, or bits per token), sorted by item.
    """
    found = _checked(scores, items, place)
    surprisal = -pl.col("logprob") / math.log(2)
    if reduction == "mean":
        surprisal /= pl.col("tokens")
    sense = 1.0 if sign == "lan2024" else -1.0
    names = ["category", "phenomenon", "lexical_set", "ambiguous"]
    wide = (
        found.group_by("item_id")
        .agg(
            *(pl.first(name) for name in names),
            *(
                surprisal.filter((pl.col("filler") == filler) & (pl.col("gap") == gap))
                .first()
                .alias(name)
                for name, (filler, gap) in _CELLS.items()
            ),
        )
        .sort("item_id")
    )
    return wide.with_columns(
        delta_plus_filler=sense * (pl.col("s_plus_filler") - pl.col("s_plus_filler_gap")),
        delta_minus_filler=sense * (pl.col("s_minus_filler") - pl.col("s_minus_filler_gap")),
    ).with_columns(did=pl.col("delta_plus_filler") - pl.col("delta_minus_filler"))


# ---- statistics -------------------------------------------------------------------------------


def wilson(correct: float, n: float) -> tuple[float, float]:
    """Return Wilson's 95% score interval of a share.

    Args:
        correct: successes; may end in .5, which scipy's own interval does not take.
        n: trials, at least 1.
    """
    from scipy import stats

    z = float(stats.norm.ppf(0.975))
    share = correct / n
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def p_values(t: float, df: float, direction: int) -> tuple[float, float]:
    """Return the one-tailed and the two-tailed p of a t statistic.

    Args:
        t: the statistic.
        df: degrees of freedom.
        direction: +1: success is above 0; -1: below.
    """
    from scipy import stats

    return float(stats.t.sf(direction * t, df)), float(2 * stats.t.sf(abs(t), df))


def _described(row: dict[str, Any], sign: Sign) -> dict[str, Any]:
    """Return what the values of a measure come to: accuracy, mean, intervals and test."""
    from scipy import stats

    values, n = row["values"], row["n"]
    low, high = wilson(row["correct"], n)
    mean = math.fsum(values) / n
    found: dict[str, Any] = {"accuracy": row["correct"] / n, "low": low, "high": high, "mean": mean}
    if n < 2:
        return found
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    half = float(stats.t.ppf(0.975, n - 1)) * sd / math.sqrt(n)
    found |= {"sd": sd, "mean_low": mean - half, "mean_high": mean + half, "df": n - 1}
    # Values that differ in their last bits only are one value, and say nothing of their spread.
    if sd > 1e-12 * max(1.0, abs(mean)):
        t = mean / (sd / math.sqrt(n))
        one, two = p_values(t, n - 1, _towards(row["measure"], sign))
        found |= {"t": t, "p_one": one, "p_two": two}
    return found


def _towards(measure: str, sign: Sign) -> int:
    """Return +1 where success is above 0 and -1 where it is below."""
    return (1 if sign == "lan2024" else -1) * (-1 if measure == "delta_minus_filler" else 1)


def _direction(column: str, sign: Sign) -> pl.Expr:
    return pl.col(column).replace_strict(
        {measure: float(_towards(measure, sign)) for measure in MEASURES}
    )


def _clustered(long: pl.DataFrame) -> pl.DataFrame:
    """Return half the width of the clustered interval for each row of the result."""
    sets = long.group_by(
        "subset", "measure", "category", "phenomenon", "lexical_set", maintain_order=True
    ).agg(pl.col("correct").sum(), pl.len().alias("n"))
    return (
        intervals.clustered(sets, ["subset", "measure"])
        .filter(pl.col("level") == "phenomenon")
        .drop("level")
    )


def _rank(column: str, order: Sequence[str]) -> pl.Expr:
    return pl.col(column).replace_strict({name: i for i, name in enumerate(order)})


# ---- files ------------------------------------------------------------------------------------


def _checked(scores: pl.DataFrame, items: pl.DataFrame, place: str) -> pl.DataFrame:
    """Return the scores of the kept model beside their sentences; four of each set, all numbers."""
    again = "score the run again (poshgrid score)"
    cell = ["item_id", "filler", "gap"]
    incomplete = (
        items.group_by("item_id")
        .agg(pl.len().alias("n"), pl.struct("filler", "gap").n_unique().alias("cells"))
        .filter((pl.col("n") != len(_CELLS)) | (pl.col("cells") != len(_CELLS)))
    )
    if incomplete.height or items.is_empty():
        which = f": {_first(incomplete)!r} has not" if incomplete.height else ""
        raise PoshgridError(
            f"items: every set needs its four sentences{which}; make the suite's items again "
            "(poshgrid items)"
        )
    kept = scores.filter(pl.col("step").is_null())
    twice = kept.filter(pl.struct(cell).is_duplicated())
    if twice.height:
        raise PoshgridError(f"{place}: a sentence of set {_first(twice)!r} is there twice; {again}")
    unscored = items.join(kept, on=cell, how="anti")
    if unscored.height:
        raise PoshgridError(
            f"{place}: {unscored.height} of {items.height} sentences have no score, first of set "
            f"{_first(unscored)!r}; {again}"
        )
    unknown = kept.join(items, on=cell, how="anti")
    if unknown.height:
        raise PoshgridError(
            f"{place}: {unknown.height} scored sentences are not in the suite, first of set "
            f"{_first(unknown)!r}: the items have changed since; {again}"
        )
    bad = kept.filter(
        ~pl.col("logprob").is_finite().fill_null(value=False) | (pl.col("tokens").fill_null(0) == 0)
    )
    if bad.height:
        raise PoshgridError(
            f"{place}: {bad.height} sentences have a score that is not a number or counts no "
            f"token, first of set {_first(bad)!r}; check that the run's training loss is finite, "
            f"then {again}"
        )
    names = ["category", "phenomenon", "lexical_set", "ambiguous"]
    return kept.join(items.select(*cell, *names), on=cell)


def _first(frame: pl.DataFrame) -> str:
    return frame["item_id"].sort()[0]


def _axes(run: str) -> dict[str, Any]:
    """Return the columns that a run's name gives."""
    parts = run.split("/")
    seed = parts[-1].removeprefix("seed")
    if len(parts) != len(RUN_AXES) + 1 or parts[-1] == seed or not seed.isdecimal():
        raise PoshgridError(
            f"--spec: runs: {run!r} is not condition/size/learner/regimen/bias/seedN; "
            "copy the command of the job log whole"
        )
    return {**dict(zip(RUN_AXES, parts, strict=False)), "seed": int(seed)}


# ---- LaTeX ------------------------------------------------------------------------------------


def tex(table: pl.DataFrame, *, sign: Sign, reduction: Reduction) -> str:
    """Return LaTeX (booktabs): a row for each run, phenomenon and subset.

    Args:
        table: columns of ``TABLE``, of one suite.
        sign: as the table was made.
        reduction: as the table was made.
    """
    # Axes with one value would only widen the table.
    axes = [a for a in (*RUN_AXES, "seed")
            if a in ("condition", "size") or table[a].n_unique() > 1]  # fmt: skip
    header = [
        *axes, "phenomenon", "subset", "$n$", r"$\Delta_{+\mathrm{filler}}$", "DiD",
        r"$\Delta_{+\mathrm{filler}}$", r"$\Delta_{-\mathrm{filler}}$", r"DiD [95\,\% CI]",
        "$t$(df)", "$p$",
    ]  # fmt: skip
    groups: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for row in table.iter_rows(named=True):
        point = tuple(row[axis] for axis in (*RUN_AXES, "seed"))
        key = (*point, row["category"], row["phenomenon"], row["subset"])
        groups.setdefault(key, {})[row["measure"]] = row
    lines = []
    for found in groups.values():
        plus, minus, did = (found[measure] for measure in MEASURES)
        lines.append(
            [
                *(escape(str(did[axis])) for axis in axes),
                escape(did["phenomenon"]),
                did["subset"],
                str(did["n"]),
                _percent(plus),
                _percent(did),
                f"${plus['mean']:.2f}$",
                f"${minus['mean']:.2f}$",
                f"${did['mean']:.2f}$"
                + ("" if did["sd"] is None
                   else f" $[{did['mean_low']:.2f}, {did['mean_high']:.2f}]$"),
                "" if did["t"] is None else f"${did['t']:.2f}$({did['df']})",
                "" if did["p_one"] is None else _p(did["p_one"]),
            ]
        )  # fmt: skip
    first = len(axes) + 3
    body = "\n".join(" & ".join(line) + r" \\" for line in lines)
    success = ">0" if sign == "lan2024" else "<0"
    order = "$S(-$gap$)-S(+$gap$)$" if sign == "lan2024" else "$S(+$gap$)-S(-$gap$)$"
    unit = "bits, summed" if reduction == "sum" else "bits per token, averaged"
    caption = (
        rf"{escape(str(table['suite'][0]))}: filler $\times$ gap. $\Delta$ is {order} "
        f"({unit} over the tokens of the critical region), DiD is "
        r"$\Delta_{+\mathrm{filler}}-\Delta_{-\mathrm{filler}}$. Accuracy: share of sets with a "
        rf"value ${success}$ in \% [95\,\% Wilson interval]; a tie counts as half. "
        r"$t$ and $p$: one-sample $t$ test of DiD against 0, one-tailed in that direction, "
        "uncorrected."
    )
    return (
        "\\begin{table}\n\\centering\n"
        f"\\begin{{tabular}}{{{'l' * (len(axes) + 2)}{'r' * (len(header) - len(axes) - 2)}}}\n"
        "\\toprule\n"
        f"{' & ' * (first - 1)} & \\multicolumn{{2}}{{c}}{{Accuracy}} "
        "& \\multicolumn{3}{c}{Mean} & & \\\\\n"
        f"\\cmidrule(lr){{{first + 1}-{first + 2}}}\\cmidrule(lr){{{first + 3}-{first + 5}}}\n"
        f"{' & '.join(header)} \\\\\n\\midrule\n{body}\n\\bottomrule\n\\end{{tabular}}\n"
        f"\\caption{{{caption}}}\n\\end{{table}}\n"
    )


def _percent(row: dict[str, Any]) -> str:
    return f"{100 * row['accuracy']:.1f} [{100 * row['low']:.1f}, {100 * row['high']:.1f}]"


def _p(p: float) -> str:
    return "$<.001$" if p < 0.001 else f"${p:.3f}$".replace("0.", ".", 1)
