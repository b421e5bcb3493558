"""Question formation: an auxiliary in front that is not the first one of the statement.

*Is the boy [who is in the corner] smiling?* belongs to *The boy who is in the corner is smiling*,
whose first auxiliary is another: questions are made by the hierarchy of words, not by their order
(Chomsky 1971; Crain & Nakayama 1987).

``paper``, the rule of POSH-BENCH's appendix C: some subject stands before some relative clause, and
the sentence may be a question::

    S <-nsubj- _      R <-acl:relcl- _      S < R
    and one of: the last word is "?"; a wh-word anywhere, relative pronouns included; an auxiliary
    among the first two words

It is meant to take too much, and does: of 27,146 gold sentences of child-directed speech it takes
1%, and two in three relative clauses.

``direct``, what tells the two hypotheses apart: an auxiliary or copula A is inverted with its
subject S, in a question of any kind, and a clause that stands before A's place in the statement
holds a finite auxiliary or copula B of its own::

    P >nsubj|csubj S      P >aux|cop A      A < S      P governs no expletive

    clause on the subject:     S >> _ >aux|cop B           (Legate & Yang 2002)
    adverbial clause before:   P >advcl C, C < A, C >> B   (Sampson 2002)

*How could [anyone that was awake] not hear that?*, *Would [those of you who have not answered]
write to me?*, *What was [that game you were playing]?*, *[If you do n't need this], can I have it?*

Where the clause has no auxiliary (*What was the thing you wanted?*) both hypotheses move the same
word: no evidence. Nor are *Is there a bear that can dance?* (the clause follows the auxiliary in
the statement as well, as in the cleft *What is it that 's on the bed?*), *Here 's the truck that
you have broken* (no question), *Is that what you are saying?* (a predicate), *It is true that he
has left* (no inversion).
"""

from __future__ import annotations

from collections.abc import Iterator

from poshgrid.evidence.match import Match, Rule, has_wh, is_auxiliary, is_subject
from poshgrid.evidence.screening.closed_classes import (
    AUXILIARIES,
    AUXILIARY_FORMS,
    CLITICS,
    WH_WORDS,
    ends_in_question_mark,
)
from poshgrid.parsing.tree import Tree

TARGETS: tuple[str, ...] = (
    "question-formation-or",
    "question-formation-rr",
    "question-formation-sr",
)
"""Phenomena of POSH-BENCH; the other suites of its Table 10 have none of this category."""

_PREAMBLE = frozenset(
    {"cc", "discourse", "intj", "vocative", "punct", "reparandum", "parataxis", "advcl", "mark"}
    | {"advmod"}  # "now is the boy who ..."
)
_NEGATIVE = frozenset(  # "nor do the people who ...", "here is the boy who ...": no questions
    {"nor", "neither", "never", "not", "so", "only", "rarely", "seldom", "here", "there"}
)
_ASIDE = frozenset({"parataxis", "reparandum", "discourse"})
_NO_QUESTION = frozenset({"advcl", "acl", "relcl", "csubj"})
_AUXILIARIES = AUXILIARIES | CLITICS
_BE = frozenset({"am", "is", "are", "was", "were", "'s", "'re", "'m"})


def paper(tree: Tree) -> Match | None:
    """Return the subject and the relative clause that remove a sentence, or ``None``."""
    relatives = [w for w, rel in enumerate(tree.deprel, 1) if rel in ("acl:relcl", "relcl")]
    if relatives and _may_be_question(tree):
        subject = next((w for w in range(1, relatives[-1]) if is_subject(tree, w)), None)
        if subject is not None:
            return Match(
                "relative clause after a subject, in what may be a question",
                {"subject": subject, "relative clause": next(r for r in relatives if r > subject)},
            )
    return None


def direct(tree: Tree) -> Match | None:
    """Return the inverted auxiliary, its subject and the other auxiliary, or ``None``."""
    for clause, auxiliary, subject in _inversions(tree):
        behind = _expletive(tree, clause) or tree.lower(subject) == "it"  # clauses follow them
        other = None if behind else _auxiliary_below(tree, subject)
        # In the statement the auxiliary stands before its predicate: "is he smiling who is here"
        if other is not None and (clause < subject or other < clause):
            return Match(
                "inverted auxiliary, and another in a clause on its subject",
                {"auxiliary": auxiliary, "subject": subject, "other auxiliary": other},
            )
        for adverbial in tree.children(clause):
            if adverbial < auxiliary and tree.relation(adverbial) == "advcl":
                other = _auxiliary_below(tree, adverbial, own=True)
                if other is not None and other < auxiliary:
                    return Match(
                        "inverted auxiliary, and another in an adverbial clause before it",
                        {"auxiliary": auxiliary, "subject": subject, "other auxiliary": other},
                    )
    return None


READINGS: dict[str, Rule] = {"paper": paper, "direct": direct}
NEEDS = {
    "paper": ("acl:relcl|relcl", "nsubj|nsubjpass"),
    "direct": ("aux|cop", "nsubj|nsubjpass", "acl:relcl|relcl|acl", "advcl"),
}
"""Reading -> what trees must bear; ``|`` divides alternatives."""


def _may_be_question(tree: Tree) -> bool:
    if ends_in_question_mark(tree.form):
        return True
    if not WH_WORDS.isdisjoint(tree.small):
        return True
    return any(
        small in AUXILIARY_FORMS and (tree.upos[word - 1] == "AUX" or is_auxiliary(tree, word))
        for word, small in enumerate(tree.small[:2], start=1)
    )


def _inversions(tree: Tree) -> Iterator[tuple[int, int, int]]:
    """Yield each clause of a question, its auxiliary in front, and its subject."""
    for auxiliary, small in enumerate(tree.small, start=1):
        if small not in _AUXILIARIES or not _finite(tree, auxiliary):
            continue
        if is_auxiliary(tree, auxiliary):
            clause = tree.head[auxiliary - 1]
        elif tree.lower(auxiliary) in _BE:
            clause = auxiliary  # "is there"; and spaCy's own English labels: the copula governs
        else:
            continue
        if not clause or tree.relation(clause) in _NO_QUESTION:
            continue
        children = tree.children(clause)
        subjects = [c for c in children if is_subject(tree, c) or tree.relation(c) == "csubj"]
        if subjects and _asks(tree, subjects[0]):
            continue  # "who has them" asks for its subject: nothing is inverted
        if subjects and auxiliary < subjects[0] and _asked(tree, clause, auxiliary):
            yield clause, auxiliary, subjects[0]


def _finite(tree: Tree, word: int) -> bool:
    """Say whether a word is a finite auxiliary or copula, *s* and *re* of transcripts included.

    So is one whose verb is left out (*if you can*), and *be* as a verb (*there is no bread*).
    """
    lower, tag = tree.lower(word), tree.upos[word - 1]
    if lower in AUXILIARIES:
        return is_auxiliary(tree, word) or tag == "AUX" or (tag == "VERB" and lower in _BE)
    return lower in CLITICS and is_auxiliary(tree, word)


def _expletive(tree: Tree, clause: int) -> bool:
    return any(tree.relation(child) == "expl" for child in tree.children(clause))


def _asks(tree: Tree, word: int) -> bool:
    """Say whether a word is a wh-word by itself."""
    return tree.lower(word) in WH_WORDS and len(tree.subtree(word)) == 1


def _asked(tree: Tree, clause: int, auxiliary: int) -> bool:
    """Say whether what stands before the auxiliary of a clause leaves it a question."""
    if clause < auxiliary:
        # The predicate stands before its copula: "where is X", but "here is X" is a statement.
        return has_wh(tree, clause, auxiliary)
    before = [child for child in tree.children(clause) if child < auxiliary]
    if any(has_wh(tree, child, auxiliary) and tree.relation(child) != "advcl" for child in before):
        return True
    heads = [child for child in before if tree.relation(child) != "advcl"]  # "if you are here, can"
    if any(tree.lower(child) in _NEGATIVE for child in heads):
        return False
    allowed = _PREAMBLE | ({"obl"} if ends_in_question_mark(tree.form) else frozenset())
    return all(tree.relation(child) in allowed for child in before)


def _own_copula(tree: Tree, end: int, word: int) -> bool:
    """Say whether an auxiliary is a word's; one that governs a clause on it is not."""
    return tree.head[end - 1] == word and is_auxiliary(tree, end)


def _auxiliary_below(tree: Tree, word: int, *, own: bool = False) -> int | None:
    """Return the first finite auxiliary or copula of a clause below a word, or ``None``.

    A nominal subject's own copula is that of the question; ``own`` is for the head of a clause.
    What stands in a parenthesis or a false start within the clause does not count.
    """
    own = own or tree.relation(word) == "csubj"
    return next(
        (
            auxiliary
            for auxiliary in tree.subtree(word)
            if _finite(tree, auxiliary)
            and (own or (auxiliary != word and not _own_copula(tree, auxiliary, word)))
            and not any(
                tree.relation(node) in _ASIDE
                for node in (auxiliary, *tree.ancestors(auxiliary))
                if tree.dominates(word, node)
            )
        ),
        None,
    )
