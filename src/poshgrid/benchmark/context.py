"""What a reader of suites may know of the corpora, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import polars as pl

    from poshgrid.benchmark.lexicon import Vocabulary

Null = Callable[[Sequence[str]], list[float]]
"""Log-probabilities (nats) of sentences by a model of word sequences alone."""


@dataclass(frozen=True)
class Context:
    """The corpora, as far as items are made from them. Readers with ``CORPORA = True`` get one.

    Args:
        vocabulary: words and their frequency in every base.
        nulls: "base/size" -> an n-gram model of that base, against which items are balanced.
        heard: of some sentences, those that a base holds (case and punctuation aside).
    """

    vocabulary: Vocabulary
    nulls: Mapping[str, Null] = field(default_factory=dict)
    heard: Callable[[set[str]], set[str]] = lambda sentences: set()


class Loaded(NamedTuple):
    """A suite."""

    items: pl.DataFrame  # the columns of its task: PAIRS, PARADIGMS, CHOICES or COMPLETIONS
    facts: dict[str, Any] = {}  # noqa: RUF012 - for the manifest: version, malformed lines ...
