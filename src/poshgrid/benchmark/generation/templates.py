"""Templates of minimal pairs, one file for each phenomenon, and how a suite is made from them.

Its texts have slots: ``{slot}`` is a word's citation form, ``{slot:form}`` another of its forms. A
slot takes words of the lexicon, or its own list of words.

A template is one pair, or a factorial design: several pairs with the same words, which make a set.
A set has all cells of its design, and both directions of a contrast: the word that is right in one
pair is wrong in another, so that a preference for a word is right as often as wrong. With
``joint``, the pairs are judged as one, as a difference in differences: (good - bad) of the
ungrammatical cell, minus the same replacement where both members are sentences. The effects of all
words cancel.

To make a suite, slots take words that are frequent in every corpus, candidates are made, and pairs
or sets are chosen.

Sources: POSH-BENCH, section 3.2, appendices F and G; Sprouse, Wagers & Phillips (2012), "A test of
the relation between working memory capacity and syntactic island effects"; Wilcox, Futrell & Levy
(2024).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from poshgrid.benchmark.lexicon import TABLES, Lexicon, Word
from poshgrid.config import yamltext
from poshgrid.config.base import Seed
from poshgrid.core import plugins, resources
from poshgrid.core.errors import PoshgridError, did_you_mean, invalid

if TYPE_CHECKING:
    from poshgrid.benchmark.generation.pairs import Filled, Row
    from poshgrid.benchmark.schema import Context, Loaded

TEMPLATES = resources.ROOT / "templates"
FACTORIAL = resources.ROOT / "factorial"
_REPEATABLE = frozenset({"about", "are", "is", "of", "that", "the", "to", "who"})

Filling = Mapping[str, Word]
"""Slot -> the word that fills it."""


class Part(BaseModel):
    """A part of a template file, immutable and without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class Phrase(Word):
    """A word or a few words from a template, without an entry in the lexicon."""

    @cached_property
    def folded(self) -> frozenset[str]:
        """Its words that may not occur twice in a sentence, case-folded."""
        return frozenset(self.lemma.casefold().split()) - _REPEATABLE


class Slot(Part):
    """A slot for words of the lexicon, or for words that the template lists.

    A value ``m|f`` is satisfied by either; all listed values must hold.
    """

    category: (
        Literal["noun", "name", "verb", "adjective", "determiner", "auxiliary", "function"] | None
    ) = None  # table of the lexicon
    where: dict[str, list[str]] = {}  # feature -> values that the word must have
    without: dict[str, list[str]] = {}  # feature -> values that the word must not have
    distinct: list[str] = []  # forms of the word that must be spelt differently
    frequent: bool = True  # false: the word makes the construction, and may be rare in a corpus
    least: int = Field(2, ge=1)  # fewer usable words than this are an error
    # The template's own words, which make the construction, and may be rare and few.
    words: list[Annotated[str, StringConstraints(pattern=r"^[A-Za-z]+(?: [A-Za-z]+)*$")]] = []
    # In templates of pairs, relations to the words of other slots:
    agree: dict[str, str] = {}  # own feature -> "slot.feature" that shares a value with it
    unlike: list[str] = []  # slots that must have another word
    balanced: bool = False  # every word (and combination of balanced slots) equally often

    @model_validator(mode="after")
    def _known(self) -> Self:
        if bool(self.category) == bool(self.words):
            raise ValueError("give a slot either a category of the lexicon, or words")
        named = [(f, v) for group in (self.without, self.where) for f, v in group.items()]
        wanted = [(f, one) for f, values in named for value in values for one in value.split("|")]
        for feature, value in wanted:
            known = self.features.get(feature, frozenset())
            if value not in known:
                near = did_you_mean(value, known) or did_you_mean(feature, self.features)
                raise ValueError(f"unknown {feature} {value!r} of a {self.category}{near}")
        for form in set(self.distinct) - set(self.forms):
            near = did_you_mean(form, self.forms)
            raise ValueError(f"unknown form {form!r} of a {self.category}{near}")
        return self

    @property
    def features(self) -> Mapping[str, frozenset[str]]:
        """The features of its words, and their possible values."""
        return TABLES[self.category].features if self.category else {}

    @property
    def forms(self) -> tuple[str, ...]:
        """Names of the forms of its words; the first is the citation form, written ``{slot}``."""
        return TABLES[self.category].forms if self.category else ("",)

    def suitable(self, lexicon: Lexicon) -> list[Word]:
        """Return the words that fit the slot, of any frequency, in the order of the lexicon."""
        if self.words:
            return [Phrase("phrase", text, {"": text}, {}) for text in self.words]
        return [word for word in lexicon.of(self.category or "") if self._takes(word)]

    def _takes(self, word: Word) -> bool:
        forms = [word.forms[name] for name in self.distinct]
        return (
            all(
                word.features[feature] & set(value.split("|"))
                for feature, values in self.where.items()
                for value in values
            )
            and not any(word.features[f] & set(values) for f, values in self.without.items())
            and len(set(forms)) == len(forms)
        )


def is_content(word: Word) -> bool:
    """Return whether a word is a content word."""
    return not isinstance(word, Phrase) and TABLES[word.category].content


def lexical_set(filling: Filling) -> str:
    """Return the citation forms of the content words, sorted and joined by ``+``."""
    return "+".join(sorted(w.lemma for w in filling.values() if is_content(w)))


_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")


class Pair(NamedTuple):
    """A good and a bad member, with slots or filled."""

    cell: str  # cell of the design; "" if a template is one pair
    good: str
    bad: str


class Cell(Part):
    """A pair of a set."""

    cell: str = Field(min_length=1)  # two pairs of a set may share it: the directions of a contrast
    good: str
    bad: str


class Template(Part):
    """A pair whose members differ only in the contrast, or the pairs of a design; their slots."""

    name: str
    slots: dict[str, Slot]
    good: str = ""
    bad: str = ""
    cells: list[Cell] = Field([], min_length=2)

    @property
    def written(self) -> tuple[Pair, ...]:
        """The pairs with their slots."""
        if self.cells:
            return tuple(Pair(cell.cell, cell.good, cell.bad) for cell in self.cells)
        return (Pair("", self.good, self.bad),)

    @property
    def texts(self) -> tuple[str, ...]:
        """All members."""
        return tuple(text for pair in self.written for text in (pair.good, pair.bad))

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        used = {slot for text in self.texts for slot, _ in _SLOT.findall(text)}
        for slot in sorted(used ^ set(self.slots)):
            raise ValueError(
                f"template {self.name}: slot {slot!r} is "
                + ("used but not described" if slot in used else "described but not used")
            )
        for slot, form in self.uses():
            if form not in self.slots[slot].forms:
                raise ValueError(f"template {self.name}: slot {slot!r} has no form {form!r}")
        if not all(self.texts) or (self.cells and self.good + self.bad):
            raise ValueError(f"template {self.name}: give good and bad, or cells")
        for name, slot in self.slots.items():
            asked = [(f, *r.partition(".")[::2]) for f, r in slot.agree.items()]
            for own, other, feature in [*asked, *(("", other, "") for other in slot.unlike)]:
                if other not in self.slots:
                    raise ValueError(f"template {self.name}: slot {name!r}: no slot {other!r}")
                for key, of in ((own, slot), (feature, self.slots[other])):
                    if key and key not in of.features:
                        raise ValueError(f"template {self.name}: slot {name!r}: no {key!r} there")
        return self

    def uses(self) -> list[tuple[str, str]]:
        """Return the (slot, form) pairs of all texts, each once, in order."""
        pairs = [
            (slot, form or self.slots[slot].forms[0])
            for text in self.texts
            for slot, form in _SLOT.findall(text)
        ]
        return list(dict.fromkeys(pairs))

    def forms(self, slot: str) -> list[str]:
        """Return the names of the forms in which a slot's word occurs."""
        return [form for name, form in self.uses() if name == slot]

    def fill(self, text: str, filling: Filling) -> str:
        """Return a text, or a part of one, with its slots filled.

        Args:
            text: the text with slots.
            filling: slot -> word.
        """
        return _SLOT.sub(lambda m: filling[m[1]].forms[m[2] or self.slots[m[1]].forms[0]], text)

    def pairs(self, filling: Filling) -> tuple[Pair, ...]:
        """Return the pairs with their slots filled and the members' first letters upper-case."""
        return tuple(
            Pair(cell, *(capitalized(self.fill(member, filling)) for member in members))
            for cell, *members in self.written
        )


def capitalized(text: str) -> str:
    """Return a text with an upper-case first letter; the other letters are unchanged."""
    return text[0].upper() + text[1:]


class Phenomenon(Part):
    """One file of templates."""

    category: str
    phenomenon: str
    default: bool = True  # false: only made if the option ``phenomena`` names it
    shared: dict[str, Any] = {}  # parts that the templates repeat by YAML reference
    templates: list[Template] = Field(min_length=1)
    contrast: str
    joint: bool = False  # the pairs of a set are judged as one

    @model_validator(mode="after")
    def _unique(self) -> Self:
        names = [template.name for template in self.templates]
        for name in sorted({n for n in names if names.count(n) > 1}):
            raise ValueError(f"template {name!r} is defined twice")
        return self

    def where(self, template: Template) -> str:
        """Return the name of a template for error messages."""
        return f"phenomenon {self.phenomenon}, template {template.name}"


def names(folder: Path) -> list[str]:
    """Return the phenomena with a file in a folder, sorted."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def read(phenomenon: str, folder: Path) -> Phenomenon:
    """Read and check the templates of a phenomenon.

    Args:
        phenomenon: name of the file.
        folder: folder of the files.

    Raises:
        PoshgridError: the file is missing, is not YAML, or breaks the rules of a template.
    """
    path = folder / f"{phenomenon}.yaml"
    return _read(path, path.stat().st_mtime_ns if path.is_file() else 0)


@cache
def _read(path: Path, changed: int) -> Phenomenon:
    """Read a file once per modification time: planning asks for each file several times."""
    try:
        described = Phenomenon.model_validate(yamltext.read(path))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise PoshgridError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        raise PoshgridError(f"{path}: {invalid(error)}") from error
    if described.phenomenon != path.stem:
        raise PoshgridError(f"{path}: phenomenon: must be {path.stem!r}, as the file's name")
    return described


class Options(plugins.Options):
    """Options of the readers that fill templates of pairs."""

    FOLDER: ClassVar[Path]

    seed: Seed = Field(42, description="The same seed gives the same items")
    phenomena: list[str] | None = Field(None, description="Default: see docs/benchmark.md")
    pool: int = Field(4, ge=1, le=1_000, description="Candidates made for each that is kept")

    @field_validator("phenomena")
    @classmethod
    def _known(cls, value: list[str] | None) -> list[str] | None:
        known = names(cls.FOLDER)
        for name in value or []:
            if name not in known:
                raise ValueError(f"unknown phenomenon {name!r}{did_you_mean(name, known)}")
        if value is not None and (not value or len(set(value)) < len(value)):
            raise ValueError("name each phenomenon once, and at least one")
        return value


def described(options: Options) -> list[Phenomenon]:
    """Return the templates of the phenomena to make, without filling them."""
    chosen = sorted(options.phenomena or names(options.FOLDER))
    phenomena = [read(name, options.FOLDER) for name in chosen]
    return [phenomenon for phenomenon in phenomena if options.phenomena or phenomenon.default]


def files(path: Path | None, options: Options) -> list[Path]:
    """Return the templates and the lexicon; ``path`` is not used."""
    names_of = [phenomenon.phenomenon for phenomenon in described(options)]
    templates = [options.FOLDER / f"{name}.yaml" for name in names_of]
    return [*templates, *sorted(resources.path("lexicon").glob("*.*"))]


def load(path: Path | None, options: Any, context: Context) -> Loaded:  # noqa: ANN401
    """Make a suite from its templates, and raise if a pair has a fault.

    For each phenomenon: make more candidates than needed, drop those that occur in a corpus word
    for word, and choose among the rest so that n-gram models are at chance. A candidate is a pair,
    or the pairs of a design's set.

    Args:
        path: not used; the templates are part of the repository.
        options: options of the reader: which phenomena, how many ``pairs`` or ``sets``, and the
            seed.
        context: the words, sentences and n-gram models of the corpora.

    Returns:
        A table with the columns of ``PAIRS``; the number of pairs and candidates and, for each
        phenomenon, lexical sets and the balance reached.

    Raises:
        PoshgridError: too few usable words, or a pair with a fault.
    """
    import polars as pl

    from poshgrid.benchmark import lexicon, structure
    from poshgrid.benchmark.generation import pairs, selection
    from poshgrid.benchmark.schema import PAIRS, Loaded

    known, vocabulary = lexicon.read(), context.vocabulary
    number = options.sets if hasattr(options, "sets") else options.pairs
    templates = described(options)
    prepared: list[list[Filled]] = []
    for phenomenon in templates:
        choices = pairs.choices(phenomenon, known, vocabulary)
        wanted = options.pool * number
        prepared.append(pairs.candidates(phenomenon, wanted, options.seed, choices, least=number))
    # The corpora are large, so they are read once for all phenomena.
    heard = context.heard({m for made in prepared for filled in made for m in filled.members})
    rows: list[Row] = []
    phenomena: dict[str, dict[str, Any]] = {}
    for phenomenon, made in zip(templates, prepared, strict=True):
        where = f"phenomenon {phenomenon.phenomenon}"
        unheard = [filled for filled in made if heard.isdisjoint(filled.members)]
        if len(unheard) < number:
            raise PoshgridError(
                f"{where}: {len(unheard)} of {len(made)} candidates are not in the corpora, "
                f"{number} needed; request fewer or raise the option pool"
            )
        positions, reached = selection.choose(
            unheard,
            number,
            context.baselines,
            joint=phenomenon.joint,
            seed=options.seed,
            where=where,
        )
        chosen = [unheard[position] for position in positions]
        rows += pairs.rows(phenomenon, chosen)
        phenomena[phenomenon.phenomenon] = {
            **reached,
            "candidates": len(made),
            "heard": len(made) - len(unheard),
            "lexical_sets": len({filled.lexical_set for filled in chosen}),
        }
    items = pl.DataFrame(rows, schema=PAIRS)
    structure.refuse_faults(items, known, vocabulary)
    candidates = sum(map(len, prepared))
    return Loaded(items, {"pairs": items.height, "candidates": candidates, "generated": phenomena})
