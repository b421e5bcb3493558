"""Which rules explain the choices of a target's models: shares, mixtures, and what can be told."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from poshgrid import logs
from poshgrid.config.runs import COUNTED, words_of
from poshgrid.config.specs import RuleSharesSpec
from poshgrid.evaluation import judgements
from poshgrid.models.ngram import NGram
from poshgrid.rules import mixture, predictions
from poshgrid.rules import table as rules_table
from poshgrid.rules.schema import IDENTIFIABILITY, MIXTURE, SHARES
from poshgrid.statistics import levels
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables import formats

REPLICATES = 1_000
SEED = 42
"""Of the bootstrap. It is no part of the config: one seed for all makes intervals comparable."""

log = logs.get(__name__)


class Phenomenon(NamedTuple):
    """What a learner's seeds chose in a phenomenon, and what rules say of it."""

    names: dict[str, str]  # suite, category, phenomenon
    sets: np.ndarray  # pairs: number of the lexical set
    chose: np.ndarray  # pairs x seeds: 1 the good member, 0 the bad one, .5 a tie
    rules: list[str]  # those that have a say on some pair
    says: np.ndarray  # rules x pairs; NaN: no say


def write(
    spec: RuleSharesSpec,
    scores: Path,
    models: Path,
    items: dict[str, Path],
    tables: dict[str, Path],
    output: Path,
) -> dict[str, Any]:
    """Write which rules explain what the runs of a target chose.

    Args:
        spec: the runs, and how two scores become a choice.
        scores: folder of score files: ``{run}/{suite}.parquet`` below it.
        models: folder of models: those of the unigram nulls say what was heard how often.
        items: suite -> its table of pairs.
        tables: suite -> what the rules say of them (``RULES``).
        output: folder for shares, mixture and identifiability, as .parquet and .csv.

    Returns:
        Facts: runs, learners, suites, replicates.

    Raises:
        PoshgridError: see :func:`judgements.judged`.
    """
    schemas = {"shares": SHARES, "mixture": MIXTURE, "identifiability": IDENTIFIABILITY}
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in schemas}
    learners = set()
    for suite, path in sorted(items.items()):
        pairs = judgements.read_items(path)
        for axes, each in _phenomena(spec, scores, models, suite, pairs, tables[suite]):
            learners.add(tuple(axes.values()))
            drawn, place = times(each), each.names
            found["shares"] += [{**axes, **place, **row} for row in shares(each, drawn)]
            found["mixture"] += [{**axes, **place, **row} for row in mixed(each, drawn)]
            found["identifiability"] += [
                {**place, "rule": rule, "other": other, "both": both, "apart": apart}
                for rule, other, both, apart in identifiable(each)
            ]
    made = {name: pl.DataFrame(found[name], schema=schema) for name, schema in schemas.items()}
    key = ["suite", "category", "phenomenon", "rule", "other"]
    made["identifiability"] = (
        made["identifiability"]
        .group_by(key)
        .agg(pl.col("both", "apart").min(), apart_most=pl.col("apart").max())
        .sort(key)
    )
    for name, schema in schemas.items():
        formats.write(made[name], Path(output), name, schema)
    log.info("%d runs of %d learners", len(spec.runs), len(learners))
    return {"runs": len(spec.runs), "learners": len(learners), "suites": sorted(items),
            "replicates": REPLICATES}  # fmt: skip


def _phenomena(
    spec: RuleSharesSpec, scores: Path, models: Path, suite: str, items: pl.DataFrame, rules: Path
) -> Iterator[tuple[dict[str, str], Phenomenon]]:
    """Yield what each learner (a run without its seed) chose, phenomenon by phenomenon."""
    said = predictions.of_words(rules_table.read(rules, items), items)
    compared = predictions.comparisons(items)
    cells: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for run in spec.runs:
        axes = levels.axes(run)
        cells.setdefault((axes["condition"], axes["size"]), {})[run] = axes
    for _, runs in sorted(cells.items(), key=lambda cell: (cell[0][0], words_of(cell[0][1]))):
        judged = {
            run: judgements.judged(scores / run / f"{suite}.parquet", items, spec.scoring)
            for run in runs
        }
        nulls = {axes["learner"]: r for r, axes in runs.items() if axes["regimen"] == COUNTED}
        heard = NGram.load(models / nulls["unigram"]) if "unigram" in nulls else None
        of_counts = predictions.of_words(predictions.of_counts(compared, heard), items)
        of_nulls = predictions.of_nulls({name: judged[run] for name, run in nulls.items()})
        every = pl.concat([said, of_counts, of_nulls])
        frame = predictions.wide(every, next(iter(judged.values()))).with_row_index("unit")
        learners: dict[tuple[str, ...], list[np.ndarray]] = {}
        for run, axes in runs.items():
            if axes["regimen"] != COUNTED:
                learner = tuple(axes[axis] for axis in RUN_AXES)
                learners.setdefault(learner, []).append(judged[run]["correct"].to_numpy())
        for learner, seeds in sorted(learners.items()):
            chose = np.column_stack(seeds)
            for part in frame.partition_by("category", "phenomenon", maintain_order=True):
                mine = chose[part["unit"].to_numpy()]
                yield (
                    dict(zip(RUN_AXES, learner, strict=True)),
                    phenomenon(suite, part.drop("unit"), mine),
                )


def phenomenon(suite: str, frame: pl.DataFrame, chose: np.ndarray) -> Phenomenon:
    """Return the arrays of a phenomenon.

    Args:
        suite: its name.
        frame: its rows of :func:`predictions.wide`.
        chose: rows x seeds: 1 the good member, 0 the bad one, .5 a tie.
    """
    says = frame.drop("item_id", "category", "phenomenon", "lexical_set")
    rules = [c for c in says.columns if (says[c].is_not_null() & (says[c] != 0.5)).any()]
    matrix = np.array([says[rule].fill_null(np.nan) for rule in rules]).reshape(-1, len(says))
    _, sets = np.unique(frame["lexical_set"].to_numpy(), return_inverse=True)
    names = {"suite": suite, "category": frame["category"][0], "phenomenon": frame["phenomenon"][0]}
    return Phenomenon(names, sets, chose, rules, matrix)


def times(found: Phenomenon) -> np.ndarray | None:
    """Return how often each lexical set is drawn: replicates x sets; ``None``: there is only one.

    The draws depend on suite and phenomenon alone: learners and rules see the same ones.
    """
    sets = int(found.sets.max()) + 1
    if sets < 2:
        return None
    seed = zlib.crc32("\0".join(found.names.values()).encode())
    generator = np.random.default_rng([SEED, seed])
    return generator.multinomial(sets, np.full(sets, 1 / sets), REPLICATES).astype(float)


def shares(found: Phenomenon, drawn: np.ndarray | None) -> Iterator[dict[str, Any]]:
    """Yield the share of choices that each rule explains, everywhere and where rules disagree.

    A choice is a rule's where both are of the same member; a tie is half of one. ``right`` is the
    rule's own accuracy on these pairs, whatever the learner chose.

    Args:
        found: the choices.
        drawn: from :func:`times`.
    """
    decided = ~np.isnan(found.says) & (found.says != 0.5)
    sides = [((found.says == side) & decided).any(axis=0) for side in (0, 1)]
    scopes = {"all": np.ones(len(found.sets), bool), "disputed": sides[0] & sides[1]}
    for rule, says, mine in zip(found.rules, found.says, decided, strict=True):
        agrees = np.where(says[:, None] == 1, found.chose, 1 - found.chose)
        for scope, within in scopes.items():
            there = mine & within
            if not there.any():
                continue
            by_seed = agrees[there].mean(axis=0)
            right = np.bincount(found.sets, np.where(there, agrees.mean(axis=1), 0.0))
            number = np.bincount(found.sets, there.astype(float))
            low = high = None
            sets = int((number > 0).sum())
            if drawn is not None and sets > 1:
                below = drawn @ number
                ratios = (drawn @ right)[below > 0] / below[below > 0]
                low, high = map(float, np.quantile(ratios, [0.025, 0.975]))
            yield {
                "rule": rule, "scope": scope, "seeds": len(by_seed), "sets": sets,
                "pairs": int(there.sum()), "right": float((says[there] == 1).mean()),
                "share": float(by_seed.mean()),
                "sd": float(by_seed.std(ddof=1)) if len(by_seed) > 1 else None,
                "low": low, "high": high,
            }  # fmt: skip


def competing(found: Phenomenon) -> tuple[list[str], np.ndarray]:
    """Return the rules of a mixture, those that always say the same as one.

    Rules that have a say on fewer lexical sets than ``mixture.FEW`` are left out: what explains a
    handful of choices could have any weight.

    Returns:
        Names, of equal rules joined by `` = ``; and what they say, rules x pairs (.5: nothing).
    """
    groups: dict[bytes, list[int]] = {}
    says = np.nan_to_num(found.says, nan=0.5) + 0.0
    for number, row in enumerate(says):
        if len(np.unique(found.sets[row != 0.5])) >= _least(found.sets):
            groups.setdefault(row.tobytes(), []).append(number)
    kept = [numbers[0] for numbers in groups.values()]
    return [" = ".join(found.rules[n] for n in numbers) for numbers in groups.values()], says[kept]


def _least(sets: np.ndarray) -> float:
    """Return the lexical sets below which nothing is concluded from them."""
    return min(mixture.FEW, (int(sets.max()) + 1) / 2)


def _with_alike(wanted: np.ndarray, says: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """Name also the rules that only a handful of lexical sets tell from one that is named."""
    found = wanted.copy()
    for number, other in product(np.flatnonzero(wanted[:-1]), range(len(says))):
        differ = np.unique(sets[says[number] != says[other]])
        found[other] |= len(differ) < _least(sets)
    return found


def mixed(found: Phenomenon, drawn: np.ndarray | None) -> Iterator[dict[str, Any]]:
    """Yield the weight of each rule in a learner's choices, and of guessing.

    Args:
        found: the choices.
        drawn: from :func:`times`.
    """
    rules, says = competing(found)
    sets = int(found.sets.max()) + 1
    patterns, which = np.unique(says, axis=1, return_inverse=True)
    which = which.reshape(-1)
    chosen = np.zeros((sets, patterns.shape[1], 2))
    np.add.at(chosen[..., 1], (found.sets, which), found.chose.sum(axis=1))
    np.add.at(chosen[..., 0], (found.sets, which), (1 - found.chose).sum(axis=1))
    fitted = mixture.fit(chosen, patterns, drawn)
    expected = fitted.weights @ np.vstack([patterns, np.full((1, patterns.shape[1]), 0.5)])
    number = chosen.sum(axis=(0, 2))
    off = float((expected @ number - chosen[..., 1].sum()) / number.sum())
    top = mixture.largest(fitted.replicates)
    wanted = _with_alike(mixture.named(top), says, found.sets)
    bounds = None if drawn is None else mixture.intervals(fitted)
    for number, rule in enumerate([*rules, mixture.GUESSING]):
        low, high = (None, None) if bounds is None else (float(end[number]) for end in bounds)
        yield {
            "rule": rule, "weight": float(fitted.weights[number]), "low": low, "high": high,
            "largest": None if np.isnan(top[number]) else float(top[number]),
            "named": bool(wanted[number]), "seeds": found.chose.shape[1], "sets": sets,
            "off": off,
        }  # fmt: skip


def identifiable(found: Phenomenon) -> Iterator[tuple[str, str, int, int]]:
    """Yield two rules, and the lexical sets on which both have a say and on which they disagree."""
    decided = ~np.isnan(found.says) & (found.says != 0.5)
    for one, other in combinations(range(len(found.rules)), 2):
        both = decided[one] & decided[other]
        differ = both & (found.says[one] != found.says[other])
        shared, apart = (len(np.unique(found.sets[chosen])) for chosen in (both, differ))
        yield found.rules[one], found.rules[other], shared, apart
