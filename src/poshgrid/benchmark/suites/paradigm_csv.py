"""Published sets of filler x gap: one sentence a line (Pistotti et al. 2025, appendix A).

The columns are sentence_type, item_id, condition and full_sentence. The conditions say P(lus) or
M(inus) F(iller), P(lus) or M(inus) G(ap): PFPG, MFPG, PFMG, MFMG; or they say it in words, as in
Lan et al.'s file: PLUS_FILLER_PLUS_GAP. Two more columns are read if they are there: ``region``,
the critical region's words, and ``ambiguous``, true or false.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field

from poshgrid import plugins
from poshgrid.errors import did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

    from poshgrid.benchmark.context import Loaded
    from poshgrid.benchmark.reading.csvfile import Row

TASK = "paradigms"
CONDITIONS = {
    "PFPG": (True, True),
    "MFPG": (False, True),
    "PFMG": (True, False),
    "MFMG": (False, False),
}
"""Condition -> (filler, gap)."""
SPELLED = {"P": "PLUS", "M": "MINUS", "F": "FILLER", "G": "GAP"}
WORDS = {"_".join(SPELLED[letter] for letter in name): name for name in CONDITIONS}
"""The same in words -> the condition: ``PLUS_FILLER_PLUS_GAP``."""

_NEEDED = ("sentence_type", "item_id", "condition", "full_sentence")
_OPTIONAL = ("region", "ambiguous")
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
# "John's talking to": a name's possessive before a gerund, or "John is"; and "Bob's intent to"
_AMBIGUOUS = re.compile(r"\b[A-Z][^\W\d_]*['’]s [^\W\d_]+ing\b|\bintent to\b")

Span = tuple[int, int]


class Options(plugins.Options):
    """Options of the reader ``paradigm-csv``."""

    category: str = Field("parasitic-gap", min_length=1, description="What the report calls them")


class _Line(NamedTuple):
    """A sentence of the file."""

    row: Row
    kind: str
    item: str
    condition: str
    text: str
    region: str  # "": not given
    ambiguous: bool | None  # None: not given


def files(path: Path, options: Options) -> list[Path]:
    """Return the file; :func:`load` says if it is missing."""
    return [path] if path.is_file() else []


def load(path: Path, options: Options, context: None = None) -> Loaded:
    """Read the sets.

    Where no column says so, the critical region is what the sentences with and without the gap
    differ in: the words that only the one without has, and in the other one the word in their
    place; and a set is ambiguous if it has "NAME's VERBing" or "intent to", the patterns by which
    Pistotti et al.'s published code filters Lan et al.'s 8,064 sets down to 5,760 (their paper
    tells of the first alone, which leaves 7,200).

    Args:
        path: the CSV file.
        options: the category's name.
        context: not used.

    Returns:
        Rows of ``PARADIGMS``, four for each set, and the facts: the file's digest, sets, ambiguous
        ones, and where regions come from.

    Raises:
        PoshgridError: the file cannot be read, a line is broken, a set lacks a sentence, or a
            critical region is not to be found.
    """
    import polars as pl

    from poshgrid import verification
    from poshgrid.benchmark.context import Loaded
    from poshgrid.benchmark.reading import csvfile
    from poshgrid.benchmark.reading.pairwords import content
    from poshgrid.benchmark.schema import PARADIGMS

    sets: dict[tuple[str, str], dict[tuple[bool, bool], _Line]] = {}
    for line in map(_line, csvfile.table(path, _NEEDED, _OPTIONAL)):
        cells = sets.setdefault((line.kind, line.item), {})
        cell = CONDITIONS[line.condition]
        if cell in cells:
            raise line.row.fault(
                f"set {line.item} of {line.kind} has {line.condition} already, in "
                f"{cells[cell].row.line}; remove one"
            )
        cells[cell] = line
    rows: list[dict[str, Any]] = []
    for (kind, item), cells in sets.items():
        missing = [name for name, cell in CONDITIONS.items() if cell not in cells]
        if missing:
            first = next(iter(cells.values()))  # in the file's order
            raise first.row.fault(
                f"set {item} of {kind} lacks {', '.join(missing)}; a set is four sentences"
            )
        regions = _regions(cells)
        ambiguous = _ambiguous(cells)
        phenomenon = kind.replace("_", "-")
        words = "+".join(sorted(content(cells[False, False].text)))
        for cell in CONDITIONS.values():
            rows.append(
                {
                    "item_id": f"{phenomenon}-{item}",
                    "category": options.category,
                    "phenomenon": phenomenon,
                    "template": phenomenon,
                    "lexical_set": words,
                    "ambiguous": ambiguous,
                    "filler": cell[0],
                    "gap": cell[1],
                    "text": cells[cell].text,
                    "start": regions[cell][0],
                    "end": regions[cell][1],
                }
            )
    items = pl.DataFrame(rows, schema=PARADIGMS)
    given = sum(bool(line.region) for cells in sets.values() for line in cells.values())
    return Loaded(
        items,
        {
            "sha256": verification.sha256(path),
            "sets": len(sets),
            "ambiguous": items.filter("ambiguous")["item_id"].n_unique(),
            "regions_given": given,
            "regions_derived": len(rows) - given,
        },
    )


def _line(row: Row) -> _Line:
    """Return a row's sentence; what is wrong with it is an error."""
    from poshgrid.benchmark.reading.pairfile import no_text

    given = {name: cell.strip() for name, cell in row.cells.items()}
    for name in _NEEDED:
        if not given[name]:
            raise row.fault(f"{name} is empty; fill it in or remove the line")
    for name, cell in given.items():
        if fault := no_text(cell):
            raise row.fault(f"{name}: {fault}; remove it")
    condition = WORDS.get(given["condition"], given["condition"])
    if condition not in CONDITIONS:
        near = did_you_mean(condition, [*CONDITIONS, *WORDS])
        raise row.fault(f"unknown condition {condition!r}{near}")
    truth = given.get("ambiguous", "").lower()
    if truth and truth not in _TRUTH:
        raise row.fault(f"ambiguous is {truth!r}; write true or false")
    return _Line(
        row, given["sentence_type"], given["item_id"], condition,
        given["full_sentence"], given.get("region", ""), _TRUTH.get(truth),
    )  # fmt: skip


def _ambiguous(cells: dict[tuple[bool, bool], _Line]) -> bool:
    said = {line.ambiguous for line in cells.values()}
    if len(said) > 1:
        line = cells[True, True]
        raise line.row.fault(
            f"set {line.item} of {line.kind} is called ambiguous in some of its lines only; "
            "say the same in all four"
        )
    (value,) = said
    if value is None:
        return any(_AMBIGUOUS.search(line.text) for line in cells.values())
    return value


# ---- the critical region ----------------------------------------------------------------------


def _regions(cells: dict[tuple[bool, bool], _Line]) -> dict[tuple[bool, bool], Span]:
    """Return the critical region of every sentence of a set."""
    found: dict[tuple[bool, bool], Span] = {}
    for filler in (True, False):
        filled, gapped = cells[filler, False], cells[filler, True]
        derived = None
        for cell, line in (((filler, False), filled), ((filler, True), gapped)):
            if line.region:
                found[cell] = _given(line)
            else:
                derived = derived or _derived(filled, gapped)
                found[cell] = derived[cell[1]]
    return found


def _given(line: _Line) -> Span:
    """Return where the words of the column ``region`` stand."""
    spans = [
        match.span() for match in re.finditer(rf"(?<!\w){re.escape(line.region)}(?!\w)", line.text)
    ]
    if len(spans) != 1:
        raise line.row.fault(
            f"region {line.region!r} occurs {len(spans)} times in {line.text!r}; name words that "
            "occur once"
        )
    return spans[0]


def _derived(filled: _Line, gapped: _Line) -> tuple[Span, Span]:
    """Return what two sentences differ in: the region of the filled and of the gapped one."""
    from poshgrid.benchmark.reading.pairwords import shared_ends

    longer, shorter = (list(_WORD.finditer(line.text)) for line in (filled, gapped))
    first, last = shared_ends([m[0] for m in longer], [m[0] for m in shorter])
    only = longer[first : len(longer) - last]
    instead = shorter[first : len(shorter) - last] or shorter[first : first + 1]
    if not only or len(shorter) > len(longer):
        raise gapped.row.fault(
            f"{gapped.condition} lacks no word of {filled.condition} ({filled.row.line}); are the "
            "two exchanged?"
        )
    if not instead:
        raise gapped.row.fault(
            f"no word follows the gap of {gapped.text!r}, so it has no critical region; let both "
            "sentences go on"
        )
    return (only[0].start(), only[-1].end()), (instead[0].start(), instead[-1].end())
