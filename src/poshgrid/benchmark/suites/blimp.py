"""Pairs with their description, one JSON object on a line: BLiMP and suites in its format.

Source of the format: Warstadt et al. 2020, "BLiMP". A line needs ``sentence_good`` and
``sentence_bad``; ``UID`` names the phenomenon (else the file does) and ``linguistics_term`` its
category. The other keys are passed over. A parquet table with these columns is read as well: the
Hugging Face hub keeps data sets so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from poshgrid.benchmark.reading import pairfile
from poshgrid.benchmark.reading.pairfile import Pair, fault
from poshgrid.errors import PoshgridError
from poshgrid.files import foreign_table

if TYPE_CHECKING:
    from poshgrid.benchmark.context import Context, Loaded

_SUFFIXES = (".jsonl", ".parquet")
_MEMBERS = ("sentence_good", "sentence_bad")


class Options(pairfile.PairOptions):
    """Options of the reader ``blimp``."""

    hub: str | None = Field(
        None,
        pattern=r"^[\w.-]+(/[\w.-]+)?$",
        description="Dataset of the Hugging Face hub that is downloaded into the suite's path",
    )
    revision: str | None = Field(None, description="Its branch, tag or commit")


def files(path: Path, options: Options) -> list[Path]:
    """Return the suite's files and the table of categories.

    Files from the hub are not watched: they come with the job that reads them, and dataset and
    revision are in its options.
    """
    if options.hub:
        return pairfile.mapping(options)
    return pairfile.watched(path, options, _SUFFIXES)


def fetch(path: Path | None, options: Options) -> dict[str, str] | None:
    """Download the suite into the data folder if it comes from the hub and is not there.

    Returns:
        As :func:`poshgrid.benchmark.reading.hub.ensure`; none: it does not come from a hub.

    Raises:
        PoshgridError: as that, or there is no path.
    """
    from poshgrid.benchmark.reading import hub

    if not options.hub:
        return None
    if path is None:
        raise PoshgridError(
            f"suites[].path: missing; name the folder below `data` for {options.hub}"
        )
    return hub.ensure(path, options.hub, options.revision, _SUFFIXES)


def load(path: Path | None, options: Options, context: Context | None = None) -> Loaded:
    """Read the pairs, after downloading the files if they come from the hub and are not there.

    Raises:
        PoshgridError: as :func:`poshgrid.benchmark.reading.pairfile.load` and :func:`fetch`.
    """
    from poshgrid.benchmark.context import Loaded

    origin = fetch(path, options)
    items, facts = pairfile.load(path, options, _SUFFIXES, _pairs)
    return Loaded(items, {**facts, "hub": origin})


def _pairs(file: Path) -> Iterator[Pair]:
    for number, row in _parquet(file) if file.suffix == ".parquet" else _json(file):
        if not isinstance(row, Mapping):
            raise fault(file, number, "not a JSON object")
        for name in (*_MEMBERS, "UID", "linguistics_term"):
            if name in _MEMBERS and name not in row:
                raise fault(file, number, f"no key {name}")
            if not isinstance(row[name] if name in _MEMBERS else row.get(name) or "", str):
                raise fault(file, number, f"{name} is not a text")
        good, bad = (row[name] for name in _MEMBERS)
        names = (row.get(name) or "" for name in ("UID", "linguistics_term"))
        yield Pair(good, bad, (number, number), *names)


def _json(file: Path) -> Iterator[tuple[int, Any]]:
    from poshgrid.corpora import textfile

    for number, line in enumerate(textfile.lines(file), 1):
        if line.strip():
            try:
                yield number, json.loads(line, object_pairs_hook=_once)
            except (RecursionError, ValueError) as error:  # also nested too deep, a number too long
                raise fault(file, number, f"not JSON that can be read ({error})") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; a key that it holds twice would lose its first value."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"a key stands twice: {', '.join(key for key, _ in pairs)}")
    return found


def _parquet(file: Path) -> Iterator[tuple[int, Any]]:
    table = foreign_table(file, "download it again")
    for name in _MEMBERS:
        if name not in table.columns:
            raise PoshgridError(
                f"{file}: no column {name}; found {', '.join(table.columns)}; name pairs in "
                "BLiMP's form: of a study's own, `poshgrid export items` writes them to pairs/"
            )
    yield from enumerate(table.iter_rows(named=True), 1)
