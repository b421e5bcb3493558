"""Which heuristic, if any, explains the choices of a target's models?

The *unlisted* share (column ``shared``) is the share of choices that seeds make alike beyond what
the listed heuristics predict. A heuristic, or a group of heuristics that disagree on fewer than ten
lexical sets, is *named* if

1. it surely explains more than half of the choices: the lower end of the interval is above 50%;
2. the unlisted share is surely small: the upper end of its interval is below a third;
3. the other heuristics fit clearly worse without it: the deviance rises by more than 6.63
   (chi-square, one degree of freedom, p = .01).

Otherwise the verdict is

- *no listed heuristic*: the unlisted share is surely above a third, or condition 1 surely fails
  (the upper end of the interval is below 50%);
- *seeds differ*: condition 2 holds, and two seeds surely follow different heuristics, or one seed
  follows a heuristic that another surely does not follow;
- *guessing*: there are two or more seeds, the share of good members is between 40 and 60% with its
  whole interval, and neither test rejects coin tosses (twice the smaller p is at least .01);
- *cannot tell*: all other cases, and always with fewer than ten lexical sets or with one seed.

Why a third: suppose that models follow an unlisted heuristic that agrees with the named one on a
share ``1 - d`` of the pairs, and that ``e`` of the choices are against it. Then the unlisted share
is ``2 (1 - 2e) sqrt(d (1 - d))``. With e = .1 it reaches a third at d = .05. So a name means: this
heuristic, or one that makes the same choice on at least some 95% of these pairs.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import sparse

from poshgrid.config.runs import COUNTED, words_of
from poshgrid.config.specs import HeuristicSharesSpec
from poshgrid.core import formats
from poshgrid.evaluation import judgements
from poshgrid.evaluation.heuristics import mixture, schema
from poshgrid.evaluation.heuristics import table as heuristics_table
from poshgrid.models.ngram import NGram
from poshgrid.statistics import levels
from poshgrid.statistics.schema import RUN_AXES

REPLICATES = 1_000
SEED = 42
"""Of the bootstrap. It is no key of the configuration: with one seed, intervals are comparable."""
MOST = 0.5
"""A named heuristic surely explains more than this share of the choices."""
TOLERANCE = 1 / 3
"""If a heuristic is named, the interval of the unlisted share ends below this.
docs/lab/heuristics.md measures which heuristics it can separate."""
LEVEL = 0.01
"""Significance level of the tests of coin tosses."""
NEARLY = 6.63
"""Deviances that differ by less (chi-square, one degree of freedom, p = .01) are nearly equal."""
COIN = 0.1
"""The share of good members is near one half if its interval is within this distance from it."""


class Phenomenon(NamedTuple):
    """The choices of an arm's seeds in a phenomenon, and those of the heuristics."""

    names: dict[str, str]  # suite, category, phenomenon
    sets: np.ndarray  # pairs: number of the lexical set
    chose: np.ndarray  # pairs x seeds: 1 the good member, 0 the bad one, .5 a tie
    heuristics: list[str]  # those that decide on at least one pair
    says: np.ndarray  # heuristics x pairs: choice of the heuristic; NaN: it does not decide
    words: np.ndarray  # pairs x 2: the first words in which the good and the bad member differ


def write(
    spec: HeuristicSharesSpec,
    scores: Path,
    models: Path,
    items: dict[str, Path],
    tables: dict[str, Path],
    output: Path,
) -> dict[str, Any]:
    """Write which heuristics explain the choices of a target's runs.

    Args:
        spec: the runs, and how two scores become a choice.
        scores: folder of score files: ``{run}/{suite}.parquet`` below it.
        models: folder of models; the unigram baselines give the counts of words in the text.
        items: suite -> its table of pairs.
        tables: suite -> the choices of the heuristics (``HEURISTICS``).
        output: folder for the two tables, as .parquet and .csv.

    Returns:
        Numbers of arms and of replicates.

    Raises:
        PoshgridError: see :func:`judgements.judged`.
    """
    schemas = {"mixture": schema.MIXTURE, "verdicts": schema.VERDICTS}
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in schemas}
    arms = set()
    for suite, path in sorted(items.items()):
        pairs = judgements.read_items(path)
        for axes, choices in _phenomena(spec, scores, models, suite, pairs, tables[suite]):
            arms.add(tuple(axes.values()))
            drawn, names_of = times(choices), choices.names
            weights, verdict = mixed(choices, drawn)
            rows["mixture"] += [{**axes, **names_of, **row} for row in weights]
            rows["verdicts"].append({**axes, **names_of, **verdict})
    for name, of in schemas.items():
        formats.write(pl.DataFrame(rows[name], schema=of), Path(output), name, of)
    return {"models": len(arms), "replicates": REPLICATES}


def _phenomena(
    spec: HeuristicSharesSpec,
    scores: Path,
    models: Path,
    suite: str,
    items: pl.DataFrame,
    heuristics: Path,
) -> Iterator[tuple[dict[str, str], Phenomenon]]:
    """Yield the choices of each arm (a run without its seed), phenomenon by phenomenon."""
    said = heuristics_table.of_words(heuristics_table.read(heuristics, items), items)
    compared, edits = heuristics_table.comparisons(items), heuristics_table.edits(items)
    cells: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for run in spec.runs:
        axes = levels.axes(run)
        cells.setdefault((axes["condition"], axes["size"]), {})[run] = axes
    for _, runs in sorted(cells.items(), key=lambda cell: (cell[0][0], words_of(cell[0][1]))):
        judged = {
            run: judgements.judged(scores / run / f"{suite}.parquet", items, spec.scoring)
            for run in runs
        }
        baselines = {axes["model"]: r for r, axes in runs.items() if axes["recipe"] == COUNTED}
        heard = NGram.load(models / baselines["unigram"]) if "unigram" in baselines else None
        of_counts = heuristics_table.of_words(heuristics_table.of_counts(compared, heard), items)
        of_baselines = heuristics_table.of_baselines(
            {name: judged[run] for name, run in baselines.items()}
        )
        every = pl.concat([said, of_counts, of_baselines])
        frame = heuristics_table.wide(every, next(iter(judged.values())))
        frame = frame.join(edits, on="item_id", maintain_order="left").with_row_index("unit")
        arms: dict[tuple[str, ...], list[np.ndarray]] = {}
        for run, axes in runs.items():
            if axes["recipe"] != COUNTED:
                arm = tuple(axes[axis] for axis in RUN_AXES)
                arms.setdefault(arm, []).append(judged[run]["correct"].to_numpy())
        for arm, seeds in sorted(arms.items()):
            chose = np.column_stack(seeds)
            for part in frame.partition_by("category", "phenomenon", maintain_order=True):
                mine = chose[part["unit"].to_numpy()]
                yield (
                    dict(zip(RUN_AXES, arm, strict=True)),
                    phenomenon(suite, part.drop("unit"), mine),
                )


def phenomenon(suite: str, frame: pl.DataFrame, chose: np.ndarray) -> Phenomenon:
    """Return the arrays of a phenomenon.

    Args:
        suite: its name.
        frame: its rows of :func:`heuristics_table.wide`, and of :func:`heuristics_table.edits`.
        chose: rows x seeds: 1 the good member, 0 the bad one, .5 a tie.
    """
    edits = ["good_word", "bad_word"]
    says = frame.drop("item_id", "category", "phenomenon", "lexical_set", *edits)
    heuristics = [c for c in says.columns if (says[c].is_not_null() & (says[c] != 0.5)).any()]
    matrix = np.array([says[heuristic].fill_null(np.nan) for heuristic in heuristics]).reshape(
        -1, len(says)
    )
    _, sets = np.unique(frame["lexical_set"].to_numpy(), return_inverse=True)
    names = {"suite": suite, "category": frame["category"][0], "phenomenon": frame["phenomenon"][0]}
    return Phenomenon(names, sets, chose, heuristics, matrix, frame.select(edits).to_numpy())


def times(choices: Phenomenon) -> np.ndarray | None:
    """Return how often each lexical set is drawn: replicates x sets; None if there is only one set.

    The draws depend only on suite and phenomenon: all arms and heuristics have the same draws.
    """
    sets = int(choices.sets.max()) + 1
    if sets < 2:
        return None
    seed = zlib.crc32("\0".join(choices.names.values()).encode())
    generator = np.random.default_rng([SEED, seed])
    return generator.multinomial(sets, np.full(sets, 1 / sets), REPLICATES).astype(float)


def competing(choices: Phenomenon) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the heuristics of a mixture; heuristics that the items cannot separate are one group.

    Two heuristics are linked if they disagree on fewer lexical sets than ``mixture.FEW``; linked
    heuristics are a group. A group decides on a pair if all its members make the same choice.
    Heuristics that decide on fewer sets than ``FEW`` are left out, because a few choices do not
    determine a weight.

    Returns:
        Names (those of a group joined by `` = ``); choices, heuristics x pairs (.5: no decision);
        and, for each pair, whether the members of every group agree on it.
    """
    says = np.nan_to_num(choices.says, nan=0.5)
    least = _min_sets(choices.sets)
    spoken = [n for n, row in enumerate(says) if len(np.unique(choices.sets[row != 0.5])) >= least]
    alike = np.array(
        [[len(np.unique(choices.sets[says[n] != says[m]])) < least for m in spoken] for n in spoken]
    ).reshape(len(spoken), len(spoken))
    number, group = sparse.csgraph.connected_components(sparse.csr_array(alike), directed=False)
    names, rows = [], np.empty((number, says.shape[1]))
    united = np.ones(says.shape[1], bool)
    for label in range(number):
        members = [n for n, of in zip(spoken, group, strict=True) if of == label]
        names.append(heuristics_table.EQUAL.join(choices.heuristics[n] for n in members))
        same = (says[members] == says[members[0]]).all(axis=0)
        rows[label] = np.where(same, says[members[0]], 0.5)
        united &= same
    return names, rows, united


def _min_sets(sets: np.ndarray) -> float:
    """Return the smallest number of lexical sets from which anything is concluded."""
    return min(mixture.FEW, (int(sets.max()) + 1) / 2)


def mixed(
    choices: Phenomenon, drawn: np.ndarray | None
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the weight of each heuristic in an arm's choices, and the verdict.

    Args:
        choices: the choices.
        drawn: from :func:`times`.

    Returns:
        Rows of ``MIXTURE``, guessing last; and a row of ``VERDICTS``. They lack the columns that
        name arm and phenomenon.
    """
    heuristics, says, united = competing(choices)
    sets, seeds = int(choices.sets.max()) + 1, choices.chose.shape[1]
    patterns, which = np.unique(says, axis=1, return_inverse=True)
    which = which.reshape(-1)
    chosen = np.zeros((sets, patterns.shape[1], seeds, 2))
    np.add.at(chosen[..., 1], (choices.sets, which), choices.chose)
    np.add.at(chosen[..., 0], (choices.sets, which), 1 - choices.chose)
    chosen = chosen.swapaxes(1, 2)
    fitted = mixture.fit(chosen, patterns, drawn)
    pooled = _seeds_drawn(fitted.replicates)
    weights = fitted.weights.mean(axis=0)
    none = np.full(len(weights), None)
    ends = mixture.intervals(weights, pooled) if drawn is not None else (none, none)
    columns = [weights, *ends, fitted.weights.min(axis=0), fitted.weights.max(axis=0)]
    names = ("heuristic", "weight", "low", "high", "least", "most")
    rows = [
        dict(zip(names, row, strict=True))
        for row in zip([*heuristics, mixture.GUESSING], *(c.tolist() for c in columns), strict=True)
    ]
    chances = mixture.expected(fitted.weights, says).T
    unlisted: tuple[float | None, ...] = (None, None, None)
    if seeds > 1 and united.any():
        unlisted = mixture.shared(choices.chose[united], chances[united], choices.sets[united])
    return rows, _verdict(choices, heuristics, says, fitted, unlisted, drawn)


def _verdict(
    choices: Phenomenon,
    heuristics: list[str],
    says: np.ndarray,
    fitted: mixture.Mixture,
    unlisted: tuple[float | None, ...],
    drawn: np.ndarray | None,
) -> dict[str, Any]:
    """Return a row of ``VERDICTS`` by the rules in the docstring of the module."""
    sets, seeds = int(choices.sets.max()) + 1, choices.chose.shape[1]
    cover = (says != 0.5).mean(axis=1)
    share, replicates = fitted.weights[:, :-1] * cover, fitted.replicates[..., :-1] * cover
    mean = share.mean(axis=0)
    best = int(mean.argmax()) if heuristics else None
    coin = _coin(choices.chose, choices.words)
    shared, shared_low, shared_high = unlisted
    row = {
        "verdict": schema.UNCLEAR, "hierarchical": None, "low": None, "high": None,
        "best": None if best is None else heuristics[best],
        "explained": 0.0 if best is None else float(mean[best]),
        "unexplained": float(1 - mean.sum()), "shared": shared, "shared_low": shared_low,
        "shared_high": shared_high, "coin": coin,
        "right": float(choices.chose.mean()), "seed_verdicts": None, "seeds": seeds, "sets": sets,
    }  # fmt: skip
    if drawn is None or sets < mixture.FEW:
        return row
    follows, against = mixture.intervals(share, replicates)
    alone = [
        heuristics[int(one.argmax())] if heuristics and one.max() > MOST else schema.NONE
        for one in follows
    ]
    row["seed_verdicts"] = ", ".join(f"{n} {name}" for name, n in Counter(sorted(alone)).items())
    named = set(alone) - {schema.NONE}
    low, high = mixture.intervals(mean, _seeds_drawn(replicates))
    if best is not None:
        row |= {"low": float(low[best]), "high": float(high[best])}
    unlike = len(named) > 1 or any(
        (against[:, heuristics.index(name)] < MOST).any() for name in named
    )
    fits = shared_high is not None and shared_high < TOLERANCE
    if seeds > 1 and coin >= LEVEL and _near_half(choices, drawn):
        row["verdict"] = mixture.GUESSING
    elif fits and unlike:
        row["verdict"] = schema.DIFFER
    elif (shared_low or 0) > TOLERANCE or best is None or high[best] < MOST:
        row["verdict"] = schema.NONE
    elif fits and low[best] > MOST and _is_needed(choices, says, fitted, best):
        row |= {
            "verdict": heuristics[best],
            "hierarchical": heuristics_table.hierarchical(heuristics[best]),
        }
    return row


def _seeds_drawn(replicates: np.ndarray) -> np.ndarray:
    """Return means over seeds, drawn with replacement in each replicate: replicates x ...

    Args:
        replicates: replicates x seeds x ...
    """
    number, seeds = replicates.shape[:2]
    drawn = np.random.default_rng(SEED).multinomial(seeds, np.full(seeds, 1 / seeds), number)
    return np.einsum("rs,rs...->r...", drawn / seeds, replicates)


def _coin(chose: np.ndarray, words: np.ndarray) -> float:
    """Return the smaller p of the two tests of coin tosses, corrected (Bonferroni).

    Args:
        chose: pairs x seeds.
        words: pairs x 2, as in :class:`Phenomenon`.
    """
    chances = np.full(chose.shape, 0.5)
    tests = [mixture.preference(chose, chances, words)]
    if chose.shape[1] > 1:
        tests.append(mixture.agreement(chose, chances))
    return min(1.0, len(tests) * min(tests))


def _near_half(choices: Phenomenon, drawn: np.ndarray) -> bool:
    """Return whether the interval of the share of good members is near one half."""
    right = np.zeros((drawn.shape[1], choices.chose.shape[1]))
    np.add.at(right, choices.sets, choices.chose)
    shares = (drawn @ right) / (drawn @ np.bincount(choices.sets))[:, None]
    low, high = mixture.intervals(choices.chose.mean(), _seeds_drawn(shares))
    return bool(low > 0.5 - COIN and high < 0.5 + COIN)


def _is_needed(choices: Phenomenon, says: np.ndarray, fitted: mixture.Mixture, best: int) -> bool:
    """Return whether the other heuristics fit clearly worse without the best one."""
    others = np.delete(says, best, axis=0)
    chosen = np.stack([1 - choices.chose, choices.chose], axis=-1).swapaxes(0, 1)
    less = mixture.deviance(chosen, others, mixture.weights(chosen, others))
    return less - mixture.deviance(chosen, says, fitted.weights) > NEARLY
