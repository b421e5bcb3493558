"""Choices and completions: accuracy, chance, passed blocks, and comparison with norms.

A model chooses the option whose whole text has the lowest perplexity, exp(-log-probability per
token) (Capone, Suozzi, Lebani and Lenci 2024, BaBIEs, section 3); in items with a context, the most
probable option (BabyLM 2025). A tie of k options counts as 1/k if the target is among them: the
average credit of a random choice among them. A block is passed if three quarters of its items are
right, three of four in TROG-2 (ibid., section 4.2).

Items may have tags (*negation*, *passive*): how many negative clauses of all tests are right, and
how many negative passives (ibid., section 5).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from scipy import stats

from poshgrid.benchmark import schema as benchmark
from poshgrid.config.specs import MeasuresSpec
from poshgrid.core import files, formats
from poshgrid.core.errors import PoshgridError
from poshgrid.evaluation import schema as evaluation
from poshgrid.evaluation.judgements import TIE, matched
from poshgrid.statistics import intervals
from poshgrid.statistics.measures import norms as standings
from poshgrid.statistics.measures import scores as scored
from poshgrid.statistics.measures.schema import (
    ANSWERS,
    CHOICE_MEASURES,
    CHOICE_RESULT,
    NORMS,
    RUN,
    TAGS,
)

_COUNTS = ("n", "raw", "n_rest", "raw_rest")
BLOCK_PASS = 0.75
"""A block is passed if at least this share of its items is right."""


def write(
    spec: MeasuresSpec, scores: Path, items: Path, output: Path, norms: Path | None = None
) -> dict[str, Any]:
    """Measure all runs of a target on a suite of choices or of completions.

    Args:
        spec: the suite and the runs.
        scores: folder of score files: ``{run}/{suite}.parquet`` below it.
        items: the suite's table (``CHOICES`` or ``COMPLETIONS``).
        output: folder for measures and answers; norms, if there is a table of norms; and tags, if
            items have tags (.parquet, .csv).
        norms: table of norms (:mod:`poshgrid.statistics.measures.norms`); None: no norms.

    Returns:
        Facts for the manifest.

    Raises:
        PoshgridError: no model can generate text, or scores (:func:`judged`) or norms
            (:func:`norms.read`, :func:`norms.compared`) are faulty.
    """
    suite = spec.suite
    table = files.read_table(items, benchmark.TASKS[spec.task])
    normed_tests = standings.read(norms) if norms else []
    results, shown_answers, tagged, silent = [], [], [], []
    for run, path, rows in scored.of_runs(spec, scores, evaluation.TASKS[spec.task]):
        if rows.is_empty():  # a model that cannot generate text has no completions
            silent.append(run)
            continue
        answers = judged(rows, table, path)
        results.append(scored.named(run, suite, measures(answers)))
        shown_answers.append(scored.named(run, suite, shown(answers, rows, table)))
        tagged.append(scored.named(run, suite, crossed(answers, table)))
    if not results:
        raise PoshgridError(f"suite {suite}: no run has scores; its models cannot generate text")
    achieved = pl.concat(results)
    normed = standings.compared(achieved, normed_tests, suite, norms) if norms else None
    output = Path(output)
    formats.write(achieved, output, "measures", CHOICE_MEASURES)
    formats.write(pl.concat(shown_answers), output, "answers", ANSWERS)
    by_tag = pl.concat(tagged)
    optional = {"norms": (normed, NORMS), "tags": (by_tag if by_tag.height else None, TAGS)}
    for name, (frame, schema) in optional.items():
        for ending in ("parquet", "csv"):  # remove the table of an earlier run
            (output / f"{name}.{ending}").unlink(missing_ok=True)
        if frame is not None:
            formats.write(frame, output, name, schema)
    whole = achieved.filter(level="suite")
    return {"runs": len(results), "silent": silent, "ties": int(whole["ties"].sum())}


def judged(scores: pl.DataFrame, items: pl.DataFrame, where: str | Path) -> pl.DataFrame:
    """Judge one run on every item.

    Args:
        scores: columns of ``CHOICE_SCORES`` or ``COMPLETION_SCORES``. Rows of checkpoints (``step``
            not null) are ignored.
        items: columns of ``CHOICES`` or ``COMPLETIONS``.
        where: name of the scores in messages.

    Returns:
        item_id, category, phenomenon, block, credit (1 right, 0 wrong, 1/k in a tie of k options),
        tied (number of options with the lowest perplexity), chosen (number of the first of them;
        null for completions), options (their number; null for completions), people (share of people
        who choose the first option; null: unknown), margin (log-probability of the first option
        minus that of the others together; null for completions); sorted by item.

    Raises:
        PoshgridError: an item or option has no score or two scores, is not in the suite, or has a
            score that is not a number.
    """
    joined = matched(scores.filter(pl.col("step").is_null()), items, where)
    if "option" not in items.columns:
        return joined.sort("item_id").select(
            *("item_id", "category", "phenomenon", "block"),
            credit=pl.col("correct").cast(pl.Float64),
            tied=pl.lit(1, dtype=pl.UInt32),
            chosen=pl.lit(None, dtype=pl.UInt32),
            options=pl.lit(None, dtype=pl.UInt32),
            people=pl.lit(None, dtype=pl.Float64),
            margin=pl.lit(None, dtype=pl.Float64),
        )
    # The logarithm of perplexity has the same order and cannot overflow. After a context, the sum.
    summed = (pl.col("context") > 0) | pl.col("people").is_not_null()
    tokens, logprob = pl.col("tokens"), pl.col("logprob")
    others = logprob.slice(1)
    surprisal = -pl.col("logprob") / pl.when(summed).then(1).otherwise(tokens)
    tie = TIE * pl.when(summed).then(tokens.max().over("item_id")).otherwise(1)
    best = (surprisal <= surprisal.min().over("item_id") + tie).alias("best")
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
            people=pl.col("people").first(),
            # Its order over items is that of the first option's probability among its options.
            margin=logprob.first() - others.max() - (others - others.max()).exp().sum().log(),
        )
    )


def measures(answers: pl.DataFrame) -> pl.DataFrame:
    """Return the results of one run on a suite.

    Args:
        answers: from :func:`judged`.

    Returns:
        The columns of ``CHOICE_RESULT``: phenomena and categories, sorted by name, then the suite.
    """
    levels = {"phenomenon": ["category", "phenomenon"], "category": ["category"], "suite": []}
    rows = [
        {"level": level, **dict(zip(keys, key, strict=True)), **_result(members)}
        for level, keys in levels.items()
        for key, members in (
            answers.partition_by(keys, as_dict=True) if keys else {(): answers}
        ).items()
    ]
    order = pl.col("level").cast(pl.Enum(list(levels)))
    return (
        pl.DataFrame(rows, schema=CHOICE_RESULT)
        .with_columns(pl.col("category", "phenomenon").fill_null(""))
        .sort(order, "category", "phenomenon")
    )


def shown(answers: pl.DataFrame, scores: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Return a run's wrong answers; for completions, all answers.

    Args:
        answers: from :func:`judged`.
        scores: as in :func:`judged`.
        items: as in :func:`judged`.

    Returns:
        The columns of ``ANSWERS`` without those of ``RUN``.
    """
    if "option" in items.columns:
        chosen = items.select("item_id", chosen="option", answer="text")
        target = items.filter("correct").select("item_id", right="text")
        wrong = answers.filter(pl.col("credit") == 0)
        named = wrong.join(chosen, on=["item_id", "chosen"], maintain_order="left")
    else:
        written = scores.filter(pl.col("step").is_null()).select("item_id", answer="completion")
        target = items.select("item_id", right=pl.col("accepted").list.join("|"))
        named = answers.join(written, on="item_id", maintain_order="left")
    both = named.join(target, on="item_id", maintain_order="left")
    columns = [name for name in ANSWERS if name not in RUN]
    return both.with_columns(correct=pl.col("credit") > 0).select(columns)


def against_chance(correct: float, chances: Sequence[float]) -> tuple[float, str]:
    """Return the two-sided p of an exact test of the items right against guessing.

    Numbers that are as improbable under guessing as the observed number, or more improbable, count
    as extreme, as in scipy's ``binomtest``. A fractional number (ties) is rounded down and up, and
    the larger of the two p values is returned.

    Args:
        correct: number of items right.
        chances: the probability of guessing each item: 1 / options.

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
    tails = [pmf[pmf <= pmf[k] * (1 + 1e-7)].sum() for k in counts]
    return min(1.0, float(max(tails))), "poisson-binomial"


def _result(members: pl.DataFrame) -> dict[str, Any]:
    """Return the numbers of a row of ``CHOICE_RESULT``."""
    n, raw = members.height, math.fsum(members["credit"])
    low, high = intervals.wilson(raw, n)
    with_people = members.drop_nulls("people")
    row: dict[str, Any] = {
        "n": n,
        "raw": raw,
        "ties": members.filter(pl.col("tied") > 1).height,
        "accuracy": raw / n,
        "low": low,
        "high": high,
        "test": "",
    }
    if with_people["people"].n_unique() > 1 and with_people["margin"].n_unique() > 1:
        row["people_rho"] = float(stats.spearmanr(with_people["margin"], with_people["people"])[0])
    choices = members["options"].null_count() == 0
    if choices:
        chances = (1 / members["options"]).to_list()
        row["chance"] = math.fsum(chances) / n
        row["p"], row["test"] = against_chance(raw, chances)
    blocks = members.filter(pl.col("block") != "").partition_by("category", "block")
    if blocks:
        # 1e-9: rounding errors must not make three of four too few
        needed = [math.ceil(BLOCK_PASS * len(block) - 1e-9) for block in blocks]
        pairs = list(zip(blocks, needed, strict=True))
        row["blocks"] = len(blocks)
        row["blocks_passed"] = sum(b["credit"].sum() >= least - 1e-9 for b, least in pairs)
        if choices:
            row["blocks_chance"] = math.fsum(
                stats.poisson_binom.sf(least - 1, (1 / b["options"]).to_list())
                for b, least in pairs
            )
    return row


# ---- subsets of items ----------------------------------------------------------------------------


def crossed(answers: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Return the results of one run on the items of each tag, and of each pair of tags.

    Args:
        answers: item_id and credit of every item.
        items: columns of ``CHOICES`` or ``COMPLETIONS``.

    Returns:
        The columns of ``TAGS`` without ``RUN``; empty if items have no tags.
    """
    tags = items.group_by("item_id").agg(pl.first("tags"))
    tagged = answers.select("item_id", "credit").join(tags, on="item_id").sort("item_id")
    names = tagged["tags"].explode().drop_nulls().unique().sort().to_list()
    rows = []
    for tag, other in itertools.product(names, ["", *names]):
        has = pl.col("tags").list.contains(tag)
        # Items with a tag are compared with those without it, and items with both tags with those
        # that have the first tag only.
        mine, among = (has, pl.lit(value=True)) if not other else (
            has & pl.col("tags").list.contains(other), has
        )  # fmt: skip
        members, rest = (tagged.filter(among & side)["credit"] for side in (mine, ~mine))
        if tag != other and len(members):
            sums = (len(members), math.fsum(members), len(rest), math.fsum(rest))
            rows.append((tag, other, *sums))
    schema = {name: TAGS[name] for name in ("tag", "other", *_COUNTS)}
    return tested(pl.DataFrame(rows, schema=schema, orient="row"))


def tested(counts: pl.DataFrame) -> pl.DataFrame:
    """Add accuracy, its interval and the test to counts.

    Args:
        counts: tag, other, n, raw, n_rest, raw_rest; further columns are kept.
    """
    results = []
    for n, raw, n_rest, raw_rest in counts.select(_COUNTS).iter_rows():
        results.append((raw / n, *intervals.wilson(raw, n), between(raw, n, raw_rest, n_rest)))
    kinds = dict.fromkeys(("accuracy", "low", "high", "p"), pl.Float64)
    both = counts.hstack(pl.DataFrame(results, schema=kinds, orient="row"))
    return both.select(name for name in TAGS if name in both.columns)


def pooled(tags: pl.DataFrame) -> pl.DataFrame:
    """Return the subsets of runs over all their suites.

    Args:
        tags: columns of ``TAGS``, of any number of suites.
    """
    key = [*(name for name in RUN if name != "suite"), "tag", "other"]
    counts = tags.group_by(key, maintain_order=True).agg(pl.col(_COUNTS).sum())
    return tested(counts.sort(key))


def between(raw: float, n: int, raw_rest: float, n_rest: int) -> float | None:
    """Return the two-sided p of Fisher's exact test of two shares; None if one has no items.

    Fractional numbers (ties) are rounded down and up, and the largest p value is returned.
    """
    if not n or not n_rest:
        return None
    whole = [{math.floor(v + 1e-9), math.ceil(v - 1e-9)} for v in (raw, raw_rest)]
    return max(
        float(stats.fisher_exact([[a, n - a], [b, n_rest - b]]).pvalue)
        for a, b in itertools.product(*whole)
    )
