"""What a reader can take away: the page's own tables and figures, and where the statistics lie."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from poshgrid.config.paths import Paths
from poshgrid.config.specs import ReportSpec
from poshgrid.report.blocks import Block, Bullets, Links, Page
from poshgrid.report.records import place
from poshgrid.report.shelf import Shelf

TITLE, ORDER, AUDIENCE = "Downloads", 180, "reader"


def blocks(page: Page) -> list[Block]:
    """Return the links; the last section, as it lists what the others wrote."""
    return [
        "Tables as CSV (numbers unrounded) and LaTeX, figures as PDF and PNG.",
        Links(list(beside(page.shelf))),
        "They were made from these files of the results folder.",
        Bullets(list(made_from(page.collected.spec, page.paths))),
    ]


def beside(shelf: Shelf) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield (name, links) of the tables and figures that travel with the page."""
    for folder, names in shelf.written.items():
        for stem in sorted({Path(name).stem for name in names}):
            files = [n for n in names if Path(n).stem == stem]
            yield stem, [(Path(n).suffix[1:].upper(), f"{folder}/{n}") for n in files]


def made_from(spec: ReportSpec, paths: Paths) -> Iterator[str]:
    """Yield what the numbers are of, with the folder and the names of the files."""
    folders = {
        "Accuracies and counts": paths.statistics(spec.target),
        "Rules": paths.rule_shares(spec.target),
        "Learning curves and training": paths.curves(spec.target),
        **{f"Model {model}": paths.fit(spec.target, model) for model in spec.models},
        "What filtering changes": paths.deltas(spec.target),
        **{f"Items of {suite}": str(Path(paths.items(suite)).parent) for suite in spec.suites},
    }
    for name, folder in folders.items():
        files = sorted(p.name for p in Path(folder).glob("[!.]*.*") if p.name != "manifest.json")
        if files:
            yield f"{name}: {place(Path(folder), paths)}/: {', '.join(files)}"
