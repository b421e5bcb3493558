"""What sources there are (``resources/sources.yaml``), and which of them a configuration finds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, Self

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from poshgrid import plugins, resources
from poshgrid.config import Config, Name, Source
from poshgrid.config.names import repeated
from poshgrid.errors import PoshgridError, check_known
from poshgrid.plugins import READERS


def _inside(value: str) -> str:
    """Refuse a path that leaves the folder that it is joined to."""
    path = PurePosixPath(value)
    if path.is_absolute() or ".." in path.parts or "\\" in value or not path.parts:
        raise ValueError(f"{value!r} is no path below a folder")
    return value


Url = Annotated[str, Field(pattern=r"^https?://[^\s/]+/\S*$")]
Below = Annotated[str, AfterValidator(_inside)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Format(_Part):
    """One shape of a source, and the reader that takes it."""

    reader: Name = Field(description="Module of poshgrid.corpora.readers")
    path: Below = Field(description="Where it is looked for, below the data folder")
    files: str = Field(description="What the reader takes there, in words")
    example: Below = Field(description="One file that the reader finds below the path")


class Download(_Part):
    """One file that ``poshgrid fetch`` downloads."""

    url: Url
    file: Name = Field(description="Its name in the data folder")
    size: str | None = Field(None, description="How large it is, in words")
    sha256: str | None = Field(
        pattern=r"^[0-9a-f]{64}$", description="None: that of the first download counts"
    )
    default: bool = Field(True, description="Downloaded without being asked for by name")
    unpack: bool = Field(False, description="A zip, whose files go where it lies")


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
    downloads: tuple[Download, ...] = ()
    pause: float = Field(0, ge=0, description="Seconds between two downloads")

    @model_validator(mode="after")
    def _fetched(self) -> Self:
        if self.access == "restricted" and self.downloads:
            raise ValueError(f"{self.name}: restricted, so there is nothing to download")
        if twice := repeated(download.file for download in self.downloads):
            raise ValueError(f"{self.name}: two downloads are named {twice[0]}")
        if self.downloads and not any(download.default for download in self.downloads):
            raise ValueError(f"{self.name}: none of its downloads is a default")
        return self

    @property
    def folder(self) -> str:
        """Where its downloads go, below the data folder."""
        return self.formats[0].path


class Manifest(_Part):
    """``resources/sources.yaml``."""

    sources: tuple[Entry, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _unique(self) -> Self:
        for what, values in (
            ("name", [entry.name for entry in self.sources]),
            ("path", [form.path for entry in self.sources for form in entry.formats]),
        ):
            if twice := repeated(values):
                raise ValueError(f"{what} {twice[0]!r} is given twice")
        return self

    def entry(self, name: str) -> Entry:
        """Return a source by name.

        Raises:
            PoshgridError: there is none of that name.
        """
        known = {entry.name: entry for entry in self.sources}
        check_known("unknown source", name, known)
        return known[name]

    def match(self, source: Source) -> Entry | None:
        """Return the entry behind a configured source: by name, else by reader.

        A reader that several entries share (``wikipedia-dump``) tells nothing, nor does ``text``,
        which is for text of any origin.
        """
        for entry in self.sources:
            if entry.name == source.name:
                return entry
        taken = [e for e in self.sources if source.reader in {form.reader for form in e.formats}]
        return taken[0] if len(taken) == 1 and source.reader != "text" else None


@cache
def manifest(path: Path | None = None) -> Manifest:
    """Read the manifest of sources.

    Args:
        path: another manifest than ``resources/sources.yaml``.

    Raises:
        PoshgridError: it cannot be read, or is wrong; the first error, with its place.
    """
    path = path or resources.path("sources.yaml")
    try:
        return Manifest.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise PoshgridError(f"{path}: cannot read ({reason}); restore the file") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "manifest"
        message = first["msg"].removeprefix("Value error, ")
        raise PoshgridError(f"{path}: {place}: {message}; mend that entry") from error


@dataclass(frozen=True)
class Status:
    """Whether one source of a configuration is there."""

    name: str  # as the configuration calls it
    reader: str
    path: Path  # data folder and path
    files: int  # that the reader finds
    size: int  # bytes of all of them
    restricted: bool
    problem: str | None  # what the reader says; None: found
    remedy: str | None  # what to do; None: nothing

    @property
    def found(self) -> bool:
        """Say whether the reader finds files."""
        return self.problem is None

    @property
    def state(self) -> str:
        """Return ``found``, ``missing``, or ``missing, restricted``."""
        if self.found:
            return "found"
        return "missing, restricted" if self.restricted else "missing"


def status(config: Config) -> list[Status]:
    """Say of each source that a configuration uses whether its files are there.

    A source that no base takes words from is not used and is left out.

    Args:
        config: the configuration; its ``data`` is the folder that is looked into.

    Returns:
        One status for each source, in the configuration's order.

    Raises:
        PoshgridError: the manifest is unreadable. What is wrong with a source is in its status.
    """
    known = manifest()
    used = {
        portion.source
        for base in config.bases
        for portion in base.sources
        if any(portion.words.values())
    }
    return [_status(s, config.data, known.match(s)) for s in config.sources if s.name in used]


def _status(source: Source, data: str, entry: Entry | None) -> Status:
    path = Path(data) / source.path
    found, size, problem = [], 0, None
    try:
        reader = plugins.load(READERS, source.reader)
        options = plugins.options(READERS, source.reader, source.options)
        found = reader.files(path, options)
        size = sum(file.stat().st_size for file in found)
        if not found:
            problem = f"{path}: no file that the reader {source.reader} takes"
    except PoshgridError as error:
        problem = str(error)
    except OSError as error:
        problem = f"{error.filename or path}: cannot read: {error.strerror or error}"
    return Status(
        name=source.name,
        reader=source.reader,
        path=path,
        files=0 if problem else len(found),
        size=0 if problem else size,
        restricted=entry is not None and entry.access == "restricted",
        problem=problem,
        remedy=_remedy(source, data, entry) if problem else None,
    )


def _remedy(source: Source, data: str, entry: Entry | None) -> str:
    """Return what brings a missing source: a command, or where to get it and where to put it."""
    path = Path(data) / source.path
    if entry is None:
        return f"put the files of the reader {source.reader} into {path}; see docs/sources.md"
    first = entry.formats[0]
    form = next((form for form in entry.formats if form.reader == source.reader), None)
    files = f"the files ({form.files})" if form else "the files"
    if not entry.downloads:
        takes = "" if form else f" (the reader {first.reader} takes them as they come)"
        return f"{entry.get}; put {files} into {path}{takes}; see docs/sources.md"
    command = f"poshgrid fetch {entry.name} --data {data}"
    if form is not first:
        by_hand = f"put {files} into {path}, or " if form else ""
        return f"{by_hand}run: {command}; then set reader: {first.reader}, path: {first.path}"
    if source.path == first.path:
        return f"run: {command}"
    if PurePosixPath(source.path).suffix:  # one file: which of the downloads, nobody can tell
        return f"run: {command}; then set path: {first.path}"
    return f"run: {command} --folder {source.path}"


def bytes_(size: float) -> str:
    """Return a size that a person can read: ``1500`` -> ``1.5 kB``."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
