"""What came of a drill."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """A row of the table.

    Attributes:
        drill: its name.
        tried: how often.
        survived: how often what has to hold held.
        note: what else was counted, and what went wrong.
    """

    drill: str
    tried: int
    survived: int
    note: str = ""

    def row(self) -> str:
        """Return the row in Markdown."""
        note = " ".join(self.note.split()).replace("|", "\\|")
        return f"| {self.drill} | {self.tried} | {self.survived} | {note} |"
