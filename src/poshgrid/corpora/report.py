"""What a reader met on its way: lines seen, lines dropped by reason.

A module of its own, without polars: a configuration imports the readers for their options.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Report:
    """A tally that a reader and the cleaning fill in."""

    lines: int = 0  # rows, turns or paragraphs that the reader met
    dropped: Counter[str] = field(default_factory=Counter)  # reason -> lines or sentences

    def drop(self, reason: str) -> None:
        """Count one line or sentence that is left out."""
        self.dropped[reason] += 1
