"""Pairs of a suite as text that a person reads: some of each phenomenon, the region in brackets."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import files
from poshgrid.benchmark.schema import ITEMS, TASKS
from poshgrid.errors import PoshgridError

_WIDTH = 80
_LABEL = 8  # columns of "  good  "


def read(path: Path) -> pl.DataFrame:
    """Read a table of minimal pairs that is to be shown.

    Raises:
        PoshgridError: the file is missing or is no table of pairs (those of other tasks are not).
    """
    if not path.is_file():
        raise PoshgridError(f"{path}: not found; give the items.parquet of a suite")
    found = files.read_schema(path, "give the items.parquet of a suite")
    for task, columns in TASKS.items():
        if task != "pairs" and set(found) == set(columns):
            raise PoshgridError(f"{path}: holds {task}; --show prints minimal pairs only")
    return files.read_table(path, ITEMS)


def examples(items: pl.DataFrame, count: int, seed: int) -> str:
    """Return some pairs of each phenomenon as plain text of at most 80 columns.

    Args:
        items: table with the columns of ``ITEMS``.
        count: pairs of each phenomenon; fewer where there are no more.
        seed: the same seed shows the same pairs, whatever the other phenomena are.
    """
    blocks = [
        "\n".join([*_head(name, part), *map(_pair, shown.iter_rows(named=True))])
        for name, part, shown in drawn(items, count, seed)
    ]
    return "\n\n".join(blocks) + "\n" if blocks else "no items\n"


def drawn(
    items: pl.DataFrame, count: int, seed: int
) -> Iterator[tuple[str, pl.DataFrame, pl.DataFrame]]:
    """Yield each phenomenon, its pairs, and some of them; see :func:`examples`."""
    for (name,), part in items.group_by("phenomenon", maintain_order=True):
        rng = random.Random(f"{seed}/{name}")
        places = sorted(rng.sample(range(part.height), min(count, part.height)))
        yield str(name), part, part[places]


def _head(name: str, part: pl.DataFrame) -> list[str]:
    facts = [
        part["category"][0],
        _number(part.height, "pair"),
        _number(part["lexical_set"].n_unique(), "lexical set"),
        _number(part["template"].n_unique(), "template"),
    ]
    return [*_wrapped(f"{name} ({', '.join(facts)})", "", "  "), "=" * min(len(name), _WIDTH)]


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _pair(row: dict[str, Any]) -> str:
    lines = [
        f"\n{row['item_id']}",
        *_wrapped(f"{row['template']} · {row['contrast']} · {row['lexical_set']}", "  ", "  "),
    ]
    for member in ("good", "bad"):
        text = _marked(row[member], row[f"{member}_start"], row[f"{member}_end"])
        lines += _wrapped(text, f"  {member:<{_LABEL - 2}}", " " * _LABEL)
    return "\n".join(lines)


def _marked(text: str, start: int, end: int) -> str:
    """Put the critical region in brackets; 0, 0: the member lacks it."""
    return f"{text[:start]}[{text[start:end]}]{text[end:]}" if end else text


def _wrapped(text: str, first: str, others: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=True,
        break_on_hyphens=False,
    )
