"""Options as BabyLM publishes them: entity tracking and WUG tests.

A line is a JSON object, a file a category.

- Entity tracking (Kim and Schuster 2023): ``input_prefix``, which is context; ``options``, the
  right one first; ``numops``, how often something was moved, of which each number is a phenomenon.
- WUG (Hofmann et al. 2024; Weissweiler et al. 2023): ``sentences``, two with a tab between;
  ``ratio``, the share of people who choose the first. The one that more people choose is right.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.corpora.textfile import label, listed_below

if TYPE_CHECKING:
    from poshgrid.benchmark.schema import Context, Loaded

TASK = "choices"
_ENDINGS = (".jsonl", ".jsonl.gz")


class Options(plugins.Options):
    """The reader ``babylm`` takes no options."""


def files(path: Path, options: Options) -> list[Path]:
    """Return the files that a suite is read from."""
    return listed_below(path, *_ENDINGS)


def load(path: Path | None, options: Options, context: Context | None = None) -> Loaded:
    """Read texts of which one is right.

    Args:
        path: a file or a folder.
        options: none.
        context: not used.

    Returns:
        The columns of ``CHOICES``, a row for each option.

    Raises:
        PoshgridError: no path, or a line that lacks a field, has fewer than two options or no text.
    """
    import polars as pl

    from poshgrid.benchmark.reading.pairfile import no_text
    from poshgrid.benchmark.reading.tablefile import rows
    from poshgrid.benchmark.schema import CHOICES, Loaded

    if path is None:
        raise PoshgridError("suites[].path: missing; name the file or folder below `data`")
    records: list[dict[str, Any]] = []
    for file in files(path, options):
        category = label(file, path)
        for row in rows(file):
            try:
                options_of = _options(category, row.cells)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise row.fault(f"no item of entity tracking or WUG: {error}") from error
            if reason := no_text("".join(option["text"] for option in options_of)):
                raise row.fault(reason)
            item = {"item_id": f"{category}-{row.line:05}", "category": category}
            records += [item | {"block": "", "tags": []} | option for option in options_of]
    return Loaded(pl.DataFrame(records, schema=CHOICES))


def _options(category: str, row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the options of a row, as columns of ``CHOICES``.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: the row is not an item.
    """
    people: list[float | None]
    if "sentences" in row:
        ends, prefix, ratio = row["sentences"].split("\t"), "", float(row["ratio"])
        if not 0 <= ratio <= 1 or len(ends) != 2:
            raise ValueError("not two sentences, or a ratio outside 0 to 1")
        phenomenon, people, right = category, [ratio, 1 - ratio], int(ratio < 0.5)
    else:
        ends, prefix = row["options"], row["input_prefix"]
        phenomenon, people, right = f"{category}_{int(row['numops'])}_ops", [None] * len(ends), 0
        if not prefix.strip():
            raise ValueError("an empty input_prefix")
    if len(ends) < 2 or not all(end.strip() for end in ends):
        raise ValueError("fewer than two options, or an empty one")
    return [
        {
            "phenomenon": phenomenon,
            "option": number,
            "correct": number == right,
            "text": prefix + end,
            "context": len(prefix),
            "people": share,
        }
        for number, (end, share) in enumerate(zip(ends, people, strict=True))
    ]
