"""The accuracy of models without syntax on a suite, with intervals.

Pairs are not independent: those of a lexical set share their words, so that a model of word counts
is right on all or none of them; untrained models with other seeds prefer other words. Therefore the
exact interval of Clopper and Pearson (1934) is computed with the *effective* number of pairs (Korn
and Graubard 1998, "Confidence intervals for proportions with small expected number of positive
counts estimated from survey data", Survey Methodology 24): the number of independent pairs with the
same variance. The interval is exact for independent pairs, valid for few pairs, and never narrower
than for independent pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from poshgrid import files
from poshgrid.config import runs as points
from poshgrid.evaluation import judgements

if TYPE_CHECKING:
    from poshgrid.config import Scoring

LEVEL = 0.05  # for 95% intervals


def interval(
    right: Sequence[float], pairs: Sequence[float], runs: Sequence[float] = ()
) -> tuple[float, float] | None:
    """Return the 95% interval of a share of pairs.

    Args:
        right: right pairs in each lexical set, mean over runs; a tie is half.
        pairs: number of pairs in each set.
        runs: accuracies of the runs, if they are a random sample (seeds); their variance is then
            included. With one run their variance is unknown and left out.

    Returns:
        None with fewer than two sets, whose variance is unknown.
    """
    sets = len(pairs)
    if sets < 2:
        return None
    correct, n = np.asarray(right, float), np.asarray(pairs, float)
    total = float(n.sum())
    share = float(correct.sum()) / total
    residuals = (correct - share * n) / total
    parts = [(sets / (sets - 1) * float(residuals @ residuals), sets - 1)]
    if len(runs) > 1:
        parts.append((float(np.var(runs, ddof=1)) / len(runs), len(runs) - 1))
    return _clopper_pearson(share, _effective(share, total, sets, parts))


def _effective(share: float, total: float, sets: int, parts: list[tuple[float, int]]) -> float:
    """Return the number of independent pairs with the same variance of the share.

    Args:
        share: share of right pairs.
        total: number of pairs.
        sets: number of lexical sets.
        parts: (variance of the share, degrees of freedom) of each independent source of variance.
    """
    from scipy.stats import t

    variance = sum(part for part, _ in parts)
    if variance <= 0 or not 0 < share < 1:
        # All sets agree: all pairs are right or wrong (each set counts as one pair), or all tie
        return float(sets) if share in (0, 1) else total
    # Satterthwaite (1946), and Korn and Graubard's correction for an estimated variance
    freedom = variance**2 / sum(part**2 / df for part, df in parts)
    known, estimated = (float(t.ppf(1 - LEVEL / 2, df)) for df in (max(total - 1, 1), freedom))
    return min(total, share * (1 - share) / variance * (known / estimated) ** 2)


def _clopper_pearson(share: float, n: float) -> tuple[float, float]:
    from scipy.stats import beta

    right, wrong = share * n, (1 - share) * n
    low = float(beta.ppf(LEVEL / 2, right, wrong + 1)) if right > 0 else 0.0
    high = float(beta.ppf(1 - LEVEL / 2, right + 1, wrong)) if wrong > 0 else 1.0
    return low, high


def beyond(bounds: tuple[float, float] | None, tolerance: float) -> bool:
    """Return whether the whole interval is further than ``tolerance`` from one half."""
    return bounds is not None and (bounds[0] > 0.5 + tolerance or bounds[1] < 0.5 - tolerance)


_RUN = ("category", "phenomenon", "baseline", "condition", "size", "model", "seed")
SETS: files.Schema = {
    **dict.fromkeys(_RUN, pl.String),  # baseline: one of `poshgrid.config.runs.BASELINES`
    "lexical_set": pl.String,
    "pairs": pl.UInt32,
    "right": pl.Float64,  # right pairs; a tie is half
}
"""Results of a run on a lexical set of a phenomenon."""


def judged(items: pl.DataFrame, scores: Mapping[str, Path], scoring: Scoring) -> pl.DataFrame:
    """Judge the baselines, and return their results on each lexical set (``SETS``).

    Args:
        items: the columns of ``PAIRS``.
        scores: "condition/size/model/recipe/bias/seedN" -> its scores (``SCORES``); recipe
            ``untrained``, or ``counted`` with the model one of ``WORD_BASELINES``.
        scoring: how scores are compared.

    Raises:
        PoshgridError: a file is broken, its items are not the suite's, or a score is not a number.
    """
    frames = [pl.DataFrame(schema=SETS)]
    for name, path in sorted(scores.items()):
        run = points.Run.parse(name)
        kind = run.model if run.recipe == points.COUNTED else run.recipe
        frames.append(
            judgements.judged(path, items, scoring)
            .group_by("category", "phenomenon", "lexical_set")
            .agg(pairs=pl.len(), right=pl.col("correct").sum())
            .with_columns(
                baseline=pl.lit(kind),
                condition=pl.lit(run.condition),
                size=pl.lit(run.size),
                model=pl.lit(run.model),
                seed=pl.lit(str(run.seed)),
            )
            .select(list(SETS))
            .cast(pl.Schema(SETS))
        )
    return pl.concat(frames).sort(*_RUN, "lexical_set")


def accuracies(sets: pl.DataFrame) -> pl.DataFrame:
    """Return the accuracy of each run on each phenomenon, from results on sets (``SETS``)."""
    return sets.group_by(_RUN, maintain_order=True).agg(
        accuracy=pl.col("right").sum() / pl.col("pairs").sum()
    )


def summarise(
    sets: pl.DataFrame, items: pl.DataFrame, tolerance: float, corpora: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the results of each kind of baseline on each phenomenon, in the order of the items.

    Args:
        sets: from :func:`judged`.
        items: the columns of ``PAIRS``.
        tolerance: a baseline is flagged if its whole interval on a corpus is further than this from
            50%.
        corpora: condition -> corpus; other conditions are corpora of their own.

    Returns:
        Dictionaries with phenomenon; baseline; mean (over cells, that is condition and size, of the
        mean over their runs); corpora (corpus -> mean over runs, low and high of the 95% interval
        over lexical sets, for untrained models also over seeds, and flagged); flagged (on any
        corpus).
    """
    sets = sets.with_columns(corpus=pl.col("condition").replace(dict(corpora)))
    parts = sets.partition_by("category", "phenomenon", "baseline", as_dict=True)
    summary = []
    for key in items.select("category", "phenomenon").unique(maintain_order=True).iter_rows():
        for kind in points.BASELINES:
            if (part := parts.get((*key, kind))) is None:
                continue
            of_corpora = {
                str(corpus): _of_corpus(kind, of_corpus, tolerance)
                for (corpus,), of_corpus in part.group_by("corpus", maintain_order=True)
            }
            cells = (
                accuracies(part)
                .group_by("condition", "size", maintain_order=True)
                .agg(pl.col("accuracy").mean())
            )
            summary.append(
                {
                    "phenomenon": key[1],
                    "baseline": kind,
                    "mean": cells["accuracy"].mean(),
                    "corpora": of_corpora,
                    "flagged": any(of["flagged"] for of in of_corpora.values()),
                }
            )
    return summary


def _of_corpus(kind: str, sets: pl.DataFrame, tolerance: float) -> dict[str, Any]:
    """Return the mean, interval and flag of a baseline's runs on one corpus, equally weighted."""
    by_set = (
        sets.group_by("lexical_set")
        .agg(pl.col("right").mean(), pl.col("pairs").first())
        .sort("lexical_set")
    )
    shares = accuracies(sets)["accuracy"]
    # Only seeds are a random sample: the sizes of a corpus are nested.
    sampled = shares.to_list() if kind == points.UNTRAINED else ()
    bounds = interval(by_set["right"].to_list(), by_set["pairs"].to_list(), sampled)
    low, high = bounds or (None, None)
    flagged = beyond(bounds, tolerance)
    return {"mean": shares.mean(), "low": low, "high": high, "flagged": flagged}
