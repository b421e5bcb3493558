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
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from poshgrid.core import resources
from poshgrid.core.errors import PoshgridError, did_you_mean
from poshgrid.evidence.match import Match, Rule
from poshgrid.parsing.tree import RELATIONS, TAGS, Tree

DIRECT = "direct"
"""The reading for evidence of structure against order, in filters that have one."""
_LIST = re.compile(r"\$([a-z][a-z-]*)")  # a reference to a list of words
_LINE = re.compile(
    r"(?:\{(?P<left_is>[^}]*)\})?=(?P<left>\w+)"
    r"(?:\s+(?P<operator>[<>$.;*+-]+)(?P<relations>[a-z:|]*)\s+"
    r"(?:\{(?P<right_is>[^}]*)\})?=(?P<right>\w+))?"
)
_ATTRIBUTES = ("word", "upos", "feats", "rel")
_STRUCTURE: dict[str, Callable[[Tree, int, int], bool]] = {
    "": lambda tree, a, b: True,
    ">": lambda tree, a, b: tree.head[b - 1] == a,
    "<": lambda tree, a, b: tree.head[a - 1] == b,
    ">>": lambda tree, a, b: tree.dominates(a, b),
    "<<": lambda tree, a, b: tree.dominates(b, a),
    "$": lambda tree, a, b: tree.head[a - 1] == tree.head[b - 1],
}
_ORDER: dict[str, Callable[[int, int], bool]] = {
    "": lambda a, b: True,
    "+": lambda a, b: a + 1 == b,
    "-": lambda a, b: a == b + 1,
    "++": lambda a, b: a < b,
    "--": lambda a, b: a > b,
}
_OPERATORS = {
    ".": ("", "+"), ".*": ("", "++"), ";": ("", "-"), ";*": ("", "--"),
    **{s: (s, "") for s in (">", "<", ">>", "<<")},
    **{s + order: (s, order) for s in "><$" for order in ("+", "-", "++", "--")},
}  # fmt: skip
"""Operator -> its structural condition and its condition on word order."""

Tests = dict[str, str]
"""The contents of a word's braces: attribute -> value."""


@dataclass(frozen=True)
class Node:
    """The conditions on one word of a pattern; an empty condition is always true."""

    role: str
    words: frozenset[str] = frozenset()
    spelling: re.Pattern[str] | None = None
    upos: frozenset[str] = frozenset()
    not_upos: frozenset[str] = frozenset()
    feats: frozenset[str] = frozenset()
    relations: frozenset[str] = frozenset()

    def positions(self, tree: Tree) -> list[int]:
        """Return the positions, from 1, of the words that match."""
        small = tree.small
        positions: Iterable[int] = range(len(tree))
        # The conditions that most words fail come first
        if self.words:
            positions = [i for i in positions if small[i] in self.words]
        if self.spelling:
            positions = [i for i in positions if self.spelling.search(small[i])]
        if self.relations:
            positions = [i for i in positions if _related(tree.deprel[i], self.relations)]
        if self.upos:
            positions = [i for i in positions if tree.upos[i] in self.upos]
        if self.not_upos:
            positions = [i for i in positions if tree.upos[i] not in self.not_upos]
        if self.feats:
            positions = [
                i for i in positions if not self.feats.isdisjoint(tree.feats[i].split("|"))
            ]
        return [i + 1 for i in positions]


@dataclass(frozen=True)
class Edge:
    """The relation between two roles, given by their numbers."""

    left: int
    right: int
    structure: str
    order: str

    def holds(self, tree: Tree, a: int, b: int) -> bool:
        """Return whether the relation holds between the words at two positions, from 1."""
        return _ORDER[self.order](a, b) and _STRUCTURE[self.structure](tree, a, b)


@dataclass
class Pattern:
    """A dependency pattern, see the module's docstring.

    Attributes:
        rule: what it finds, in a few words.
        text: the pattern in dependency notation.
    """

    rule: str
    text: str

    def __post_init__(self) -> None:
        self._tests, edges = _read(self.rule, self.text)
        # For each role, the edges that connect it to itself or earlier roles
        self._edges = [
            [edge for edge in edges if max(edge.left, edge.right) == number]
            for number in range(len(self._tests))
        ]

    def match(self, tree: Tree) -> Match | None:
        """Return the match whose first role is leftmost, then its second, etc., or ``None``."""
        # Most sentences lack a word of the list, which is fast to check
        if any(node.words and node.words.isdisjoint(tree.small) for node in self._nodes):
            return None
        positions = []
        for node in self._nodes:
            positions.append(node.positions(tree))
            if not positions[-1]:
                return None
        chosen = self._search(tree, positions, ())
        if chosen is None:
            return None
        return Match(self.rule, {n.role: p for n, p in zip(self._nodes, chosen, strict=True)})

    @functools.cached_property
    def _nodes(self) -> list[Node]:
        # At the first match, not earlier: it reads word lists
        return [_node(role, tests) for role, tests in self._tests.items()]

    def _search(
        self, tree: Tree, positions: list[list[int]], chosen: tuple[int, ...]
    ) -> tuple[int, ...] | None:
        """Return the leftmost positions of all roles that begin with ``chosen``, or ``None``."""
        number = len(chosen)
        if number == len(positions):
            return chosen
        edges = self._edges[number]
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


def needed_labels(patterns: Iterable[Pattern]) -> set[str]:
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
    names = {name for text in texts for name in _LIST.findall(text)}
    return [resources.path("filters", f"{name}.yaml") for name in sorted(names)]


# ---- reading the notation ------------------------------------------------------------------------


def _node(role: str, tests: Tests) -> Node:
    """Return a word's tests as a :class:`Node`.

    Raises:
        PoshgridError: a list of words is missing or malformed.
    """

    def among(key: str) -> frozenset[str]:
        return frozenset(tests[key].split("|")) if key in tests else frozenset()

    word = tests.get("word", "")
    if word.startswith("/"):
        words, spelling = frozenset[str](), re.compile(word.strip("/"))
    else:
        lists = (word_list(w[1:]) if w.startswith("$") else {w} for w in sorted(among("word")))
        words, spelling = frozenset().union(*lists), None
    negated = tests.get("upos", "").startswith("!")
    tags = frozenset(tests["upos"].lstrip("!").split("|")) if "upos" in tests else frozenset()
    return Node(
        role=role,
        words=words,
        spelling=spelling,
        upos=frozenset() if negated else tags,
        not_upos=tags if negated else frozenset(),
        feats=among("feats"),
        relations=among("rel"),
    )


@functools.cache
def word_list(name: str) -> frozenset[str]:
    """Return the words of ``resources/filters/{name}.yaml``.

    Raises:
        PoshgridError: the file is missing, or is not a list of words in lower case.
    """
    import yaml

    path = resources.path("filters", f"{name}.yaml")
    try:
        words = list(yaml.safe_load(path.read_text(encoding="utf-8"))["words"])
    except (yaml.YAMLError, TypeError, KeyError) as error:
        raise PoshgridError(f"{path}: no list `words`; write one word per line below it") from error
    if wrong := [word for word in words if not isinstance(word, str) or word != word.lower()]:
        raise PoshgridError(
            f"{path}: {wrong[0]!r} is not a word in lower case; quote or correct it"
        )
    return frozenset(words)


def _read(rule: str, text: str) -> tuple[dict[str, Tests], list[Edge]]:
    """Return the roles of a pattern with their tests, and its edges.

    Args:
        rule: the pattern's name, for messages.
        text: the pattern.

    Raises:
        PoshgridError: a line cannot be read, or does not connect an earlier word with another.
    """
    nodes: dict[str, Tests] = {}
    edges: list[Edge] = []
    lines = [line.strip() for line in text.strip().splitlines()]
    try:
        for line in lines:
            if (edge := _line(line, nodes)) is not None:
                edges.append(edge)
            elif len(lines) > 1:
                raise ValueError(f"{line!r} does not connect two words")
        if not nodes:
            raise ValueError("it is empty")
    except ValueError as fault:
        raise PoshgridError(f"pattern {rule!r}: {fault}; see poshgrid.evidence.patterns") from fault
    return nodes, edges


def _line(line: str, nodes: dict[str, Tests]) -> Edge | None:
    """Read one line: add the words that it describes, and return its edge, or None.

    Raises:
        ValueError: what is wrong with the line.
    """
    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"cannot read {line!r}")
    left, operator, right = match["left"], match["operator"], match["right"]
    if match["left_is"] is not None:
        if nodes:
            raise ValueError(f"{left!r} is described on a line other than the first")
        nodes[left] = _tests(match["left_is"])
    if left not in nodes:
        raise ValueError(f"{left!r} is on no earlier line")
    if operator is None:
        return None
    if operator not in _OPERATORS:
        raise ValueError(f"unknown operator {operator!r}")
    if match["right_is"] is None and right not in nodes:
        raise ValueError(f"{right!r} is on no earlier line and has no braces")
    if match["right_is"] is not None:
        if right in nodes:
            raise ValueError(f"{right!r} is described twice")
        nodes[right] = _tests(match["right_is"])
    structure, order = _OPERATORS[operator]
    if match["relations"]:
        if structure not in ("<", ">"):
            raise ValueError(f"{operator!r} takes no relation")
        child = right if structure == ">" else left
        if "rel" in nodes[child]:
            raise ValueError(f"{child!r} has two relations")
        nodes[child]["rel"] = match["relations"]
        _check_universal("relation", match["relations"], RELATIONS)
    roles = list(nodes)
    return Edge(roles.index(left), roles.index(right), structure, order)


def _tests(described: str) -> Tests:
    """Read the contents of a word's braces.

    Raises:
        ValueError: what is wrong with them.
    """
    tests: Tests = {}
    for part in filter(None, described.split(";")):
        key, _, value = part.strip().partition(":")
        if key not in _ATTRIBUTES or not value:
            raise ValueError(f"cannot read {part!r}, a word has {', '.join(_ATTRIBUTES)}")
        tests[key] = value
    _check_universal("part of speech", tests.get("upos", "").removeprefix("!"), TAGS)
    _check_universal("relation", tests.get("rel", ""), RELATIONS)
    return tests


def _check_universal(kind: str, words: str, known: Iterable[str]) -> None:
    """Raise ``ValueError`` if one of the words is not of Universal Dependencies."""
    for word in filter(None, words.split("|")):
        if (general := word.partition(":")[0]) not in known:
            raise ValueError(f"unknown {kind} {word!r}{did_you_mean(general, known)}")


def _related(relation: str, wanted: frozenset[str]) -> bool:
    """Return whether a relation is wanted: as it is, without subtype, or only without one."""
    general, colon, _ = relation.partition(":")
    return relation in wanted or general in wanted or (not colon and f"{relation}:" in wanted)
