"""Counterbalancing: the words of a slot are equally frequent in every corpus, in total.

A model whose corpus contains the words of a slot more often would be better on every item, for a
reason that is not syntax. Zorro keeps the total of each of its word lists within 1,000 occurrences
between corpora (Huebner et al. 2021, Appendix B). Here an integer program finds the largest part of
a list whose totals are within a tolerance.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import pulp

from poshgrid.benchmark.generation.selection import solved
from poshgrid.benchmark.lexicon import Vocabulary, Word
from poshgrid.core.errors import PoshgridError

RELATIVE = 0.01  # allowed difference of two corpora's totals, as a share of their mean
_NODES = 500  # of the search tree; unlike a time limit, this is the same on every machine
_EXACT = 1e-6  # two differences within so many occurrences count as equal

Frequencies = tuple[float, ...]
"""Occurrences of a word in each corpus."""


def counterbalance(
    words: Sequence[Word],
    forms: Sequence[str],
    vocabulary: Vocabulary,
    *,
    occurrences: int,
    least: int,
    where: str,
    relative: float = RELATIVE,
    groups: Callable[[Word], str] | None = None,
    equal: bool = False,
) -> list[Word]:
    """Return the largest part of the words that is nearly equally frequent in every corpus.

    A word's frequency is the sum over its spellings, lower-cased, each counted once (past and
    participle are often the same), and scaled to the number of tokens of the smallest corpus. The
    totals of any two corpora may differ by ``relative`` times their mean, or by ``occurrences``,
    whichever is larger. Of equally large parts the one with the smallest differences is chosen,
    then the one with the earlier words. After ``_NODES`` nodes of the search the best part so far
    is returned.

    Args:
        words: the words that a slot takes, in the order of the lexicon.
        forms: the names of the forms in which the slot uses them.
        vocabulary: ``counts`` (corpus -> form -> tokens) and ``totals`` (corpus -> tokens). With
            fewer than two corpora every word is kept.
        occurrences: a difference that is never too large. Zorro's 1,000 is meant for corpora of
            millions of words; in small ones every list is within it and nothing is balanced.
        least: number of words that each group must keep.
        where: name of the slot, for messages.
        relative: largest difference of two corpora, as a share of the mean of their totals.
        groups: word -> its group, e.g. its gender. Each group is balanced separately.
        equal: keep as many words of each group as of the smallest one, also with a single corpus.

    Returns:
        The words that are kept, in their order.

    Raises:
        PoshgridError: a group keeps fewer than ``least`` words.
    """
    corpora = sorted(vocabulary.counts)
    if len(corpora) < 2 and not equal:
        return list(words)
    frequencies = [_frequencies(word, forms, vocabulary, corpora) for word in words]
    grouped: dict[str, list[int]] = {} if groups else {"": []}
    for index, word in enumerate(words):
        grouped.setdefault(groups(word) if groups else "", []).append(index)
    kept: set[int] = set()
    largest = {
        group: _largest([frequencies[i] for i in members], relative, occurrences)
        for group, members in grouped.items()
    }
    smallest = min(map(len, largest.values()), default=0)
    for group, members in sorted(grouped.items()):
        best = largest[group]
        if equal and len(best) > smallest:
            best = _largest([frequencies[i] for i in members], relative, occurrences, smallest)
        chosen = [members[number] for number in best]
        if len(chosen) < least:
            out = [words[i].lemma for i in members if i not in chosen]
            raise PoshgridError(
                f"{where}{f', group {group!r}' if groups else ''}: {len(chosen)} of {len(members)} "
                f"words can be counterbalanced over {', '.join(corpora)}, {least} needed; left out "
                f"({', '.join(out) or 'none'}); raise the suite's option occurrences, "
                "extend resources/lexicon, or use larger corpora"
            )
        kept.update(chosen)
    return [word for index, word in enumerate(words) if index in kept]


def _frequencies(
    word: Word, forms: Sequence[str], vocabulary: Vocabulary, corpora: Sequence[str]
) -> Frequencies:
    """Return a word's occurrences in each corpus, scaled to the size of the smallest corpus."""
    spellings = {word.forms[form].lower() for form in forms}
    smallest = min((vocabulary.totals[corpus] for corpus in corpora), default=0)
    return tuple(
        sum(vocabulary.counts[corpus].get(spelling, 0) for spelling in spellings)
        * smallest
        / vocabulary.totals[corpus]
        for corpus in corpora
    )


def _within(words: Sequence[Frequencies], relative: float, occurrences: int) -> bool:
    """Return whether the totals of every two corpora are within the tolerance."""
    totals = [sum(counts) for counts in zip(*words, strict=True)]
    return all(
        abs(a - b) <= max(relative * (a + b) / 2, occurrences)
        for a, b in itertools.combinations(totals, 2)
    )


def _largest(
    words: list[Frequencies], relative: float, occurrences: int, size: int | None = None
) -> list[int]:
    """Return the positions of the largest part of the words that is within the tolerance.

    With ``size``, return the best part with that many words.
    """
    if size is None and _within(words, relative, occurrences):
        return list(range(len(words)))
    program, take, apart = _program(words, relative, occurrences)
    program.setObjective(-pulp.lpSum(take))
    if size is not None:
        program += pulp.lpSum(take) <= size
    largest = solved(program, take, (), maxNodes=_NODES, gapAbs=0.99)
    program += pulp.lpSum(take) == len(largest)
    # All positions together weigh half an occurrence: they only decide between equal differences.
    order = pulp.lpSum(number * variable for number, variable in enumerate(take))
    program.setObjective(pulp.lpSum(apart) + 0.5 / sum(range(1, len(words) + 1)) * order)
    return solved(program, take, largest, maxNodes=_NODES, gapAbs=_EXACT)


def _program(
    words: list[Frequencies], relative: float, occurrences: int
) -> tuple[pulp.LpProblem, list[pulp.LpVariable], list[pulp.LpVariable]]:
    """Return the program, a variable for each word, and the difference of every two corpora."""
    program = pulp.LpProblem("counterbalance", pulp.LpMinimize)
    take = [pulp.LpVariable(f"t{number}", cat=pulp.LpBinary) for number in range(len(words))]
    totals = [
        pulp.lpSum(counts[corpus] * variable for counts, variable in zip(words, take, strict=True))
        for corpus in range(len(words[0]))
    ]
    apart = []
    everything = sum(map(sum, words))
    for number, (a, b) in enumerate(itertools.combinations(totals, 2)):
        difference = pulp.LpVariable(f"d{number}", 0)
        program += difference >= a - b
        program += difference >= b - a
        # |a - b| <= relative * mean is linear; "or occurrences" needs a binary variable.
        allowed = relative / 2 * (a + b)
        if occurrences:
            few = pulp.LpVariable(f"o{number}", cat=pulp.LpBinary)
            program += difference <= occurrences + everything * (1 - few)
            allowed += everything * few
        program += difference <= allowed
        apart.append(difference)
    # Of words with equal frequencies the first is taken.
    before: dict[Frequencies, int] = {}
    for number, counts in enumerate(words):
        if counts in before:
            program += take[before[counts]] >= take[number]
        before[counts] = number
    return program, take, apart
