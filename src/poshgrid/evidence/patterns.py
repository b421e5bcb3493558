"""Dependency patterns: what a filter looks for, written in the field's notation.

A pattern is a few lines, each a word, an operator and another word, as in Semgrex (Chambers et al.
2007, "Learning alignments and leveraging natural logic")::

    {upos:VERB}=verb >nsubj {upos:NOUN|PROPN}=subject
    =subject >nmod {upos:NOUN|PROPN}=modifier
    =modifier >case {upos:ADP}=preposition

``{...}=name`` describes a word and names its role; ``=name`` is the word of an earlier line. Within
the braces, divided by ``;``:

* ``word:a|an``: the form, in lower case; ``word:$nouns`` is a list of ``resources/filters/``,
  ``word:/ing$/`` a regular expression that is searched for;
* ``upos:NOUN|PROPN``: universal part of speech;
* ``feats:Degree=Sup``: a morphological feature;
* ``rel:nsubj``: relation to the governor. ``nsubj`` also stands for ``nsubj:pass``, as in other
  tools, while ``acl:relcl`` stands for itself alone. Relations are those of Universal Dependencies.

Operators are those of Semgrex and of spaCy's ``DependencyMatcher``: ``A > B`` A governs B, ``<`` is
governed by, ``>>`` and ``<<`` the same at any depth, ``A . B`` A is right before B, ``.*`` before,
``;`` right after, ``;*`` after. ``>``, ``<`` and ``$`` (sisters) also with ``++`` (B on the right),
``+`` (right next), ``--`` (on the left), ``-`` (left next). ``>nsubj`` is short for a ``rel`` of
the governed word, and so is ``<nsubj``; several are divided by ``|``. A pattern of one word is one
line without an operator.

Every line but the first says something of one earlier word and one new word. Two roles may fall on
the same word unless an operator divides them.

The search is our own: a test holds it to spaCy's matcher, which is six times slower here (a ``Doc``
a tree), loses matches of the operators of order in some trees that are not projective, and does not
end on heads in a circle.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from poshgrid import resources
from poshgrid.errors import PoshgridError
from poshgrid.evidence.match import Match
from poshgrid.parsing.tree import Tree
from poshgrid.screening.closed_classes import lower

_LINE = re.compile(
    r"(?:\{(?P<left_is>[^}]*)\})?=(?P<left>\w+)"
    r"(?:\s+(?P<operator>[<>$.;*+-]+)(?P<relations>[a-z:|]*)\s+"
    r"\{(?P<right_is>[^}]*)\}=(?P<right>\w+))?"
)
_LIST = re.compile(r"\$([a-z][a-z-]*)")
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
"""Operator -> what it says of structure and of order."""


@dataclass(frozen=True)
class _Node:
    """What one word of a pattern must be by itself; an empty test is no test."""

    role: str
    words: frozenset[str] = frozenset()
    spelling: re.Pattern[str] | None = None
    upos: frozenset[str] = frozenset()
    feats: frozenset[str] = frozenset()
    relations: frozenset[str] = frozenset()

    @property
    def lexical(self) -> bool:
        return bool(self.words) or self.spelling is not None

    def spelt(self, word: str) -> bool:
        """Say whether a word in lower case has the form."""
        return (not self.words or word in self.words) and (
            self.spelling is None or self.spelling.search(word) is not None
        )

    def places(self, tree: Tree, small: list[str]) -> list[int]:
        """Return the places, from 1, of the words that fit; ``small``: in lower case."""
        found: Iterable[int] = range(len(tree))
        # The tests that most words fail come first
        if self.lexical:
            found = [i for i in found if self.spelt(small[i])]
        if self.relations:
            found = [i for i in found if _related(tree.deprel[i], self.relations)]
        if self.upos:
            found = [i for i in found if tree.upos[i] in self.upos]
        if self.feats:
            found = [i for i in found if not self.feats.isdisjoint(tree.feats[i].split("|"))]
        return [i + 1 for i in found]


@dataclass(frozen=True)
class _Edge:
    """What holds between an earlier and a new role, both by their number."""

    left: int
    right: int
    structure: str
    order: str

    def holds(self, tree: Tree, a: int, b: int) -> bool:
        return _ORDER[self.order](a, b) and _STRUCTURE[self.structure](tree, a, b)


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
        _read(self.rule, self.text)  # what cannot be read is told at once

    @property
    def lines(self) -> list[str]:
        """The pattern's lines, without the indentation."""
        return [line.strip() for line in self.text.strip().splitlines()]

    def match(self, tree: Tree) -> Match | None:
        """Return the leftmost match, by the places of the roles in their order, or ``None``."""
        if not self.possible(tree.form):
            return None
        small = lower(tree.form) if self._lexical else []
        places = []
        for node in self._nodes:
            places.append(node.places(tree, small))
            if not places[-1]:
                return None
        found = self._search(tree, places, ())
        if found is None:
            return None
        return Match(self.rule, {n.role: p for n, p in zip(self._nodes, found, strict=True)})

    def possible(self, words: Sequence[str]) -> bool:
        """Say whether some tree over these words may match: ``False`` only if none does.

        Each role that names words must find one, and each operator of order between two such
        roles a pair of places in that order.
        """
        lexical = self._lexical
        if not lexical:
            return True
        small = lower(words)
        # Most sentences lack a word of the list: no loop over the words is needed to see it
        if any(node.words and node.words.isdisjoint(small) for node in lexical.values()):
            return False
        places = {
            number: [i for i, word in enumerate(small) if node.spelt(word)]
            for number, node in lexical.items()
        }
        if not all(places.values()):
            return False
        return all(
            any(_ORDER[e.order](a, b) for a in places[e.left] for b in places[e.right])
            for e in self._edges
            if e.order and e.left in places and e.right in places
        )

    @functools.cached_property
    def _nodes(self) -> list[_Node]:
        return [_node(role, tests) for role, tests in _read(self.rule, self.text)[0]]

    @functools.cached_property
    def _edges(self) -> list[_Edge]:
        return _read(self.rule, self.text)[1]

    @functools.cached_property
    def _lexical(self) -> dict[int, _Node]:
        return {number: node for number, node in enumerate(self._nodes) if node.lexical}

    def _search(
        self, tree: Tree, places: list[list[int]], chosen: tuple[int, ...]
    ) -> tuple[int, ...] | None:
        """Return the leftmost places of all roles that begin with the chosen ones, or ``None``."""
        number = len(chosen)
        if number == len(places):
            return chosen
        edge = self._edges[number - 1] if number else None
        for place in places[number]:
            if edge is None or edge.holds(tree, chosen[edge.left], place):
                found = self._search(tree, places, (*chosen, place))
                if found is not None:
                    return found
        return None


def first(patterns: Iterable[Pattern], tree: Tree) -> Match | None:
    """Return the match of the first pattern that has one, or ``None``."""
    return next((m for pattern in patterns if (m := pattern.match(tree)) is not None), None)


def possible(patterns: Iterable[Pattern], words: Sequence[str]) -> bool:
    """Say whether some tree over these words may match one of the patterns.

    Args:
        patterns: a filter's.
        words: as parsers see them (``poshgrid.parsing.words``).

    Returns:
        ``False`` only if no tree matches, whatever its labels.
    """
    return any(pattern.possible(words) for pattern in patterns)


def word_lists(patterns: Iterable[Pattern]) -> list[Path]:
    """Return the files of the lists of words that patterns name, sorted.

    Raises:
        PoshgridError: a list does not exist.
    """
    names = {name for pattern in patterns for name in _LIST.findall(pattern.text)}
    return [resources.path("filters", f"{name}.yaml") for name in sorted(names)]


@functools.cache
def word_list(name: str) -> frozenset[str]:
    """Return the words of ``resources/filters/{name}.yaml``.

    Raises:
        PoshgridError: the file is missing, or is no sorted list of different words in lower case.
    """
    import yaml

    path = resources.path("filters", f"{name}.yaml")
    try:
        words = list(yaml.safe_load(path.read_text(encoding="utf-8"))["words"])
    except (yaml.YAMLError, TypeError, KeyError) as error:
        raise PoshgridError(f"{path}: no list `words`; write one word a line below it") from error
    for before, word in zip(["", *words], words, strict=False):
        if not isinstance(word, str) or word != word.lower():
            raise PoshgridError(f"{path}: {word!r} is no word in lower case; quote or mend it")
        if word <= before:
            raise PoshgridError(f"{path}: {word!r} after {before!r}; sort the list, each word once")
    return frozenset(words)


def _related(relation: str, wanted: frozenset[str]) -> bool:
    return relation in wanted or relation.partition(":")[0] in wanted


Tests = dict[str, str]
"""What stands in a word's braces: attribute -> value."""


@functools.cache
def _read(rule: str, text: str) -> tuple[list[tuple[str, Tests]], list[_Edge]]:
    """Return the roles of a pattern with their tests, and its edges.

    Raises:
        PoshgridError: a line cannot be read, or does not join one earlier and one new word.
    """
    nodes: dict[str, Tests] = {}
    edges: list[_Edge] = []

    def fault(reason: str) -> PoshgridError:
        return PoshgridError(f"pattern {rule!r}: {reason}; see poshgrid.evidence.patterns")

    def add(role: str, described: str) -> None:
        if role in nodes:
            raise fault(f"{role!r} is described twice")
        nodes[role] = {}
        for part in filter(None, described.split(";")):
            key, _, value = part.strip().partition(":")
            if key not in _ATTRIBUTES or not value:
                raise fault(f"cannot read {part!r}, a word has {', '.join(_ATTRIBUTES)}")
            nodes[role][key] = value

    lines = [line.strip() for line in text.strip().splitlines()]
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None:
            raise fault(f"cannot read {line!r}")
        left, operator, right = found["left"], found["operator"], found["right"]
        if found["left_is"] is not None:
            if nodes:
                raise fault(f"{left!r} is described on a line other than the first")
            add(left, found["left_is"])
        if left not in nodes:
            raise fault(f"{left!r} is on no earlier line")
        if operator is None:
            if len(lines) > 1:
                raise fault(f"{line!r} joins no two words")
            continue
        add(right, found["right_is"])
        if operator not in _OPERATORS:
            raise fault(f"unknown operator {operator!r}")
        structure, order = _OPERATORS[operator]
        if found["relations"]:
            if structure not in ("<", ">"):
                raise fault(f"{operator!r} takes no relation")
            child = right if structure == ">" else left
            if "rel" in nodes[child]:
                raise fault(f"{child!r} has two relations")
            nodes[child]["rel"] = found["relations"]
        roles = list(nodes)
        edges.append(_Edge(roles.index(left), roles.index(right), structure, order))
    if not nodes:
        raise fault("it is empty")
    return list(nodes.items()), edges


def _node(role: str, tests: Tests) -> _Node:
    def among(key: str) -> list[str]:
        return tests[key].split("|") if key in tests else []

    word = tests.get("word", "")
    if word.startswith("/"):
        words, spelling = frozenset(), re.compile(word.strip("/"))
    else:
        lists = (word_list(w[1:]) if w.startswith("$") else {w} for w in among("word"))
        words, spelling = frozenset().union(*lists), None
    return _Node(
        role=role,
        words=words,
        spelling=spelling,
        upos=frozenset(among("upos")),
        feats=frozenset(among("feats")),
        relations=frozenset(among("rel")),
    )
