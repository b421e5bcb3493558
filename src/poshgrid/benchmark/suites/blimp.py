"""Pairs in a table, or one JSON object per line: BLiMP, other published suites, and users' files.

A file ends in ``.jsonl``, ``.csv`` or ``.tsv`` (the last two with a header), or is a parquet table,
as on the Hugging Face hub. ``resources/suites/formats.yaml`` says which columns of which suite make
a pair; the first format whose columns a file has is used. The option ``columns`` is a format of
your own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import Field, field_validator

from poshgrid import resources
from poshgrid.benchmark.reading import pairfile, tablefile
from poshgrid.benchmark.reading.pairfile import Pair, fault
from poshgrid.benchmark.reading.tablefile import Row

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

_COLUMN = re.compile(r"\{([^{}]+)\}")


class Options(pairfile.PairOptions):
    """Options of the reader ``blimp``."""

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


@cache
def formats() -> list[list[Format]]:
    """Return the known formats: each the pairs that a row of its tables makes."""
    listed: dict[str, list[Format]] = yaml.safe_load(FORMATS.read_text(encoding="utf-8"))
    return list(listed.values())


def is_table(header: Collection[str]) -> bool:
    """Return whether the first line of a file names the columns of a known format."""
    return any(_has(header, pairs) for pairs in formats())


def _has(header: Collection[str], pairs: list[Format]) -> bool:
    return all({*_COLUMN.findall(pair["good"] + pair["bad"])} <= {*header} for pair in pairs)


def _pairs(file: Path, options: Options) -> Iterator[Pair]:
    """Yield the pairs of a file.

    BabyLM's copy of EWoK has each row twice, the second time with its halves exchanged. Where a
    row makes two pairs, a row that makes those of the row before it is left out.
    """
    own = [options.columns] if options.columns else None
    before: set[tuple[str, str]] = set()
    for number, row in tablefile.rows(file):
        own = own or _recognised(file, number, row)
        pairs = [_pair(file, number, row, chosen) for chosen in own]
        members = {(pair.good, pair.bad) for pair in pairs}
        if len(own) > 1 and members == before:
            before = set()
            continue
        before = members
        yield from pairs


def _recognised(file: Path, number: int, row: Row) -> list[Format]:
    chosen = next((pairs for pairs in formats() if _has(row, pairs)), None)
    if chosen is None:
        raise fault(
            file, number, f"no known format has the columns {', '.join(map(repr, row))}; name them "
            'with the option columns, {good: "{sentence_good}", bad: "{sentence_bad}"}'
        )  # fmt: skip
    return chosen


def _pair(file: Path, number: int, row: Row, chosen: Format) -> Pair:
    """Return the pair that a format makes of a row."""

    def filled(template: str) -> str:
        return _COLUMN.sub(cell, template)

    def cell(column: re.Match[str]) -> str:
        value = row.get(column[1])
        if not isinstance(value, str | int):
            raise fault(file, number, f"{column[1]}: no text ({value!r})")
        return str(value)

    members, contexts = [], []
    for template in (chosen["good"], chosen["bad"]):
        before, _, scored = template.rpartition("|")
        context = filled(before)
        members.append(context + filled(scored))
        contexts.append(len(context))
    others = (
        filled(chosen[field]) if field in chosen else _first(row, columns)
        for field, columns in DEFAULTS.items()
    )
    return Pair(members[0], members[1], (number, number), (contexts[0], contexts[1]), *others)


def _first(row: Row, columns: tuple[str, ...]) -> str:
    return next((str(row[name]) for name in columns if row.get(name) is not None), "")


files, load = pairfile.reader(tablefile.ENDINGS, _pairs, FORMATS)
