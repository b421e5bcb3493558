"""Pairs with their description, one JSON object on a line: BLiMP and suites in its format.

Source of the format: Warstadt et al. 2020, "BLiMP". A line needs ``sentence_good`` and
``sentence_bad``; ``UID`` names the phenomenon (else the file does) and ``linguistics_term`` its
category. The other keys are passed over. A parquet table with these columns is read as well: the
Hugging Face hub keeps data sets so.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field, model_validator

from poshgrid.benchmark.reading import pairfile
from poshgrid.benchmark.reading.pairfile import Malformed, Pair
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

    @model_validator(mode="after")
    def _of_a_hub(self) -> Self:
        if self.revision and not self.hub:
            raise ValueError("revision belongs to hub: name the dataset too")
        return self


def files(path: Path, options: Options) -> list[Path]:
    """Return the suite's files and the table of categories.

    Files from the hub are not watched: they come with the job that reads them, and dataset and
    revision are in its options.
    """
    if options.hub:
        return pairfile.mapping(options)
    return pairfile.watched(path, options, _SUFFIXES, below=True)


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
    items, facts = pairfile.load(path, options, _SUFFIXES, _pairs, below=True)
    return Loaded(items, {**facts, "hub": origin})


def _pairs(file: Path) -> Iterator[Pair | Malformed]:
    rows = _parquet(file) if file.suffix == ".parquet" else _json(file)
    for number, row in rows:
        yield row if isinstance(row, Malformed) else _pair(row, number)


def _json(file: Path) -> Iterator[tuple[int, Any]]:
    from poshgrid.corpora import textfile

    for number, line in enumerate(textfile.lines(file), 1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line, object_pairs_hook=_once)
        except json.JSONDecodeError as error:
            yield number, Malformed(number, f"not JSON ({error.msg}, column {error.colno})")
        except (RecursionError, ValueError) as error:  # nested too deep; a number too long
            yield number, Malformed(number, f"not JSON that can be read ({error})")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; a key that it holds twice would lose its first value."""
    found = dict(pairs)
    if len(found) < len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"{twice!r} stands twice in an object")
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


def _pair(row: object, number: int) -> Pair | Malformed:
    if not isinstance(row, Mapping):
        return Malformed(number, "not a JSON object")
    for name in _MEMBERS:
        if name not in row:
            return Malformed(number, f"no key {name}")
        if not isinstance(row[name], str):
            return Malformed(number, f"{name} is not a text")
    for name in ("UID", "linguistics_term"):
        if not isinstance(row.get(name) or "", str):
            return Malformed(number, f"{name} is not a text")
    good, bad = (row[name] for name in _MEMBERS)
    return Pair(
        good, bad, (number, number), row.get("UID") or "", row.get("linguistics_term") or ""
    )
