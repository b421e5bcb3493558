"""Sets of filler x gap: one sentence per line (Pistotti et al. 2025, appendix A).

The columns are sentence_type, item_id, condition, full_sentence and, if wanted, category.
Conditions mean P(lus) or M(inus) F(iller), P(lus) or M(inus) G(ap): PFPG, MFPG, PFMG, MFMG; or they
are written in words, as in Lan et al.'s file: PLUS_FILLER_PLUS_GAP.

Sets of our own are in ``resources/examples/filler-gap``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from poshgrid.benchmark.reading import tablefile
from poshgrid.benchmark.reading.tablefile import Row
from poshgrid.core import plugins
from poshgrid.core.errors import did_you_mean

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

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
# "John's talking to": a name's possessive before a gerund, or "John is"; and "Bob's intent to"
_AMBIGUOUS = re.compile(r"\b[A-Z][^\W\d_]*['’]s [^\W\d_]+ing\b|\bintent to\b")

Span = tuple[int, int]


class Options(plugins.Options):
    """Options of the reader ``paradigm-csv``, which has none."""


def _sound(cell: str) -> str:
    from poshgrid.benchmark.reading.pairfile import no_text

    if reason := no_text(cell.strip()):
        raise ValueError(reason)
    return cell.strip()


def condition(name: str) -> tuple[bool, bool]:
    """Return whether a condition has a filler and a gap.

    Raises:
        ValueError: there is no such condition.
    """
    short = "".join(word[:1] for word in name.split("_")) if "_" in name else name
    if short not in CONDITIONS:
        raise ValueError(f"unknown condition {name!r}{did_you_mean(name, CONDITIONS)}")
    return CONDITIONS[short]


Cell = Annotated[str, AfterValidator(_sound)]


class Set(BaseModel):
    """The columns that say which set a row belongs to."""

    model_config = ConfigDict(extra="forbid")

    sentence_type: Cell
    item_id: Cell

    @property
    def name(self) -> str:
        """The set's name."""
        return f"{self.sentence_type.replace('_', '-')}-{self.item_id}"


class Sentence(Set):
    """A row of the file."""

    condition: Annotated[tuple[bool, bool], BeforeValidator(condition)]
    full_sentence: Cell
    category: Cell = CATEGORY


files = tablefile.watched


def load(path: Path, options: Options, context: None = None) -> Loaded:
    """Read the sets of four sentences, with their critical regions.

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
        Rows of ``PARADIGMS``, four for each set, and the facts: number of sets and of ambiguous
        sets.

    Raises:
        PoshgridError: the file cannot be read, a line is broken, a set lacks a sentence, or a
            critical region cannot be determined.
    """
    import polars as pl

    from poshgrid.benchmark.reading.pairfile import content
    from poshgrid.benchmark.schema import PARADIGMS, Loaded

    sets: dict[str, list[tuple[Row, Sentence]]] = {}
    for row in tablefile.table(path):
        sentence = row.read_as(Sentence)
        sets.setdefault(sentence.name, []).append((row, sentence))
    rows: list[dict[str, Any]] = []
    for item, lines in sets.items():
        cells = {sentence.condition: row for row, sentence in lines}
        if len(cells) < len(CONDITIONS) or len(lines) > len(CONDITIONS):
            names = ", ".join(row.cells["condition"] for row, _ in lines)
            raise lines[0][0].fault(
                f"set {item} has {names}; a set has each of {', '.join(CONDITIONS)} once"
            )
        phenomenon = lines[0][1].sentence_type.replace("_", "-")
        texts = {sentence.condition: sentence.full_sentence for _, sentence in lines}
        regions = {
            filler: _regions(*((cells[filler, gap], texts[filler, gap]) for gap in (False, True)))
            for filler in (True, False)
        }
        for filler, gap in CONDITIONS.values():
            rows.append(
                {
                    "item_id": item,
                    "category": lines[0][1].category,
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
    ambiguous = items.filter("ambiguous")["item_id"].n_unique()
    return Loaded(items, {"sets": len(sets), "ambiguous": ambiguous})


def _regions(filled: tuple[Row, str], gapped: tuple[Row, str]) -> tuple[Span, Span]:
    """Return the regions in which two sentences differ: of the filled and of the gapped one."""
    from poshgrid.benchmark.reading.pairfile import shared_ends

    row, other = gapped[0], filled[0]
    longer, shorter = (list(_WORD.finditer(text)) for _, text in (filled, gapped))
    first, last = shared_ends([m[0] for m in longer], [m[0] for m in shorter])
    only = longer[first : len(longer) - last]
    instead = shorter[first : len(shorter) - last] or shorter[first : first + 1]
    if not only or len(shorter) > len(longer):
        raise row.fault(
            f"{row.cells['condition']} lacks no word of {other.cells['condition']} "
            f"(line {other.line}); are the two exchanged?"
        )
    if not instead:
        raise row.fault(
            "no word follows the gap, so it has no critical region; add words to both sentences"
        )
    return (only[0].start(), only[-1].end()), (instead[0].start(), instead[-1].end())
