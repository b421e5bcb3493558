"""Question formation: the fronted auxiliary is not the first one of the statement.

*Is the boy [who is in the corner] smiling?* is the question of *The boy who is in the corner is
smiling*, whose first auxiliary is another one: questions follow hierarchy, not word order
(Chomsky 1971; Crain & Nakayama 1987).

``paper``, the rule of POSH-BENCH's appendix C: a subject is before a relative clause, and the
sentence may be a question::

    S <-nsubj- _      R <-acl:relcl- _      S < R
    and one of: the last word is "?"; a wh-word anywhere, relative pronouns included; an auxiliary
    among the first two words

It is meant to match too much, and does: it removes 1% of 27,146 gold sentences of child-directed
speech, and two thirds of the relative clauses.

``direct``, evidence that distinguishes the two hypotheses: an auxiliary or copula A is inverted
with its subject S, in any kind of question, and a clause before A's position in the statement has
its own finite auxiliary or copula B::

    P >nsubj|csubj S      P >aux|cop A      A < S      P has no expletive

    clause on the subject:     S >> _ >aux|cop B           (Legate & Yang 2002)
    adverbial clause before:   P >advcl C, C < A, C >> B   (Sampson 2002)

*How could [anyone that was awake] not hear that?*, *Would [those of you who have not answered]
write to me?*, *What was [that game you were playing]?*, *[If you do n't need this], can I have it?*

If the clause has no auxiliary (*What was the thing you wanted?*), both hypotheses move the same
word, so it is no evidence. Neither are *Is there a bear that can dance?* (the clause also follows
the auxiliary in the statement, as in the cleft *What is it that 's on the bed?*), *Here 's the
truck that you have broken* (no question), *Is that what you are saying?* (a predicate) and *It is
true that he has left* (no inversion).
"""

from __future__ import annotations

from collections.abc import Iterator

from poshgrid.evidence.backstops import question_formation as words
from poshgrid.evidence.closed_classes import (
    AUXILIARIES,
    AUXILIARY_FORMS,
    CLITICS,
    WH_WORDS,
    ends_in_question_mark,
)
from poshgrid.evidence.match import Match, Rule, has_wh, is_auxiliary, is_subject
from poshgrid.parsing.tree import Tree

TARGETS: tuple[str, ...] = (
    "question-formation-or",
    "question-formation-rr",
    "question-formation-sr",
)
"""Phenomena of POSH-BENCH; the other suites of its Table 10 have none of this category."""

_PREAMBLE = frozenset(
    {"cc", "discourse", "vocative", "punct", "reparandum", "parataxis", "advcl", "mark"}
    | {"advmod"}  # "now is the boy who ..."
)
_NEGATIVE = frozenset(  # "nor do the people who ...", "here is the boy who ..." are not questions
    {"nor", "neither", "never", "not", "so", "only", "rarely", "seldom", "here", "there"}
)
_ASIDE = frozenset({"parataxis", "reparandum", "discourse"})
_NO_QUESTION = frozenset({"advcl", "acl", "csubj"})
_AUXILIARIES = AUXILIARIES | CLITICS
_BE = frozenset({"am", "is", "are", "was", "were", "'s", "'re", "'m"})


def paper(tree: Tree) -> Match | None:
    """Return the subject and the relative clause that remove a sentence, or ``None``."""
    relatives = [w for w, rel in enumerate(tree.deprel, 1) if rel == "acl:relcl"]
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
        expletive = any(tree.relation(child) == "expl" for child in tree.children(clause))
        follows = expletive or tree.lower(subject) == "it"  # its clauses follow the auxiliary
        other = None if follows else _auxiliary_below(tree, subject)
        # In the statement the auxiliary is before its predicate: "is he smiling who is here"
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
BACKSTOPS, candidates = {"direct": words.direct}, words.candidates
"""``paper`` has no backstop, because it would remove too many sentences."""
NEEDS = {
    "paper": ("acl:relcl", "nsubj"),
    "direct": ("aux|cop", "nsubj", "acl:relcl|acl", "advcl"),
}
"""Reading -> labels that trees must have; ``|`` separates alternatives."""


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
    """Yield (clause of a question, its fronted auxiliary, its subject)."""
    for auxiliary, small in enumerate(tree.small, start=1):
        if small not in _AUXILIARIES or not _finite(tree, auxiliary):
            continue
        if is_auxiliary(tree, auxiliary):
            clause = tree.head[auxiliary - 1]
        elif tree.lower(auxiliary) in _BE:
            clause = auxiliary  # "is there"; also spaCy's English labels, where the copula governs
        else:
            continue
        if not clause or tree.relation(clause) in _NO_QUESTION:
            continue
        children = tree.children(clause)
        subjects = [c for c in children if is_subject(tree, c) or tree.relation(c) == "csubj"]
        if subjects and _asks(tree, subjects[0]):
            continue  # "who has them" asks about its subject: nothing is inverted
        if subjects and auxiliary < subjects[0] and _may_begin_question(tree, clause, auxiliary):
            yield clause, auxiliary, subjects[0]


def _finite(tree: Tree, word: int) -> bool:
    """Return whether a word is a finite auxiliary or copula, including *s* and *re* in transcripts.

    Auxiliaries without a verb (*if you can*) and *be* as a verb (*there is no bread*) count, too.
    """
    lower, tag = tree.lower(word), tree.upos[word - 1]
    if lower in AUXILIARIES:
        return is_auxiliary(tree, word) or tag == "AUX" or (tag == "VERB" and lower in _BE)
    return lower in CLITICS and is_auxiliary(tree, word)


def _asks(tree: Tree, word: int) -> bool:
    """Return whether a word is a wh-word without dependents."""
    return tree.lower(word) in WH_WORDS and len(tree.subtree(word)) == 1


def _may_begin_question(tree: Tree, clause: int, auxiliary: int) -> bool:
    """Return whether the words before a clause's auxiliary are compatible with a question."""
    if clause < auxiliary:
        # The predicate is before its copula: "where is X", but "here is X" is a statement.
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
    """Return whether an auxiliary belongs to a word itself, not to a clause that modifies it."""
    return tree.head[end - 1] == word and is_auxiliary(tree, end)


def _auxiliary_below(tree: Tree, word: int, *, own: bool = False) -> int | None:
    """Return the first finite auxiliary or copula of a clause below a word, or ``None``.

    A nominal subject's own copula belongs to the question and does not count, unless ``own`` is
    true, for the head of a clause. Auxiliaries in a parenthesis or a false start do not count.
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
