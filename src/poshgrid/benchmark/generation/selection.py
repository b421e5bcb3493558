"""Choose the pairs of a phenomenon: equal cells, n-gram models at chance, words used evenly.

An n-gram model knows no syntax. If it prefers the good member of most pairs, word sequences alone
distinguish the members, and a model may be right for that reason (Kam et al. 2008). From more
candidates than needed an integer program chooses pairs of which every baseline gets half right. If
a baseline always prefers the same side (*that* is more frequent than *whether*), this is
impossible: the result is then reported.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pulp

from poshgrid.benchmark.generation.pairs import shares
from poshgrid.core import solver
from poshgrid.core.errors import PoshgridError

if TYPE_CHECKING:
    from poshgrid.benchmark.generation.pairs import Filled
    from poshgrid.benchmark.generation.templates import Pair
    from poshgrid.benchmark.schema import Baseline

_TIE = 1e-6  # nats; smaller differences are ties, as everywhere in the evaluation
_NODES = 200  # of the search tree; unlike a time limit, this is the same on every machine
_NEAR = 0.02  # relative gap accepted for the second goal, because proving the optimum takes long
TOLERANCE = 0.02  # allowed distance of a baseline's accuracy from one half
_LUCK = 0.01  # largest random weight, which decides between pairs that are equally good


@dataclass(frozen=True)
class _Preference:
    """A baseline's judgements of the candidates."""

    right: list[float]  # 1, 0, or one half for a tie; for a set, the mean of its pairs
    margin: list[float]  # good minus bad, divided by the root mean square; for a set, the mean

    @property
    def open(self) -> bool:
        """Whether the choice of pairs can change the accuracy."""
        return len(set(self.right)) > 1

    def share(self, chosen: Sequence[int]) -> float:
        """Return the share of the chosen pairs that the baseline gets right."""
        return sum(self.right[i] for i in chosen) / len(chosen)


def choose(
    candidates: Sequence[Filled],
    pairs: int,
    baselines: Mapping[str, Baseline],
    *,
    joint: bool,
    seed: int,
    where: str,
    tolerance: float = TOLERANCE,
) -> tuple[list[int], dict[str, Any]]:
    """Return the positions of the chosen candidates, and facts about the balance reached.

    Always: templates have equal shares (the first ones one more); in a template every cell occurs
    equally often, within one, and so does every function word if possible. Then, as nearly as
    possible: every baseline gets half of the pairs right, within the tolerance. Then, together: the
    baselines' mean margins are near zero, so that a baseline of another size of the same corpus is
    also near one half; and the most used content word is used as little as possible.

    Args:
        candidates: pairs or sets, with the templates in the order in which they get their shares.
        pairs: how many to choose.
        baselines: name -> log-probabilities of sentences by an n-gram model. Members are compared
            by their mean over words, which is the sum where they are equally long.
        joint: the pairs of a set are judged as one, with their log-probabilities added.
        seed: decides between candidates that are equally good.
        where: name of the phenomenon, for messages.
        tolerance: allowed distance from one half.

    Returns:
        The positions of the chosen candidates, sorted, and facts for the manifest: the number of
        candidates; for each baseline its accuracy ``before`` (all candidates) and ``after`` (the
        chosen), the mean standardised ``margin`` after, and whether one half was ``reached``.

    Raises:
        PoshgridError: a cell of a template has fewer candidates than pairs.
    """
    cells = _cells(candidates, pairs, where)
    preferences = {
        name: _prefer(candidates, baseline, joint=joint)
        for name, baseline in sorted(baselines.items())
    }
    chosen = _solve(candidates, pairs, cells, list(preferences.values()), tolerance, seed)
    facts = {
        "candidates": len(candidates),
        "baselines": {
            name: {
                "before": round(preference.share(range(len(candidates))), 4),
                "after": round(after := preference.share(chosen), 4),
                "margin": round(sum(preference.margin[i] for i in chosen) / pairs, 4),
                "reached": abs(after - 0.5) <= tolerance + _TIE,
            }
            for name, preference in preferences.items()
        },
    }
    return chosen, facts


def _cells(
    candidates: Sequence[Filled], pairs: int, where: str
) -> list[tuple[int, list[list[int]]]]:
    """Return for each template how many pairs it gets and the candidates of its cells."""
    templates: dict[str, dict[str, list[int]]] = {}
    for index, candidate in enumerate(candidates):
        templates.setdefault(candidate.template, {}).setdefault(candidate.combination, []).append(
            index
        )
    cells_of = []
    for share, (template, cells) in zip(
        shares(pairs, len(templates)), templates.items(), strict=True
    ):
        least, most = share // len(cells), -(-share // len(cells))
        small = min(cells, key=lambda cell: len(cells[cell]))
        enough = sum(min(most, len(members)) for members in cells.values()) >= share
        if not enough or len(cells[small]) < least:
            raise PoshgridError(
                f"{where}, template {template}, cell {small!r}: {len(cells[small]):,} candidates, "
                f"{least if enough else most:,} needed; request fewer pairs, or let the slots take "
                "more words: use larger corpora, or extend resources/lexicon"
            )
        cells_of.append((share, list(cells.values())))
    return cells_of


def _prefer(candidates: Sequence[Filled], baseline: Baseline, *, joint: bool) -> _Preference:
    texts = list(dict.fromkeys(text for c in candidates for text in c.members))
    logprobs = dict(zip(texts, baseline(texts), strict=True))
    right, margin = [], []
    for candidate in candidates:
        judged = [candidate.pairs] if joint else [(pair,) for pair in candidate.pairs]
        differences = [_difference(pairs, logprobs) for pairs in judged]
        # Means are compared; ties are decided on sums, which are reproducible to a millionth.
        rights = [0.5 if abs(d) * words <= _TIE else float(d > 0) for d, words in differences]
        right.append(sum(rights) / len(rights))
        margin.append(sum(d for d, _ in differences) / len(differences))
    size = (sum(d * d for d in margin) / max(len(margin), 1)) ** 0.5 or 1.0
    return _Preference(right, [d / size for d in margin])


def _difference(pairs: Sequence[Pair], logprobs: Mapping[str, float]) -> tuple[float, int]:
    """Return the good members' mean over words minus the bad ones', and the number of words."""
    _, *sides = zip(*pairs, strict=True)
    (good, words), (bad, others) = (
        # Plus one per sentence, because its end is predicted, too
        (math.fsum(logprobs[text] for text in side), sum(len(text.split()) + 1 for text in side))
        for side in sides
    )
    return good / words - bad / others, words


def _solve(
    candidates: Sequence[Filled],
    pairs: int,
    cells: list[tuple[int, list[list[int]]]],
    preferences: list[_Preference],
    tolerance: float,
    seed: int,
) -> list[int]:
    """Return the chosen positions: first the baselines' accuracies, then the other goals."""
    program = pulp.LpProblem("selection", pulp.LpMinimize)
    take = [pulp.LpVariable(f"t{i}", cat=pulp.LpBinary) for i in range(len(candidates))]
    for share, of_template in cells:
        program += pulp.lpSum(take[i] for members in of_template for i in members) == share
        for members in of_template:
            program += pulp.lpSum(take[i] for i in members) >= share // len(of_template)
            program += pulp.lpSum(take[i] for i in members) <= -(-share // len(of_template))
    lopsided = _lopsided(program, candidates, take, cells)
    beyond, margins = [], []
    for number, preference in enumerate(p for p in preferences if p.open):
        right = _weighted(preference.right, take)
        far = pulp.LpVariable(f"s{number}", 0)  # pairs beyond the tolerance
        program += right - pairs / 2 <= tolerance * pairs + far
        program += pairs / 2 - right <= tolerance * pairs + far
        beyond.append(far)
        margin = pulp.LpVariable(f"m{number}", 0)
        program += _weighted(preference.margin, take) <= margin
        program += -_weighted(preference.margin, take) <= margin
        margins.append(margin)
    program.setObjective(pulp.lpSum(beyond) + pairs * lopsided)
    best = solved(program, take, _first(cells), maxNodes=_NODES, gapAbs=_TIE)
    program += lopsided <= (lopsided.value() or 0) + _TIE
    for preference, far in zip((p for p in preferences if p.open), beyond, strict=True):
        missed = abs(preference.share(best) - 0.5) * pairs - tolerance * pairs
        program += far <= max(missed, 0) + _TIE
    luck = random.Random(seed)
    uneven = _unevenness(program, candidates, take, pairs)
    chance = pulp.lpSum(_LUCK * luck.random() * variable for variable in take)
    program.setObjective(pulp.lpSum(margins) + uneven + chance)
    return solved(program, take, best, maxNodes=_NODES, gapRel=_NEAR)


def _lopsided(
    program: pulp.LpProblem,
    candidates: Sequence[Filled],
    take: list[pulp.LpVariable],
    cells: list[tuple[int, list[list[int]]]],
) -> pulp.LpVariable:
    """Return how far a function word's use may be from its share of a template's pairs.

    Cells may differ by one pair; without this limit all larger cells could be those of one word.
    """
    lopsided = pulp.LpVariable("l", 0)
    for share, of_template in cells:
        fillers: dict[tuple[int, str], list[list[int]]] = {}
        for members in of_template:
            for where, word in enumerate(candidates[members[0]].combination.split("+")):
                fillers.setdefault((where, word), []).append(members)
        for with_it in fillers.values():
            even = share * len(with_it) / len(of_template)
            use = pulp.lpSum(take[i] for members in with_it for i in members)
            program += use <= math.ceil(even) + lopsided
            program += use >= math.floor(even) - lopsided
    return lopsided


def _first(cells: list[tuple[int, list[list[int]]]]) -> list[int]:
    """Return the first candidates that make equal cells, without regard to the baselines."""
    chosen: list[int] = []
    for share, of_template in cells:
        rounds = [members[n] for n in range(share) for members in of_template if n < len(members)]
        chosen += rounds[:share]
    return sorted(chosen)


def _unevenness(
    program: pulp.LpProblem,
    candidates: Sequence[Filled],
    take: list[pulp.LpVariable],
    pairs: int,
) -> pulp.LpAffineExpression:
    """Return a linear expression for how unevenly content words are used.

    It is the use of the most used word, plus every use of a word beyond the mean of all words. If a
    slot with few words determines the first term, the second still evens out the other words.
    """
    holders: dict[str, list[pulp.LpVariable]] = {}
    for candidate, variable in zip(candidates, take, strict=True):
        for word in dict.fromkeys(candidate.words):
            holders.setdefault(word, []).append(variable)
    # A constant, as if the pairs were drawn at random: the mean over the chosen pairs would put
    # every candidate into every row of the program.
    mean = pairs / len(take) * sum(map(len, holders.values())) / max(len(holders), 1)
    most = pulp.LpVariable("u", 0)
    more = []
    for number, variables in enumerate(holders.values()):
        use = pulp.lpSum(variables)
        beyond = pulp.LpVariable(f"w{number}", 0)
        program += use <= most
        program += use - mean <= beyond
        more.append(beyond)
    return most + pulp.lpSum(more)


def _weighted(weights: list[float], take: list[pulp.LpVariable]) -> pulp.LpAffineExpression:
    return pulp.LpAffineExpression(
        [(variable, weight) for variable, weight in zip(take, weights, strict=True) if weight]
    )


def solved(
    program: pulp.LpProblem,
    take: list[pulp.LpVariable],
    start: Sequence[int],
    **limits: float,
) -> list[int]:
    """Solve a program; return the positions that it takes, or ``start`` if it finds no solution."""
    # No time limit, so that a slow machine makes the same choice.
    solver.solve(program, **limits)
    if program.sol_status not in {pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible}:
        return list(start)
    return [i for i, variable in enumerate(take) if (variable.value() or 0) > 0.5]
