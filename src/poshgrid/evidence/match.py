"""Why a filter took a sentence: the rule that fired, and the words that it matched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from poshgrid.parsing.tree import Tree


@dataclass(frozen=True, slots=True)
class Match:
    """What a filter found in a tree.

    Attributes:
        rule: the rule that fired, in a few words.
        roles: role of each matched word (``"subject"``) -> its place, counted from 1.
    """

    rule: str
    roles: dict[str, int]

    @property
    def words(self) -> tuple[int, ...]:
        """The places of the matched words, ascending."""
        return tuple(sorted(set(self.roles.values())))


Rule = Callable[[Tree], Match | None]
"""One reading of a filter: what it finds in a tree, or ``None``."""
