"""Names that something else would be taken for, and names that are there twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T", bound=Hashable)

PAPER = Path("config/config.yaml")
"""The configuration that is read where no other is named."""
RULES = frozenset({
    "accuracy", "audit", "side_effects", "condition", "count", "curves", "deltas",
    "distances", "evidence", "fit", "items", "measures", "mix", "ngrams", "parse",
    "perplexity", "quality", "read", "recall", "report", "heuristic_choices", "heuristic_shares",
    "score", "sweep", "tokenizer", "tokens", "train", "train_parser", "treebank",
})  # fmt: skip
"""The rules of ``workflow/rules``: an experiment is a rule beside them."""


def repeated(values: Iterable[T]) -> list[T]:
    """Return the values that are there more than once, each once."""
    return [value for value, number in Counter(values).items() if number > 1]


def once(values: Iterable[Hashable], remedy: str, key: str = "") -> None:
    """Refuse values of a key that are there more than once.

    Raises:
        ValueError: names them, and what to do.
    """
    if twice := repeated(values):
        raise ValueError(f"{key and f'{key}: '}{', '.join(map(str, twice))} twice: {remedy}")
