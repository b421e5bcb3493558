"""Stimuli with several options, of which the one that says the same is the target.

Each option is joined to its stimulus by a connective (*La volpe è seguita dal lupo, cioè il lupo
segue la volpe.*); the model chooses the text of lowest perplexity. The format is that in which
tests of comprehension with pictures were made fit for language models by Capone, Suozzi, Lebani and
Lenci (2024), BaBIEs, section 3.

CSV: item_id, category, phenomenon, [block], stimulus, target, distractor1,
[distractor2 ...].
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from poshgrid import plugins
from poshgrid.benchmark.reading import csvfile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from poshgrid.benchmark.reading.csvfile import Row
    from poshgrid.benchmark.schema import Context, Loaded

TASK = "choices"

_MARKS = ".!?…。！？"
_FINAL = re.compile(rf"[{_MARKS}]+$")
_WORD = re.compile(r"\w+")


class Options(plugins.Options):
    """Options of the reader ``choices``: how a stimulus and an option become a text."""

    connective: str = Field(
        ", cioè ", description="Between stimulus and option, with its spaces; ', that is, '"
    )
    option_case: Literal["lower", "keep"] = Field(
        "lower", description="lower: an option begins with a small letter, but for names"
    )
    names: list[Annotated[str, StringConstraints(min_length=1)]] = Field(
        [], description="First words of options that keep their capital, e.g. Maria; English: I"
    )

    @field_validator("connective")
    @classmethod
    def _joins(cls, value: str) -> str:
        # Letters without case (those of Chinese, say) are written without spaces and need none.
        glued = value[:1] + value[-1:]
        if not value or glued.lower() != glued.upper() or value[-1] in ",;:.-":
            raise ValueError(f"{value!r}: begin it with a space or a comma, and end it in a space")
        return unicodedata.normalize("NFC", value)


files = csvfile.watched


def load(path: Path | None, options: Options, context: Context | None = None) -> Loaded:
    """Read stimuli with options.

    The options of an item keep the order of the columns; which one is the target is in ``correct``.

    Args:
        path: the CSV file.
        options: how stimulus and option are joined.
        context: not used.

    Returns:
        The columns of ``CHOICES``, a row for each option.

    Raises:
        PoshgridError: names file, line and remedy; see ``rows`` and ``check_blocks`` of
            :mod:`poshgrid.benchmark.reading.csvfile`. Also: options of an item that give the same
            text or end in different marks, a name that would lose its capital.
    """
    import polars as pl

    from poshgrid.benchmark.schema import CHOICES, Loaded

    rows = csvfile.rows(
        path,
        ["stimulus", "target", "distractor1"],
        ["block", "tags"],
        numbered="distractor",
    )
    _check_names(rows, options)
    records = []
    for row in rows:
        texts = {
            name: join(row.cells["stimulus"], option, options)
            for name, option in _written(row).items()
        }
        _check_options(row, texts)
        records += [
            {
                **{name: row.cells[name] for name in csvfile.ITEM},
                "block": row.cells.get("block", ""),
                "option": number,
                "correct": name == "target",
                "text": text,
                "tags": csvfile.listed(row, "tags"),
            }
            for number, (name, text) in enumerate(texts.items())
        ]
    items = pl.DataFrame(records, schema=CHOICES)
    csvfile.check_blocks(path, items)
    return Loaded(items)


def join(stimulus: str, option: str, options: Options) -> str:
    """Return the text of stimulus and option.

    *La volpe è seguita dal lupo.* + *, cioè* + *Il lupo segue la volpe* gives *La volpe è seguita
    dal lupo, cioè il lupo segue la volpe.*

    Args:
        stimulus: what is heard.
        option: what may be meant by it.
        options: what happens to marks and letters.
    """
    text = _FINAL.sub("", stimulus).rstrip() + options.connective + _lowered(option, options)
    text = text[:1].upper() + text[1:]
    return text if text[-1] in _MARKS else f"{text}."


def _lowered(option: str, options: Options) -> str:
    """Return an option with a small first letter; names and initialisms keep theirs."""
    word = _first_word(option)
    if options.option_case == "keep" or word in options.names or (word.isupper() and len(word) > 1):
        return option
    return option[:1].lower() + option[1:]


def _first_word(text: str) -> str:
    return match[0] if (match := _WORD.match(text)) else ""


def _written(row: Row) -> dict[str, str]:
    """Return column -> option, in the order of the file, of those that are not empty."""
    named = ("target", "distractor")
    return {name: cell for name, cell in row.cells.items() if name.startswith(named) and cell}


def _check_options(row: Row, texts: dict[str, str]) -> None:
    """Refuse options that no model could, or anybody should, tell apart."""
    plain = [_FINAL.sub("", text).casefold().strip() for text in texts.values()]
    if twice := [name for n, name in enumerate(texts) if plain[n] in plain[:n]]:
        raise row.fault(f"{twice[0]} is the same as another option; change or take out one of them")
    ends = {name: "".join(_FINAL.findall(text)) for name, text in texts.items()}
    for name, end in ends.items():
        if end != ends["target"]:
            raise row.fault(
                f"target ends in {ends['target']!r} and {name} in {end!r}: a model would judge "
                "the mark; end all options of an item alike"
            )


def _check_names(rows: Sequence[Row], options: Options) -> None:
    """Refuse to write a word small that stands with a capital inside another text of the file."""
    inside = {
        match[0]: row
        for row in reversed(rows)
        for cell in (row.cells["stimulus"], *_written(row).values())
        for match in _WORD.finditer(cell)
        if (before := cell[: match.start()].rstrip(" \"'(")) and before[-1] not in _MARKS
    }
    for row in rows:
        for name, option in _written(row).items():
            word = _first_word(option)
            if word in inside and _lowered(option, options) != option:
                raise row.fault(
                    f"{name} would begin with a small letter, but {inside[word].line} has {word!r} "
                    "inside a text; add it to the option `names`, or set `option_case: keep`"
                )
