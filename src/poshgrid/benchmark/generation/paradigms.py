"""Templates of sets of four sentences, filler x gap, each in one line of text.

``{slot:form}`` is a word; ``<who|that>`` is what stands with and without a filler; ``<|{name1}>``
is the place of the first gap, filled where there is no filler to license it; ``[{name2}]`` is the
object that the second gap leaves out. The critical region is that object, or the word in its place.

Sources: Lan, Chemla & Katzir (2024); Pistotti, Brown & Witbrock (2025), Table 1 and appendix A.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, Tag, model_validator

from poshgrid import resources
from poshgrid.benchmark.generation import templatefile
from poshgrid.benchmark.generation.slots import Filling, LexiconSlot, Phrases
from poshgrid.benchmark.generation.templatefile import Pattern, capitalized
from poshgrid.benchmark.lexicon import Lexicon, Word

PARADIGMS = resources.ROOT / "paradigms"
CELLS = tuple((filler, gap) for filler in (True, False) for gap in (True, False))
"""The sentences of a set as (filler, gap), in the order in which they are written."""

_FILLER = re.compile(r"<([^<>|]+)\|([^<>|]+)>")  # <with filler|without>
_FIRST = re.compile(r"<\|([^<>|]+)>")  # <|what fills the first gap>
_OBJECT = re.compile(r"\[([^\[\]]+)\]")  # [what fills the second gap]


class Listed(LexiconSlot):
    """A slot of words of the lexicon, or of those alone that are listed."""

    # Citation forms; none: every word that suits the slot.
    only: list[str] = Field(default_factory=list)

    def suitable(self, lexicon: Lexicon) -> list[Word]:
        """Return the words that suit, whatever the corpora hold.

        Raises:
            ValueError: ``only`` names a word that the lexicon does not have.
        """
        known = {word.lemma for word in lexicon.of(self.category)}
        for lemma in self.only:
            if lemma not in known:
                raise ValueError(f"{lemma!r} is no {self.category} of resources/lexicon")
        found = super().suitable(lexicon)
        return [word for word in found if not self.only or word.lemma in self.only]


def _kind(value: Any) -> str:  # noqa: ANN401 - what YAML holds
    given = value if isinstance(value, dict) else getattr(value, "__dict__", {})
    return "words" if "words" in given else "lexicon"


AnySlot = Annotated[
    Annotated[Listed, Tag("lexicon")] | Annotated[Phrases, Tag("words")], Discriminator(_kind)
]


class Template(Pattern[AnySlot]):
    """Four sentences in one line, and the slots that they share."""

    text: str
    ambiguous: bool = False  # "NAME's talking to": a clause as well as a noun phrase

    @property
    def texts(self) -> tuple[str, ...]:
        """The line."""
        return (self.text,)

    @model_validator(mode="after")
    def _marked(self) -> Self:
        marks = {
            "<with filler|without>": list(_FILLER.finditer(self.text)),
            "<|first object>": list(_FIRST.finditer(self.text)),
            "[second object]": list(_OBJECT.finditer(self.text)),
        }
        for mark, found in marks.items():
            if len(found) != 1:
                raise ValueError(
                    f"template {self.name}: {len(found)} of the mark {mark}, 1 is needed"
                )
        places = [found[0].start() for found in marks.values()]
        if places != sorted(places):
            raise ValueError(
                f"template {self.name}: the marks must come in the order filler, "
                "first object, second object"
            )
        if not re.match(r" (?:\{|\w)", self.text[marks["[second object]"][0].end() :]):
            raise ValueError(
                f"template {self.name}: a word must follow the second object: "
                "it is the critical region of the gap"
            )
        return self

    def sentence(self, filling: Filling, *, filler: bool, gap: bool) -> tuple[str, int, int]:
        """Return a sentence of the set and its critical region, [start, end) in characters.

        Args:
            filling: slot -> what it holds.
            filler: "who" rather than "that".
            gap: without the second object.
        """
        text = _FILLER.sub(r"\1" if filler else r"\2", self.text)
        text = _FIRST.sub("" if filler else r"\1", text)
        before, held, after = (
            _joined(self.fill(part, filling)) for part in _OBJECT.split(text, maxsplit=1)
        )
        region = after.split(" ", 1)[0].rstrip(".,?!") if gap else held
        rest = after if gap else f"{held} {after}"
        start = len(before) + 1
        return capitalized(f"{before} {rest}"), start, start + len(region)


def _joined(text: str) -> str:
    """Return a text without the spaces that a place leaves that is empty."""
    return re.sub(r" (?=[,.?!])", "", " ".join(text.split()))


class Phenomenon(templatefile.TemplateFile[Template]):
    """One file of templates."""

    # Every combination of words makes a set, so that sentences occur in several sets: only those
    # without filler and gap are of one alone.
    crossed: bool = False
    # Named pieces that the templates repeat by YAML reference.
    shared: dict[str, AnySlot] = Field(default_factory=dict)


def read(phenomenon: str, folder: Path = PARADIGMS) -> Phenomenon:
    """Read and check the templates of a phenomenon; see :func:`templatefile.read`."""
    return templatefile.read(Phenomenon, phenomenon, folder)
