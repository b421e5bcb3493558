"""Which rules explain the choices of a target's models: shares, mixtures, and what can be told."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from poshgrid import logs
from poshgrid.config.runs import COUNTED, words_of
from poshgrid.config.specs import RuleSharesSpec
from poshgrid.errors import PoshgridError
from poshgrid.evaluation import judgements
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
        PoshgridError: see :func:`judgements.judged`; or a suite has no table of rules.
    """
    if lacking := sorted(items.keys() ^ tables.keys()):
        raise PoshgridError(f"--rules: {lacking[0]}: give --items and --rules of the same suites")
    if not spec.runs or not items:
        raise PoshgridError("job: spec: nothing to judge: give at least one run and one suite")
    schemas = {"shares": SHARES, "mixture": MIXTURE, "identifiability": IDENTIFIABILITY}
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in schemas}
    learners = set()
    for suite, path in sorted(items.items()):
        pairs = judgements.read_items(path)
        table = rules_table.read(tables[suite], pairs)
        apart: dict[tuple[str, ...], list[tuple[int, int]]] = {}
        for axes, each in _phenomena(spec, Path(scores), Path(models), suite, pairs, table):
            learners.add(tuple(axes.values()))
            drawn = times(each)
            found["shares"] += [{**axes, **each.names, **row} for row in shares(each, drawn)]
            found["mixture"] += [{**axes, **each.names, **row} for row in mixed(each, drawn)]
            for rule, other, *numbers in identifiable(each):
                key = (*each.names.values(), rule, other)
                apart.setdefault(key, []).append((numbers[0], numbers[1]))
        found["identifiability"] += [
            dict(zip(IDENTIFIABILITY, (*key, min(b for b, _ in each), min(a for _, a in each),
                                       max(a for _, a in each)), strict=True))
            for key, each in sorted(apart.items())
        ]  # fmt: skip
    for name, schema in schemas.items():
        formats.write(pl.DataFrame(found[name], schema=schema), Path(output), name, schema)
    log.info("%d runs of %d learners", len(spec.runs), len(learners))
    return {"runs": len(spec.runs), "learners": len(learners), "suites": sorted(items),
            "replicates": REPLICATES}  # fmt: skip


def _phenomena(
    spec: RuleSharesSpec,
    scores: Path,
    models: Path,
    suite: str,
    items: pl.DataFrame,
    table: pl.DataFrame,
) -> Iterator[tuple[dict[str, str], Phenomenon]]:
    """Yield what each learner (a run without its seed) chose, phenomenon by phenomenon."""
    said, compared = predictions.of_words(table, items), predictions.comparisons(items)
    cells: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for run in spec.runs:
        axes = levels.axes(run)
        cells.setdefault((axes["condition"], axes["size"]), []).append({**axes, "run": run})
    for cell in sorted(cells, key=_order):
        judged = {
            each["run"]: judgements.judged(
                scores / each["run"] / f"{suite}.parquet", items, spec.scoring
            )
            for each in cells[cell]
        }
        nulls = {each["learner"]: each["run"] for each in cells[cell] if each["regimen"] == COUNTED}
        heard = predictions.heard(models / nulls["unigram"]) if "unigram" in nulls else None
        of_counts = predictions.of_words(predictions.of_counts(compared, heard), items)
        of_nulls = predictions.of_nulls({name: judged[run] for name, run in nulls.items()})
        frame = predictions.wide(
            pl.concat([said, of_counts, of_nulls]), next(iter(judged.values()))
        )
        learners: dict[tuple[str, ...], list[str]] = {}
        for each in cells[cell]:
            if each["regimen"] != COUNTED:
                learners.setdefault(tuple(each[a] for a in RUN_AXES), []).append(each["run"])
        for learner, mine in sorted(learners.items()):
            whole = frame.with_columns(
                pl.Series(f"\0{i}", judged[run]["correct"]) for i, run in enumerate(mine)
            )
            axes = dict(zip(RUN_AXES, learner, strict=True))
            for part in whole.partition_by("category", "phenomenon", maintain_order=True):
                yield axes, phenomenon(suite, part)


def _order(cell: tuple[str, ...]) -> tuple[str, int]:
    try:
        return cell[0], words_of(cell[1])
    except ValueError as error:
        raise PoshgridError(f"job: spec: runs: {'/'.join(cell)}: {error}") from error


def phenomenon(suite: str, frame: pl.DataFrame) -> Phenomenon:
    """Return the arrays of a phenomenon.

    Args:
        suite: its name.
        frame: from :func:`predictions.wide`, and a column of choices for each seed, whose name
            begins with a null character.
    """
    seeds = [name for name in frame.columns if name.startswith("\0")]
    known = [c for c in frame.columns if c not in seeds][4:]
    rules = [c for c in known if (frame[c].is_not_null() & (frame[c] != 0.5)).any()]
    _, sets = np.unique(frame["lexical_set"].to_numpy(), return_inverse=True)
    names = {"suite": suite, "category": frame["category"][0], "phenomenon": frame["phenomenon"][0]}
    says = (
        frame.select(rules).fill_null(float("nan")).to_numpy().T
        if rules
        else np.empty((0, frame.height))
    )
    return Phenomenon(names, sets, frame.select(seeds).to_numpy(), rules, says)


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


def _summed(found: Phenomenon, values: np.ndarray) -> np.ndarray:
    """Return sums over the pairs of each lexical set: sets x ..."""
    sums = np.zeros((int(found.sets.max()) + 1, *values.shape[1:]))
    np.add.at(sums, found.sets, values)
    return sums


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
            right = _summed(found, np.where(there, agrees.mean(axis=1), 0.0))
            number = _summed(found, there.astype(float))
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


def merged(rules: Sequence[str], says: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return rules that say different things, those that always say the same as one.

    Args:
        rules: names.
        says: rules x pairs; NaN: no say.

    Returns:
        Names, of equal rules joined by `` = ``; and what they say.
    """
    groups: dict[bytes, list[int]] = {}
    for number, row in enumerate(np.nan_to_num(says, nan=0.5)):
        groups.setdefault((row + 0.0).tobytes(), []).append(number)
    kept = [numbers[0] for numbers in groups.values()]
    return [" = ".join(rules[n] for n in numbers) for numbers in groups.values()], says[kept]


def competing(found: Phenomenon) -> tuple[list[str], np.ndarray]:
    """Return the rules of a mixture, merged: names, and what they say (.5: nothing).

    Rules that have a say on fewer lexical sets than ``mixture.FEW`` are left out: what explains a
    handful of choices could have any weight.
    """
    least = _least(found.sets)
    often = [
        number
        for number, row in enumerate(found.says)
        if len(np.unique(found.sets[~np.isnan(row) & (row != 0.5)])) >= least
    ]
    names = [found.rules[number] for number in often]
    return merged(names, np.nan_to_num(found.says[often], nan=0.5))


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
    for one, other in combinations(range(len(found.rules)), 2):
        first, second = found.says[one], found.says[other]
        both = ~np.isnan(first) & ~np.isnan(second) & (first != 0.5) & (second != 0.5)
        differ = both & (first != second)
        yield (
            found.rules[one],
            found.rules[other],
            len(np.unique(found.sets[both])),
            len(np.unique(found.sets[differ])),
        )
