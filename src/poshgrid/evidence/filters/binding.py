"""Binding: a reflexive whose antecedent is determined by structure, not by word order.

*The boy said the girl likes herself* shows that a reflexive is bound in its own clause (locality),
*the girl's dad likes himself* that its antecedent is not inside another phrase (c-command); paper,
appendix C and Table 1 (7-8).

``paper``, the rule of appendix C: a reflexive is preceded by two nouns or pronouns::

    R: a word in -self or -selves, tagged PRON, or one of the reflexive pronouns whatever its tag
    C1 < C2 < R, both tagged NOUN, PROPN or PRON

``direct``, evidence for structure against order: in addition, R is an argument, its antecedent A is
found by structure and may agree with it, and another candidate C is ruled out by structure alone.

* *Antecedent*: climb from R; the first governor with a subject before R gives A. On the way, a
  relative pronoun is replaced by the noun that its clause modifies; a clause on a noun without a
  subject gives that noun, if the two agree (else *an attempt to free themselves* climbs on); an
  ``xcomp`` takes the object of the verb above (*let you hear yourself*) or climbs on; so do a
  conjunct and an adverbial clause without a subject. An imperative has none.
* *Agreement*: a personal pronoun must be of R's person, number and gender, a noun of the third
  person, and its ``Number``, if known, R's (a coordination counts as plural).
* *Candidates*: nouns, names and personal pronouns before R in the same main clause: not
  vocatives, repairs, expletives, parts of names or compounds, and not pronouns that agree with R,
  because they may refer to the same person.
* *Ruled out*: C is not a subject or object in R's own clause, so that it either does not c-command
  R (a possessor, an object of a preposition, a word of another clause, one member of a coordinated
  antecedent) or does so from a higher clause. Or it is one, is between A and R, and cannot
  agree with R (*I gave the bag to myself*): the nearest word is not the antecedent.

An emphatic reflexive (*brush them myself*: ``obl:npmod``, ``appos``, any that is neither a core
argument nor after a preposition) is not an argument.
"""

from __future__ import annotations

from dataclasses import dataclass

from poshgrid.evidence.backstops import binding as words
from poshgrid.evidence.closed_classes import listed
from poshgrid.evidence.match import RELATIVE_PRONOUNS, Match, Rule, is_relative, is_subject
from poshgrid.parsing.tree import Tree

TARGETS: tuple[str, ...] = (
    "principle-a-command",  # POSH-BENCH
    "principle-a-locality",
    "principle_A_c_command",  # BLiMP; all except case_2 are also in SCaMP
    "principle_A_case_2",
    "principle_A_domain_2",
    "principle_A_domain_3",
    "binding-principle_a",  # Zorro
    "principle_A_c_command_implausible",  # SCaMP
    "principle_A_domain_2_implausible",
    "principle_A_domain_3_implausible",
)
"""Phenomena of the suites in POSH-BENCH's Table 10 (``resources/suites/table10.yaml``)."""

_NOMINAL = listed("NOUN PROPN PRON")
# person, number (None: any), gender (None: any)
_REFLEXIVES: dict[str, tuple[int, str | None, str | None]] = {
    "myself": (1, "Sing", None), "ourselves": (1, "Plur", None), "ourself": (1, None, None),
    "yourself": (2, "Sing", None), "yourselves": (2, "Plur", None),
    "himself": (3, "Sing", "Masc"), "hisself": (3, "Sing", "Masc"),
    "herself": (3, "Sing", "Fem"), "itself": (3, "Sing", "Neut"), "oneself": (3, "Sing", None),
    "themself": (3, None, None), "themselves": (3, "Plur", None), "theirselves": (3, "Plur", None),
}  # fmt: skip
_PRONOUNS: dict[str, tuple[int, str | None, str | None]] = {
    **dict.fromkeys(("i", "me", "my", "mine"), (1, "Sing", None)),
    **dict.fromkeys(("we", "us", "our", "ours"), (1, "Plur", None)),
    **dict.fromkeys(("you", "your", "yours", "ya", "u"), (2, None, None)),
    **dict.fromkeys(("he", "him", "his"), (3, "Sing", "Masc")),
    **dict.fromkeys(("she", "her", "hers"), (3, "Sing", "Fem")),
    **dict.fromkeys(("it", "its"), (3, "Sing", "Neut")),
    **dict.fromkeys(("they", "them", "'em", "em", "their", "theirs"), (3, "Plur", None)),
}
_PARTS: dict[str, tuple[int, str | None, str | None]] = {
    "us": (1, "Plur", None),
    "you": (2, "Plur", None),
    "them": (3, "Plur", None),
}
_INDEFINITE = listed("everybody everyone somebody someone anybody anyone nobody")
_DEMONSTRATIVES = listed("this that these those")
_EMPHATIC = listed("appos advmod vocative discourse parataxis reparandum dislocated dep")
_NO_CANDIDATE = listed(
    "vocative discourse reparandum dislocated expl det compound flat fixed goeswith"
)
_SUBJECT = listed("nsubj")
_OBJECTS = listed("obj iobj")
_CORE = _OBJECTS | listed("nsubj csubj")


def paper(tree: Tree) -> Match | None:
    """Return the first two (pro)nouns and the reflexive that remove a sentence, or ``None``."""
    for reflexive in _reflexives(tree):
        before = _nominals(tree, reflexive)
        if len(before) >= 2:
            return Match(
                "reflexive after two nouns or pronouns",
                {"first": before[0], "second": before[1], "reflexive": reflexive},
            )
    return None


def direct(tree: Tree) -> Match | None:
    """Return the antecedent, a candidate that is ruled out and the reflexive, or ``None``."""
    for reflexive in _reflexives(tree):
        nominals = _nominals(tree, reflexive)
        if len(nominals) < 2 or _emphatic(tree, reflexive):
            continue
        antecedent = _antecedent(tree, reflexive)
        if antecedent is None or not _agrees(tree, antecedent.word, reflexive):
            continue
        for candidate in nominals:
            if candidate not in (antecedent.word, antecedent.pronoun) and _ruled_out(
                tree, candidate, reflexive, antecedent
            ):
                return Match(
                    "reflexive whose antecedent only structure tells from another word",
                    {"antecedent": antecedent.word, "ruled out": candidate, "reflexive": reflexive},
                )
    return None


READINGS: dict[str, Rule] = {"paper": paper, "direct": direct}
BACKSTOPS, candidates = {"direct": words.direct}, words.candidates
NEEDS = {"paper": ("NOUN", "PRON"), "direct": ("NOUN", "PRON", "nsubj", "obj")}
"""Reading -> labels that trees must have; ``|`` separates alternatives."""


@dataclass(frozen=True)
class _Antecedent:
    """The antecedent of a reflexive.

    Attributes:
        word: the antecedent.
        pronoun: the relative pronoun that refers to it; None if there is none.
        clause: the words passed on the way up, including the reflexive, whose objects c-command it.
    """

    word: int
    pronoun: int | None
    clause: frozenset[int]


def _reflexives(tree: Tree) -> list[int]:
    return [
        word
        for word, small in enumerate(tree.small, start=1)
        if small in _REFLEXIVES
        or (small.endswith(("self", "selves")) and tree.upos[word - 1] == "PRON")
    ]


def _nominals(tree: Tree, before: int) -> list[int]:
    return [word for word in range(1, before) if tree.upos[word - 1] in _NOMINAL]


def _emphatic(tree: Tree, reflexive: int) -> bool:
    """Return whether a reflexive emphasises another word instead of being an argument."""
    relation = tree.relation(reflexive)
    if relation in _EMPHATIC:
        return True
    if relation not in ("obl", "nmod"):
        return False
    cases = [tree.lower(c) for c in tree.children(reflexive) if tree.relation(c) == "case"]
    alone = "by" in cases and tree.deprel[reflexive - 1] != "obl:agent"  # "do it by yourself"
    return alone or not cases


def _antecedent(tree: Tree, reflexive: int) -> _Antecedent | None:
    """Return the antecedent of a reflexive by the rule in the module's docstring, or ``None``."""
    climbed: set[int] = set()
    clause: set[int] = set()
    outside = False  # above a conjunct or an adverbial clause, objects do not c-command
    node = reflexive
    while node and node not in climbed:
        climbed.add(node)
        if not outside:
            clause.add(node)
        relation, parent = tree.relation(node), tree.head[node - 1]
        nominal = _before(tree, node, reflexive, climbed, _SUBJECT)
        if nominal is not None:
            stands = tree.lower(nominal) in RELATIVE_PRONOUNS and is_relative(tree, node)
            word, pronoun = (parent, nominal) if stands else (nominal, None)
            return _Antecedent(word, pronoun, frozenset(clause))
        if relation == "acl":
            if parent < reflexive and _agrees(tree, parent, reflexive):
                return _Antecedent(parent, None, frozenset(clause))
            if not any(tree.relation(child) == "mark" for child in tree.children(node)):
                return None
        if relation == "xcomp":
            nominal = _before(tree, parent, reflexive, climbed, _OBJECTS)
            if nominal is not None:
                return _Antecedent(nominal, None, frozenset(clause))
        if relation in ("csubj", "parataxis", "root"):
            return None
        outside = outside or relation in ("conj", "advcl", "acl")
        node = parent
    return None


def _before(
    tree: Tree, node: int, end: int, climbed: set[int], relations: frozenset[str]
) -> int | None:
    """Return the last such dependent before a position that was not passed on the way up."""
    children = [c for c in tree.children(node) if c < end and c not in climbed]
    return next((c for c in reversed(children) if tree.relation(c) in relations), None)


def _agrees(tree: Tree, antecedent: int, reflexive: int) -> bool:
    """Return whether two words may agree, as far as their features are known."""
    wanted = _REFLEXIVES.get(tree.lower(reflexive))
    if wanted is None:
        return True
    person, number, gender = wanted
    coordinated = any(tree.relation(child) == "conj" for child in tree.children(antecedent))
    known = _PRONOUNS.get(tree.lower(antecedent)) or _parts(tree, antecedent)
    if known is not None:
        if coordinated:
            return number != "Sing"  # "you and I ... ourselves"
        return known[0] == person and all(
            a is None or b is None or a == b
            for a, b in zip(known[1:], (number, gender), strict=True)
        )
    own = "Plur" if coordinated else tree.feature(antecedent, "Number")
    if coordinated and number == "Plur":
        return True  # "Mary and I ... ourselves"
    either = tree.lower(antecedent) in _INDEFINITE  # "everybody ... themselves"
    return person == 3 and (either or own is None or number is None or own == number)


def _parts(tree: Tree, word: int) -> tuple[int, str | None, str | None] | None:
    """Return person, number and gender of the pronoun after *of*: *most of us*; or ``None``."""
    within = (tree.lower(c) for c in tree.children(word) if tree.relation(c) == "nmod")
    return next((_PARTS[part] for part in within if part in _PARTS), None)


def _ruled_out(tree: Tree, candidate: int, reflexive: int, antecedent: _Antecedent) -> bool:
    """Return whether structure, not word order, prevents a candidate from binding."""
    if tree.relation(candidate) in _NO_CANDIDATE or tree.lower(candidate) in _REFLEXIVES:
        return False
    lower = tree.lower(candidate)
    agrees = _agrees(tree, candidate, reflexive)
    local = tree.head[candidate - 1] in antecedent.clause and tree.relation(candidate) in _CORE
    if local:
        return antecedent.word < candidate and not agrees
    if tree.upos[candidate - 1] == "PRON" and (
        agrees  # may refer to the same person
        or lower not in _PRONOUNS.keys() | _DEMONSTRATIVES
    ):
        return False
    return _main_clause(tree, candidate) == _main_clause(tree, reflexive)


def _main_clause(tree: Tree, word: int) -> int:
    """Return the head of the independent clause that contains a word."""
    node = word
    for above in (word, *tree.ancestors(word)):
        node = above
        if tree.relation(node) == "parataxis":
            break
        own_subject = any(is_subject(tree, child) for child in tree.children(node))
        independent = tree.relation(node) == "conj" and tree.relation(tree.head[node - 1]) in (
            "root",
            "parataxis",
        )
        if independent and own_subject:
            break
    return node
