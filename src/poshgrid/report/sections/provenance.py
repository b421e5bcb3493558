"""The manifests that the page rests on, and the versions of packages that they name."""

from __future__ import annotations

from typing import Any

from poshgrid.report.parts import Page

TITLE, ORDER, AUDIENCE = "Provenance", 170, "engineer"


def write(page: Page) -> dict[str, Any] | None:
    """Return nothing further: the template shows the records; ``None``: there are none."""
    return {} if page.collected.records else None
