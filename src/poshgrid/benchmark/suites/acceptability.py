"""Pairs of an acceptable and an unacceptable sentence, written by hand.

The format in which Capone, Suozzi, Lebani and Lenci (2024), BaBIEs, section 3, recast a test in
which children judge one sentence at a time.

CSV: item_id, category, phenomenon, good, bad, [template], [lexical_set], [contrast].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poshgrid import plugins
from poshgrid.benchmark.reading import csvfile

if TYPE_CHECKING:
    from pathlib import Path

    from poshgrid.benchmark.context import Context, Loaded
    from poshgrid.benchmark.reading.csvfile import Row

TASK = "pairs"


class Options(plugins.Options):
    """The reader ``acceptability`` takes no options."""


files = csvfile.watched


def load(path: Path | None, options: Options, context: Context | None = None) -> Loaded:
    """Read pairs.

    A pair without a template, a lexical set or a contrast gets its phenomenon as template and as
    contrast, and is a lexical set of its own: intervals then take pairs as independent.

    Args:
        path: the CSV file.
        options: none.
        context: not used.

    Returns:
        The columns of ``PAIRS``.

    Raises:
        PoshgridError: names file, line and remedy; see ``rows`` of
            :mod:`poshgrid.benchmark.reading.csvfile`.
            Also: the two members are the same, a pair that repeats another, a template that two
            phenomena share.
    """
    import polars as pl

    from poshgrid.benchmark.context import Loaded
    from poshgrid.benchmark.schema import PAIRS

    found = csvfile.rows(path, ["good", "bad"], ["template", "lexical_set", "contrast"])
    seen: dict[tuple[str, str], Row] = {}
    owners: dict[str, str] = {}  # template -> phenomenon
    records = []
    for row in found:
        cells = row.cells
        if cells["good"] == cells["bad"]:
            raise row.fault("good and bad are the same; change one of them")
        before = seen.setdefault((cells["good"], cells["bad"]), row)
        if before is not row:
            raise row.fault(f"the same pair as {before.line}; take one of them out")
        template = cells.get("template") or cells["phenomenon"]
        if owners.setdefault(template, cells["phenomenon"]) != cells["phenomenon"]:
            raise row.fault(
                f"template {template!r} belongs to {owners[template]!r} too; "
                "name the templates of different phenomena differently"
            )
        records.append(
            {
                **{name: cells[name] for name in (*csvfile.ITEM, "good", "bad")},
                "template": template,
                "lexical_set": cells.get("lexical_set") or cells["item_id"],
                "contrast": cells.get("contrast") or cells["phenomenon"],
            }
        )
    return Loaded(pl.DataFrame(records, schema=PAIRS))
