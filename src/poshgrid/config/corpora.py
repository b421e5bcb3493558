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
from poshgrid.config.tokens import Tokenizer
from poshgrid.errors import PoshgridError, did_you_mean

FILTERS = "poshgrid.evidence.filters"
READERS = "poshgrid.corpora.readers"
ENGINES = "poshgrid.parsing.engines"
DIRECT = "direct"
"""The reading that tells structure from order, where a filter has one."""
Rate = Share01 | Literal["natural"]


class Cleaning(Section):
    """What becomes of a line of a source before it counts as a sentence."""

    min_words: Positive = Field(1, description="shorter sentences are dropped")
    max_words: Positive = Field(200, description="longer sentences are dropped")
    language: str | None = Field(
        None,
        pattern="^[a-z]{2}$",
        description=(
            "`en`: documents whose first 2,000 characters are in another language are"
            " dropped (py3langid); `null`: none"
        ),
    )
    duplicates: Literal["keep", "drop"] = Field(
        "keep", description="`drop`: a sentence that the source has had already is dropped"
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

    name: Name = Field(description="how bases and reports call it")
    reader: Name = Field(description="a module of `poshgrid.corpora.readers`: docs/sources.md")
    path: Place = Field(description="file or folder below `data`")
    options: dict[str, Any] = Field({}, description="the reader's")
    cleaning: Cleaning = Field(
        Cleaning(), description="what becomes of a line before it counts as a sentence"
    )
    words: Words | None = Field(
        None,
        gt=0,
        description=(
            "stop after so many words of cleaned text, so that the rest of a large "
            "corpus is not read; `null`: read it all"
        ),
    )

    @model_validator(mode="after")
    def _options(self) -> Self:
        plugins.options(READERS, self.reader, self.options)
        return self


class Portion(Section):
    """How many words a source gives to each size of a base (paper, Table 2)."""

    source: Name = Field(description="a source")
    words: dict[Size, Words] = Field(
        description=(
            "size -> words, e.g. `{10M: 4M, 30M: 7M}`; 0 for none; never fewer at a larger size"
        )
    )


class Base(Section):
    """A mixture of sources, nested over sizes: 10M is inside 30M is inside 50M."""

    name: Name = Field(description="how conditions call it")
    sources: list[Portion] = Field(min_length=1, description="what each source gives")
    dev_words: Words = Field(
        100_000, gt=0, description="words held out for the dev loss, the same at all sizes"
    )
    test_words: Words = Field(100_000, gt=0, description="words held out for perplexity")
    seed: Seed = Field(
        42,
        description=(
            "order of documents, held-out sentences, and which sentences `downsample` keeps"
        ),
    )
    downsample: Annotated[float, Field(gt=0, le=1)] = Field(
        1.0,
        description=(
            "`downsample` of the conditions that are named by their filters "
            "(`wiki~passive`), and of no other"
        ),
    )
    reading: Name | None = Field(
        None,
        description=(
            "reading of the filters that such a name gives without one, where the filter has it: "
            "`published`"
        ),
    )
    order: Literal["shuffled", "given", "reversed"] = Field(
        "shuffled",
        description=(
            "training documents of a source: in the order of the seed, by which they are chosen in "
            "any case; `given`: the source's own; `reversed`: its last document first. "
            "A regimen whose `order` is `given` trains in it"
        ),
    )
    spare: Share01 = Field(
        0.0,
        description=(
            "words beyond the largest size, as a share of it, from which conditions "
            "are refilled; as many as the sources have"
        ),
    )

    @field_validator("sources")
    @classmethod
    def _sources_once(cls, value: list[Portion]) -> list[Portion]:
        twice = repeated(portion.source for portion in value)
        if twice:
            raise ValueError(f"{', '.join(map(str, twice))} twice: add the two together")
        called: dict[int, str] = {}
        for size in (size for portion in value for size in portion.words):
            if (earlier := called.setdefault(words(size), size)) != size:
                raise ValueError(f"{earlier} and {size} are the same size: write it in one way")
        return value

    def budgets(self, sizes: Sequence[str]) -> dict[str, dict[str, int]]:
        """Return source -> size (ascending) -> training words.

        Raises:
            PoshgridError: a source has no words for a size, or fewer at a larger one; or the
                smallest size has none at all.
        """
        ascending = sorted(sizes, key=words)
        if not ascending:
            raise PoshgridError(f"bases: {self.name}: no sizes to mix; name one in an experiment")
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

    name: Name = Field(description="a module of `poshgrid.evidence.filters`: docs/filters.md")
    reading: Name = Field("", description='one of its readings; `""`: the first')

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

    filter: Name = Field(description="one of the condition's filters; each once")
    rate: Rate = Field(
        description=(
            "share of the condition's sentences, e.g. `0.002`; `natural`: the share "
            "of the pool in the base at this size"
        )
    )
    pool: Name | None = Field(
        None,
        description=(
            "what is put back, of what is gone: sentences of this reading of the "
            "filter; `null`: of `direct`, if it has it, else of the condition's own"
        ),
    )
    repeat: bool = Field(
        False, description="a sentence may be put back more than once, where the base has too few"
    )
    tolerance: Share01 = Field(
        0.001, description="largest change of any source's words, as a share of them"
    )

    @model_validator(mode="after")
    def _reading(self) -> Self:
        known = list(plugins.load(FILTERS, self.filter).READINGS)
        if self.pool is not None and self.pool not in known:
            raise ValueError(f"pool: filter {self.filter!r}: {_unknown_reading(self.pool, known)}")
        return self


def _of_size(value: str) -> str:
    """Hold a path with a place for the size to what paths may be."""
    place(value.replace("{size}", "10M"))
    return value


class Condition(Section):
    """A base, less what the filters remove, plus what is put back; or ready files."""

    name: Name = Field(description="how experiments call it")
    base: Name = Field(description="a base")
    filters: list[_WrittenFilter] = Field(
        [],
        description="what is removed: `passive`, `passive.published` or `{name: passive, ...}`",
    )
    control: Name | None = Field(
        None, description="a condition of the same base: as much is gone as there, at random"
    )
    match: list[Literal["question", "relative"]] = Field(
        [],
        description=(
            "of a control: `question`, `relative`, what its sentences match beside "
            "source and length"
        ),
    )
    refill: bool = Field(
        False, description="further sentences of the same source take the place of what is gone"
    )
    allow_void: bool = Field(
        False,
        description=("no stop where a filter removes nothing, or another condition holds the same"),
    )
    reinsert: list[Reinsertion] = Field(
        [], description="evidence that is put back, for each filter"
    )
    unfiltered_sizes: list[Size] = Field(
        [],
        description=(
            "sizes at which nothing is removed from the training sentences, and nothing put back"
        ),
    )
    downsample: Annotated[float, Field(gt=0, le=1)] = Field(
        1.0,
        description=(
            "share of the *base's* sentences at each size that is kept, in order; the"
            " same for all conditions that are compared"
        ),
    )
    prebuilt: Annotated[str, AfterValidator(_of_size)] | None = Field(
        None,
        description=(
            "folder below `data` with `{size}/train.txt`, `dev.txt`, `test.txt` (or one text in "
            "each of the folders `train`, `dev`, `test`), a sentence a line: taken as they are. "
            "`{size}` in its name stands for the size: `posh-bench/baby/{size}f`"
        ),
    )
    filtered: bool | None = Field(
        None,
        description=(
            "the factor `filter` of the models; `null`: yes if it has filters and puts nothing back"
        ),
    )
    tokenizer: Tokenizer | None = Field(
        None,
        description=(
            "what differs from the configuration's `tokenizer`; such a condition has one of its own"
        ),
    )
    seed: Seed = Field(42, description="which sentences are kept, put back and replaced")

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
        if not (self.filters or self.control):
            if self.refill:
                raise ValueError("refill: nothing is gone without filters or control: leave it out")
            if self.unfiltered_sizes and not self.prebuilt:
                raise ValueError("unfiltered_sizes: it has no filters at any size: leave it out")
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
