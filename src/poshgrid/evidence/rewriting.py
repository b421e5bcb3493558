"""Rewrite sentences by their trees.

A rewriter (a module of :mod:`poshgrid.evidence.rewriters`) returns the words of the new sentence.
This module adds white space and capitals, and makes the tree that the next rewriter reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

import polars as pl

from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import Schema, read_table
from poshgrid.core.plugins import REWRITERS
from poshgrid.parsing.schema import PARSES, first_sentence
from poshgrid.parsing.tree import Tree

_WORD = re.compile(r"['’]?\w")
DONE: Schema = {
    "before": pl.UInt32,  # words of the sentence in its corpus
    "after": pl.UInt32,  # words of the sentence once it is rewritten
    "changed": pl.List(pl.String),  # rewriters that change it
    "unsafe": pl.List(pl.String),  # "rewriter: reason" of rewriters that cannot change it safely
}
"""Columns that describe how a sentence is rewritten."""


class UnsafeError(Exception):
    """A sentence should be rewritten, but its tree does not show how; the message is the reason."""


class Word(NamedTuple):
    """A word of the new sentence.

    Attributes:
        form: how it is written.
        number: its number in the old tree, from 1; 0 for a new word.
        head: for a new word, the number of its governor in the old tree.
        upos: for a new word, its part of speech.
        deprel: its relation; "" for an old word that keeps its relation.
    """

    form: str
    number: int = 0
    head: int = 0
    upos: str = "X"
    deprel: str = ""


def words_of(tree: Tree, numbers: Iterable[int] | None = None) -> list[Word]:
    """Return the words of a tree with these numbers; default: all."""
    every = range(1, len(tree) + 1)
    return [Word(tree.form[n - 1], n) for n in (every if numbers is None else numbers)]


def span(tree: Tree, word: int) -> range:
    """Return the numbers of a word and of all words below it in the tree.

    Raises:
        UnsafeError: other words are between them.
    """
    numbers = tree.subtree(word)
    if numbers[-1] - numbers[0] + 1 != len(numbers):
        raise UnsafeError("a phrase is not in one piece")
    return range(numbers[0], numbers[-1] + 1)


@dataclass
class Rewritten:
    """A sentence after its rewriters.

    Attributes:
        text: the new text.
        changed: rewriters that changed it.
        unsafe: ``"rewriter: reason"`` of rewriters that could not change it safely.
    """

    text: str
    changed: list[str] = field(default_factory=list)
    unsafe: list[str] = field(default_factory=list)


def rewrite(tree: Tree, text: str, rewriters: Iterable[str]) -> Rewritten:
    """Rewrite a sentence.

    Args:
        tree: its parse.
        text: the sentence; its words are the tree's.
        rewriters: names in the configuration; each reads the result of the one before.

    Raises:
        PoshgridError: the tree has other words than the text.
    """
    gaps = _gaps(tree, text)
    result = Rewritten(text)
    for name in rewriters:
        try:
            words = plugins.load(REWRITERS, name).rewrite(tree)
            if words is None or words == words_of(tree):
                continue
            if not any(_WORD.match(word.form) for word in words):
                raise UnsafeError("no word would be left")
            words = _capital(tree, words)
            new = _space(tree, gaps, words)
        except UnsafeError as reason:
            result.unsafe.append(f"{name}: {reason}")
            continue
        tree, gaps = _new_tree(tree, words), new
        result.changed.append(name)
        result.text = "".join(gap + word.form for gap, word in zip(gaps, words, strict=True))
    return result


def rewritten(
    pieces: Iterable[pl.DataFrame], parses: Sequence[Path], names: Sequence[str], *, write: bool
) -> Iterator[pl.DataFrame]:
    """Yield the sentences of a corpus with the columns of :data:`DONE`.

    Args:
        pieces: the sentences, in order.
        parses: the shards of their parses, in any order.
        names: the rewriters.
        write: whether to change ``text`` and ``n_words``.

    Raises:
        PoshgridError: there is not one tree for each sentence.
    """
    trees = _trees(parses)
    for piece in pieces:
        rows = list(islice(trees, piece.height))
        if [sent_id for sent_id, _ in rows] != piece["sent_id"].to_list():
            raise PoshgridError(
                "parses: not one tree for each sentence, in its order; run `poshgrid run -R parse`"
            )
        results = [
            rewrite(tree, text, names) if len(tree) else Rewritten(text)
            for (_, tree), text in zip(rows, piece["text"], strict=True)
        ]
        facts = pl.DataFrame(
            {
                "new": [result.text for result in results],
                "before": piece["n_words"],
                "after": [len(result.text.split()) for result in results],
                "changed": [result.changed for result in results],
                "unsafe": [result.unsafe for result in results],
            },
            schema={"new": pl.String, **DONE},
        )
        done = piece.hstack(facts)
        if write:
            done = done.with_columns(text="new", n_words="after")
        yield done.drop("new")


def _trees(parses: Sequence[Path]) -> Iterator[tuple[int, Tree]]:
    """Yield the trees of all shards with their sent_id, ascending."""
    for path in sorted(parses, key=first_sentence):
        for sent_id, *lists in read_table(path, PARSES).iter_rows():
            yield sent_id, Tree(*lists)


def _gaps(tree: Tree, text: str) -> list[str]:
    """Return the white space before each word."""
    gaps, end = [], 0
    for form in tree.form:
        start = text.find(form, end)
        if start < 0 or text[end:start].strip():
            raise PoshgridError(f"{text!r}: its tree has other words; parse it again")
        gaps.append(text[end:start])
        end = start + len(form)
    return gaps


def _capital(tree: Tree, words: list[Word]) -> list[Word]:
    """Move the capital of the first word to the new first word, except for names and *I*."""
    first, words = tree.form[0], list(words)
    if words[0].number == 1 or not first[:1].isupper():
        return words
    if tree.upos[0] == "PROPN" or re.match(r"I\b", first):
        return words
    for index, word in enumerate(words):
        if index == 0:
            words[0] = word._replace(form=word.form[:1].upper() + word.form[1:])
        elif word.number == 1:
            words[index] = word._replace(form=word.form[:1].lower() + word.form[1:])
    return words


def _space(tree: Tree, gaps: Sequence[str], words: Sequence[Word]) -> list[str]:
    """Return the white space before each new word.

    Raises:
        UnsafeError: only a part of a written word, such as *n't*, would be left or moved.
    """
    kept = {word.number for word in words}
    for number in range(1, len(tree) + 1):
        sides = [n for n in (number, number + 1) if 1 < n <= len(tree) and not gaps[n - 1]]
        near = [tree.form[n - 2] if n == number else tree.form[n - 1] for n in sides]
        if number not in kept and any(form.startswith("-") or form.endswith("-") for form in near):
            raise UnsafeError("a part of a word with a hyphen")
    new = [""]
    for last, word in pairwise(words):
        own = word.number and word.form.lower() == tree.lower(word.number)
        glued = bool(own) and word.number > 1 and not gaps[word.number - 1]
        if word.number and last.number == word.number - 1:
            same = own and last.form.lower() == tree.lower(last.number)
            letters = _WORD.match(word.form) and _WORD.match(last.form)
            new.append(gaps[word.number - 1] if same or not letters else " ")
        elif glued and not _WORD.match(word.form):
            new.append("")  # a mark
        elif not _WORD.match(last.form) and _opens(tree, gaps, last.number, word.number):
            new.append("")
        elif glued and _WORD.match(tree.form[word.number - 2]):
            raise UnsafeError("a part of a written word would lose the rest")
        else:
            new.append(" ")
    return new


def _opens(tree: Tree, gaps: Sequence[str], mark: int, word: int) -> bool:
    """Return whether there is no space between a mark and a later word.

    That holds for an opening quotation mark. For a closing mark, or *%*, it holds only if the word
    follows it in the old sentence.
    """
    if not 0 < mark < len(tree) or gaps[mark]:
        return False
    if word > mark or mark == 1 or gaps[mark - 1]:
        return True
    return not _WORD.match(tree.form[mark - 2]) and _opens(tree, gaps, mark - 1, word)


def _new_tree(tree: Tree, words: Sequence[Word]) -> Tree:
    """Return the tree of the new words; words below a dropped word move to its governor."""
    new = {word.number: number for number, word in enumerate(words, start=1) if word.number}

    def head(old: int) -> int:
        return next((new[n] for n in (old, *tree.ancestors(old)) if n in new), 0) if old else 0

    heads = [head(tree.head[word.number - 1] if word.number else word.head) for word in words]
    return Tree(
        form=[word.form for word in words],
        upos=[tree.upos[word.number - 1] if word.number else word.upos for word in words],
        feats=[tree.feats[word.number - 1] if word.number else "_" for word in words],
        head=heads,
        deprel=[word.deprel or tree.deprel[word.number - 1] for word in words],
    )
