"""Files of minimal pairs that others have made: what all readers of such files share.

A reader turns a file into :class:`Pair`; here they are checked, named and put into categories.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import Field, field_validator

from poshgrid import plugins, verification
from poshgrid.benchmark.reading import pairwords, table10
from poshgrid.corpora.clean import normalise
from poshgrid.corpora.listing import label
from poshgrid.errors import PoshgridError, check_known

if TYPE_CHECKING:
    import polars as pl

    from poshgrid.benchmark.schema import Loaded

_LONGEST = 10_000  # characters of a sentence
# Control characters, half characters, and what turns the text after it round on a page
_BROKEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_ENDING = re.compile(r"\.[^./]+(\.(gz|bz2))?$")
_SHARD = re.compile(r"[/-]?(?:train|validation|test|data)-\d+-of-\d+$")


class PairOptions(plugins.Options):
    """Options of every reader of files of pairs."""

    phenomena: list[str] | None = Field(None, description="Default: all that the files hold")
    categories: Literal["paper", "own"] = Field(
        "paper", description="paper: those of Table 10, the rest as other-TERM; own: the suite's"
    )
    mapped: bool = Field(False, description="Leave out phenomena that Table 10 does not name")
    detokenise: bool = Field(
        False, description='"who is here ?" becomes "Who is here?", as our corpora are written'
    )
    spelling: Literal["published", "corpora"] = Field(
        "published", description="corpora: quotes, dashes, accents, spaces and line breaks as there"
    )

    @field_validator("phenomena")
    @classmethod
    def _once(cls, value: list[str] | None) -> list[str] | None:
        if value is not None and (not value or len(set(value)) < len(value)):
            raise ValueError("name each phenomenon once, and at least one")
        return value


class Pair(NamedTuple):
    """A pair as its file has it."""

    good: str
    bad: str
    lines: tuple[int, int]  # of the good and of the bad member
    phenomenon: str = ""  # none: the file's name
    term: str = ""  # the suite's own word for the phenomenon's category; none: from its name


Parse = Callable[[Path], Iterator[Pair]]


def fault(file: Path, line: int, reason: str) -> PoshgridError:
    """Return the error for a line that is no pair."""
    return PoshgridError(f"{file}: line {line:,}: {reason}; fix it or take the pair out")


def _listed(path: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Return a file, or the files below a folder that end in one of the suffixes, sorted.

    Hidden files and folders are passed over.

    Raises:
        PoshgridError: nothing there, or no such file in it.
    """
    if path.is_file():
        return [path]
    found = sorted(
        file
        for file in path.rglob("*")
        if file.name.endswith(suffixes)
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
    )
    if not found:
        what = f"holds no {' or '.join(suffixes)} file" if path.is_dir() else "not found"
        raise PoshgridError(f"{path}: {what}; check `data`, suites[].path and the suite's options")
    return found


def name_of(file: Path, path: Path) -> str:
    """Return the phenomenon that a file's name stands for: its name without the ending.

    One of POSH-BENCH is spelled as here, so that its files and our items are the same phenomena.

    Args:
        file: one of the files of ``path``.
        path: file or folder of the suite; inner folders come before the name, joined by ``-``. Of
            ``wh_island/train-00000-of-00001.parquet`` the folder remains.
    """
    name = label(file, path, _ENDING)
    return table10.spelled((_SHARD.sub("", name) or name).replace("/", "-"))


def watched(path: Path, options: PairOptions, suffixes: tuple[str, ...]) -> list[Path]:
    """Return what a suite is made of: its files, and the table of categories where it is used."""
    return [*_listed(path, suffixes), *mapping(options)]


def mapping(options: PairOptions) -> list[Path]:
    """Return the table of categories if the options use it."""
    return [table10.file()] if options.categories == "paper" or options.mapped else []


def load(
    path: Path | None, options: PairOptions, suffixes: tuple[str, ...], parse: Parse
) -> Loaded:
    """Read the pairs of a suite.

    Args:
        path: file or folder; none where the configuration names none.
        options: which pairs, and how they are written.
        suffixes: endings of the files of a folder.
        parse: reads a file.

    Returns:
        A table with the columns of ``PAIRS``, in the order of the files and their lines, and facts:
        files (SHA-256, pairs), identical and repeated pairs, phenomena that were left out.

    Raises:
        PoshgridError: no path, no file; a malformed line; a phenomenon that is asked for and not
            there, or there in two files; no pair.
    """
    import polars as pl

    from poshgrid.benchmark.checks import structure
    from poshgrid.benchmark.schema import PAIRS, Loaded

    if path is None:
        raise PoshgridError("suites[].path: missing; name the suite's file or folder below `data`")
    digests: dict[str, dict[str, Any]] = {}
    home: dict[str, Path] = {}
    table: list[dict[str, str]] = []
    for file in _listed(path, suffixes):
        name = name_of(file, path)
        phenomena: dict[str, list[tuple[int, Pair]]] = {}
        number = 0
        for number, pair in enumerate(map(_sound, itertools.repeat(file), parse(file)), 1):
            phenomenon = table10.spelled(pair.phenomenon) or name
            phenomena.setdefault(phenomenon, []).append((number, pair))
        if not number:
            raise PoshgridError(f"{file}: holds no pair; replace it or take it out of the folder")
        digests[str(file.relative_to(path)) if path.is_dir() else file.name] = {
            "sha256": verification.sha256(file),
            "pairs": number,
        }
        for phenomenon, numbered in phenomena.items():
            other = home.setdefault(phenomenon, file)
            if other != file:
                raise PoshgridError(
                    f"{file}: phenomenon {phenomenon!r} is in {other} too; keep one of the files"
                )
            table += rows(phenomenon, numbered, options)
    left_out = sorted(p for p in home if options.mapped and not table10.category(p))
    frame = _restricted(pl.DataFrame(table, schema=PAIRS), path, options, left_out)
    if frame.is_empty():
        raise PoshgridError(f"{path}: no pair is left; check the suite's options and its files")
    facts = {
        "files": digests,
        "identical_pairs": structure.identical(frame),
        "repeated_pairs": len(structure.repeated(frame, "good", "bad")),
        "left_out": left_out,
    }
    return Loaded(frame, facts)


def _sound(file: Path, pair: Pair) -> Pair:
    """Return a pair whose members and names are text; raise if one is not."""
    good, bad = pair.lines
    for text, line in ((pair.good, good), (pair.bad, bad)):
        if not text.strip():
            raise fault(file, line, "empty sentence")
        if len(text) > _LONGEST:
            raise fault(file, line, f"a sentence of more than {_LONGEST:,} characters")
        if reason := no_text(text.replace("\n", " ")):
            raise fault(file, line, reason)
    if reason := no_text(pair.phenomenon + pair.term):
        raise fault(file, good, reason)
    return pair


def no_text(text: str) -> str | None:
    """Return which character of a text is none; ``None``: all are text."""
    broken = _BROKEN.search(text)
    return f"the character U+{ord(broken[0]):04X} is no text" if broken else None


def rows(
    phenomenon: str, numbered: list[tuple[int, Pair]], options: PairOptions
) -> list[dict[str, str]]:
    """Return the pairs of a phenomenon as rows of ``PAIRS``, without a design.

    Args:
        phenomenon: its name.
        numbered: number in its file -> pair.
        options: how they are written, and whose categories.
    """
    ids = [f"{phenomenon}-{number:05}" for number, _ in numbered]
    sets = pairwords.lexical_sets(
        (item, pair.good, pair.bad) for item, (_, pair) in zip(ids, numbered, strict=True)
    )
    return [
        {
            "item_id": item,
            "category": _category(phenomenon, pair.term, options),
            "phenomenon": phenomenon,
            "template": phenomenon,
            "lexical_set": lexical_set,
            "contrast": phenomenon,
            **dict(zip(("good", "bad"), _written(pair, options), strict=True)),
        }
        for item, lexical_set, (_, pair) in zip(ids, sets, numbered, strict=True)
    ]


def _written(pair: Pair, options: PairOptions) -> list[str]:
    """Return both members as the options ask; white space around one of them alone stays."""
    members = [pair.good, pair.bad]
    around = {member.partition(member.strip())[::2] for member in members}
    if len(around) == 1:
        members = [member.strip() for member in members]
    if options.spelling == "corpora":
        members = [normalise(member.replace("\n", " ")) for member in members]
    return [pairwords.detokenise(m) for m in members] if options.detokenise else members


def _category(phenomenon: str, term: str, options: PairOptions) -> str:
    """Return a category: Table 10's, or the suite's own term.

    Without a term, what stands before the last hyphen of the name is taken: Zorro's files are
    called so.
    """
    own = term or phenomenon.rpartition("-")[0]
    if options.categories == "own":
        return own or "other"
    return table10.category(phenomenon) or (f"other-{own}" if own else "other")


def _restricted(
    frame: pl.DataFrame, path: Path, options: PairOptions, left_out: list[str]
) -> pl.DataFrame:
    """Return the pairs of the phenomena that are asked for and mapped."""
    import polars as pl

    known = set(frame["phenomenon"])
    wanted = [table10.spelled(name) for name in options.phenomena or known]
    for name in wanted:
        check_known(f"{path}: no phenomenon", name, known)
        if options.phenomena and name in left_out:
            raise PoshgridError(
                f"{path}: phenomenon {name!r} is not in Table 10; take it out of phenomena, or set "
                "mapped: false"
            )
    asked = pl.col("phenomenon").is_in(wanted)
    return frame.filter(asked & ~pl.col("phenomenon").is_in(left_out))
