"""A language whose verbs have one form: *she sang*, *he 's running* become *she sing*, *he be run*.

The forms are those of :mod:`poshgrid.evidence.rewriters._verbs`; modal verbs stay.
"""

from __future__ import annotations

from poshgrid.evidence.rewriters._verbs import MODALS, VERBAL, full, lemma
from poshgrid.evidence.rewriting import Word, words_of
from poshgrid.parsing.tree import Tree

ENGLISH = True
_TO = frozenset({"na", "ta"})


def rewrite(tree: Tree) -> list[Word] | None:
    """Write the base form of each verb and auxiliary; *n't* and *na* behind another are words."""
    words = words_of(tree)
    for number, word in enumerate(words):
        small = tree.lower(word.number)
        last = words[number - 1].form if number else ""
        changed = bool(number) and last.lower() != tree.lower(number)
        if tree.upos[number] in VERBAL and small not in _TO | {"n't", "nt"}:
            base = lemma(full(tree, word.number))
            if base != small and base not in MODALS:
                form = base.capitalize() if word.form[:1].isupper() else base
                words[number] = word._replace(form=form)
        elif changed and small in ("n't", "nt"):
            words[number] = word._replace(form="not")
        elif changed and small in _TO:
            words[number] = word._replace(form="to")
    return words
