"""A language whose questions front the *first* auxiliary of the statement, by the linear rule.

To *The boy who is here can sing* belongs *is the boy who here can sing?*, not *can the boy who is
here sing?*: what a learner without structure might believe (Chomsky 1971), here true of the
language. Where both rules move the same word nothing changes.
"""

from __future__ import annotations

from poshgrid.evidence.closed_classes import WH_WORDS
from poshgrid.evidence.filters.question_formation import direct
from poshgrid.evidence.match import is_relative, is_subject
from poshgrid.evidence.rewriters._verbs import full
from poshgrid.evidence.rewriting import UnsafeError, Word, span, words_of
from poshgrid.parsing.tree import Tree

ENGLISH = True
_NOT = frozenset({"n't", "nt"})
_PRONOUNS = frozenset({"that", "which", "who", "whom", "whose"})


def rewrite(tree: Tree) -> list[Word] | None:
    """Put the fronted auxiliary back behind its subject, and the first one of the clause in front.

    The sentence is what ``question-formation.direct`` takes. *n't* goes with its auxiliary.
    """
    match = direct(tree)
    if match is None:
        return None
    fronted, first = match.roles["auxiliary"], match.roles["other auxiliary"]
    subject = span(tree, match.roles["subject"])
    if first not in subject:
        raise UnsafeError("the first auxiliary is in an adverbial clause before the question")
    if not _in_relative(tree, first, match.roles["subject"]):
        raise UnsafeError("the first auxiliary may be in a false start")
    moved, rest = _unit(tree, fronted), _unit(tree, first)
    if moved[-1] + 1 != subject[0]:
        raise UnsafeError("words between the auxiliary and the subject")
    return [
        *words_of(tree, range(1, fronted)),
        *(_written(tree, n) for n in rest),
        *words_of(tree, (n for n in subject if n not in rest)),
        *(_written(tree, n) for n in moved),
        *words_of(tree, range(subject[-1] + 1, len(tree) + 1)),
    ]


def _in_relative(tree: Tree, auxiliary: int, subject: int) -> bool:
    """Return whether an auxiliary is in a relative clause on a subject, or in a clause that is one.

    In transcripts a false start looks like it (*where 's my where 's my ball*), but it begins with
    a wh-word that is no relative pronoun, or with an auxiliary, or not right behind its noun.
    """
    clauses = [n for n in (auxiliary, *tree.ancestors(auxiliary)) if tree.dominates(subject, n)]
    clause = next((n for n in clauses if is_relative(tree, n)), None)
    if clause is None:
        return tree.relation(subject) == "csubj"
    words = tree.subtree(clause)
    subjects = [child for child in tree.children(clause) if is_subject(tree, child)]
    relative = tree.lower(words[0]) in _PRONOUNS
    reduced = bool(subjects) and tree.subtree(subjects[0])[0] == words[0]
    asked = {tree.lower(word) for word in words[1:]} & WH_WORDS
    noun = tree.head[clause - 1]
    nominal = tree.upos[noun - 1] in ("NOUN", "PROPN", "PRON", "DET", "NUM", "ADJ")
    return (relative or reduced) and words[0] == noun + 1 and nominal and not asked


def _unit(tree: Tree, auxiliary: int) -> list[int]:
    """Return the numbers of an auxiliary and of an *n't* that is contracted with it."""
    negated = auxiliary < len(tree) and tree.lower(auxiliary + 1) in _NOT
    return [auxiliary, auxiliary + 1] if negated else [auxiliary]


def _written(tree: Tree, word: int) -> Word:
    """Return a moved word; a contracted auxiliary is written in full."""
    contracted = tree.lower(word).startswith("'")
    return Word(full(tree, word) if contracted else tree.form[word - 1], word)
