"""Is a phenomenon learned: above 50%, and above the best rival, over sets and seeds.

Rivals know no syntax, or a wrong one: the nulls of the same condition and size, and rules that
choose a member of each pair. They judge the pairs that a model judges, so that differences are
taken set by set.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from poshgrid import files
from poshgrid.config.runs import REFERENCE
from poshgrid.errors import PoshgridError
from poshgrid.evaluation.judgements import JOINED
from poshgrid.rules import predictions
from poshgrid.rules.schema import RULES
from poshgrid.statistics import intervals, nulls, tests
from poshgrid.statistics.intervals import SetSums
from poshgrid.statistics.schema import RUN_AXES

SURE = 0.025  # one-sided: a 95% interval leaves 0 out
FOUND = {
    "rival": pl.String, "rival_mean": pl.Float64, "above_rival": pl.Float64,
    "above_rival_low": pl.Float64, "above_rival_high": pl.Float64, "learned": pl.Boolean,
}  # fmt: skip


def read_rules(path: Path, pairs: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return what each rule but the hierarchical ones makes of a suite: item_id, correct.

    Ids are those of judged rows.
    A rule that has no say tosses a coin, .5. Pairs that are judged as one are one choice: the
    member that the rule prefers in most of them.

    Args:
        path: columns of ``RULES``.
        pairs: the suite's, columns of ``ITEMS``.

    Raises:
        PoshgridError: the file is missing, or its pairs are not those of the suite.
    """
    rows = files.read_table(path, RULES)
    unknown = rows.join(pairs, on="item_id", how="anti")
    if unknown.height:
        raise PoshgridError(
            f"{path}: pair {unknown['item_id'].sort()[0]!r} is not in the suite: the items have "
            "changed since; run `poshgrid run -R rule_preferences`"
        )
    wrong = rows.filter(~pl.col("hierarchical"))
    said = predictions.of_words(wrong, pairs)
    joint = pairs.filter("joint").group_by(JOINED).agg(pl.col("item_id").min())
    judged = pl.concat([one.select("item_id") for one in (pairs.filter(~pl.col("joint")), joint)])
    judged = judged.sort("item_id")
    return {
        rule: judged.join(
            said.filter(rule=rule), on="item_id", how="left", maintain_order="left"
        ).select("item_id", correct=pl.col("prefers").fill_null(0.5))
        for rule in wrong["rule"].unique().sort()
    }


def against(sums: SetSums, rules: Mapping[str, np.ndarray], seeds: pl.DataFrame) -> pl.DataFrame:
    """Set every trained point beside its best rival, phenomenon by phenomenon.

    The rival is the one that is right most often there (50% if all are worse: a coin). A
    difference has two sources of error, which sets were made and which seeds were run
    (:func:`intervals.difference`). With one seed nothing is known of the second, and whether it is
    learned is null.

    ``learned``: above 50% and above the rival. Both must hold, so that the larger p counts and
    needs no correction for two tests (Berger 1982, Technometrics 24); over the phenomena of a model
    it is Holm's (p < .025, one-sided).

    Args:
        sums: of one suite.
        rules: rule -> pairs that it has right, set by set, as rows of ``sums``.
        seeds: the columns of a point, category, phenomenon, mean, sd, n_seeds.

    Returns:
        The columns of a point, suite, category, phenomenon, and those of ``FOUND``.
    """
    points = sums.points.to_dicts()
    place = ["category", "phenomenon"]
    known = seeds.rows_by_key([*RUN_AXES, *place], named=True, unique=True)
    strata = [
        (*key, rows["row"].to_numpy())
        for key, rows in sums.sets.with_row_index("row")
        .sort(place, maintain_order=True)
        .group_by(place, maintain_order=True)
    ]
    pairs = sums.sets["n"].to_numpy().astype(float)
    rows: list[dict[str, Any]] = []
    for i, point in enumerate(points):
        if point["regimen"] in REFERENCE:
            continue
        rivals = {
            null: sums.correct[:, j] / points[j]["seeds"]
            for null, j in nulls.of_point(point, points)
        } | dict(rules)
        mine = sums.correct[:, i] / point["seeds"]
        column = []
        for category, phenomenon, at in strata:
            n = pairs[at]
            means = {
                name: right[at].sum() / n.sum()
                for name, right in rivals.items()
                if not np.array_equal(right[at], 0.5 * n)  # without a say: a coin by another name
            }
            best = max(means, key=lambda name: means[name], default="")
            over = known[(*(point[axis] for axis in RUN_AXES), category, phenomenon)]
            parts = [_above(mine[at] - 0.5 * n, n, over)]
            if not best or means[best] < tests.CHANCE:
                best, means = "50%", {"50%": tests.CHANCE}
            else:
                parts.append(_above(mine[at] - rivals[best][at], n, over))
            above = parts[-1]
            column.append(
                {
                    **{axis: point[axis] for axis in RUN_AXES},
                    "suite": sums.suite,
                    "category": category,
                    "phenomenon": phenomenon,
                    "rival": best,
                    "rival_mean": float(means[best]),
                    "above_rival": above.mean,
                    "above_rival_low": above.low,
                    "above_rival_high": above.high,
                    "p": max((part.p for part in parts if part.p is not None), default=None),
                }
            )
        corrected = iter(tests.holm([row["p"] for row in column if row["p"] is not None]))
        for row in column:
            row["learned"] = None if row.pop("p") is None else bool(next(corrected) < SURE)
        rows += column
    texts = dict.fromkeys((*RUN_AXES, "suite", "category", "phenomenon"), pl.String)
    return pl.DataFrame(rows, schema={**texts, **FOUND})


def _above(difference: np.ndarray, n: np.ndarray, over: dict[str, Any]) -> intervals.Difference:
    """Return a mean difference by pair; its interval, if there are several seeds."""
    if over["sd"] is None:
        return intervals.Difference(float(difference.sum() / n.sum()), None, None, None)
    return intervals.difference(difference, n, [(over["sd"], over["n_seeds"])])
