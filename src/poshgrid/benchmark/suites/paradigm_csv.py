"""Published sets of filler x gap: one sentence per line (Pistotti et al. 2025, appendix A).

The columns are sentence_type, item_id, condition and full_sentence. Conditions mean P(lus) or
M(inus) F(iller), P(lus) or M(inus) G(ap): PFPG, MFPG, PFMG, MFMG; or they are written in words, as
in Lan et al.'s file: PLUS_FILLER_PLUS_GAP.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poshgrid import plugins
from poshgrid.benchmark.reading import csvfile
from poshgrid.benchmark.reading.csvfile import Row
from poshgrid.errors import did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

    from poshgrid.benchmark.schema import Loaded

TASK = "paradigms"
CATEGORY = "parasitic-gap"
CONDITIONS = {
    "PFPG": (True, True),
    "MFPG": (False, True),
    "PFMG": (True, False),
    "MFMG": (False, False),
}
"""Condition -> (filler, gap)."""
IN_WORDS = {"P": "PLUS", "M": "MINUS", "F": "FILLER", "G": "GAP"}

_NEEDED = ("sentence_type", "item_id", "condition", "full_sentence")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
# "John's talking to": a name's possessive before a gerund, or "John is"; and "Bob's intent to"
_AMBIGUOUS = re.compile(r"\b[A-Z][^\W\d_]*['’]s [^\W\d_]+ing\b|\bintent to\b")

Span = tuple[int, int]


class Options(plugins.Options):
    """Options of the reader ``paradigm-csv``, which has none."""


files = csvfile.watched


def load(path: Path, options: Options, context: None = None) -> Loaded:
    """Read the sets.

    The critical region is the difference between the sentences with and without the gap: in the one
    without the gap the words that only it has, in the other the word in their position. A set is
    ambiguous if it has "NAME's VERBing" or "intent to", the patterns by which Pistotti et al.'s
    published code filters Lan et al.'s 8,064 sets down to 5,760 (their paper only names the first
    pattern, which leaves 7,200).

    Args:
        path: the CSV file.
        options: not used.
        context: not used.

    Returns:
        Rows of ``PARADIGMS``, four for each set, and the facts: the file's digest, number of sets
        and of ambiguous sets.

    Raises:
        PoshgridError: the file cannot be read, a line is broken, a set lacks a sentence, or a
            critical region cannot be determined.
    """
    import polars as pl

    from poshgrid import verification
    from poshgrid.benchmark.reading.pairfile import content
    from poshgrid.benchmark.schema import PARADIGMS, Loaded

    sets: dict[str, list[Row]] = {}
    for row in csvfile.table(path, _NEEDED):
        sets.setdefault(item_id(row), []).append(_checked(row))
    rows: list[dict[str, Any]] = []
    for item, lines in sets.items():
        conditions = [condition(line, line.cells["condition"]) for line in lines]
        if sorted(conditions) != sorted(CONDITIONS.values()):
            names = ", ".join(line.cells["condition"] for line in lines)
            raise lines[0].fault(
                f"set {item} has {names}; a set has each of {', '.join(CONDITIONS)} once"
            )
        cells = dict(zip(conditions, lines, strict=True))
        phenomenon = lines[0].cells["sentence_type"].replace("_", "-")
        texts = {cell: row.cells["full_sentence"] for cell, row in cells.items()}
        regions = {
            filler: _regions(cells[filler, False], cells[filler, True]) for filler in (True, False)
        }
        for filler, gap in CONDITIONS.values():
            rows.append(
                {
                    "item_id": item,
                    "category": CATEGORY,
                    "phenomenon": phenomenon,
                    "template": phenomenon,
                    "lexical_set": "+".join(sorted(content(texts[False, False]))),
                    "ambiguous": any(map(_AMBIGUOUS.search, texts.values())),
                    "filler": filler,
                    "gap": gap,
                    "text": texts[filler, gap],
                    "start": regions[filler][gap][0],
                    "end": regions[filler][gap][1],
                }
            )
    items = pl.DataFrame(rows, schema=PARADIGMS)
    facts = {
        "sha256": verification.sha256(path),
        "sets": len(sets),
        "ambiguous": items.filter("ambiguous")["item_id"].n_unique(),
    }
    return Loaded(items, facts)


def item_id(row: Row) -> str:
    """Return the name of the set that a row belongs to."""
    kind, number = (row.cells[name].strip() for name in ("sentence_type", "item_id"))
    return f"{kind.replace('_', '-')}-{number}"


def condition(row: Row, name: str) -> tuple[bool, bool]:
    """Return whether a condition has a filler and a gap; raise if the row names another one."""
    short = "".join(word[:1] for word in name.split("_")) if "_" in name else name
    if short not in CONDITIONS:
        raise row.fault(f"unknown condition {name!r}{did_you_mean(name, CONDITIONS)}")
    return CONDITIONS[short]


def _checked(row: Row) -> Row:
    """Return a row without outer spaces; raise if a cell is empty or not text."""
    from poshgrid.benchmark.reading.pairfile import no_text

    cells = {name: cell.strip() for name, cell in row.cells.items()}
    for name, cell in cells.items():
        if not cell:
            raise row.fault(f"{name} is empty; fill it in or remove the line")
        if fault := no_text(cell):
            raise row.fault(f"{name}: {fault}; remove it")
    return Row(row.where, cells)


def _regions(filled: Row, gapped: Row) -> tuple[Span, Span]:
    """Return the regions in which two sentences differ: of the filled and of the gapped one."""
    from poshgrid.benchmark.reading.pairfile import shared_ends

    longer, shorter = (list(_WORD.finditer(row.cells["full_sentence"])) for row in (filled, gapped))
    first, last = shared_ends([m[0] for m in longer], [m[0] for m in shorter])
    only = longer[first : len(longer) - last]
    instead = shorter[first : len(shorter) - last] or shorter[first : first + 1]
    if not only or len(shorter) > len(longer):
        raise gapped.fault(
            f"{gapped.cells['condition']} lacks no word of {filled.cells['condition']} "
            f"({filled.line}); are the two exchanged?"
        )
    if not instead:
        raise gapped.fault(
            "no word follows the gap, so it has no critical region; add words to both sentences"
        )
    return (only[0].start(), only[-1].end()), (instead[0].start(), instead[-1].end())
