"""Choices and completions: accuracy, chance, blocks passed, and norms where the user has some.

A model chooses the option whose whole text has the lowest perplexity, exp(-log-probability per
token) (Capone, Suozzi, Lebani and Lenci 2024, BaBIEs, section 3). A tie of k options is worth 1/k
if the target is among them: what a model that drew lots would get on average. A block is passed
with a given share of its items, three of four in TROG-2 (ibid., section 4.2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from scipy import stats

from poshgrid import files, logs
from poshgrid.benchmark.schema import CHOICES, COMPLETIONS
from poshgrid.errors import PoshgridError
from poshgrid.evaluation.judge import TIE
from poshgrid.evaluation.schema import CHOICE_SCORES, COMPLETION_SCORES
from poshgrid.files import Schema
from poshgrid.statistics import norms as norm_tables
from poshgrid.statistics.norms import RUN
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.statistics.tables import escape

RESULT: Schema = {
    "level": pl.String,  # phenomenon, category, suite: all items of it
    "category": pl.String,  # "" for the suite
    "phenomenon": pl.String,  # "" but for level "phenomenon"
    "n": pl.UInt32,  # items
    "raw": pl.Float64,  # items right, a tie of k options counted as 1/k: the raw score
    "ties": pl.UInt32,  # items whose lowest perplexity belongs to several options
    "accuracy": pl.Float64,  # share of items, 0-1
    "low": pl.Float64,  # 95% Wilson interval of the share
    "high": pl.Float64,
    "chance": pl.Float64,  # mean of 1 / options; null for completions, as what follows
    "p": pl.Float64,  # two-sided exact test of raw against chance, uncorrected
    "test": pl.String,  # binomial; poisson-binomial: items differ in the number of options
    "blocks": pl.UInt32,  # null without blocks, as what follows
    "blocks_passed": pl.UInt32,
    "blocks_chance": pl.Float64,  # blocks that guessing passes on average; null for completions
}
"""What is measured of one run."""

MEASURES: Schema = {**RUN, **RESULT}
"""``measures.parquet``: one row per run and level."""

log = logs.get(__name__)


def write(
    runs: Sequence[str],
    scores: Path,
    suite: str,
    items: Path,
    output: Path,
    *,
    norms: Path | None = None,
    block_pass: float = 0.75,
) -> dict[str, Any]:
    """Write what runs achieved on a suite of choices or of completions.

    Args:
        runs: condition/size/learner/regimen/bias/seedN.
        scores: folder of score files: ``{run}/{suite}.parquet`` below it.
        suite: its name.
        items: its table (``CHOICES`` or ``COMPLETIONS``).
        output: folder for measures.parquet, .csv and .tex, and, with norms, norms.parquet and .csv.
        norms: table of norms (:mod:`poshgrid.statistics.norms`).
        block_pass: share of a block's items that passes it, above 0.

    Returns:
        Facts for the manifest.

    Raises:
        PoshgridError: no run, or one that is misnamed; items of another task; faulty scores
            (:func:`measures`) or norms (``read`` and ``compared`` of
            :mod:`poshgrid.statistics.norms`).
    """
    if not runs:
        raise PoshgridError("--spec: runs: nothing to measure; give at least one run")
    table, kind = _read_items(items)
    given = norm_tables.read(norms) if norms else []
    found, silent = [], []
    for run in logs.progress(sorted(runs), "measuring runs"):
        path = Path(scores) / run / f"{suite}.parquet"
        scored = files.read_table(path, kind)
        if scored.is_empty():  # a model that writes nothing has no completions
            silent.append(run)
            continue
        result = measures(scored, table, block_pass=block_pass, name=path)
        axes = {**_axes(run), "suite": suite}
        found.append(
            result.select(
                *(pl.lit(value, dtype=RUN[name]).alias(name) for name, value in axes.items()),
                pl.all(),
            )
        )
    if not found:
        raise PoshgridError(f"suite {suite}: no run has scores; its models write nothing")
    rows = pl.concat(found)
    normed = norm_tables.compared(rows, given, suite, norms) if norms else None
    output = Path(output)
    _write(rows, output, "measures", MEASURES)
    files.write_text(output / "measures.tex", tex(rows))
    for ending in ("parquet", "csv"):  # of an earlier run with norms
        (output / f"norms.{ending}").unlink(missing_ok=True)
    if normed is not None:
        _write(normed, output, "norms", norm_tables.NORMS)
    whole = rows.filter(pl.col("level") == "suite")
    facts = {
        "suite": suite,
        "runs": len(found),
        "silent": silent,
        "items": table["item_id"].n_unique(),
        "ties": int(whole["ties"].sum()),
        "block_pass": block_pass,
        "norms": len(given),
    }
    log.info("%s: %d runs, %d items, %d ties", suite, facts["runs"], facts["items"], facts["ties"])
    return facts


def measures(
    scores: pl.DataFrame,
    items: pl.DataFrame,
    *,
    block_pass: float = 0.75,
    name: str | Path = "scores",
) -> pl.DataFrame:
    """Return what one run achieved on a suite.

    Args:
        scores: columns of ``CHOICE_SCORES`` or ``COMPLETION_SCORES``; only the model that training
            kept counts (``step`` is null).
        items: columns of ``CHOICES`` or ``COMPLETIONS``.
        block_pass: share of a block's items that passes it.
        name: of the scores, for messages.

    Returns:
        The columns of ``RESULT``: phenomena and categories by name, then the suite.

    Raises:
        PoshgridError: an item or option has no score or two, is not in the suite, or has a score
            that is not a number.
    """
    if not 0 < block_pass <= 1:
        raise PoshgridError(f"block_pass is {block_pass:g}; give a share above 0 and at most 1")
    answers = judged(scores, items, name=name)
    passed = _blocks(answers, block_pass)
    rows = []
    for level, keys in (("phenomenon", ["category", "phenomenon"]), ("category", ["category"])):
        for key, members in answers.group_by(keys, maintain_order=True):
            named = dict(zip(keys, key, strict=True))
            blocks = passed.filter(*(pl.col(k) == v for k, v in named.items()))
            rows.append({"level": level, **named, **_result(members, blocks)})
    rows.append({"level": "suite", **_result(answers, passed)})
    order = pl.col("level").replace_strict({"phenomenon": 0, "category": 1, "suite": 2})
    return (
        pl.DataFrame(rows, schema=RESULT)
        .with_columns(pl.col("category", "phenomenon").fill_null(""))
        .sort(order, "category", "phenomenon")
    )


def judged(
    scores: pl.DataFrame, items: pl.DataFrame, *, name: str | Path = "scores"
) -> pl.DataFrame:
    """Return how one run did on every item.

    Args:
        scores: as in :func:`measures`.
        items: as in :func:`measures`.
        name: of the scores, for messages.

    Returns:
        item_id, category, phenomenon, block, credit (1 right, 0 wrong, 1/k in a tie of k options),
        tied (options that share the lowest perplexity), chosen (the first of them; null for
        completions), options (null for completions); sorted by item.

    Raises:
        PoshgridError: as :func:`measures`.
    """
    kept = scores.filter(pl.col("step").is_null()).drop("step")
    if "option" not in items.columns:
        joined = _joined(kept, items, ["item_id"], name)
        return joined.sort("item_id").select(
            *("item_id", "category", "phenomenon", "block"),
            credit=pl.col("correct").cast(pl.Float64),
            tied=pl.lit(1, dtype=pl.UInt32),
            chosen=pl.lit(None, dtype=pl.UInt32),
            options=pl.lit(None, dtype=pl.UInt32),
        )
    joined = _joined(kept, items, ["item_id", "option"], name)
    bad = joined.filter(
        ~pl.col("logprob").is_finite().fill_null(value=False) | (pl.col("tokens").fill_null(0) == 0)
    )
    if bad.height:
        raise PoshgridError(
            f"{name}: {bad.height} options have a score that is not a number or counts no token, "
            f"first of item {bad['item_id'].sort()[0]!r}; check that the run's training loss is "
            "finite, then score the run again (poshgrid score)"
        )
    # The logarithm of perplexity: it orders alike and cannot overflow.
    surprisal = -pl.col("logprob") / pl.col("tokens")
    best = (surprisal <= surprisal.min().over("item_id") + TIE).alias("best")
    return (
        joined.sort("item_id", "option")
        .with_columns(best)
        .group_by("item_id", maintain_order=True)
        .agg(
            pl.first("category", "phenomenon", "block"),
            credit=(pl.col("best") & pl.col("correct")).sum() / pl.col("best").sum(),
            tied=pl.col("best").sum().cast(pl.UInt32),
            chosen=pl.col("option").filter("best").first(),
            options=pl.len().cast(pl.UInt32),
        )
    )


def wilson(correct: float, n: int) -> tuple[float, float]:
    """Return the 95% score interval of a share (Wilson 1927).

    Args:
        correct: items right; may be fractional, as ties are.
        n: items, at least 1.
    """
    z = float(stats.norm.ppf(0.975))
    share, shrink = correct / n, 1 + z**2 / n
    middle = (share + z**2 / (2 * n)) / shrink
    half = z / shrink * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def against_chance(correct: float, chances: Sequence[float]) -> tuple[float, str]:
    """Return the two-sided p of an exact test of the items right against guessing.

    As many items right as guessing makes as improbable, or more so, count as extreme, as in
    scipy's ``binomtest``. A fractional number (ties) is tested as both its neighbours, and the
    larger p is given.

    Args:
        correct: items right.
        chances: of each item, the probability of guessing it: 1 / options.

    Returns:
        p, and the distribution under guessing: ``binomial``, or ``poisson-binomial`` where items
        differ in their chance.
    """
    # Thirds do not add up to whole numbers in floating point.
    counts = {math.floor(correct + 1e-9), math.ceil(correct - 1e-9)}
    if len(set(chances)) == 1:
        tests = [stats.binomtest(k, len(chances), chances[0]).pvalue for k in counts]
        return float(max(tests)), "binomial"
    pmf = stats.poisson_binom.pmf(range(len(chances) + 1), list(chances))
    found = [pmf[pmf <= pmf[k] * (1 + 1e-7)].sum() for k in counts]
    return min(1.0, float(max(found))), "poisson-binomial"


def tex(rows: pl.DataFrame) -> str:
    """Return LaTeX (booktabs) of the measures by category and of the whole suite.

    Args:
        rows: columns of ``MEASURES``.
    """
    kept = rows.filter(pl.col("level") != "phenomenon")
    # Axes with one value would only widen the table.
    axes = [axis for axis in (*RUN_AXES, "seed") if kept[axis].n_unique() > 1]
    choices, blocks = (kept[column].count() > 0 for column in ("chance", "blocks"))
    header = [*axes, "category", "raw", r"\%", r"95\,\% CI"]
    header += ["chance", "$p$"] * choices + ["blocks"] * blocks
    lines = [" & ".join(header) + r" \\", r"\midrule"]
    for row in kept.iter_rows(named=True):
        cells = [escape(str(row[axis])) for axis in axes]
        cells += [
            escape(row["category"]) if row["level"] == "category" else r"\emph{all}",
            f"{row['raw']:.4g}/{row['n']}",
            f"{100 * row['accuracy']:.1f}",
            f"$[{100 * row['low']:.1f}, {100 * row['high']:.1f}]$",
        ]
        if choices:
            cells += [f"{100 * row['chance']:.1f}", _p(row["p"])]
        if blocks:
            counted = row["blocks"] is not None
            cells.append(f"{row['blocks_passed']}/{row['blocks']}" if counted else "")
        lines.append(" & ".join(cells) + r" \\")
    kinds = "l" * (len(axes) + 1) + "r" * (len(header) - len(axes) - 1)
    suite = escape(", ".join(rows["suite"].unique().sort()))
    tests = sorted({t for t in kept["test"] if t})
    note = f" $p$: two-sided exact test against guessing ({', '.join(tests)}), uncorrected."
    return "\n".join([
        r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", *lines,
        r"\bottomrule", r"\end{tabular}",
        rf"\caption{{{suite}. Wilson intervals over items.{note if choices else ''}}}",
        r"\end{table}", "",
    ])  # fmt: skip


# ---- parts ---------------------------------------------------------------------------------------


def _read_items(path: str | Path) -> tuple[pl.DataFrame, Schema]:
    """Return a suite's table and the contract of its scores."""
    try:
        columns = pl.read_parquet_schema(path)
    except (pl.exceptions.PolarsError, OSError):
        columns = CHOICES  # reading it will say what is wrong
    schema, kind = (
        (COMPLETIONS, COMPLETION_SCORES) if "prompt" in columns else (CHOICES, CHOICE_SCORES)
    )
    items = files.read_table(path, schema)
    if items.is_empty():
        raise PoshgridError(f"{path}: no items; check the suite's file and make it again")
    return items, kind


def _joined(
    scores: pl.DataFrame, items: pl.DataFrame, key: list[str], name: str | Path
) -> pl.DataFrame:
    """Join scores to items, one to one."""
    again = "score the run again (poshgrid score)"
    what = "options" if "option" in key else "items"

    def first(frame: pl.DataFrame) -> str:
        return repr(frame["item_id"].sort()[0])

    twice = scores.filter(pl.struct(key).is_duplicated())
    if twice.height:
        raise PoshgridError(f"{name}: item_id {first(twice)} is scored twice; {again}")
    unscored = items.join(scores, on=key, how="anti")
    if unscored.height:
        raise PoshgridError(
            f"{name}: {unscored.height} of {items.height} {what} have no score, first of item "
            f"{first(unscored)}; {again}"
        )
    unknown = scores.join(items, on=key, how="anti")
    if unknown.height:
        raise PoshgridError(
            f"{name}: {unknown.height} scored {what} are not in the suite, first of item "
            f"{first(unknown)}: the items have changed since; {again}"
        )
    return items.join(scores, on=key)


def _blocks(answers: pl.DataFrame, block_pass: float) -> pl.DataFrame:
    """Return category, phenomenon, block, passed and the chance that guessing passes it."""
    rows = []
    blocks = answers.filter(pl.col("block") != "").group_by("category", "block")
    for (category, block), members in blocks:
        n = members.height
        needed = math.ceil(block_pass * n - 1e-9)  # .75 of 4 is 3, whatever floats make of it
        guessed = None
        if members["options"].null_count() == 0:
            chances = (1 / members["options"]).to_list()
            guessed = float(stats.poisson_binom.sf(needed - 1, chances))
        rows.append(
            {
                "category": category,
                "phenomenon": members["phenomenon"][0],
                "block": block,
                "passed": members["credit"].sum() >= needed - 1e-9,
                "guessed": guessed,
            }
        )
    kinds = dict.fromkeys(("category", "phenomenon", "block"), pl.String)
    schema = {**kinds, "passed": pl.Boolean, "guessed": pl.Float64}
    return pl.DataFrame(rows, schema=schema).sort("category", "block")


def _result(members: pl.DataFrame, blocks: pl.DataFrame) -> dict[str, Any]:
    """Return the numbers of a row of ``RESULT``."""
    n, raw = members.height, math.fsum(members["credit"])
    low, high = wilson(raw, n)
    row: dict[str, Any] = {
        "n": n,
        "raw": raw,
        "ties": members.filter(pl.col("tied") > 1).height,
        "accuracy": raw / n,
        "low": low,
        "high": high,
        "test": "",
    }
    if members["options"].null_count() == 0:
        chances = (1 / members["options"]).to_list()
        row["chance"] = math.fsum(chances) / n
        row["p"], row["test"] = against_chance(raw, chances)
    if blocks.height:
        row["blocks"], row["blocks_passed"] = blocks.height, int(blocks["passed"].sum())
        if blocks["guessed"].null_count() == 0:
            row["blocks_chance"] = math.fsum(blocks["guessed"])
    return row


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


def _write(rows: pl.DataFrame, output: Path, name: str, schema: Schema) -> None:
    files.write_table(rows, output / f"{name}.parquet", schema)
    with files.atomic(output / f"{name}.csv") as temporary:
        rows.write_csv(temporary, float_precision=6)


def _p(p: float) -> str:
    return "$<.001$" if p < 0.001 else f"{p:.3f}".removeprefix("0")
