"""The result of a check: one line for a person."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """One line of ``poshgrid ready`` and ``poshgrid doctor``."""

    state: Literal["ok", "warning", "error"]
    check: str
    what: str
    remedy: str = ""

    def line(self) -> str:
        """Return the printed line."""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.state:7} {self.check}: {self.what}{remedy}"


ok, warning, error = partial(Finding, "ok"), partial(Finding, "warning"), partial(Finding, "error")
