"""Reflexives and c-command: a subject with a relative clause binds a reflexive behind it.

*A lot of actresses that thought about Alice healed themselves*: *Alice* is nearer, but inside the
relative clause. FiCT describes this filter in words (section 3.2.1): evidence of c-command "in
relative clauses, but not elsewhere", so that *Mary's brother hurt himself* stays. Our rule::

    _ >nsubj _ >acl:relcl _
    _ >obj|iobj|obl $reflexives, of the same predicate and behind the subject ($++)

Reflexives of all persons count (``resources/filters/reflexives.yaml``).
"""

from __future__ import annotations

from collections.abc import Sequence

from poshgrid.evidence.match import Match
from poshgrid.evidence.patterns import Pattern, first, possible
from poshgrid.parsing.tree import Tree

TARGETS: tuple[str, ...] = ("principle_A_c_command",)
"""Paradigms of BLiMP."""
PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "reflexive of a subject with a relative clause",
        """
        {rel:nsubj}=subject $++ {word:$reflexives;rel:obj|iobj|obl}=reflexive
        =subject >acl:relcl {}=relative
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
