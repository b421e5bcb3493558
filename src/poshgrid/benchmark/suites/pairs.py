"""Files of minimal pairs, one or several phenomena a file: published suites, and users' own.

The ending says how pairs are written:

- ``.txt``: two lines each, the bad member first: Zorro (Huebner et al. 2021), and POSH-BENCH as it
  was published.
- ``.jsonl`` (an object a line), ``.csv``, ``.tsv`` (with a header) and ``.parquet``, as on the
  Hugging Face hub: ``resources/suites/formats.yaml`` says which columns of which suite make a pair;
  the first format whose columns a file has is used. The option ``columns`` is a format of your own.
- ``.tsv`` without such a header: the good member, a tab, the bad one: SCaMP (McCoy and Griffiths
  2025). Quotation marks are text there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import yaml
from pydantic import Field, field_validator

from poshgrid.benchmark.reading import table10, tablefile
from poshgrid.benchmark.reading.pairfile import detokenise, lexical_sets, no_text
from poshgrid.benchmark.reading.tablefile import Row, fault
from poshgrid.core import plugins, resources
from poshgrid.core.errors import PoshgridError
from poshgrid.corpora import textfile
from poshgrid.corpora.clean import normalise

if TYPE_CHECKING:
    from poshgrid.benchmark.schema import Context, Loaded

Part = Literal[
    "good", "bad", "phenomenon", "category", "item", "template", "lexical_set", "contrast"
]
Format = dict[Part, str]
"""Field of a pair -> its text, with columns in braces: ``{Context1}| {Target1}``. What precedes
``|`` is context: it is read, and not scored."""

FORMATS = resources.path("suites", "formats.yaml")
DEFAULTS: dict[Part, tuple[str, ...]] = {
    "phenomenon": ("UID", "phenomenon"),
    "category": ("linguistics_term", "category"),
    "item": ("item_id",),
    "template": ("template",),
    "lexical_set": ("lexical_set",),
    "contrast": ("contrast",),
}
"""Field -> columns that hold it where a format does not say; a table may have none of them. In the
order of :class:`Pair`."""

ENDINGS = (*tablefile.ENDINGS, ".tsv.gz", ".txt", ".txt.gz")
_COLUMN = re.compile(r"\{([^{}]+)\}")
_NAME = re.compile(r"[\w-]+")  # of a column, or a sentence of one word
_SHARD = re.compile(r"[/-]?(?:train|validation|test|data)-\d+-of-\d+$")


class Options(plugins.Options):
    """Options of the reader ``pairs``."""

    categories: Literal["paper", "own"] = Field(
        "paper", description="paper: Table 10, all others as other-TERM; own: the suite's own"
    )
    mapped: bool = Field(False, description="Leave out phenomena that Table 10 does not name")
    detokenise: bool = Field(
        False, description='"who is here ?" becomes "Who is here?", as in the corpora'
    )
    spelling: Literal["published", "corpora"] = Field(
        "published",
        description="corpora: quotes, dashes, accents and white space as in the corpora",
    )
    columns: Format | None = Field(
        None,
        description='Fields of a pair by columns, {good: "{sen}", bad: "{wrong_sen}"}; '
        'before "|" is context, not scored. Default: by the names of the columns',
    )

    @field_validator("columns")
    @classmethod
    def _members(cls, value: Format | None) -> Format | None:
        if value is not None and not {"good", "bad"} <= value.keys():
            raise ValueError("give both members, good and bad")
        return value


class Pair(NamedTuple):
    """A pair as written in its file."""

    good: str
    bad: str
    lines: tuple[int, int]  # line numbers of the good and the bad member
    contexts: tuple[int, int] = (0, 0)  # characters of each that are read and not scored
    phenomenon: str = ""  # default: the file's name
    category: str = ""  # the suite's category; default: from the phenomenon's name
    item: str = ""  # the id; default: the phenomenon and the pair's number in the file
    template: str = ""  # default, also for the contrast: the phenomenon
    lexical_set: str = ""  # default: from the pair's words
    contrast: str = ""


def files(path: Path, options: Options) -> list[Path]:
    """Return the files that a suite is read from, and those that decide how.

    Raises:
        PoshgridError: there is none; or a folder has both texts and tables.
    """
    used = [table10.file()] if options.categories == "paper" or options.mapped else []
    return [*_files(path), *used, FORMATS]


def _files(path: Path) -> list[Path]:
    listed = textfile.listed_below(path, *ENDINGS)
    texts = [file for file in listed if file.name.removesuffix(".gz").endswith(".txt")]
    if texts and len(texts) < len(listed):
        raise PoshgridError(
            f"{path}: has both texts ({texts[0].name}) and tables; a text is pairs on two lines: "
            "name the files' own folder, or remove what is no suite"
        )
    return listed


def load(path: Path | None, options: Options, context: Context | None = None) -> Loaded:
    """Read the pairs of a suite.

    Args:
        path: a file or a folder.
        options: spelling, categories and columns.
        context: not used.

    Returns:
        A table with the columns of ``PAIRS``, in the order of the files and their lines, and facts:
        pairs of each file, phenomena that were left out.

    Raises:
        PoshgridError: no file; a malformed line; a phenomenon in two files; no pair.
    """
    import polars as pl

    from poshgrid.benchmark.schema import PAIRS, Loaded

    if path is None:
        raise PoshgridError("suites[].path: missing; name the file or folder below `data`")
    numbers: dict[str, int] = {}
    home: dict[str, Path] = {}
    table: list[dict[str, str | int]] = []
    for file in _files(path):
        name = name_of(file, path)
        phenomena: dict[str, list[tuple[int, Pair]]] = {}
        number = 0
        for number, pair in enumerate(_pairs(file, options), 1):
            _check(file, pair)
            phenomenon = table10.spelled(pair.phenomenon) or name
            phenomena.setdefault(phenomenon, []).append((number, pair))
        if not number:
            raise PoshgridError(f"{file}: has no pair; replace it or remove it")
        numbers[str(file.relative_to(path)) if path.is_dir() else file.name] = number
        for phenomenon, numbered in phenomena.items():
            other = home.setdefault(phenomenon, file)
            if other != file:
                raise PoshgridError(
                    f"{file}: phenomenon {phenomenon!r} is also in {other}; keep one of the files"
                )
            table += rows(phenomenon, numbered, options)
    left_out = sorted(p for p in home if options.mapped and not table10.category(p))
    pairs = pl.DataFrame(table, schema=PAIRS).filter(~pl.col("phenomenon").is_in(left_out))
    if pairs.is_empty():
        raise PoshgridError(f"{path}: no pair is left; check the suite's options and its files")
    return Loaded(pairs, {"files": numbers, "left_out": left_out})


def name_of(file: Path, path: Path) -> str:
    """Return the phenomenon of a file: its name without the ending.

    A phenomenon of POSH-BENCH is spelled as in this project, so that its files and the generated
    items have the same phenomena.

    Args:
        file: one of the files of ``path``.
        path: file or folder of the suite; inner folders come before the name, joined by ``-``. For
            ``wh_island/train-00000-of-00001.parquet`` the name is the folder's.
    """
    name = textfile.label(file, path)
    return table10.spelled((_SHARD.sub("", name) or name).replace("/", "-"))


def _check(file: Path, pair: Pair) -> None:
    """Raise if a member or a name of a pair is not text."""
    for text, line in zip((pair.good, pair.bad), pair.lines, strict=True):
        if not text.strip():
            raise fault(file, line, "empty sentence")
        if reason := no_text(text.replace("\n", " ")):
            raise fault(file, line, reason)
    if reason := no_text("".join(pair[4:])):
        raise fault(file, pair.lines[0], reason)


def rows(
    phenomenon: str, numbered: list[tuple[int, Pair]], options: Options
) -> list[dict[str, str | int]]:
    """Return the pairs of a phenomenon as rows of ``PAIRS``, without a design.

    Args:
        phenomenon: the name of the phenomenon.
        numbered: (number in its file, pair).
        options: spelling and categories.
    """
    ids = [pair.item or f"{phenomenon}-{number:05}" for number, pair in numbered]
    sets = lexical_sets(
        (item, pair.good, pair.bad) for item, (_, pair) in zip(ids, numbered, strict=True)
    )
    return [
        {
            "item_id": item,
            "category": _category(phenomenon, pair.category, options),
            "phenomenon": phenomenon,
            "template": pair.template or phenomenon,
            "lexical_set": pair.lexical_set or lexical_set,
            "contrast": pair.contrast or phenomenon,
            **_written(pair, options),
        }
        for item, lexical_set, (_, pair) in zip(ids, sets, numbered, strict=True)
    ]


def _written(pair: Pair, options: Options) -> dict[str, str | int]:
    """Return both members in the options' spelling, and how much of each is context.

    White space around only one of them is kept.
    """
    members = {"good": pair.good, "bad": pair.bad}
    around = {member.partition(member.strip())[::2] for member in members.values()}

    def written(text: str) -> str:
        text = text.strip() if len(around) == 1 else text
        if options.spelling == "corpora":
            text = normalise(text.replace("\n", " "))
        return detokenise(text) if options.detokenise else text

    contexts = {
        f"{name}_context": len(written(member[:length]))
        for (name, member), length in zip(members.items(), pair.contexts, strict=True)
    }
    return {name: written(member) for name, member in members.items()} | contexts


def _category(phenomenon: str, term: str, options: Options) -> str:
    """Return a category: Table 10's, else ``other-TERM``; with ``categories: own`` the TERM.

    Without a term, the part of the name before the last hyphen is used, as in Zorro's file names;
    ``own`` takes the whole name if it has no hyphen.
    """
    own = term or phenomenon.rpartition("-")[0]
    if options.categories == "own":
        return own or phenomenon
    return table10.category(phenomenon) or (f"other-{own}" if own else "other")


# ---- files -----------------------------------------------------------------------------------


@cache
def formats() -> list[list[Format]]:
    """Return the known formats: each the pairs that a row of its tables makes."""
    listed: dict[str, list[Format]] = yaml.safe_load(FORMATS.read_text(encoding="utf-8"))
    return list(listed.values())


def _format(columns: Collection[str]) -> list[Format] | None:
    """Return the first known format whose columns a table has."""
    for pairs in formats():
        if all({*_COLUMN.findall(p["good"] + p["bad"])} <= {*columns} for p in pairs):
            return pairs
    return None


def _pairs(file: Path, options: Options) -> Iterator[Pair]:
    """Yield the pairs of a file."""
    ending = file.name.removesuffix(".gz").rpartition(".")[2]
    if ending == "txt":
        return _two_lines(file)
    if ending not in {name.split(".")[1] for name in ENDINGS}:
        raise PoshgridError(f"{file}: which form? its name must end in {', '.join(ENDINGS)}")
    if ending == "tsv" and not options.columns:
        header = next(textfile.lines(file), "").rstrip("\r\n").split("\t")
        if not _format([name.strip(' "') for name in header]):
            return _one_line(file)
    return _table(file, options)


def _two_lines(file: Path) -> Iterator[Pair]:
    """Yield pairs on two lines; raise if a line is missing, which would shift all later pairs."""
    lines = [line.rstrip("\r\n") for line in textfile.lines(file)]
    while lines and not lines[-1].strip():  # empty lines at the end mean nothing
        lines.pop()
    if len(lines) % 2:
        raise fault(file, len(lines), "an odd number of lines, so one member of a pair is missing")
    for line in range(1, len(lines), 2):
        yield Pair(lines[line], lines[line - 1], (line + 1, line))


def _one_line(file: Path) -> Iterator[Pair]:
    """Yield pairs of lines with good, tab, bad; a first line of these two words is a header."""
    header = False
    for number, line in enumerate(textfile.lines(file), 1):
        members = line.rstrip("\r\n").split("\t")
        if not any(members) or (number == 1 and [m.casefold() for m in members] == ["good", "bad"]):
            continue
        if len(members) != 2:
            raise fault(
                file, number, f"{len(members)} fields, not a good sentence, a tab, a bad one; and "
                "the first line does not name the columns of a known format (option columns)"
            )  # fmt: skip
        if number == 1:
            header = all(map(_NAME.fullmatch, members))
        elif header and any(" " in member for member in members):
            raise fault(file, 1, "names of columns, of no known format (option columns)")
        yield Pair(members[0], members[1], (number, number))


def _table(file: Path, options: Options) -> Iterator[Pair]:
    """Yield the pairs of a table.

    BabyLM's copy of EWoK has each row twice, the second time with its halves exchanged. Where a
    row makes two pairs, a row that makes those of the row before it is left out.
    """
    own = [options.columns] if options.columns else None
    before: set[tuple[str, str]] = set()
    for row in tablefile.rows(file):
        own = own or _format(row.cells)
        if own is None:
            raise PoshgridError(
                f"{row.file}: no known format has the columns {', '.join(map(repr, row.cells))}; "
                "call them good and bad, or say in a study which they are: options: "
                '{columns: {good: "{NAME}", bad: "{NAME}"}}'
            )
        pairs = [_pair(row, chosen) for chosen in own]
        members = {(pair.good, pair.bad) for pair in pairs}
        if len(own) > 1 and members == before:
            before = set()
            continue
        before = members
        yield from pairs


def _pair(row: Row, chosen: Format) -> Pair:
    """Return the pair that a format makes of a row."""

    def filled(template: str) -> str:
        return _COLUMN.sub(cell, template)

    def cell(column: re.Match[str]) -> str:
        value = row.cells.get(column[1])
        if not isinstance(value, str | int):
            raise row.fault(f"{column[1]}: no text ({value!r})")
        return str(value)

    members, contexts = [], []
    for template in (chosen["good"], chosen["bad"]):
        before, _, scored = template.rpartition("|")
        context = filled(before)
        members.append(context + filled(scored))
        contexts.append(len(context))
    others = (
        filled(chosen[field])
        if field in chosen
        else next((str(row.cells[c]) for c in columns if row.cells.get(c) is not None), "")
        for field, columns in DEFAULTS.items()
    )
    lines = (row.line, row.line)
    return Pair(members[0], members[1], lines, (contexts[0], contexts[1]), *others)
