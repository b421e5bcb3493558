"""Question formation: a relative clause on the subject of a question.

*Is the boy [who is in the corner] smiling?* shows that the auxiliary in front is the first of the
hierarchy, not of the string (paper, appendix C, after Legate & Yang 2002 and Sampson 1989).

``removed``, the inclusive rule of appendix C: some relative clause follows some subject, and the
sentence may be a question::

    S <-nsubj- _      R <-acl:relcl- _      S < R
    and one of: the last word is "?"; a wh-word anywhere, relative pronouns included; an auxiliary
    among the first two words

A relative clause is believed where the words leave a place for one
(``poshgrid.screening.lexical``), so that sentences without need no parse; of the gold trees of
child-directed speech and of web text this loses none.

It fires on about 1% of child-directed sentences, ten times as often as the construction. Whatever
``evidence`` finds is removed too: *oh mommy is the boy who is here sleeping* without a question
mark has its auxiliary too late for appendix C.

``evidence``, the strict rule: the relative clause sits on the subject of the clause whose auxiliary
or copula is inverted::

    P -nsubj-> S -acl:relcl-> R      P -aux|cop-> A      A < S      P governs no expletive

where S may also reach R through ``nmod``, ``conj`` or ``appos`` (*the father of the boy who ...*),
and where parsers that make the copula a head have A = P. The clause is no adverbial or relative
clause, and A is fronted as in a question: a wh-phrase or nothing but conjunctions, discourse words,
vocatives, punctuation and a fronted adverb in a sentence that ends in "?" stands before it. So
*here 's the truck that you broke* and *there 's a bear who ...* are not evidence, while *where is
the ball that I had* is. Expletives are left out because the relative clause of *is there a bear
that can dance* follows the auxiliary in the statement as well, and free relatives because parsers
take the predicate of *is that what you said* for the subject.
"""

from __future__ import annotations

from poshgrid.evidence.match import Match
from poshgrid.evidence.relations import has_wh, is_auxiliary, is_relative, is_subject
from poshgrid.parsing.tree import Tree
from poshgrid.screening.closed_classes import (
    AUXILIARIES,
    AUXILIARY_FORMS,
    WH_WORDS,
    ends_in_question_mark,
)
from poshgrid.screening.lexical.question_formation import screen

TARGETS: tuple[str, ...] = (
    "question-formation-or",
    "question-formation-rr",
    "question-formation-sr",
)
"""Phenomena of POSH-BENCH; the other suites of its Table 10 have none of this category."""

_INSIDE_SUBJECT = frozenset({"nmod", "conj", "appos"})
_PREAMBLE = frozenset({"cc", "discourse", "intj", "vocative", "punct", "reparandum"})
_FRONTED = frozenset({"advmod", "advcl", "obl", "mark"})  # "now is the boy who ... ?"
_NEGATIVE = frozenset({"nor", "neither", "never", "not"})  # "nor do the people who ..."
_NO_QUESTION = frozenset({"advcl", "acl", "relcl", "csubj"})
_BE = frozenset({"am", "is", "are", "was", "were", "'s", "'re", "'m"})


def removed(tree: Tree) -> Match | None:
    """Return the subject and the relative clause that remove a sentence, or ``None``."""
    relatives = [w for w in range(1, len(tree) + 1) if is_relative(tree, w, strict=False)]
    if not relatives or not screen(tree.form):
        return None
    if _may_be_question(tree):
        for relative in relatives:
            subject = next((w for w in range(1, relative) if is_subject(tree, w)), None)
            if subject is not None:
                return Match(
                    "relative clause after a subject, in what may be a question",
                    {"subject": subject, "relative clause": relative},
                )
    return evidence(tree)


def evidence(tree: Tree) -> Match | None:
    """Return the inverted auxiliary, its subject and the relative clause on it, or ``None``."""
    for relative in range(1, len(tree) + 1):
        if not is_relative(tree, relative, strict=True):
            continue
        subject = _subject_above(tree, relative)
        if subject is None or tree.lower(tree.head[relative - 1]) in WH_WORDS:
            continue
        clause = tree.head[subject - 1]
        auxiliary = _inverted(tree, clause, subject)
        if auxiliary is not None and screen(tree.form):
            return Match(
                "relative clause on the subject of an inverted auxiliary",
                {"auxiliary": auxiliary, "subject": subject, "relative clause": relative},
            )
    return None


def _may_be_question(tree: Tree) -> bool:
    if ends_in_question_mark(tree.form):
        return True
    if any(tree.lower(word) in WH_WORDS for word in range(1, len(tree) + 1)):
        return True
    return any(
        tree.lower(word) in AUXILIARY_FORMS
        and (tree.upos[word - 1] == "AUX" or is_auxiliary(tree, word))
        for word in range(1, min(2, len(tree)) + 1)
    )


def _subject_above(tree: Tree, relative: int) -> int | None:
    """Return the subject whose phrase a relative clause belongs to, if it has a clause."""
    noun = tree.head[relative - 1]
    while noun and not is_subject(tree, noun):
        if tree.relation(noun) not in _INSIDE_SUBJECT:
            return None
        noun = tree.head[noun - 1]
    return noun if noun and tree.head[noun - 1] else None


def _inverted(tree: Tree, clause: int, subject: int) -> int | None:
    """Return the auxiliary or copula that stands before the subject as in a question."""
    children = tree.children(clause)
    if tree.relation(clause) in _NO_QUESTION:
        return None
    if any(tree.relation(child) == "expl" for child in children):
        return None
    fronted = [c for c in children if c < subject and is_auxiliary(tree, c)]
    if clause < subject and tree.lower(clause) in _BE and tree.upos[clause - 1] == "AUX":
        fronted.append(clause)  # spaCy's own English labels: the copula governs
    auxiliary = min((c for c in fronted if tree.lower(c) in AUXILIARIES), default=None)
    return auxiliary if auxiliary and _asked(tree, clause, auxiliary) else None


def _asked(tree: Tree, clause: int, auxiliary: int) -> bool:
    """Say whether what stands before the auxiliary of a clause leaves it a question."""
    if clause < auxiliary:
        # The predicate stands before its copula: "where is X", but "here is X" is a statement.
        return has_wh(tree, clause, auxiliary)
    before = [child for child in tree.children(clause) if child < auxiliary]
    if any(has_wh(tree, child, auxiliary) for child in before):
        return True
    if any(tree.lower(child) in _NEGATIVE for child in before):
        return False
    allowed = _PREAMBLE | (_FRONTED if ends_in_question_mark(tree.form) else frozenset())
    return all(tree.relation(child) in allowed for child in before)
