"""Export the tables of a target as tidy CSV with a data dictionary: a frictionless data package.

``datapackage.json`` lists every file and every column with its type and its meaning (the comments
of the schemas). Libraries of R, Python and Julia can read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs

from poshgrid.config.runs import BASELINE_RECIPES
from poshgrid.core import files, formats, verification
from poshgrid.core.columns import columns
from poshgrid.core.errors import PoshgridError
from poshgrid.core.manifest import outdated
from poshgrid.report.results import Results

PACKAGE = "datapackage.json"
_NOT_EXPORTED = ("scores-", "heuristics-")
"""Beginnings of the names of tables that are not exported: judgements have the same pairs."""
BASELINES = "baselines-"
"""Prefix of the names of tables of baselines."""
_WHOLE = {
    "JUDGEMENTS": {
        "correct": "1 right, 0 wrong, empty a tie, by the configured reduction",
        "by_mean": "the same if means over tokens are compared",
        "by_sum": "the same if sums over tokens are compared",
    },
    "COUNTS": {"correct": "pairs judged right, without ties"},
}
"""Schema -> columns that count a tie as a half -> their meaning as integers."""


def export(results: Results, output: Path, target: str | None) -> Path:
    """Write every table of a target, runs, items and judgements as CSV.

    Judgements and counts are integers, as models of counts in R need them. Baselines have tables of
    their own. Texts that a spreadsheet would take for a formula begin with an apostrophe
    (docs/safety.md).

    Args:
        results: with the target.
        output: the folder.
        target: an experiment; default: ``all``, or the only one that has results.

    Returns:
        The folder.

    Raises:
        PoshgridError: the target is unknown, a table has other columns or was made from inputs that
            have changed since, or the folder cannot be written.
    """
    _check_inputs_unchanged(results, target)
    before = output / PACKAGE
    earlier = files.read_json(before)["resources"] if before.is_file() else []
    listed = []
    with files.atomic_folder(output, last=PACKAGE) as temporary:
        for table, entry in results.catalogue(results.target(target)).items():
            known = entry.path is None or entry.path.is_file()
            if not known or table.startswith(_NOT_EXPORTED):
                continue
            meanings = columns(entry.module, entry.contract) | _WHOLE.get(entry.contract, {})
            rows = _in_integers(entry.read().collect(), entry.contract)
            for name, frame in _split_baselines(table, rows):
                path = temporary / f"{name}.csv"
                # CSV has no lists
                text = formats.csv(frame.with_columns(cs.list().list.join(" | ")))
                files.write_text(path, text)
                fields = [
                    {"name": column, "type": _type(kind), "description": meanings[column]}
                    for column, kind in frame.schema.items()
                ]
                listed.append({
                    "name": name.lower(), "path": path.name, "profile":
                    "tabular-data-resource", "format": "csv", "mediatype": "text/csv",
                    "encoding": "utf-8", "bytes": len(text.encode()),
                    "hash": f"sha256:{verification.sha256(path)}",
                    "schema": {"fields": fields, "missingValues": [""]},
                })  # fmt: skip
        package = {"profile": "tabular-data-package", "name": "poshgrid-results"}
        files.write_json(temporary / PACKAGE, {**package, "resources": listed})
    for name in {table["path"] for table in earlier} - {table["path"] for table in listed}:
        (output / Path(name).name).unlink(missing_ok=True)  # of other results
    return output


def _in_integers(frame: pl.DataFrame, contract: str) -> pl.DataFrame:
    """Return judgements and counts as integers, without ties; other tables are unchanged."""
    if contract == "COUNTS":
        return frame.with_columns((pl.col("correct") - pl.col("ties") / 2).cast(pl.UInt32))
    halved = pl.col(list(_WHOLE.get(contract, {})))
    return frame.with_columns(pl.when(halved != 0.5).then(halved).cast(pl.UInt8))


def _split_baselines(name: str, frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield a table without its baselines, then the table of its baselines if it has any."""
    if "recipe" not in frame.columns:
        yield name, frame
        return
    baseline = pl.col("recipe").is_in(BASELINE_RECIPES)
    yield name, frame.filter(~baseline)
    if frame.select(baseline.any()).item():
        yield BASELINES + name, frame.filter(baseline)


def _check_inputs_unchanged(results: Results, target: str | None) -> None:
    """Raise if a table was made from other inputs than those in the folder now.

    This happens after a run of a part of a grid (``only``), which does not change the other tables.
    """
    folder = Path(results.paths.statistics(results.target(target)))
    for manifest in sorted(folder.rglob(verification.MANIFEST)):
        known = verification.parsed(manifest, verification.state(manifest))
        if name := outdated(manifest, known):
            raise PoshgridError(
                f"{manifest.parent}: made of another {name}; run poshgrid verify --delete on the "
                "results, then run again"
            )


def _type(kind: Any) -> str:  # noqa: ANN401 - polars' types are classes and instances
    if kind.is_integer():
        return "integer"
    if kind.is_float():
        return "number"
    return "boolean" if kind == pl.Boolean else "string"
