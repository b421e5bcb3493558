"""Files of minimal pairs that others have made: what all readers of such files share.

A reader turns a file into :class:`Pair` and :class:`Malformed`; here they are counted, checked,
named and put into categories, and faults become errors or facts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import Field, field_validator

from poshgrid import logs, plugins, verification
from poshgrid.benchmark.context import Loaded
from poshgrid.benchmark.reading import pairwords, table10
from poshgrid.corpora.clean import normalise
from poshgrid.corpora.listing import label
from poshgrid.errors import PoshgridError, check_known

if TYPE_CHECKING:
    import polars as pl

log = logs.get(__name__)
_LONGEST = 10_000  # characters of a sentence
_MALFORMED = 0.05  # share of a file's pairs that may be skipped
# Control characters, half characters, and what turns the text after it round on a page
_BROKEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_ENDING = re.compile(r"\.[^./]+(\.(gz|bz2))?$")
_SHARD = re.compile(r"[/-]?(?:train|validation|test|data)-\d+-of-\d+$")


class PairOptions(plugins.Options):
    """Options of every reader of files of pairs."""

    version: str | None = Field(None, description="Recorded in the manifest, e.g. a commit")
    phenomena: list[str] | None = Field(None, description="Default: all that the files hold")
    categories: Literal["paper", "own"] = Field(
        "paper", description="paper: those of Table 10, the rest as other-TERM; own: the suite's"
    )
    mapped: bool = Field(False, description="Leave out phenomena that Table 10 does not name")
    malformed: Literal["error", "skip"] = Field(
        "error", description="skip: leave out malformed lines, at most 5% of a file, and list them"
    )
    identical: Literal["keep", "drop"] = Field(
        "keep", description="Pairs with two equal members: ties that count half, or left out"
    )
    detokenise: bool = Field(
        False, description='"who is here ?" becomes "Who is here?", as our corpora are written'
    )
    spelling: Literal["published", "corpora"] = Field(
        "published", description="corpora: quotes, dashes, accents and spaces as in our corpora"
    )
    line_breaks: Literal["keep", "space"] = Field(
        "keep", description="space: a line break in a member becomes a space"
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


class Malformed(NamedTuple):
    """A line of a file that is no pair."""

    line: int
    reason: str


Parse = Callable[[Path], Iterator[Pair | Malformed]]


def _listed(path: Path, suffixes: tuple[str, ...], *, below: bool = False) -> list[Path]:
    """Return a file, or the files of a folder that end in one of the suffixes, sorted.

    Args:
        path: file or folder.
        suffixes: endings of names.
        below: look into folders of the folder too. Hidden ones are passed over.

    Raises:
        PoshgridError: nothing there, or no such file in it.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise PoshgridError(f"{path}: not found; check `data` and suites[].path in the config")
    try:
        found = sorted(
            file
            for file in (path.rglob("*") if below else path.iterdir())
            if file.name.endswith(suffixes)
            and file.is_file()
            and not any(part.startswith(".") for part in file.relative_to(path).parts)
        )
    except OSError as error:
        raise PoshgridError(f"{path}: cannot read: {error.strerror}; check its rights") from error
    if not found:
        raise PoshgridError(
            f"{path}: holds no {' or '.join(suffixes)} file; check suites[].path and its options"
        )
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


def watched(
    path: Path, options: PairOptions, suffixes: tuple[str, ...], *, below: bool = False
) -> list[Path]:
    """Return what a suite is made of: its files, and the table of categories where it is used."""
    found = _chosen(_listed(path, suffixes, below=below), path, options)
    return [*found, *mapping(options)]


def mapping(options: PairOptions) -> list[Path]:
    """Return the table of categories if the options use it."""
    return [table10.file()] if options.categories == "paper" or options.mapped else []


def load(
    path: Path | None,
    options: PairOptions,
    suffixes: tuple[str, ...],
    parse: Parse,
    *,
    below: bool = False,
) -> Loaded:
    """Read the pairs of a suite.

    Args:
        path: file or folder; none where the configuration names none.
        options: which pairs, and what becomes of faults.
        suffixes: endings of the files of a folder.
        parse: reads a file.
        below: look into folders of the folder too.

    Returns:
        A table with the columns of ``PAIRS``, in the order of the files and their lines, and facts:
        version, files (SHA-256, pairs), malformed lines, identical and repeated pairs, phenomena
        that were left out.

    Raises:
        PoshgridError: no path, no file; a malformed line where none may be, or too many; a
            phenomenon that is asked for and not there, or there in two files; no pair.
    """
    import polars as pl

    from poshgrid.benchmark.checks import structure
    from poshgrid.benchmark.schema import PAIRS

    if path is None:
        raise PoshgridError("suites[].path: missing; name the suite's file or folder below `data`")
    chosen = _chosen(_listed(path, suffixes, below=below), path, options)
    digests: dict[str, dict[str, Any]] = {}
    malformed: list[dict[str, Any]] = []
    home: dict[str, Path] = {}
    table: list[dict[str, str]] = []
    for file in chosen:
        name = name_of(file, path)
        pairs, faults = _read(file, parse, options)
        malformed += [{"file": file.name, "line": f.line, "reason": f.reason} for f in faults]
        digests[str(file.relative_to(path)) if path.is_dir() else file.name] = {
            "sha256": verification.sha256(file),
            "pairs": len(pairs),
        }
        for phenomenon, numbered in _by_phenomenon(pairs, name).items():
            other = home.setdefault(phenomenon, file)
            if other != file:
                raise PoshgridError(
                    f"{file}: phenomenon {phenomenon!r} is in {other} too; keep one of the files"
                )
            table += rows(phenomenon, numbered, options)
    frame = pl.DataFrame(table, schema=PAIRS)
    left_out = sorted(p for p in home if options.mapped and not table10.category(p))
    frame = _restricted(frame, path, options, left_out)
    identical = structure.identical(frame)
    if options.identical == "drop":
        frame = frame.filter(pl.col("good") != pl.col("bad"))
    if frame.is_empty():
        raise PoshgridError(f"{path}: no pair is left; check the suite's options and its files")
    if malformed:
        log.warning("%s: %s malformed lines are left out", path, len(malformed))
    facts = {
        "version": options.version,
        "files": digests,
        "malformed": malformed,
        "identical": options.identical,
        "identical_pairs": identical,
        "repeated_pairs": len(structure.repeated(frame, "good", "bad")),
        "left_out": left_out,
        "detokenised": options.detokenise,
    }
    return Loaded(frame, facts)


def _chosen(found: list[Path], path: Path, options: PairOptions) -> list[Path]:
    """Return the files of the phenomena that are asked for, if all have a file; or all files."""
    names = {name_of(file, path): file for file in found}
    asked = set(map(table10.spelled, options.phenomena or ()))
    if not asked or not asked <= set(names):
        return found
    return [file for name, file in names.items() if name in asked]


def _read(
    file: Path, parse: Parse, options: PairOptions
) -> tuple[list[tuple[int, Pair]], list[Malformed]]:
    """Return a file's pairs, each with its number, and its malformed lines.

    A malformed pair keeps its number, so that the others have the same ids with and without it.
    """
    pairs: list[tuple[int, Pair]] = []
    faults: list[Malformed] = []
    number = 0
    for number, found in enumerate(parse(file), 1):
        if not isinstance(found, Malformed):
            pair, fault = found, _fault(found)
            if fault is None:
                pairs.append((number, pair))
                continue
        else:
            fault = found
        if options.malformed == "error":
            raise PoshgridError(
                f"{file}: line {fault.line:,}: {fault.reason}; mend it, or leave such lines out "
                "with the suite's option malformed: skip"
            )
        faults.append(fault)
    if not number:
        raise PoshgridError(f"{file}: holds no pair; replace it or take it out of the folder")
    if len(faults) > _MALFORMED * number:
        raise PoshgridError(
            f"{file}: line {faults[0].line:,}: {faults[0].reason}; {len(faults):,} of {number:,} "
            f"pairs are malformed, more than {_MALFORMED:.0%}; check the file and the reader"
        )
    return pairs, faults


def _fault(pair: Pair) -> Malformed | None:
    for text, line in zip((pair.good, pair.bad), pair.lines, strict=True):
        if not text.strip():
            return Malformed(line, "empty sentence")
        if len(text) > _LONGEST:
            return Malformed(line, f"a sentence of more than {_LONGEST:,} characters")
    good, bad = pair.lines
    texts = {pair.good: good, pair.bad: bad, pair.phenomenon: good, pair.term: good}
    for text, line in texts.items():
        member = text in (pair.good, pair.bad)
        if fault := no_text(text.replace("\n", " ") if member else text):
            return Malformed(line, fault)
    return None


def no_text(text: str) -> str | None:
    """Return which character of a text is none; ``None``: all are text."""
    broken = _BROKEN.search(text)
    return f"the character U+{ord(broken[0]):04X} is no text" if broken else None


def _by_phenomenon(pairs: list[tuple[int, Pair]], name: str) -> dict[str, list[tuple[int, Pair]]]:
    found: dict[str, list[tuple[int, Pair]]] = {}
    for number, pair in pairs:
        found.setdefault(table10.spelled(pair.phenomenon) or name, []).append((number, pair))
    return found


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
    if options.line_breaks == "space":
        members = [member.replace("\n", " ") for member in members]
    if options.spelling == "corpora":
        members = [normalise(member) for member in members]
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

    known = Counter(frame["phenomenon"])
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
