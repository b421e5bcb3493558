"""A dependency tree: five columns, and what filters ask about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

RELATIONS = frozenset({
    "acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound",
    "conj", "cop", "csubj", "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat",
    "goeswith", "iobj", "list", "mark", "nmod", "nsubj", "nummod", "obj", "obl", "orphan",
    "parataxis", "punct", "reparandum", "root", "vocative", "xcomp",
})  # fmt: skip
"""The 37 universal relations (de Marneffe et al. 2021, "Universal Dependencies", Table 2)."""

TAGS = frozenset({
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN",
    "PUNCT", "SCONJ", "SYM", "VERB", "X",
})  # fmt: skip
"""The 17 universal tags (de Marneffe et al. 2021, Table 1)."""


def lowered(words: Iterable[str]) -> list[str]:
    """Return words in lower case, with straight apostrophes."""
    return [word.lower().replace("’", "'") for word in words]


@dataclass(frozen=True, slots=True)
class Tree:
    """One sentence. Words are counted from 1, as in CoNLL-U; 0 is the artificial root.

    Attributes:
        form: the words.
        upos: universal part of speech of each word.
        feats: morphological features of each word in CoNLL-U notation, ``"_"`` for none.
        head: 1-based position of each word's governor, 0 for the root.
        deprel: relation of each word to its governor.
    """

    form: Sequence[str]
    upos: Sequence[str]
    feats: Sequence[str]
    head: Sequence[int]
    deprel: Sequence[str]
    _children: list[list[int]] = field(default_factory=list, init=False, compare=False, repr=False)
    _small: list[str] = field(default_factory=list, init=False, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.form)

    def children(self, word: int) -> list[int]:
        """Return the words that ``word`` governs, left to right; the roots if ``word`` is 0."""
        if not self._children:
            # Computed at the first call: most sentences are rejected without one.
            self._children.extend([] for _ in range(len(self) + 1))
            for dependent, head in enumerate(self.head, start=1):
                self._children[head].append(dependent)
        return self._children[word]

    def ancestors(self, word: int) -> Iterator[int]:
        """Yield the governor of ``word``, its governor, and so on up to the root word."""
        steps = len(self)  # ends the loop even if a parser returns a cycle
        head = self.head[word - 1]
        while head and steps:
            yield head
            head = self.head[head - 1]
            steps -= 1

    def subtree(self, word: int) -> list[int]:
        """Return ``word`` and all words below it, in the order of the sentence."""
        dominated, pending = {word}, [word]
        while pending:
            for child in self.children(pending.pop()):
                if child not in dominated:
                    dominated.add(child)
                    pending.append(child)
        return sorted(dominated)

    def dominates(self, upper: int, lower: int) -> bool:
        """Return whether ``upper`` is a proper ancestor of ``lower``."""
        return upper in self.ancestors(lower)

    @property
    def small(self) -> Sequence[str]:
        """The words in lower case, with straight apostrophes."""
        if not self._small:
            self._small.extend(lowered(self.form))
        return self._small

    def lower(self, word: int) -> str:
        """Return a word in lower case, with a straight apostrophe."""
        return self.small[word - 1]

    def relation(self, word: int) -> str:
        """Return a word's relation without its subtype: ``nsubj:pass`` -> ``nsubj``."""
        return self.deprel[word - 1].partition(":")[0]

    def feature(self, word: int, name: str) -> str | None:
        """Return the value of a morphological feature, e.g. ``feature(3, "Number")``."""
        pairs = (pair.partition("=") for pair in self.feats[word - 1].split("|"))
        return next((value for key, _, value in pairs if key == name), None)
