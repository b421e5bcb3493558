"""A text and its possible ends: entity tracking, as BabyLM publishes it (Kim and Schuster 2023).

A line is a JSON object: ``input_prefix``; ``options``, the right one first; ``numops``, how often
something was moved. A file is a category, with a phenomenon for each number of operations.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from poshgrid import plugins
from poshgrid.corpora.listing import label, listed_below
from poshgrid.errors import PoshgridError

if TYPE_CHECKING:
    from poshgrid.benchmark.schema import Context, Loaded

TASK = "choices"
_ENDINGS = (".jsonl", ".jsonl.gz")


class Options(plugins.Options):
    """The reader ``entity-tracking`` takes no options."""


def files(path: Path, options: Options) -> list[Path]:
    """Return the files that a suite is read from."""
    return listed_below(path, *_ENDINGS)


def load(path: Path | None, options: Options, context: Context | None = None) -> Loaded:
    """Read texts and their possible ends.

    Args:
        path: a file or a folder.
        options: none.
        context: not used.

    Returns:
        The columns of ``CHOICES``, a row for each option; the text before it is context.

    Raises:
        PoshgridError: no path, or a line that lacks a field or has fewer than two options.
    """
    import polars as pl

    from poshgrid.benchmark.reading.pairfile import fault, no_text
    from poshgrid.benchmark.reading.tablefile import rows
    from poshgrid.benchmark.schema import CHOICES, Loaded

    if path is None:
        raise PoshgridError("suites[].path: missing; name the file or folder below `data`")
    records = []
    for file in files(path, options):
        category = label(file, path)
        for number, row in rows(file):
            prefix, ends = row.get("input_prefix"), row.get("options")
            if not (
                isinstance(prefix, str) and prefix.strip() and isinstance(row.get("numops"), int)
            ):
                raise fault(file, number, "no input_prefix or numops")
            if not (
                isinstance(ends, list)
                and len(ends) > 1
                and all(isinstance(end, str) and end.strip() for end in ends)
            ):
                raise fault(file, number, "options: not two texts or more")
            if reason := no_text(prefix + "".join(ends)):
                raise fault(file, number, reason)
            records += [
                {
                    "item_id": f"{category}-{number:05}",
                    "category": category,
                    "phenomenon": f"{category}_{row['numops']}_ops",
                    "block": "",
                    "option": option,
                    "correct": option == 0,
                    "text": prefix + end,
                    "context": len(prefix),
                    "tags": [],
                }
                for option, end in enumerate(ends)
            ]
    return Loaded(pl.DataFrame(records, schema=CHOICES))
