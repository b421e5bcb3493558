"""What a reader can take away: the page's own tables and figures, and where the statistics lie."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from poshgrid.config.paths import Paths
from poshgrid.report.blocks import Block, Bullets, Links, Page
from poshgrid.report.collect import Collected
from poshgrid.report.records import place
from poshgrid.report.shelf import Shelf

TITLE, ORDER, AUDIENCE = "Downloads", 180, "reader"


def blocks(page: Page) -> list[Block]:
    """Return the links; the last section, as it lists what the others wrote."""
    return [
        "Tables as CSV (numbers unrounded) and LaTeX, figures as PDF and PNG.",
        Links(list(beside(page.shelf))),
        "They were made from these files of the results folder.",
        Bullets(list(made_from(page.collected, page.paths))),
    ]


def beside(shelf: Shelf) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield (name, links) of the tables and figures that travel with the page."""
    for folder, names in shelf.written.items():
        for stem in sorted({Path(name).stem for name in names}):
            found = [n for n in names if Path(n).stem == stem]
            yield stem, [(Path(n).suffix[1:].upper(), f"{folder}/{n}") for n in found]


def made_from(collected: Collected, paths: Paths) -> Iterator[str]:
    """Yield what the numbers are of, with the folder and the names of the files."""
    target = collected.spec.target
    statistics = Path(paths.statistics(target))
    groups: list[tuple[str, list[Path]]] = [
        ("Accuracies and counts", [statistics / f for f in (
            "accuracy.parquet", "accuracy.csv", "counts.parquet", "nulls.parquet", "nulls.csv")]),
        ("Rules", [Path(paths.rule_shares(target)) / f"{f}.{kind}" for f in (
            "shares", "mixture", "identifiability") for kind in ("parquet", "csv")]),
        ("Learning curves and training", [Path(paths.curves(target)) / f"{f}.{kind}" for f in (
            "curves", "curves_mean", "training") for kind in ("parquet", "csv")]),
        *((f"Model {m}", [Path(paths.fit(target, m)) / f for f in (
            "posterior.nc", "summary.parquet", "summary.csv", "summary.tex", "contrasts.parquet",
            "contrasts.csv", "contrasts.tex", "predictive.parquet", "predictive.csv",
            "diagnostics.json")])
          for m in collected.spec.models),
        ("What filtering changes", [Path(paths.deltas(target)) / f for f in (
            "deltas.parquet", "deltas.csv", "deltas.tex", "delta_tests.parquet", "delta_tests.csv",
            "perplexity.parquet", "perplexity.csv")]),
        *((f"Items of {s}", [Path(paths.items(s))]) for s in collected.spec.suites),
    ]  # fmt: skip
    for name, found in groups:
        if there := [path for path in found if path.is_file()]:
            yield f"{name}: {place(there[0].parent, paths)}/: {', '.join(p.name for p in there)}"
