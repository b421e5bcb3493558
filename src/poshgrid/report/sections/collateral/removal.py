"""What the stage counted of one condition, as the table and the figure ask for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from poshgrid.config.sizes import words
from poshgrid.errors import PoshgridError
from poshgrid.evidence.collateral import ALL, LONG, OVER
from poshgrid.evidence.constructions import CONSTRUCTIONS
from poshgrid.evidence.schema import BY_TREE, COLLATERAL
from poshgrid.files import read_table
from poshgrid.report.records import read_json
from poshgrid.tables.words import listed

KINDS = {
    name: {"wh_question": "wh-questions", "relative": "relative clauses",
           OVER: f"sentences over {LONG} words"}.get(name, f"{name.replace('_', ' ')}s")
    for name in (*CONSTRUCTIONS, OVER)
}  # fmt: skip
"""Measure -> its plural for people, in the order of the columns."""


@dataclass(frozen=True)
class Removal:
    """What went when one condition was made at one size."""

    condition: str
    size: str
    control: str | None
    table: pl.DataFrame  # COLLATERAL
    divergence: dict[str, float | None]  # source, ALL -> bits
    parsed: dict[str, float | None]  # source, ALL -> share of the base's sentences

    @property
    def name(self) -> str:
        """The condition in words."""
        return f"{self.condition} (control of {self.control})" if self.control else self.condition

    @property
    def sources(self) -> list[str]:
        """The sources that give sentences to this size, and all together; one is no sum."""
        there = self.table.filter(pl.col("before") > 0, measure="sentences")["source"].to_list()
        return there if len(there) > 2 else [ALL]

    def number(self, source: str, measure: str, column: str) -> int | None:
        """Return a count; ``None``: not known."""
        found: int | None = self.table.filter(source=source, measure=measure)[column].item()
        return found

    def share(self, source: str, measure: str, column: str = "removed") -> float | None:
        """Return what was removed, as a share of what the base has; ``None``: not known."""
        before, gone = (self.number(source, measure, each) for each in ("before", column))
        return None if not before or gone is None else gone / before

    def partial(self, measure: str) -> bool:
        """Say whether a construction is known of some of the base's sentences only."""
        return measure in BY_TREE and (self.parsed[ALL] or 0) < 1


def read(condition: str, size: str, folder: Path) -> Removal | None:
    """Read what went when a condition was made; none: not counted yet.

    Raises:
        PoshgridError: a file is broken.
    """
    path, facts = folder / "collateral.parquet", read_json(folder / "statistics.json")
    if not path.is_file() or not facts:
        return None
    try:
        return Removal(
            condition, size, facts["control"], read_table(path, COLLATERAL),
            *({**facts[key]["sources"], ALL: facts[key][ALL]} for key in ("divergence", "parsed")),
        )  # fmt: skip
    except (KeyError, TypeError) as error:
        raise PoshgridError(
            f"{folder}/statistics.json: not what the rule collateral writes; delete it and run "
            "again"
        ) from error


def largest(found: Iterable[Removal]) -> list[Removal]:
    """Return each condition at its largest size, in the order given."""
    kept: dict[str, Removal] = {}
    for each in found:
        if each.condition not in kept or words(each.size) > words(kept[each.condition].size):
            kept[each.condition] = each
    return list(kept.values())


def alike(found: Iterable[Removal]) -> list[list[Removal]]:
    """Return conditions that go without the same of the same, though not put back the same."""
    groups: dict[object, list[Removal]] = {}
    for each in found:
        gone = each.table.select("source", "measure", "before", "removed")
        groups.setdefault((each.size, each.control, *gone.iter_rows()), []).append(each)
    return list(groups.values())


def together(group: Sequence[Removal]) -> str:
    """Return the names of conditions in words."""
    if len(group) > 2:
        return f"{group[0].name} and {len(group) - 1} others"
    return listed([each.name for each in group])
