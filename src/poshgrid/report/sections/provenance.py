"""The manifests that the page rests on, and the versions of packages that they name."""

from __future__ import annotations

from poshgrid.report.blocks import Block, Fold, Page
from poshgrid.report.records import Record
from poshgrid.report.texts import markup

TITLE, ORDER, AUDIENCE = "Provenance", 170, "engineer"


def blocks(page: Page) -> list[Block]:
    """Return a drawer for each stage, and one for the versions of packages."""
    by_stage: dict[str, list[Record]] = {}
    for record in page.collected.records:
        by_stage.setdefault(record.stage, []).append(record)
    packages = page.collected.packages
    versions = Fold("Versions", f"({len(packages)} packages)", [markup("versions", packages)])
    return [
        "Every result has a manifest: its command line, configuration, code fingerprint, input "
        "digests, package versions, host, time and memory.",
        *(
            Fold(stage, f"({len(records)})", [markup("manifests", stage, records)])
            for stage, records in by_stage.items()
        ),
        None if by_stage else "No manifests yet.",
        versions if packages else None,
    ]
