"""Dependency patterns: a filter's conditions in the notation of the field.

A pattern is a few lines, each a word, an operator and another word, as in Semgrex (Chambers et al.
2007, "Learning alignments and leveraging natural logic")::

    {upos:VERB}=verb >nsubj {upos:NOUN|PROPN}=subject =subject >nmod {upos:NOUN|PROPN}=modifier
    =modifier >case {upos:ADP}=preposition

``{...}=name`` describes a word and names its role; ``=name`` is the word of an earlier line. Within
the braces, separated by ``;``:

* ``word:a|an``: the form, in lower case; ``word:$nouns`` is a list of ``resources/filters/``,
  ``word:/ing$/`` a regular expression that is searched for;
* ``upos:NOUN|PROPN``: universal part of speech; ``upos:!NOUN|PROPN``: any other;
* ``feats:Degree=Sup``: a morphological feature;
* ``rel:nsubj``: relation to the governor. ``nsubj`` also matches ``nsubj:pass``, as in other
  tools, while ``acl:relcl`` only matches itself and ``obl:`` only ``obl`` without a subtype.
  Relations are those of Universal Dependencies.

Operators are those of Semgrex and of spaCy's ``DependencyMatcher``: ``A > B`` A governs B, ``<`` is
governed by, ``>>`` and ``<<`` the same at any depth, ``A . B`` A is right before B, ``.*`` before,
``;`` right after, ``;*`` after. ``>``, ``<`` and ``$`` (sisters) also with ``++`` (B on the right),
``+`` (right next), ``--`` (on the left), ``-`` (left next). ``>nsubj`` is short for a ``rel`` of
the governed word, and so is ``<nsubj``; several are separated by ``|``. A pattern of one word is
one line without an operator.

Every line except the first relates an earlier word to a new word, or two earlier words to each
other (``=modifier .* =verb``). Two roles may be the same word unless an operator excludes it.

The search is implemented here: spaCy's matcher is six times slower (a ``Doc`` for each tree), loses
matches of the operators of order in some non-projective trees, and does not end if heads form a
circle.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from poshgrid.core import resources
from poshgrid.evidence.match import Match, Rule
from poshgrid.evidence.notation import LIST, Edge, Node, make_node, read
from poshgrid.parsing.tree import Tree

DIRECT = "direct"
"""The reading for evidence of structure against order, in filters that have one."""


@dataclass(frozen=True)
class Pattern:
    """A dependency pattern, see the module's docstring.

    Attributes:
        rule: what it finds, in a few words.
        text: the pattern in dependency notation.
    """

    rule: str
    text: str

    def __post_init__(self) -> None:
        read(self.rule, self.text)  # raises at once if it cannot be read

    def match(self, tree: Tree) -> Match | None:
        """Return the match whose first role is leftmost, then its second, etc., or ``None``."""
        small = tree.small
        # Most sentences lack a word of the list, which is fast to check
        if any(node.words and node.words.isdisjoint(small) for node in self._nodes):
            return None
        positions = []
        for node in self._nodes:
            positions.append(node.positions(tree, small))
            if not positions[-1]:
                return None
        chosen = self._search(tree, positions, ())
        if chosen is None:
            return None
        return Match(self.rule, {n.role: p for n, p in zip(self._nodes, chosen, strict=True)})

    @functools.cached_property
    def _nodes(self) -> list[Node]:
        return [make_node(role, tests) for role, tests in read(self.rule, self.text)[0]]

    @functools.cached_property
    def _edges_of(self) -> list[list[Edge]]:
        """For each role, the edges that connect it to itself or earlier roles."""
        nodes, edges = read(self.rule, self.text)
        return [
            [edge for edge in edges if max(edge.left, edge.right) == number]
            for number in range(len(nodes))
        ]

    def _search(
        self, tree: Tree, positions: list[list[int]], chosen: tuple[int, ...]
    ) -> tuple[int, ...] | None:
        """Return the leftmost positions of all roles that begin with ``chosen``, or ``None``."""
        number = len(chosen)
        if number == len(positions):
            return chosen
        edges = self._edges_of[number]
        for candidate in positions[number]:
            tried = (*chosen, candidate)
            if all(edge.holds(tree, tried[edge.left], tried[edge.right]) for edge in edges):
                rest = self._search(tree, positions, tried)
                if rest is not None:
                    return rest
        return None


def written(**readings: str) -> dict[str, tuple[Pattern, ...]]:
    """Return a filter's patterns: reading -> patterns, in the order of its text.

    Args:
        readings: reading -> text. A line that does not begin with ``{`` or ``=`` is the name of the
            pattern below it.

    Raises:
        PoshgridError: a pattern cannot be read.
    """
    patterns: dict[str, tuple[Pattern, ...]] = {}
    for reading, text in readings.items():
        parts: list[tuple[str, list[str]]] = []
        for line in filter(None, map(str.strip, text.splitlines())):
            if line.startswith(("{", "=")) and parts:
                parts[-1][1].append(line)
            else:
                parts.append((line.removesuffix(":"), []))
        patterns[reading] = tuple(Pattern(rule, "\n".join(lines)) for rule, lines in parts)
    return patterns


def first(patterns: Iterable[Pattern], tree: Tree) -> Match | None:
    """Return the match of the first pattern that has one, or ``None``."""
    return next((m for pattern in patterns if (m := pattern.match(tree)) is not None), None)


def readings(patterns: Mapping[str, Iterable[Pattern]]) -> dict[str, Rule]:
    """Return the rules of a filter that is written in patterns: reading -> its rule."""
    return {name: functools.partial(first, tuple(own)) for name, own in patterns.items()}


def asked(patterns: Iterable[Pattern]) -> set[str]:
    """Return the labels that the patterns need: ``nsubj``, ``NOUN|PROPN``, ``Degree=Sup``.

    Alternatives are separated by ``|``; a tree with none of them cannot match.
    """
    return {
        "|".join(sorted(value.removesuffix(":") for value in values))
        for pattern in patterns
        for node in pattern._nodes
        for values in (node.relations, node.upos, node.feats)
        if values
    }


def word_lists(patterns: Mapping[str, Iterable[Pattern]]) -> list[Path]:
    """Return the files of the word lists that patterns use, sorted.

    Raises:
        PoshgridError: a list does not exist.
    """
    texts = (pattern.text for own in patterns.values() for pattern in own)
    names = {name for text in texts for name in LIST.findall(text)}
    return [resources.path("filters", f"{name}.yaml") for name in sorted(names)]
