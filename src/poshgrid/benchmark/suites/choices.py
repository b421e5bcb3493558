"""Stimuli with several options, of which one has the same meaning as the stimulus.

Each option is joined to its stimulus by a connective (*La volpe è seguita dal lupo, cioè il lupo
segue la volpe.*); the model chooses the text with the lowest perplexity. In this format Capone,
Suozzi, Lebani and Lenci (2024), BaBIEs, section 3, adapted picture-based comprehension tests to
language models. Without a stimulus the options are whole sentences: acceptability judgements, which
the same authors recast as an acceptable and an unacceptable sentence.

CSV: item_id, category, phenomenon, [block], [tags], [stimulus], target, distractor1, [distractor2
...]. Options are written as after the connective: only names begin with a capital.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from pydantic import Field, field_validator

from poshgrid import plugins
from poshgrid.benchmark.reading import csvfile

if TYPE_CHECKING:
    from pathlib import Path

    from poshgrid.benchmark.reading.csvfile import Row
    from poshgrid.benchmark.schema import Context, Loaded

TASK = "choices"

_MARKS = ".!?…。！？"
_FINAL = re.compile(rf"[{_MARKS}]+$")


class Options(plugins.Options):
    """Options of the reader ``choices``: how a stimulus and an option are joined."""

    connective: str = Field(
        ", cioè ", description="Between stimulus and option, with its spaces; ', that is, '"
    )

    @field_validator("connective")
    @classmethod
    def _joins(cls, value: str) -> str:
        # Scripts without upper and lower case, such as Chinese, need no spaces.
        glued = value[:1] + value[-1:]
        if not value or glued.lower() != glued.upper() or value[-1] in ",;:.-":
            raise ValueError(f"{value!r}: begin it with a space or a comma, and end it in a space")
        return unicodedata.normalize("NFC", value)


files = csvfile.watched


def load(path: Path | None, options: Options, context: Context | None = None) -> Loaded:
    """Read stimuli with options.

    The options of an item keep the order of the columns; ``correct`` marks the target.

    Args:
        path: the CSV file.
        options: how stimulus and option are joined.
        context: not used.

    Returns:
        The columns of ``CHOICES``, a row for each option.

    Raises:
        PoshgridError: as ``rows`` and ``check_blocks`` of
            :mod:`poshgrid.benchmark.reading.csvfile`; or options of an item give the same text or
            end in different marks.
    """
    import polars as pl

    from poshgrid.benchmark.schema import CHOICES, Loaded

    needed, optional = ["target", "distractor1"], ["stimulus", "block", "tags"]
    records = []
    for row in csvfile.rows(path, needed, optional, numbered="distractor"):
        stimulus = row.cells.get("stimulus")
        texts = {
            name: join(stimulus, cell, options.connective) if stimulus else cell
            for name, cell in row.cells.items()
            if name.startswith(("target", "distractor")) and cell
        }
        _check_options(row, texts)
        records += [
            {
                **{name: row.cells[name] for name in csvfile.ITEM},
                "block": row.cells.get("block", ""),
                "option": number,
                "correct": name == "target",
                "text": text,
                "context": 0,
                "people": None,
                "tags": csvfile.listed(row, "tags"),
            }
            for number, (name, text) in enumerate(texts.items())
        ]
    items = pl.DataFrame(records, schema=CHOICES)
    csvfile.check_blocks(path, items)
    return Loaded(items)


def join(stimulus: str, option: str, connective: str) -> str:
    """Return the text of stimulus and option.

    *La volpe è seguita dal lupo.* + *, cioè* + *il lupo segue la volpe* gives *La volpe è seguita
    dal lupo, cioè il lupo segue la volpe.*

    Args:
        stimulus: the sentence to understand.
        option: one possible meaning of it.
        connective: text between them, with its spaces.
    """
    text = _FINAL.sub("", stimulus).rstrip() + connective + option
    text = text[:1].upper() + text[1:]
    return text if text[-1] in _MARKS else f"{text}."


def _check_options(row: Row, texts: dict[str, str]) -> None:
    """Raise if two options are the same, or differ in their final marks."""
    plain = [_FINAL.sub("", text).casefold().strip() for text in texts.values()]
    if twice := [name for n, name in enumerate(texts) if plain[n] in plain[:n]]:
        raise row.fault(f"{twice[0]} is the same as another option; change or remove one of them")
    ends = {name: "".join(_FINAL.findall(text)) for name, text in texts.items()}
    for name, end in ends.items():
        if end != ends["target"]:
            raise row.fault(
                f"target ends in {ends['target']!r} and {name} in {end!r}: a model would judge "
                "the mark; end all options of an item alike"
            )
