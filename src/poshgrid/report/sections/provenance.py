"""The manifests of all results on the page, and the versions of packages in them."""

from __future__ import annotations

from typing import Any

from poshgrid.report.parts import Page

TITLE, ORDER, AUDIENCE = "Provenance", 170, "engineer"


def write(page: Page) -> dict[str, Any] | None:
    """Return no facts, because the template reads the records; None without records."""
    return {} if page.collected.records else None
