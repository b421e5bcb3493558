"""Sets of four sentences, filler x gap, from templates: what they are, and how they are filled.

A template is one line of text. ``{slot:form}`` is a word; ``<who|that>`` is what stands with and
without a filler; ``<|{name1}>`` is the place of the first gap, filled where there is no filler to
license it; ``[{name2}]`` is the object that the second gap leaves out. The critical region is that
object, or the word in its place.

Sources: Lan, Chemla & Katzir (2024); Pistotti, Brown & Witbrock (2025), Table 1 and appendix A.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    field_validator,
    model_validator,
)

from poshgrid import resources
from poshgrid.benchmark.generation.templates import Slot
from poshgrid.benchmark.lexicon import TABLES, Lexicon, Vocabulary
from poshgrid.errors import PoshgridError, did_you_mean

PARADIGMS = resources.ROOT / "paradigms"
CELLS = tuple((filler, gap) for filler in (True, False) for gap in (True, False))
"""The sentences of a set as (filler, gap), in the order in which they are written."""

_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")  # {slot} or {slot:form}
_FILLER = re.compile(r"<([^<>|]+)\|([^<>|]+)>")  # <with filler|without>
_FIRST = re.compile(r"<\|([^<>|]+)>")  # <|what fills the first gap>
_OBJECT = re.compile(r"\[([^\[\]]+)\]")  # [what fills the second gap]
_DEFAULT_FORM = {"noun": "singular", "verb": "base"}
_FRESH = 40  # draws in search of content words that no set has yet
_TRIES = 1_000  # draws in search of a set that is not there yet
_NAMED = 8  # words that an error message names
_REPEATABLE = frozenset({"about", "are", "is", "of", "that", "the", "to", "who"})


class Choice(NamedTuple):
    """A word, or a few words, that a slot may hold."""

    lemma: str  # names it in a lexical set
    forms: Mapping[str, str]  # name of the form -> the form; "": the only one
    folded: frozenset[str]  # words that may not occur twice in a sentence, case-folded
    content: bool  # counts for the lexical set

    @property
    def key(self) -> str:
        """What no other choice of the slot has: two phrases may share their first word."""
        return "+".join(self.forms.values())


Filling = dict[str, Choice]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LexiconSlot(Slot):
    """A slot of words of the lexicon."""

    only: list[str] = Field(
        default_factory=list
    )  # citation forms; none: every word that suits the slot

    def choices(self, lexicon: Lexicon) -> list[Choice]:
        """Return the words that suit, whatever the corpora hold.

        Raises:
            ValueError: ``only`` names a word that the lexicon does not have.
        """
        words = lexicon.of(self.category)
        for lemma in self.only:
            if lemma not in {word.lemma for word in words}:
                raise ValueError(f"{lemma!r} is no {self.category} of resources/lexicon")
        return [
            Choice(word.lemma, word.forms, word.folded, TABLES[self.category].content)
            for word in words
            if self.takes(word) and (not self.only or word.lemma in self.only)
        ]


class Phrases(_Part):
    """A slot of words that the template brings; they make the construction and may be rare."""

    words: list[str] = Field(min_length=1)
    content: bool = False  # counts for the lexical set, under its first word

    @field_validator("words")
    @classmethod
    def _once(cls, value: list[str]) -> list[str]:
        for text in value:
            if not re.fullmatch(r"[A-Za-z]+(?: [A-Za-z]+)*", text):
                raise ValueError(f"{text!r} is not words with single spaces between them")
            if value.count(text) > 1:
                raise ValueError(f"{text!r} is there twice; remove one")
        return value

    def choices(self, lexicon: Lexicon) -> list[Choice]:
        """Return the words."""
        return [
            Choice(
                text.split()[0],
                {"": text},
                frozenset(text.casefold().split()) - _REPEATABLE,
                self.content,
            )
            for text in self.words
        ]


def _kind(value: Any) -> str:  # noqa: ANN401 - what YAML holds
    given = value if isinstance(value, dict) else getattr(value, "__dict__", {})
    return "words" if "words" in given else "lexicon"


AnySlot = Annotated[
    Annotated[LexiconSlot, Tag("lexicon")] | Annotated[Phrases, Tag("words")], Discriminator(_kind)
]


class Template(_Part):
    """Four sentences in one line, and the slots that they share."""

    name: str
    text: str
    ambiguous: bool = False  # "NAME's talking to": a clause as well as a noun phrase
    slots: dict[str, AnySlot]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
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
            raise ValueError(f"template {self.name}: the marks must come in the order filler, "
                             "first object, second object")  # fmt: skip
        if not re.match(r" (?:\{|\w)", self.text[marks["[second object]"][0].end() :]):
            raise ValueError(f"template {self.name}: a word must follow the second object: "
                             "it is the critical region of the gap")  # fmt: skip
        used = {slot for slot, _ in _SLOT.findall(self.text)}
        for slot in sorted(used ^ set(self.slots)):
            raise ValueError(
                f"template {self.name}: slot {slot!r} is "
                + ("used but not described" if slot in used else "described but not used")
            )
        for slot, form in _SLOT.findall(self.text):
            described = self.slots[slot]
            known = (
                TABLES[described.category].forms if isinstance(described, LexiconSlot) else ("",)
            )
            if form and form not in known:
                raise ValueError(f"template {self.name}: slot {slot!r} has no form {form!r}")
        return self

    def forms(self, slot: str) -> list[str]:
        """Return the names of the forms in which a slot's word occurs."""
        return sorted({self._form(name, form) for name, form in _SLOT.findall(self.text)
                       if name == slot})  # fmt: skip

    def literals(self) -> set[str]:
        """Return the fixed words, lower-cased."""
        return set(re.findall(r"[a-z]{2,}", _SLOT.sub(" ", self.text).lower()))

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
            self._fill(part, filling) for part in _OBJECT.split(text, maxsplit=1)
        )
        region = after.split(" ", 1)[0].rstrip(".,?!") if gap else held
        rest = after if gap else f"{held} {after}"
        start = len(before) + 1
        whole = f"{before} {rest}"
        return whole[0].upper() + whole[1:], start, start + len(region)

    def _fill(self, part: str, filling: Filling) -> str:
        text = _SLOT.sub(lambda m: filling[m[1]].forms[self._form(m[1], m[2] or "")], part)
        # A place that is left empty leaves its spaces.
        return re.sub(r" (?=[,.?!])", "", " ".join(text.split()))

    def _form(self, slot: str, form: str) -> str:
        described = self.slots[slot]
        if form or isinstance(described, Phrases):
            return form
        category = described.category
        return _DEFAULT_FORM.get(category, TABLES[category].forms[0])


class Phenomenon(_Part):
    """One file of templates."""

    category: str
    phenomenon: str
    templates: list[Template] = Field(min_length=1)
    shared: dict[str, AnySlot] = {}  # named pieces that the templates repeat by YAML reference

    @model_validator(mode="after")
    def _unique(self) -> Self:
        found = [template.name for template in self.templates]
        for name in sorted({n for n in found if found.count(n) > 1}):
            raise ValueError(f"template {name!r} is defined twice")
        return self

    def own_words(self) -> frozenset[str]:
        """Return the words that the templates bring, lower-cased: they may be rare in a base."""
        words = {word for template in self.templates for word in template.literals()}
        for template in self.templates:
            for slot in template.slots.values():
                if isinstance(slot, Phrases):
                    words |= {word for text in slot.words for word in text.lower().split()}
        return frozenset(words)


def names(folder: Path = PARADIGMS) -> list[str]:
    """Return the phenomena that have a file of templates, sorted."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def read(phenomenon: str, folder: Path = PARADIGMS) -> Phenomenon:
    """Read and check the templates of a phenomenon.

    Raises:
        PoshgridError: the file is missing, is not YAML, or breaks the rules of a template.
    """
    path = folder / f"{phenomenon}.yaml"
    try:
        found = Phenomenon.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise PoshgridError(
            f"{path}: no paradigms for {phenomenon!r}{did_you_mean(phenomenon, names(folder))}"
        ) from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise PoshgridError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "file"
        raise PoshgridError(
            f"{path}: {place}: {first['msg'].removeprefix('Value error, ')}"
        ) from error
    if found.phenomenon != phenomenon:
        raise PoshgridError(f"{path}: phenomenon: must be {phenomenon!r}, as the file's name")
    return found


# ---- filling ----------------------------------------------------------------------------------


def generate(
    phenomenon: Phenomenon, sets: int, seed: int, lexicon: Lexicon, vocabulary: Vocabulary
) -> list[dict[str, Any]]:
    """Return the sets of one phenomenon, the templates in turn, in equal shares.

    Every slot takes its words equally often, as far as no word may occur twice in a set.

    Args:
        phenomenon: the templates.
        sets: how many sets of four sentences to make.
        seed: the same seed gives the same sets; a template's sets do not depend on the others'.
        lexicon: the words.
        vocabulary: the words that are frequent enough in every base.

    Returns:
        Rows with the columns of ``PARADIGMS``, four for each set, in the order of ``CELLS``.

    Raises:
        PoshgridError: a slot has too few usable words, or the words allow too few sets.
    """
    rows: list[dict[str, Any]] = []
    for number, template in enumerate(phenomenon.templates):
        place = f"phenomenon {phenomenon.phenomenon}, template {template.name}"
        share = sets // len(phenomenon.templates) + (number < sets % len(phenomenon.templates))
        choices = {
            slot: _usable(place, template, slot, lexicon, vocabulary) for slot in template.slots
        }
        rng = random.Random(f"{seed}/{phenomenon.phenomenon}/{template.name}")
        for filling in _Filler(place, template, choices, rng).fillings(share):
            item = f"{phenomenon.phenomenon}-{len(rows) // len(CELLS) + 1:04}"
            for filler, gap in CELLS:
                text, start, end = template.sentence(filling, filler=filler, gap=gap)
                rows.append(
                    {
                        "item_id": item,
                        "category": phenomenon.category,
                        "phenomenon": phenomenon.phenomenon,
                        "template": f"{phenomenon.phenomenon}-{template.name}",
                        "lexical_set": lexical_set(filling),
                        "ambiguous": template.ambiguous,
                        "filler": filler,
                        "gap": gap,
                        "text": text,
                        "start": start,
                        "end": end,
                    }
                )
    return rows


def lexical_set(filling: Filling) -> str:
    """Return the content words of a set, sorted and joined by ``+``."""
    return "+".join(sorted(choice.lemma for choice in filling.values() if choice.content))


def rare(phenomenon: Phenomenon, lexicon: Lexicon, vocabulary: Vocabulary) -> dict[str, list[str]]:
    """Return the words that make the construction and are rare -> the bases in which they are.

    These are the words of the templates and those of slots with ``frequent: false``, in the forms
    in which they occur. Without them there is no set, so they are reported and not refused.
    """
    words = set(phenomenon.own_words())
    for template in phenomenon.templates:
        for name, slot in template.slots.items():
            if isinstance(slot, LexiconSlot) and not slot.frequent:
                words |= {
                    choice.forms[form]
                    for choice in slot.choices(lexicon)
                    for form in template.forms(name)
                }
    return {word: lacking for word in sorted(words) if (lacking := vocabulary.lacking(word))}


def _usable(
    place: str, template: Template, slot: str, lexicon: Lexicon, vocabulary: Vocabulary
) -> list[Choice]:
    """Return what a slot may hold: every needed form is frequent in every base, if it must be."""
    described = template.slots[slot]
    try:
        suitable = described.choices(lexicon)
    except ValueError as error:
        raise PoshgridError(
            f"{place}, slot {slot!r}: {error}; mend resources/paradigms or add the word"
        ) from error
    if isinstance(described, Phrases):
        return suitable
    chosen, missing = [], []
    for choice in suitable:
        lacking = [
            f"{choice.forms[form]} in {base}"
            for form in template.forms(slot)
            for base in vocabulary.lacking(choice.forms[form])
            if described.frequent
        ]
        missing += lacking
        if not lacking:
            chosen.append(choice)
    if len(chosen) < described.least:
        named = ", ".join(missing[:_NAMED]) + (", ..." if len(missing) > _NAMED else "")
        raise PoshgridError(
            f"{place}, slot {slot!r}: {len(chosen)} usable of {len(suitable)} words, "
            f"{described.least} needed; not among the {vocabulary.top_k:,} most frequent: "
            f"{named or 'none'}; raise lexicon.top_k, use larger corpora, or extend "
            "resources/lexicon"
        )
    return chosen


@dataclass(frozen=True)
class _Filler:
    """Fills a template, each slot's words in equal shares."""

    place: str
    template: Template
    choices: dict[str, list[Choice]]
    rng: random.Random

    @cached_property
    def _used(self) -> dict[str, Counter[str]]:
        return {slot: Counter() for slot in self.choices}

    def fillings(self, share: int) -> Iterator[Filling]:
        sentences: set[str] = set()
        content: set[str] = set()
        for number in range(share):
            for attempt in range(_TRIES):
                # Equal shares come first; where they allow nothing new, any word will do.
                filling = self._draw(even=attempt < _TRIES // 2)
                if filling is None:
                    continue
                found = {self.template.sentence(filling, filler=f, gap=g)[0] for f, g in CELLS}
                if found & sentences or (lexical_set(filling) in content and attempt < _FRESH):
                    continue
                sentences |= found
                content.add(lexical_set(filling))
                for slot, choice in filling.items():
                    self._used[slot][choice.key] += 1
                yield filling
                break
            else:
                narrow = min(self.choices, key=lambda slot: len(self.choices[slot]))
                raise PoshgridError(
                    f"{self.place}: only {number} different sets of {share} could be made; slot "
                    f"{narrow!r} has {len(self.choices[narrow])} usable words; raise "
                    "lexicon.top_k, use larger corpora, or ask for fewer sets"
                )

    def _draw(self, *, even: bool) -> Filling | None:
        """Fill the slots at random, the least used words first; ``None`` at a dead end."""
        filling: Filling = {}
        taken: set[str] = set()
        # The slot with the fewest words chooses first, or the others would take them.
        for slot in sorted(self.choices, key=lambda s: len(self.choices[s])):
            fitting = [choice for choice in self.choices[slot] if not taken & choice.folded]
            if not fitting:
                return None
            if even:
                counts = [self._used[slot][choice.key] for choice in fitting]
                fewest = min(counts)
                fitting = [c for c, n in zip(fitting, counts, strict=True) if n == fewest]
            filling[slot] = self.rng.choice(fitting)
            taken |= filling[slot].folded
        return {slot: filling[slot] for slot in self.template.slots}
