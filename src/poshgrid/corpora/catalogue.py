"""What sources there are (``resources/sources.yaml``), and which of them a configuration finds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from poshgrid import plugins, resources
from poshgrid.config import Config, Name, Source, Words
from poshgrid.corpora.textfile import rows
from poshgrid.errors import PoshgridError, check_known
from poshgrid.plugins import READERS

Url = Annotated[str, Field(pattern=r"^https?://[^\s/]+/\S*$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Format(_Part):
    """One shape of a source, and the reader that takes it."""

    reader: Name = Field(description="Module of poshgrid.corpora.readers")
    path: str = Field(description="Where it is looked for, below the data folder")
    example: str = Field(description="One file that the reader finds below the path")


class Download(_Part):
    """One file that ``poshgrid fetch`` downloads."""

    url: Url
    file: Name = Field(description="Its name in the data folder")
    sha256: str | None = Field(
        pattern=r"^[0-9a-f]{64}$", description="None: that of the first download counts"
    )
    default: bool = Field(True, description="Downloaded without being asked for by name")


class Catalogue(_Part):
    """A publisher's table of what there is, and which of it ``poshgrid fetch`` downloads."""

    url: Url
    file: Name = Field(description="Its name in the data folder; a CSV file with a header line")
    where: dict[str, str] = Field(description="Column -> regular expression of the whole cell")
    work: tuple[str, ...] = Field(description="Columns that are alike in editions of one work")
    number: str = Field(description="Column of what `{number}` in the link stands for")
    link: str = Field(description="Address of one text", pattern=r"^https?://.*\{number\}")
    words: Words = Field(gt=0, description="Texts are taken in order until they hold so many")

    def downloads(self, table: Path) -> Iterator[Download]:
        """Yield the texts that are taken, in the order of the catalogue, each work once.

        Raises:
            PoshgridError: the table lacks a column, or is broken.
        """
        works: set[tuple[str, ...]] = set()
        for row in rows(table, [*self.where, *self.work, self.number]):
            work = tuple(" ".join(row[column].casefold().split()) for column in self.work)
            chosen = all(re.fullmatch(test, row[column]) for column, test in self.where.items())
            if chosen and work not in works:
                works.add(work)
                link = self.link.replace("{number}", row[self.number])
                yield Download(url=link, file=link.rpartition("/")[2], sha256=None)


class Entry(_Part):
    """One source of the manifest."""

    name: Name
    title: str
    homepage: Url
    licence: str
    licence_url: Url
    access: Literal["free", "restricted"]
    get: str = Field(description="How to get it, in one sentence")
    formats: tuple[Format, ...] = Field(min_length=1)
    downloads: tuple[Download, ...] = Field((), description="Into the path of the first format")
    catalogue: Catalogue | None = None
    pause: float = Field(0, ge=0, description="Seconds between two downloads")

    @property
    def fetched(self) -> bool:
        """Say whether ``poshgrid fetch`` downloads it."""
        return bool(self.downloads or self.catalogue)


class Manifest(_Part):
    """``resources/sources.yaml``."""

    sources: tuple[Entry, ...] = Field(min_length=1)

    def entry(self, name: str) -> Entry:
        """Return a source by name.

        Raises:
            PoshgridError: there is none of that name.
        """
        known = {entry.name: entry for entry in self.sources}
        check_known("unknown source", name, known)
        return known[name]


@cache
def manifest() -> Manifest:
    """Read the manifest of sources."""
    text = resources.path("sources.yaml").read_text(encoding="utf-8")
    return Manifest.model_validate(yaml.safe_load(text))


@dataclass(frozen=True)
class Status:
    """Whether one source of a configuration is there."""

    name: str  # as the configuration calls it
    path: Path  # data folder and path
    files: int  # that the reader finds
    restricted: bool
    problem: str | None  # what the reader says; None: its files are there
    remedy: str | None  # what to do; None: nothing


def status(config: Config) -> list[Status]:
    """Say of each source that a configuration uses whether its files are there.

    A source that no corpus takes words from is not used and is left out.

    Args:
        config: the configuration; its ``data`` is the folder that is looked into.

    Returns:
        One status for each source, in the configuration's order. What is wrong with a source is in
        its status.
    """
    used = {
        portion.source
        for corpus in config.corpora
        for portion in corpus.sources
        if any(portion.words.values())
    }
    return [_status(s, config.data) for s in config.sources if s.name in used]


def _status(source: Source, data: str) -> Status:
    path = Path(data) / source.path
    entry = next((entry for entry in manifest().sources if entry.name == source.name), None)
    files, problem = 0, None
    try:
        reader = plugins.load(READERS, source.reader)
        options = plugins.options(READERS, source.reader, source.options)
        files = len(reader.files(path, options))
    except PoshgridError as error:
        problem = str(error)
    except OSError as error:
        problem = f"{error.filename or path}: cannot read: {error.strerror or error}"
    return Status(
        name=source.name,
        path=path,
        files=files,
        restricted=entry is not None and entry.access == "restricted",
        problem=problem,
        remedy=_remedy(source, data, entry) if problem else None,
    )


def _remedy(source: Source, data: str, entry: Entry | None) -> str:
    """Return what brings a missing source: a command, or where to get it and where to put it."""
    if entry is None or not entry.fetched:
        get = f"{entry.get}; " if entry else ""
        path = Path(data) / source.path
        return f"{get}put the files of the reader {source.reader} into {path}; see docs/sources.md"
    command, first = f"run: poshgrid fetch {entry.name} --data {data}", entry.formats[0]
    if (source.reader, source.path) == (first.reader, first.path):
        return command
    return f"{command}; then set reader: {first.reader}, path: {first.path}"
