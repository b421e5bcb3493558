"""The versions of packages in the manifests of all results on the page."""

from __future__ import annotations

from typing import Any

from poshgrid.report.parts import Page

TITLE, ORDER, AUDIENCE = "Versions", 170, "engineer"


def write(page: Page) -> dict[str, Any] | None:
    """Return no facts, because the template reads the versions; None without manifests."""
    return {} if page.collected.packages else None
