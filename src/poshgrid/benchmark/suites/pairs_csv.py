"""Minimal pairs, written by hand.

CSV: item_id, category, phenomenon, good, bad, [template], [lexical_set], [contrast].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poshgrid import plugins
from poshgrid.benchmark.reading import csvfile

if TYPE_CHECKING:
    from pathlib import Path

    from poshgrid.benchmark.schema import Context, Loaded

TASK = "pairs"


class Options(plugins.Options):
    """The reader ``pairs-csv`` takes no options."""


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
            :mod:`poshgrid.benchmark.reading.csvfile`. Also: a template that two phenomena share.
    """
    import polars as pl

    from poshgrid.benchmark.schema import PAIRS, Loaded

    owners: dict[str, str] = {}  # template -> phenomenon
    records = []
    for row in csvfile.rows(path, ["good", "bad"], ["template", "lexical_set", "contrast"]):
        cells = row.cells
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
