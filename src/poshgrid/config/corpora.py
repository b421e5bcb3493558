"""Sections from sources to tokenizers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from poshgrid import plugins
from poshgrid.config.base import (
    Name,
    Place,
    Positive,
    Section,
    Seed,
    Share01,
    Size,
    Words,
    place,
    words,
)
from poshgrid.config.names import repeated
from poshgrid.errors import PoshgridError, did_you_mean

FILTERS = "poshgrid.evidence.filters"
READERS = "poshgrid.corpora.readers"
ENGINES = "poshgrid.parsing.engines"
DIRECT = "direct"
"""The reading that tells structure from order, where a filter has one."""
Rate = Share01 | Literal["natural"]


class Cleaning(Section):
    """What becomes of a line of a source before it counts as a sentence."""

    min_words: Positive = Field(1, description="Shorter sentences are dropped")
    max_words: Positive = Field(200, description="Longer sentences are dropped")
    language: str | None = Field(
        None, pattern="^[a-z]{2}$", description="Documents in another language are dropped: en"
    )
    duplicates: Literal["keep", "drop"] = Field(
        "keep", description="drop: a sentence that the source has had already"
    )

    @model_validator(mode="after")
    def _some_left(self) -> Self:
        if self.min_words > self.max_words:
            raise ValueError(
                f"no sentence has {self.min_words} words or more and {self.max_words} or fewer; "
                "lower min_words or raise max_words"
            )
        return self


class Source(Section):
    """A corpus as people hold it: CHILDES, Switchboard, a Wikipedia dump ..."""

    name: Name
    reader: Name = Field(description="Module of poshgrid.corpora.readers")
    path: Place = Field(description="File or folder, relative to the data folder")
    options: dict[str, Any] = Field({}, description="Passed to the reader")
    cleaning: Cleaning = Cleaning()
    words: Words | None = Field(
        None, gt=0, description="Stop after so many words of cleaned text; none: read it all"
    )

    @model_validator(mode="after")
    def _options(self) -> Self:
        plugins.options(READERS, self.reader, self.options)
        return self


class Portion(Section):
    """How many words a source gives to each size of a base (paper, Table 2)."""

    source: Name
    words: dict[Size, Words] = Field(description="Size -> words, e.g. {10M: 4M}; 0 for none")


class Base(Section):
    """A mixture of sources, nested over sizes: 10M is inside 30M is inside 50M."""

    name: Name
    sources: list[Portion] = Field(min_length=1)
    dev_words: Words = Field(100_000, gt=0, description="Words held out for early stopping")
    test_words: Words = Field(100_000, gt=0, description="Words held out for perplexity")
    seed: Seed = Field(42, description="Order of documents and choice of held-out sentences")
    downsample: Annotated[float, Field(gt=0, le=1)] = Field(
        1.0, description="Share of a size's sentences that its conditions base~filter keep"
    )
    spare: Share01 = Field(
        0.0, description="Words beyond the largest size, as a share of it, for conditions' refill"
    )

    @field_validator("sources")
    @classmethod
    def _sources_once(cls, value: list[Portion]) -> list[Portion]:
        twice = repeated(portion.source for portion in value)
        if twice:
            raise ValueError(f"{', '.join(map(str, twice))} twice: add the two together")
        return value

    def budgets(self, sizes: Sequence[str]) -> dict[str, dict[str, int]]:
        """Return source -> size (ascending) -> training words.

        Raises:
            PoshgridError: a source has no words for a size, or fewer at a larger one; or the
                smallest size has none at all.
        """
        ascending = sorted(sizes, key=words)
        found: dict[str, dict[str, int]] = {}
        for portion in self.sources:
            place = f"bases: {self.name}: sources: {portion.source}: words"
            for size in ascending:
                if size not in portion.words:
                    near = did_you_mean(size, portion.words)
                    raise PoshgridError(f"{place}: no size {size}{near}")
            for small, large in itertools.pairwise(ascending):
                few, more = portion.words[small], portion.words[large]
                if more < few:
                    raise PoshgridError(
                        f"{place}: {large} has {more:,} words, fewer than {small} with {few:,}; "
                        "sizes are nested: a larger one must not give a source fewer words"
                    )
            found[portion.source] = {size: portion.words[size] for size in ascending}
        if not sum(amounts[ascending[0]] for amounts in found.values()):
            raise PoshgridError(
                f"bases: {self.name}: size {ascending[0]} has no words from any source; give it "
                "some or leave it out of the experiments"
            )
        return found

    def heldout(self, sizes: Sequence[str]) -> dict[str, dict[str, int]]:
        """Return source -> dev, test -> words held out, by its share of the smallest size."""
        smallest = min(sizes, key=words)
        total = sum(portion.words[smallest] for portion in self.sources)
        return {
            portion.source: {
                "dev": round(self.dev_words * (portion.words[smallest] / total)),
                "test": round(self.test_words * (portion.words[smallest] / total)),
            }
            for portion in self.sources
        }

    def needed(self, sizes: Sequence[str]) -> dict[str, int]:
        """Return source -> words that it must have: for the largest size, dev and test.

        Raises:
            PoshgridError: as :meth:`budgets`.
        """
        budgets = self.budgets(sizes)  # first: it refuses what heldout() cannot divide by
        heldout = self.heldout(sizes)
        return {
            source: max(amounts.values()) + sum(heldout[source].values())
            for source, amounts in budgets.items()
        }


class Filter(Section):
    """A filter in one of its readings."""

    name: Name = Field(description="Module of poshgrid.evidence.filters")
    reading: Name = Field("", description="One of its READINGS; none: the first, the study's own")

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, value: object) -> object:
        """Let ``passive`` and ``passive.published`` stand for a filter, and fill in the reading."""
        if isinstance(value, str):
            name, _, reading = value.partition(".")
            value = {"name": name, "reading": reading}
        if not (isinstance(value, dict) and isinstance(word := value.get("name"), str)):
            return value
        known = list(plugins.load(FILTERS, word).READINGS)
        reading = value.get("reading") or known[0]
        if isinstance(reading, str) and reading not in known:
            raise ValueError(f"filter {word!r}: {_unknown_reading(reading, known)}")
        return {**value, "reading": reading}

    def __str__(self) -> str:
        """Return ``filter.reading``."""
        return f"{self.name}.{self.reading}"


def _unknown_reading(word: str, known: Sequence[str]) -> str:
    return f"no reading {word!r}{did_you_mean(word, known)}"


_WrittenFilter = Annotated[
    Filter, BeforeValidator(lambda value: value, json_schema_input_type=Filter | str)
]


class Reinsertion(Section):
    """Evidence that is put back, at its natural rate (paper, section 3.1 and Table 1) or a dose."""

    filter: Name
    rate: Rate = Field(
        description="Share of the condition's sentences, e.g. 0.002; natural: the base's own share"
    )
    pool: Name | None = Field(
        None, description="Reading whose sentences come back; none: direct, or the condition's own"
    )
    repeat: bool = Field(
        False, description="Put a sentence back more than once where the base has too few"
    )
    tolerance: Share01 = Field(0.001, description="Largest change of a source's words")

    @model_validator(mode="after")
    def _reading(self) -> Self:
        known = list(plugins.load(FILTERS, self.filter).READINGS)
        if self.pool is not None and self.pool not in known:
            raise ValueError(f"pool: filter {self.filter!r}: {_unknown_reading(self.pool, known)}")
        return self


class Condition(Section):
    """A base, less what the filters remove, plus what is put back; or ready files."""

    name: Name
    base: Name
    filters: list[_WrittenFilter] = Field(
        [], description="Filters by name, or {name, reading}: docs/filters.md"
    )
    control: Name | None = Field(
        None, description="Condition of the same base: as much is removed as there, at random"
    )
    match: list[Literal["question", "relative"]] = Field(
        [], description="Of a control: what its sentences match beside source and length"
    )
    refill: bool = Field(
        False, description="Replace removed words by further sentences of the same source"
    )
    allow_void: bool = Field(
        False, description="Go on if a filter removes nothing, or another condition is the same"
    )
    reinsert: list[Reinsertion] = Field([])
    unfiltered_sizes: list[Size] = Field([], description="Sizes at which the bare base is used")
    downsample: Annotated[float, Field(gt=0, le=1)] = Field(
        1.0, description="Share of the base's sentences at each size that is kept, in order"
    )
    prebuilt: Place | None = Field(
        None, description="Folder, below data, of {size}/train.txt, dev.txt, test.txt"
    )
    filtered: bool | None = Field(
        None, description="The paper's factor; none: filters, and nothing put back"
    )
    seed: Seed = 42

    @model_validator(mode="after")
    def _filters(self) -> Self:
        words = [str(each) for each in self.filters]
        if twice := repeated(words):
            raise ValueError(f"filters: {', '.join(map(str, twice))} twice: name it once")
        if twice := repeated(item.filter for item in self.reinsert):
            raise ValueError(f"reinsert: {', '.join(map(str, twice))} twice: give one rate")
        for item in self.reinsert:
            if item.filter not in {each.name for each in self.filters}:
                raise ValueError(
                    f"re-insertion of {item.filter!r}, which this condition does not remove; "
                    f"add it to filters: {words}"
                )
        if self.prebuilt and (self.filters or self.control or self.refill or self.downsample < 1):
            raise ValueError(
                "prebuilt files are taken as they are: leave out filters, control, refill, "
                "downsample"
            )
        if self.control and self.filters:
            raise ValueError("a control removes at random: leave out its filters")
        if self.match and not self.control:
            raise ValueError("match is for a control: name the condition that it is one for")
        if self.refill and self.downsample < 1:
            raise ValueError("refill and downsample exclude each other: leave one out")
        return self

    @property
    def words(self) -> list[str]:
        """The filters' words, each once, sorted."""
        return sorted({each.name for each in self.filters})

    def pool(self, item: Reinsertion) -> str:
        """Return the reading whose sentences a re-insertion puts back."""
        if item.pool:
            return item.pool
        own = next(each.reading for each in self.filters if each.name == item.filter)
        return DIRECT if DIRECT in plugins.load(FILTERS, item.filter).READINGS else own


class Part(Section):
    """One of several treebanks that a parser is trained from together."""

    path: Place = Field(description="CoNLL-U file or folder of them, relative to the data folder; "
                      "'toy': trees of the toy grammar")  # fmt: skip
    weight: float = Field(
        1.0, gt=0, le=100, description="How often each of its training sentences counts; 0.5: half"
    )


def _part(value: object) -> object:
    return {"path": value} if isinstance(value, str) else value


_Part = Annotated[Part, BeforeValidator(_part, json_schema_input_type=str | Part)]


class Treebank(Section):
    """Gold trees that a parser is trained from."""

    path: Place | Annotated[list[_Part], Field(min_length=1)] = Field(
        description="CoNLL-U file or folder of them, relative to the data folder; 'toy': trees of "
        "the toy grammar; or a list of these, each alone or as {path, weight}"
    )
    labels: dict[str, str] = Field(
        {}, description="Tag or relation of the files that is none of UD's -> UD's: {NNS: NOUN}"
    )
    sentences: Positive | None = Field(None, description="Use at most so many sentences")
    heldout: float = Field(
        0.1, gt=0, lt=1, description="Share of sentences kept for the parser's own test"
    )
    seed: Seed = 42

    @property
    def parts(self) -> list[Part]:
        """The treebanks that it is made of: one, or those of the list."""
        return [Part(path=self.path)] if isinstance(self.path, str) else self.path

    @model_validator(mode="after")
    def _parts_once(self) -> Self:
        twice = repeated(part.path for part in self.parts)
        if twice:
            raise ValueError(f"path: {', '.join(map(str, twice))} twice: give it a weight instead")
        return self


class Parser(Section):
    """A dependency parser: a model given by path, or trained from a treebank."""

    name: Name
    engine: Name = Field(description="Module of poshgrid.parsing.engines: stanza, spacy")
    model: Place | None = Field(None, description="Folder of a trained model; none: train one")
    treebank: Treebank | None = None
    options: dict[str, Any] = Field({}, description="Passed to the engine, e.g. training steps")

    @model_validator(mode="after")
    def _origin(self) -> Self:
        plugins.options(ENGINES, self.engine, self.options)
        if (self.model is None) == (self.treebank is None):
            raise ValueError("give either model (a folder) or treebank (to train one), not both")
        return self


class Evidence(Section):
    """Which parser decides what is evidence, and which others are compared with it."""

    parser: Name = "stanza"
    compare: list[Name] = Field([], description="Parsers whose decisions are set beside its own")
    parse: Literal["screened", "all"] = Field(
        "screened", description="screened: only sentences that hold a filter's words are parsed"
    )
    backstop: bool = Field(
        True, description="Remove, too, what looks like evidence by its words alone"
    )
    shard_words: Words = Field(2_000_000, gt=0, description="Words that one parsing job takes")
    gold: list[Annotated[str, Field(min_length=1), AfterValidator(place)]] = Field(
        [], description="CoNLL-U files or folders, relative to the data folder, or 'toy': parsers "
        "are set beside these gold trees; none: no table of recall",
    )  # fmt: skip
    detector: Treebank | None = Field(
        None, description="Gold trees that a detector is learned from, by which audits draw"
    )

    @field_validator("gold")
    @classmethod
    def _gold_once(cls, value: list[str]) -> list[str]:
        if twice := repeated(value):
            raise ValueError(f"{', '.join(map(str, twice))} twice: name it once")
        return value


class Audit(Section):
    """Sheets of sentences for people to judge (paper, appendix C: sanity check)."""

    conditions: list[Name] = Field([], description="Conditions to draw them from; none: no sheets")
    sample: Positive = Field(1_000, description="Sentences on one sheet")
    seed: Seed = 42


SMALLEST = 256 + 2
"""Types of the smallest vocabulary: every byte and the two special tokens."""
Vocabulary = Annotated[int, Field(ge=SMALLEST, le=1_000_000)]


class Tokenizer(Section):
    """Byte-level BPE, one tokenizer for each condition and size (paper, section 4.1, Table 9)."""

    vocabulary_size: Vocabulary = 32_768
    lowercase: bool = Field(False, description="Fold case, in training and in scoring alike")
    min_frequency: Positive = Field(2, description="Rarer pairs are not merged")
    sweep: list[Vocabulary] = Field(
        [], description="Vocabulary sizes to count tokens at (Table 9); none: no sweep"
    )
