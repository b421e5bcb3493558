"""What a reader met: lines seen, lines and words dropped by reason.

A module of its own, without polars: a configuration imports the readers for their options.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Report:
    """A tally that a reader and the cleaning fill in."""

    lines: int = 0  # rows, turns or paragraphs that the reader met
    dropped: Counter[str] = field(default_factory=Counter)  # reason -> lines or sentences
    words: Counter[str] = field(default_factory=Counter)  # reason -> words, by white space

    def drop(self, reason: str, text: str = "") -> None:
        """Count one line or sentence that is left out.

        Args:
            reason: why, in words that a user understands.
            text: what is left out; empty if it holds no words of the corpus.
        """
        self.dropped[reason] += 1
        self.words[reason] += len(text.split())

    def add(self, other: Report) -> None:
        """Add what another tally has counted."""
        self.lines += other.lines
        self.dropped.update(other.dropped)
        self.words.update(other.words)

    def take(self) -> Report:
        """Return what was counted since the last call."""
        taken = Report(self.lines, self.dropped, self.words)
        self.lines, self.dropped, self.words = 0, Counter(), Counter()
        return taken


_SILENT = 0.05  # share of a source's words that may be dropped without a line at a run's end
_SHOWN = 5  # reasons in such a line


def loss(statistics: dict[str, Any]) -> str | None:
    """Return a line for a source that lost more than 5% of its words, else ``None``.

    Args:
        statistics: ``sources/{source}/statistics.json``.
    """
    share = statistics.get("dropped_share", 0.0)
    if share <= _SILENT:
        return None
    dropped = Counter[str](statistics["dropped_words"])
    words = statistics["words"] + dropped.total()
    reasons = ", ".join(f"{why} {n / words:.1%}" for why, n in dropped.most_common(_SHOWN) if n)
    return f"source {statistics['source']}: {share:.1%} of its words were left out: {reasons}"
