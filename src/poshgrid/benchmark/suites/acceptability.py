"""Pairs of an acceptable and an unacceptable sentence, written by hand.

The format in which Capone, Suozzi, Lebani and Lenci (2024), BaBIEs, section 3, recast a test in
which children judge one sentence at a time.

CSV: item_id, category, phenomenon, good, bad, [template], [lexical_set], [contrast].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poshgrid import plugins

if TYPE_CHECKING:
    from pathlib import Path

    from poshgrid.benchmark.context import Context, Loaded
    from poshgrid.benchmark.reading.csvfile import Row

TASK = "pairs"


class Options(plugins.Options):
    """The reader ``acceptability`` takes no options."""


def files(path: Path | None, options: Options) -> list[Path]:
    """Return the file that the suite is read from; :func:`load` says if it is missing."""
    return [path] if path and path.is_file() else []


def load(path: Path | None, options: Options, context: Context | None = None) -> Loaded:
    """Read pairs.

    A pair without a template, a lexical set or a contrast gets its phenomenon as template and as
    contrast, and is a lexical set of its own: intervals then take pairs as independent.

    Args:
        path: the CSV file.
        options: none.
        context: not used.

    Returns:
        The columns of ``PAIRS``. Facts: the pairs that differ in more than one word.

    Raises:
        PoshgridError: names file, line and remedy; see ``rows`` of
            :mod:`poshgrid.benchmark.reading.csvfile`.
            Also: the two members are the same, a pair that repeats another, a template that two
            phenomena share.
    """
    import polars as pl

    from poshgrid.benchmark.context import Loaded
    from poshgrid.benchmark.reading import csvfile
    from poshgrid.benchmark.reading.pairwords import shared_ends
    from poshgrid.benchmark.schema import PAIRS

    found = csvfile.rows(path, ["good", "bad"], ["template", "lexical_set", "contrast"])
    seen: dict[tuple[str, str], Row] = {}
    owners: dict[str, str] = {}  # template -> phenomenon
    records = []
    for row in found:
        cells = row.cells
        if cells["good"] == cells["bad"]:
            raise row.fault("good and bad are the same; change one of them")
        key = (cells["good"], cells["bad"])
        if key in seen:
            raise row.fault(f"the same pair as {seen[key].line}; take one of them out")
        seen[key] = row
        template = cells.get("template") or cells["phenomenon"]
        if owners.setdefault(template, cells["phenomenon"]) != cells["phenomenon"]:
            raise row.fault(
                f"template {template!r} belongs to {owners[template]!r} too; "
                "name the templates of different phenomena differently"
            )
        records.append(
            {
                **{name: cells[name] for name in csvfile.ITEM},
                "template": template,
                "lexical_set": cells.get("lexical_set") or cells["item_id"],
                "contrast": cells.get("contrast") or cells["phenomenon"],
                "good": cells["good"],
                "bad": cells["bad"],
            }
        )
    wide = []
    for row in found:
        good, bad = row.cells["good"].split(), row.cells["bad"].split()
        if max(len(good), len(bad)) - sum(shared_ends(good, bad)) > 1:
            wide.append(row.cells["item_id"])
    return Loaded(
        pl.DataFrame(records, schema=PAIRS), {"pairs_that_differ_in_more_than_one_word": wide}
    )
