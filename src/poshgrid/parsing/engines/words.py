"""No parser: words without structure, for corpora that are too large to parse.

Every word depends on the first one, so that no rule about structure matches. Sentences that look
like evidence by their words are removed by the filters' backstops, and patterns about words still
match. The folder in ``parsers.model`` is not read.
"""

from __future__ import annotations

from pathlib import Path

from poshgrid.core import plugins
from poshgrid.parsing.tree import Tree

LABELS = frozenset({"X", "_", "root", "dep"})
"""All that its trees have: part of speech, features and relations."""


class Parser:
    """Builds flat trees."""

    def parse(self, sentences: list[list[str]]) -> list[Tree]:
        """Return a flat tree for each sentence; no sentence may be empty."""
        return [
            Tree(
                form=words,
                upos=["X"] * len(words),
                feats=["_"] * len(words),
                head=[0] + [1] * (len(words) - 1),
                deprel=["root"] + ["dep"] * (len(words) - 1),
            )
            for words in sentences
        ]


def load(model: Path, options: plugins.Options, language: str) -> Parser:
    """Return the parser; nothing is loaded."""
    return Parser()
