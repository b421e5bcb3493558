"""A language without articles: *the dog saw a cat* becomes *dog saw cat*."""

from __future__ import annotations

from poshgrid.evidence.closed_classes import ARTICLES
from poshgrid.evidence.rewriting import UnsafeError, Word, words_of
from poshgrid.parsing.tree import Tree

ENGLISH = True


def rewrite(tree: Tree) -> list[Word] | None:
    """Leave the articles out.

    An article is unsafe where no word follows that it belongs to (*what 's the*), or where the
    tree has it as something else (*the more, the better*).
    """
    articles = []
    for word in range(1, len(tree) + 1):
        if tree.lower(word) not in ARTICLES:
            continue
        if tree.relation(word) != "det":
            if tree.lower(word) != "a" or tree.upos[word - 1] == "DET":
                raise UnsafeError("an article without its noun")
            continue  # a letter, or a part of a word: "kind a"
        if tree.head[word - 1] < word:
            raise UnsafeError("an article without its noun")
        articles.append(word)
    return words_of(tree, [w for w in range(1, len(tree) + 1) if w not in articles])
