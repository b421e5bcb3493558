"""Polarity items after *only*: *Only students have ever complained*.

The rule of FiCT (section 3.2.1), "an NPI occurring after 'only'", asks for no dependency::

    only .* $npis            only .* at . all

The list (``resources/filters/npis.yaml``) and *at all* stand in for that of Jumelet et al. (2021),
which FiCT refers to and does not print; nor is its code for these filters published.
"""

from __future__ import annotations

from collections.abc import Sequence

from poshgrid.evidence.match import Match
from poshgrid.evidence.patterns import Pattern, first, possible
from poshgrid.parsing.tree import Tree

TARGETS: tuple[str, ...] = (
    "only_npi_licensor_present",
    "only_npi_scope",
)
"""Paradigms of BLiMP."""
PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "polarity item after only",
        """
        {word:only}=only .* {word:$npis}=item
        """,
    ),
    Pattern(
        "at all after only",
        """
        {word:only}=only .* {word:at}=item
        =item . {word:all}=all
        """,
    ),
)


def screen(words: Sequence[str]) -> bool:
    """Say whether the filter may remove a sentence of these words."""
    return possible(PATTERNS, words)


def removed(tree: Tree) -> Match | None:
    """Return what removes a sentence, or ``None``."""
    return first(PATTERNS, tree)


evidence = removed
