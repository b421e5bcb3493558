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
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field, field_validator

from poshgrid.benchmark.reading import tablefile
from poshgrid.benchmark.reading.tablefile import Item, Row
from poshgrid.core import plugins
from poshgrid.corpora.clean import clean

if TYPE_CHECKING:
    from pathlib import Path

    from poshgrid.benchmark.schema import Context, Loaded

TASK = "choices"

_MARKS = ".!?…。！？"
_FINAL = re.compile(rf"[{_MARKS}]+$")
_OPTION = re.compile(r"target|distractor[1-9][0-9]*")


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


class Stimulus(Item):
    """What an item has besides its options."""

    stimulus: Annotated[str, AfterValidator(clean)] = ""


files = tablefile.watched


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
        PoshgridError: as ``table``, ``read_as`` and ``check`` of
            :mod:`poshgrid.benchmark.reading.tablefile`; or an item has no target or distractor, or
            its options give the same text or end in different marks.
    """
    import polars as pl

    from poshgrid.benchmark.schema import CHOICES, Loaded

    records = []
    for row in tablefile.table(path):
        written = {
            name: clean(str(cell or ""))
            for name, cell in row.cells.items()
            if _OPTION.fullmatch(name)
        }
        others = {name: cell for name, cell in row.cells.items() if name not in written}
        item = row._replace(cells=others).read_as(Stimulus)
        texts = {
            name: join(item.stimulus, cell, options.connective) if item.stimulus else cell
            for name, cell in written.items()
            if cell
        }
        _check_options(row, texts)
        records += [
            {
                **item.model_dump(exclude={"stimulus"}),
                "option": number,
                "correct": name == "target",
                "text": text,
                "context": 0,
                "people": None,
            }
            for number, (name, text) in enumerate(texts.items())
        ]
    items = pl.DataFrame(records, schema=CHOICES)
    tablefile.check(path, items)
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
    """Raise if there is no target or no other option, or two are the same or end differently."""
    if "target" not in texts or len(texts) < 2:
        raise row.fault("target and distractor1 must have a text")
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
