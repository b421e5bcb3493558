"""What a check has found: one line for a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """One line of ``poshgrid ready`` and ``poshgrid doctor``."""

    state: Literal["ok", "warning", "error"]
    check: str
    what: str
    remedy: str = ""

    def line(self) -> str:
        """Return the line as it is printed."""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.state:7} {self.check}: {self.what}{remedy}"


def ok(check: str, what: str) -> Finding:
    """Say that a check has found nothing wrong."""
    return Finding("ok", check, what)


def warning(check: str, what: str, remedy: str = "") -> Finding:
    """Say that something may go wrong."""
    return Finding("warning", check, what, remedy)


def error(check: str, what: str, remedy: str = "") -> Finding:
    """Say that something will go wrong."""
    return Finding("error", check, what, remedy)
