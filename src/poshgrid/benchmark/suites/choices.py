"""Stimuli with several options, of which the one that says the same is the target.

Each option is joined to its stimulus by a connective (*La volpe è seguita dal lupo, cioè il lupo
segue la volpe.*); the model chooses the text of lowest perplexity. The format is that in which
tests of comprehension with pictures were made fit for language models by Capone, Suozzi, Lebani and
Lenci (2024), BaBIEs, section 3.

CSV: item_id, category, phenomenon, [block], stimulus, [connective], target, distractor1,
[distractor2 ...].
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from poshgrid import plugins
from poshgrid.errors import PoshgridError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from poshgrid.benchmark.context import Context, Loaded
    from poshgrid.benchmark.reading.csvfile import Row

TASK = "choices"

_MARKS = ".!?…。！？"
_FINAL = re.compile(rf"[{_MARKS}]+$")
_WORD = re.compile(r"\w+")


class Options(plugins.Options):
    """Options of the reader ``choices``: how a stimulus and an option become a text."""

    connective: str = Field(
        ", cioè ", description="Between stimulus and option, with its spaces; ', that is, '"
    )
    strip_mark: bool = Field(True, description="Leave out the stimulus' final . ! ?")
    option_case: Literal["lower", "keep"] = Field(
        "lower", description="lower: an option begins with a small letter, but for names"
    )
    names: list[Annotated[str, StringConstraints(min_length=1)]] = Field(
        [], description="First words of options that keep their capital, e.g. Maria; English: I"
    )
    capital: bool = Field(True, description="The text begins with a capital")
    final_mark: str = Field(
        ".", max_length=3, description="Ends a text whose option has no final mark; '': nothing"
    )

    @field_validator("connective")
    @classmethod
    def _joins(cls, value: str) -> str:
        if fault := spacing(value):
            raise ValueError(f"{value!r} {fault}")
        return unicodedata.normalize("NFC", value)


def spacing(connective: str) -> str:
    """Return why a connective would glue words together, or "" if it would not.

    Spreadsheets take spaces off the ends of cells. Letters without case (those of Chinese, say)
    are written without spaces and need none.
    """
    if not connective:
        return "is empty; write at least a space"
    first, last = connective[0], connective[-1]
    if first.lower() != first.upper():
        return "must begin with a space or a comma"
    if last.lower() != last.upper() or last in ",;:.-":
        return "must end in a space"
    return ""


def files(path: Path | None, options: Options) -> list[Path]:
    """Return the file that the suite is read from; :func:`load` says if it is missing."""
    return [path] if path and path.is_file() else []


def load(path: Path | None, options: Options, context: Context | None = None) -> Loaded:
    """Read stimuli with options.

    The options of an item keep the order of the columns; which one is the target is in ``correct``.

    Args:
        path: the CSV file.
        options: how stimulus and option are joined.
        context: not used.

    Returns:
        The columns of ``CHOICES``, a row for each option. Facts: items by number of options, by
        position of the target, blocks, connectives, and the items in which an option repeats the
        stimulus (it wins by being a repetition).

    Raises:
        PoshgridError: names file, line and remedy; see ``rows`` and ``check_blocks`` of
            :mod:`poshgrid.benchmark.reading.csvfile`. Also: distractors with a gap between
            them, options of an item that give the same text or end in different marks, an item that
            repeats another, a connective that glues words, a name that would lose its capital.
    """
    import polars as pl

    from poshgrid.benchmark.context import Loaded
    from poshgrid.benchmark.reading import csvfile
    from poshgrid.benchmark.schema import CHOICES

    found = csvfile.rows(
        path,
        ["stimulus", "target", "distractor1"],
        ["block", "connective", "tags"],
        numbered="distractor",
        as_written=["connective"],
    )
    csvfile.check_blocks(found)
    _check_names(found, options)
    records = []
    sizes, positions, connectives = Counter[int](), Counter[int](), Counter[str]()
    repeating = []
    seen: dict[tuple[str, ...], Row] = {}
    for row in found:
        written = _written(row)
        connective = row.cells.get("connective") or options.connective
        if fault := spacing(connective):
            raise row.fault(f"connective {connective!r} {fault}")
        texts = {
            name: join(row.cells["stimulus"], option, connective, options)
            for name, option in written.items()
        }
        _check_options(row, texts)
        key = tuple(texts.values())
        if key in seen:
            raise row.fault(f"the same texts as {seen[key].line}; take one of them out")
        seen[key] = row
        if any(_plain(option) == _plain(row.cells["stimulus"]) for option in written.values()):
            repeating.append(row.cells["item_id"])
        sizes[len(texts)] += 1
        positions[list(texts).index("target")] += 1
        connectives[connective] += 1
        records += [
            {
                **{name: row.cells[name] for name in csvfile.ITEM},
                "block": csvfile.block(row),
                "option": number,
                "correct": name == "target",
                "text": text,
                "tags": csvfile.listed(row, "tags"),
            }
            for number, (name, text) in enumerate(texts.items())
        ]
    items = pl.DataFrame(records, schema=CHOICES)
    blocks = items.filter(pl.col("block") != "").select("category", "block").n_unique()
    facts = {
        "items_by_options": {str(k): n for k, n in sorted(sizes.items())},
        "items_by_target_position": {str(k): n for k, n in sorted(positions.items())},
        "blocks": blocks,
        "connectives": dict(sorted(connectives.items())),
        "items_with_an_option_that_repeats_the_stimulus": repeating,
    }
    return Loaded(items, facts)


def join(stimulus: str, option: str, connective: str, options: Options) -> str:
    """Return the text of stimulus and option.

    *La volpe è seguita dal lupo.* + *, cioè* + *Il lupo segue la volpe* gives *La volpe è seguita
    dal lupo, cioè il lupo segue la volpe.*

    Args:
        stimulus: what is heard.
        option: what may be meant by it.
        connective: between the two, with its spaces.
        options: what happens to marks and letters.
    """
    begin = _FINAL.sub("", stimulus).rstrip() if options.strip_mark else stimulus
    text = begin + connective + _lowered(option, options)
    if options.capital:
        text = text[:1].upper() + text[1:]
    return text if text[-1] in _MARKS else text + options.final_mark


def _lowered(option: str, options: Options) -> str:
    """Return an option with a small first letter; names and initialisms keep theirs."""
    word = _first_word(option)
    if options.option_case == "keep" or word in options.names or (word.isupper() and len(word) > 1):
        return option
    return option[:1].lower() + option[1:]


def _first_word(text: str) -> str:
    found = _WORD.match(text)
    return found[0] if found else ""


def _written(row: Row) -> dict[str, str]:
    """Return column -> option, in the order of the file; the last distractors may be empty."""
    numbered = [name for name in row.cells if name.startswith("distractor")]
    filled = [name for name in numbered if row.cells[name]]
    if filled != numbered[: len(filled)]:
        gap = next(name for name in numbered if not row.cells[name])
        raise row.fault(f"{gap} is empty, but {filled[-1]} is not; close the gap")
    return {name: row.cells[name] for name in row.cells if name == "target" or name in filled}


def _check_options(row: Row, texts: dict[str, str]) -> None:
    """Refuse options that no model could, or anybody should, tell apart."""
    seen: dict[str, str] = {}
    for name, text in texts.items():
        if _plain(text) in seen:
            raise row.fault(
                f"{seen[_plain(text)]} and {name} are the same; change or take out one of them"
            )
        seen[_plain(text)] = name
    ends = {name: _ending(text) for name, text in texts.items()}
    for name, end in ends.items():
        if end != ends["target"]:
            raise row.fault(
                f"target ends in {ends['target']!r} and {name} in {end!r}: a model would judge "
                "the mark; end all options of an item alike"
            )


def _check_names(found: Sequence[Row], options: Options) -> None:
    """Refuse to write a word small that stands with a capital inside another text of the file."""
    if options.option_case == "keep":
        return
    inside: dict[str, Row] = {}
    for row in found:
        for cell in (row.cells["stimulus"], *_written(row).values()):
            for match in _WORD.finditer(cell):
                before = cell[: match.start()].rstrip(" \"'(")
                if before and before[-1] not in _MARKS and match[0][0].isupper():
                    inside.setdefault(match[0], row)
    for row in found:
        for name, option in _written(row).items():
            word = _first_word(option)
            if word in inside and _lowered(option, options) != option:
                raise PoshgridError(
                    f"{row.place}: {name} would begin with {word[0].lower() + word[1:]!r}, but "
                    f"{inside[word].line} has {word!r} inside a text; add it "
                    "to the option `names`, or set `option_case: keep`"
                )


def _plain(text: str) -> str:
    """Return what remains of a text when letter case and the final mark do not count."""
    return _FINAL.sub("", text).casefold().strip()


def _ending(text: str) -> str:
    found = _FINAL.search(text)
    return found[0] if found else ""
