"""Accuracies that are exactly 50%, which may be ties."""

import polars as pl

from poshgrid.report.parts import Page

TITLE, ORDER, AUDIENCE = "Ties", 122, "reviewer"


def write(page: Page) -> dict[str, list[str]] | None:
    """Write how many phenomena of each suite are at 50%."""
    rows = page.collected.accuracy.filter(pl.col("level") == "phenomenon", pl.col("mean") == 0.5)
    if rows.is_empty():
        return None
    counts = rows.group_by("suite").len("at 50%").sort("suite")
    page.table("ties", counts, caption="Accuracies of exactly 50%.")
    return {"notes": ["An accuracy of exactly 50% may come from ties."]}
