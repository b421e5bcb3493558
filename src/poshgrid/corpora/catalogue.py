"""The known sources and suites (``resources/sources.yaml``), and what a missing source needs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from poshgrid.config import Name, Source
from poshgrid.config.base import Words
from poshgrid.core import plugins, resources
from poshgrid.core.errors import PoshgridError, check_known
from poshgrid.core.plugins import READERS
from poshgrid.corpora.textfile import rows

Url = Annotated[str, Field(pattern=r"^https?://[^\s/]+/\S*$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Format(_Part):
    """One file format of a source, and the reader for it."""

    reader: Name = Field(description="Module of poshgrid.corpora.readers")
    path: str = Field(description="Expected path, relative to the data folder")
    example: str = Field(description="One file that the reader finds below the path")


class Download(_Part):
    """One file that ``poshgrid fetch`` downloads."""

    url: Url
    file: Name = Field(description="Its name in the data folder")
    sha256: str | None = Field(
        pattern=r"^[0-9a-f]{64}$", description="None: recorded at the first download"
    )
    default: bool = Field(True, description="Whether it is downloaded when no corpora are named")

    @classmethod
    def of(cls, link: str) -> Self:
        """Return the download of a link, whose file is named as there."""
        return cls(url=link, file=link.rpartition("/")[2], sha256=None)


class Catalogue(_Part):
    """A publisher's table of texts, and which of them ``poshgrid fetch`` downloads."""

    url: Url
    file: Name = Field(description="Its name in the data folder; a CSV file with a header line")
    where: dict[str, str] = Field(description="Column -> regular expression of the whole cell")
    work: tuple[str, ...] = Field(description="Columns that are equal in editions of one work")
    number: str = Field(description="Column whose value replaces `{number}` in the link")
    link: str = Field(description="Address of one text", pattern=r"^https?://.*\{number\}")
    words: Words = Field(gt=0, description="Download texts in order until they hold so many")

    def downloads(self, table: Path) -> Iterator[Download]:
        """Yield the texts to download, in the order of the catalogue, each work once.

        Raises:
            PoshgridError: the table lacks a column, or is broken.
        """
        works: set[tuple[str, ...]] = set()
        for row in rows(table, [*self.where, *self.work, self.number]):
            work = tuple(" ".join(row[column].casefold().split()) for column in self.work)
            chosen = all(re.fullmatch(test, row[column]) for column, test in self.where.items())
            if chosen and work not in works:
                works.add(work)
                yield Download.of(self.link.replace("{number}", row[self.number]))


class Files(_Part):
    """Files that differ in their names alone."""

    url: str = Field(description="Address of one, with `{name}`", pattern=r"^https?://.*\{name\}")
    names: tuple[Name, ...] = Field(min_length=1)

    def downloads(self) -> tuple[Download, ...]:
        """Return the downloads, in the order of the names."""
        return tuple(Download.of(self.url.replace("{name}", name)) for name in self.names)


class Entry(_Part):
    """One source or suite in ``resources/sources.yaml``."""

    name: Name
    title: str
    homepage: Url
    licence: str
    licence_url: Url
    access: Literal["free", "restricted"]
    get: str = Field(description="How to get it, in one sentence")
    formats: tuple[Format, ...] = Field(min_length=1)
    downloads: tuple[Download, ...] = Field((), description="Go into the path of the first format")
    catalogue: Catalogue | None = None
    files: Files | None = None
    pause: float = Field(0, ge=0, description="Seconds between two downloads")

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.files:
            object.__setattr__(self, "downloads", self.files.downloads())
        return self

    @property
    def fetched(self) -> bool:
        """Return whether ``poshgrid fetch`` downloads the source."""
        return bool(self.downloads or self.catalogue)


class Manifest(_Part):
    """The contents of ``resources/sources.yaml``."""

    sources: tuple[Entry, ...] = Field(min_length=1)
    suites: tuple[Entry, ...] = ()

    def entry(self, name: str) -> Entry:
        """Return a source or suite by name.

        Raises:
            PoshgridError: no source has this name.
        """
        known = {entry.name: entry for entry in (*self.sources, *self.suites)}
        check_known("unknown source or suite", name, known)
        return known[name]


@cache
def manifest() -> Manifest:
    """Read the manifest of sources."""
    text = resources.path("sources.yaml").read_text(encoding="utf-8")
    return Manifest.model_validate(yaml.safe_load(text))


def lacking(source: Source, data: str) -> tuple[str, str] | None:
    """Return why the files of a source are not there and what to do; ``None`` if they are.

    Args:
        source: a source of a configuration.
        data: the configuration's ``data`` folder, which the source's path is relative to.
    """
    path = Path(data) / source.path
    try:
        options = plugins.options(READERS, source.reader, source.options)
        plugins.load(READERS, source.reader).files(path, options)
    except PoshgridError as error:
        problem = str(error)
    else:
        return None
    entry = next((entry for entry in manifest().sources if entry.name == source.name), None)
    licence = " (restricted)" if entry and entry.access == "restricted" else ""
    return problem + licence, _remedy(source, data, path, entry)


def _remedy(source: Source, data: str, path: Path, entry: Entry | None) -> str:
    """Return how to get a missing source: a command, or where to get it and where to put it."""
    if hint := doubled(path):
        return hint
    if entry is None or not entry.fetched:
        get = f"{entry.get}; " if entry else ""
        return f"{get}put the files of the reader {source.reader} into {path}; see docs/sources.md"
    command, first = f"run: poshgrid fetch {entry.name} --data {data}", entry.formats[0]
    if (source.reader, source.path) == (first.reader, first.path):
        return command
    return f"{command}; then set reader: {first.reader}, path: {first.path}"


def doubled(path: Path) -> str:
    """Return what to write if a path names a folder twice (``data/data/text``); "": nothing."""
    for number, (folder, inner) in enumerate(itertools.pairwise(path.parts), 1):
        once = Path(*path.parts[:number], *path.parts[number + 1 :])
        if folder == inner and once.exists():
            short = Path(*path.parts[number + 1 :])
            return f"paths begin in the data folder already: write {short}"
    return ""
