"""No parser: words alone, for those who cannot parse a large corpus.

Every word hangs off the first, so that no rule about structure fires; what looks like evidence by
its words is removed by the filters' backstops, and patterns of words alone find what they look for.
The folder that ``parsers.model`` names is not read.
"""

from __future__ import annotations

from pathlib import Path

from poshgrid import plugins
from poshgrid.errors import PoshgridError
from poshgrid.parsing.tree import Tree

LABELS = frozenset({"X", "_", "root", "dep"})
"""All that its trees have: part of speech, features and relations."""


class Parser:
    """Makes flat trees."""

    def parse(self, sentences: list[list[str]]) -> list[Tree]:
        """Return a flat tree for each sentence; none may be empty."""
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
    """Return the parser; there is nothing to load."""
    return Parser()


def train(treebank: Path, output: Path, options: plugins.Options, language: str) -> None:
    """Refuse: there is nothing to train.

    Raises:
        PoshgridError: always.
    """
    raise PoshgridError(
        "parsers: engine 'words' learns nothing; give `model: .` instead of a treebank"
    )
