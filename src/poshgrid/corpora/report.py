"""Counts of what a reader read and dropped: lines, and lines and words dropped by reason.

This module does not import polars, because a configuration imports the readers for their options.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Report:
    """Counts that a reader and the cleaning update."""

    lines: int = 0  # rows, turns or paragraphs that the reader has read
    dropped: Counter[str] = field(default_factory=Counter)  # reason -> lines or sentences
    words: Counter[str] = field(default_factory=Counter)  # reason -> words, by white space

    def drop(self, reason: str, text: str = "") -> None:
        """Count one line or sentence that is left out.

        Args:
            reason: why, in words that a user understands.
            text: the text that is left out; empty if it holds no words of the corpus.
        """
        self.dropped[reason] += 1
        self.words[reason] += len(text.split())

    def add(self, other: Report) -> None:
        """Add the counts of another report."""
        self.lines += other.lines
        self.dropped.update(other.dropped)
        self.words.update(other.words)

    def take(self) -> Report:
        """Return the counts since the last call, and set them to 0."""
        taken = Report(self.lines, self.dropped, self.words)
        self.lines, self.dropped, self.words = 0, Counter(), Counter()
        return taken


_SILENT = 0.05  # largest share of dropped words without a line at the end of a run
_SHOWN = 5  # reasons shown in such a line


def loss(statistics: dict[str, Any]) -> str | None:
    """Return a line for a source that lost more than 5% of its words, else ``None``.

    Args:
        statistics: contents of ``sources/{source}/statistics.json``.
    """
    share = statistics.get("dropped_share", 0.0)
    if share <= _SILENT:
        return None
    dropped = Counter[str](statistics["dropped_words"])
    words = statistics["words"] + dropped.total()
    reasons = ", ".join(f"{why} {n / words:.1%}" for why, n in dropped.most_common(_SHOWN) if n)
    return f"source {statistics['source']}: {share:.1%} of its words were left out: {reasons}"
