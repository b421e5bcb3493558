"""What a grid would judge: its points, and the pairs of a suite, before there are any items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from poshgrid import plugins
from poshgrid.errors import PoshgridError
from poshgrid.evaluation import judgements
from poshgrid.grid.grid import Grid
from poshgrid.plugins import SUITES
from poshgrid.statistics.schema import COUNTS, RUN_AXES

_TEMPLATES = {"templates": "pairs", "factorial": "sets"}
"""Readers whose items are known before they are made, and their option that says how many."""


@dataclass(frozen=True)
class Layout:
    """What is judged, by whom.

    Attributes:
        points: the columns ``RUN_AXES``, words, source, filtered; a row for each point.
        seeds: of each point (the most that one has).
        suite: its name.
        units: category, phenomenon, template, sets, each (pairs of a set); a row for each template.
        known: whether the items are there; otherwise the templates were counted.
    """

    points: pl.DataFrame
    seeds: int
    suite: str
    units: pl.DataFrame
    known: bool

    def counts(self, seeds: int, times: int) -> pl.DataFrame:
        """Return counts with nothing judged right yet: columns of ``COUNTS``.

        Args:
            seeds: of each point.
            times: how many times as many items.
        """
        pairs = self.units.select(
            "category", "phenomenon", "template", n=pl.col("sets") * pl.col("each") * times
        )
        numbers = pl.DataFrame({"seed": list(range(1, seeds + 1))})
        return (
            self.points.join(numbers, how="cross")
            .join(pairs, how="cross")
            .with_columns(
                suite=pl.lit(self.suite),
                lexical_set=pl.lit(""),
                correct=pl.lit(0.0),
                ties=pl.lit(0),
            )
            .select(list(COUNTS))
            .cast(pl.Schema(COUNTS))
        )


def layout(grid: Grid, target: str, suite: str) -> Layout:
    """Return what a target would judge of a suite.

    Raises:
        PoshgridError: the suite's items are not there, and its reader does not tell them before.
    """
    facts = grid.cell_facts(target)
    seeds = Counter(
        tuple(str(getattr(run, axis)) for axis in RUN_AXES) for run in grid.targets[target]
    )
    rows = [
        {**dict(zip(RUN_AXES, point, strict=True)), **facts["/".join(point[:2])].model_dump()}
        for point in seeds
    ]
    items = Path(grid.paths.items(suite))
    known = items.is_file()
    units = _of_items(items) if known else pl.DataFrame(_of_templates(grid, suite))
    return Layout(pl.DataFrame(rows), max(seeds.values()), suite, units, known)


def _of_items(path: Path) -> pl.DataFrame:
    pairs = judgements.read_items(path)
    one = [*judgements.JOINED]
    judged = pl.concat([pairs.filter(~pl.col("joint")), pairs.filter("joint").unique(one)])
    key = ["category", "phenomenon", "template"]
    return (
        judged.group_by(key)
        .agg(n=pl.len(), sets=pl.col("lexical_set").n_unique())
        .with_columns(each=(pl.col("n") / pl.col("sets")).round().cast(pl.Int64))
        .with_columns(sets=(pl.col("n") / pl.col("each")).round().cast(pl.Int64))
        .select(*key, "sets", "each")
        .sort(key)
    )


def _of_templates(grid: Grid, suite: str) -> Iterator[dict[str, object]]:
    """Yield the units of a suite that is made of templates: those of a phenomenon alike."""
    from poshgrid.benchmark.generation import factorial, templates

    given = grid.suites[suite]
    if given.reader not in _TEMPLATES:
        raise PoshgridError(
            f"suite {suite!r}: how many items it has is not known before they are made; make them "
            f"(snakemake {grid.paths.items(suite)}), or name a suite of reader templates or "
            "factorial with --suite"
        )
    module = plugins.load(SUITES, given.reader)
    options = plugins.options(SUITES, given.reader, given.options)
    number = getattr(options, _TEMPLATES[given.reader])
    reading = templates if given.reader == "templates" else factorial
    for name in module.chosen(options):
        described = reading.read(name)
        parts = described.templates
        for i, template in enumerate(parts):
            pairs = len(getattr(template, "written", [None]))
            yield {
                "category": described.category,
                "phenomenon": described.phenomenon,
                "template": template.name,
                "sets": number // len(parts) + (i < number % len(parts)),
                "each": 1 if described.joint else pairs,
            }
