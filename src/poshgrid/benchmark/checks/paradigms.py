"""An independent gate: what no generated set of filler x gap may be. It knows no template."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from poshgrid.benchmark.generation.paradigms import CELLS
from poshgrid.benchmark.lexicon import Lexicon
from poshgrid.benchmark.reading.pairwords import WORD
from poshgrid.errors import PoshgridError

_REPEATABLE = frozenset({"about", "are", "is", "of", "that", "the", "to", "who"})


def gate(rows: list[dict[str, Any]], lexicon: Lexicon, crossed: Collection[str] = ()) -> None:
    """Refuse sets with a fault.

    Args:
        rows: rows with the columns of ``PARADIGMS``.
        lexicon: its content words may not occur twice in a sentence, in whatever form.
        crossed: phenomena whose sentences may occur in several sets, but for those without filler
            and gap.

    Raises:
        PoshgridError: names each kind of fault, how many sets have it and the first of them.
    """
    found = faults(rows, lexicon, crossed)
    if found:
        parts = [f"{len(ids)} {kind} (first: {ids[0]})" for kind, ids in sorted(found.items())]
        raise PoshgridError(
            f"generated sets: {'; '.join(parts)}; mend resources/paradigms or resources/lexicon"
        )


def faults(
    rows: list[dict[str, Any]], lexicon: Lexicon, crossed: Collection[str] = ()
) -> dict[str, list[str]]:
    """Return kind of fault -> ids of the sets that have it; kinds without sets are left out."""
    sets: dict[str, dict[tuple[bool, bool], dict[str, Any]]] = {}
    for row in rows:
        sets.setdefault(row["item_id"], {})[row["filler"], row["gap"]] = row
    often = Counter(row["text"] for row in rows)
    found: dict[str, list[str]] = {}
    for item, cells in sets.items():
        kinds = {
            "without four sentences": set(cells) != set(CELLS),
            "whose sentences occur before": any(
                often[r["text"]] > 1
                for r in cells.values()
                if not (r["phenomenon"] in crossed and (r["filler"] or r["gap"]))
            ),
            "with a repeated word": any(_repeats(r["text"], lexicon) for r in cells.values()),
            "not written as sentences": not all(_sentence(r["text"]) for r in cells.values()),
        }
        if set(cells) == set(CELLS):
            kinds["that differ beyond filler and gaps"] = not _crossed(cells)
            kinds["with a misplaced critical region"] = not _marked(cells)
        for kind, is_there in kinds.items():
            if is_there:
                found.setdefault(kind, []).append(item)
    return found


def _crossed(cells: dict[tuple[bool, bool], dict[str, Any]]) -> bool:
    """Say whether one word makes the gap, and who/that and one word make the filler."""
    words = {cell: WORD.findall(row["text"]) for cell, row in cells.items()}
    objects = {_inserted(words[filler, True], words[filler, False]) for filler in (True, False)}
    firsts = {
        _inserted(["that" if w == "who" else w for w in words[True, gap]], words[False, gap])
        for gap in (True, False)
    }
    return (
        all(len(each) == 1 and None not in each for each in (objects, firsts))
        and objects != firsts
        and all(words[True, gap].count("who") == 1 for gap in (True, False))
    )


def _inserted(shorter: list[str], longer: list[str]) -> str | None:
    """Return the one word that the longer list has more, if that is all."""
    if len(longer) != len(shorter) + 1:
        return None
    place = next((i for i, w in enumerate(shorter) if w != longer[i]), len(shorter))
    return longer[place] if longer[:place] + longer[place + 1 :] == shorter else None


def _marked(cells: dict[tuple[bool, bool], dict[str, Any]]) -> bool:
    """Say whether the regions are the object and the word in its place, alike with each filler."""
    marked = {cell: row["text"][row["start"] : row["end"]] for cell, row in cells.items()}
    after = {
        filler: WORD.search(row["text"], row["end"])
        for filler in (True, False)
        for row in [cells[filler, False]]
    }
    return all(
        marked[True, gap] == marked[False, gap] and WORD.fullmatch(marked[True, gap])
        for gap in (True, False)
    ) and all(
        cells[filler, True]["start"] == cells[filler, False]["start"]
        and (word := after[filler]) is not None
        and word[0] == marked[filler, True]
        for filler in (True, False)
    )


def _repeats(text: str, lexicon: Lexicon) -> bool:
    seen: set[str] = set()
    for word in (w.lower().removesuffix("'s") for w in WORD.findall(text)):
        if word not in _REPEATABLE:
            these = {word} | lexicon.content_lemmas.get(word, frozenset())
            if seen & these:
                return True
            seen |= these
    return False


def _sentence(text: str) -> bool:
    return (
        text[:1].isupper()
        and text.endswith(".")
        and all(WORD.fullmatch(word) for word in text[:-1].replace(", ", " ").split(" "))
    )
