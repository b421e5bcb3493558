"""What a reader can take away: the statistics, and the page's own tables and figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from poshgrid.grid.paths import Paths
from poshgrid.report.collect import Collected
from poshgrid.report.records import link
from poshgrid.report.shelf import Shelf


def groups(
    collected: Collected, shelf: Shelf, paths: Paths
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield (what, links) of everything that can be taken away."""
    target = collected.spec.target
    statistics = Path(paths.statistics(target))
    groups: list[tuple[str, list[Path]]] = [
        ("Accuracies and counts", [statistics / f for f in (
            "accuracy.parquet", "accuracy.csv", "accuracy.tex", "counts.parquet")]),
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
        links = [(p.name, link(p, shelf.output)) for p in found if p.is_file()]
        if links:
            yield name, links
    for folder, names in shelf.written.items():
        stems = sorted({Path(name).stem for name in names})
        for stem in stems:
            found = [n for n in names if Path(n).stem == stem]
            yield stem, [(Path(n).suffix[1:].upper(), f"{folder}/{n}") for n in found]
