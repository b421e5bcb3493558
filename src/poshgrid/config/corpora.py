"""Sections of text: sources and corpora, parsers and evidence, conditions.

A condition is a corpus without what filters remove, plus what is put back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from poshgrid.config.base import (
    ConditionName,
    CorpusName,
    Kept,
    Language,
    Name,
    ParserName,
    Place,
    Positive,
    Section,
    Seed,
    Share01,
    Size,
    UsedSize,
    Words,
    check_options,
    once,
    place,
)
from poshgrid.config.known import refers
from poshgrid.config.models import Tokenizer
from poshgrid.config.sizes import words
from poshgrid.core import plugins
from poshgrid.core.errors import did_you_mean


class Cleaning(Section):
    """Which sentences of a source are kept."""

    min_words: Positive = 1
    """Shorter sentences are dropped."""
    language: Language | None = None
    """Documents in other languages are dropped (py3langid): `en`."""


class Source(Section):
    """A corpus as it is published: CHILDES, Switchboard, a Wikipedia dump ..."""

    name: Name
    """Its name in corpora and reports."""
    reader: Name
    """A module of `poshgrid.corpora.readers`: docs/sources.md."""
    path: Place
    """File or folder below `data`."""
    options: dict[str, Any] = Field({})
    """Options of the reader."""
    cleaning: Cleaning = Cleaning()
    """Which lines count as sentences."""
    language: Language = "en"
    """Decides how running text is split into sentences; default: the configuration's `language`."""
    words: Words | None = Field(None, gt=0)
    """Use the first words of cleaned text, so many."""
    share: float = Field(1.0, gt=0, le=1)
    """Share of the documents that is used, drawn from all files; `words` are counted in it."""

    @model_validator(mode="after")
    def _options(self) -> Self:
        check_options(plugins.READERS, self.reader, self.options)
        return self


class Portion(Section):
    """How many words a source contributes to each size of a corpus (paper, Table 2)."""

    source: Annotated[Name, refers("sources")]
    """A source."""
    words: dict[Size, Words]
    """Size -> words: `{10M: 4M, 30M: 7M}`; 0 for none."""


class Corpus(Section):
    """A mixture of sources, nested over sizes: 10M is inside 30M is inside 50M."""

    name: Name
    """Its name in conditions."""
    sources: list[Portion] = Field(min_length=1)
    """How many words each source contributes."""
    dev_words: Words = Field(100_000, gt=0)
    """Words held out for the dev loss, the same at all sizes."""
    test_words: Words = Field(100_000, gt=0)
    """Words held out for perplexity."""
    splits: Literal["drawn", "published"] = "drawn"
    """Where dev and test come from: `drawn` from the sources, or `published`: the sources' own,
    if the reader has them (`gulordava`); these are not filtered.
    """
    seed: Seed = 42
    """Seed for the order of documents, and for which sentences are held out."""
    order: Literal["shuffled", "given", "reversed"] = "shuffled"
    """Order of a source's training documents, for recipes whose `order` is `given`: random, the
    source's own, or its reverse.
    """
    spare: Share01 = 0.0
    """Extra words for refilling conditions, as a share of the largest size."""

    allow: list[Literal["copies", "leak", "size", "words"]] = Field([])
    """Checks that do not stop a run: `copies` (documents that occur twice in its sources);
    `leak` (training text in dev or test); `size` (another number of words than the size says);
    `words` (another number of words than other corpora of the size).
    """

    @field_validator("sources")
    @classmethod
    def _sources_once(cls, value: list[Portion]) -> list[Portion]:
        once((portion.source for portion in value), "add the two together")
        called: dict[int, str] = {}
        for size in (size for portion in value for size in portion.words):
            if (earlier := called.setdefault(words(size), size)) != size:
                raise ValueError(f"{earlier} and {size} are the same size: write it in one way")
        return value


class Treebank(Section):
    """Gold trees that a parser is trained from."""

    path: Place | Annotated[list[Place], Field(min_length=1)]
    """CoNLL-U file or folder below `data`, `toy` (the toy grammar), or a list of these."""
    sentences: Positive | None = None
    """Use at most this many."""
    heldout: float = Field(0.1, gt=0, lt=1)
    """Share of sentences held out for its test."""


class Parser(Section):
    """A dependency parser: a model given by path, or trained from a treebank."""

    name: Name
    """Its name in `evidence`."""
    engine: Name
    """A module of `poshgrid.parsing.engines`: `stanza`, `spacy`, or `words`, which makes no
    trees."""
    model: Place | None = None
    """Folder of a trained model, below `data`; either this or `treebank`."""
    treebank: Treebank | None = None
    """Gold trees to train it from."""
    options: dict[str, Any] = Field({})
    """Options of the engine."""
    language: Language = "en"
    """Decides how sentences are split into words; default: the configuration's `language`."""

    @model_validator(mode="after")
    def _origin(self) -> Self:
        check_options(plugins.ENGINES, self.engine, self.options)
        if (self.model is None) == (self.treebank is None):
            raise ValueError("give either model (a folder) or treebank (to train one), not both")
        if self.treebank and not hasattr(plugins.load(plugins.ENGINES, self.engine), "train"):
            raise ValueError(
                f"engine {self.engine!r} trains no parser; give model, a folder, instead of "
                "treebank, or train one with engine spacy"
            )
        return self


class Evidence(Section):
    """Which parser decides what is evidence, and how well it finds it."""

    parser: ParserName | None = None
    """The parser that decides what is evidence; default: the first of `parsers`."""
    compare: list[ParserName] = Field([])
    """Further parsers: how much of the evidence of `gold` they find is compared."""
    shard_words: Words = Field(2_000_000, gt=0)
    """Words in one parsing job."""
    gold: list[Annotated[str, Field(min_length=1), AfterValidator(place)]] = Field([])
    """Gold trees (CoNLL-U files or folders below `data`, or `toy`) for measuring how much of the
    evidence each parser finds; sentences that it was trained on are left out.
    """


class Audit(Section):
    """Sheets of sentences for people to judge (paper, appendix C: sanity check)."""

    conditions: list[ConditionName] = Field([])
    """Conditions to draw sheets from, at their largest filtered size."""
    sample: Positive = 1_000
    """Sentences on a sheet; a larger sample begins with the smaller one."""
    whole: bool = False
    """Draw leakage from all sentences that a filter kept; default, as in the paper: from those
    with the words that its evidence needs.
    """


Rate = Share01 | Literal["natural"]


class Filter(Section):
    """A filter with one of its readings."""

    name: Name
    """A module of `poshgrid.evidence.filters`: docs/filters.md."""
    reading: Name = ""
    """One of its readings; default: the first."""

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, value: object) -> object:
        """Accept ``passive`` and ``passive.published`` for a filter, and fill in the reading."""
        if isinstance(value, str):
            name, _, reading = value.partition(".")
            value = {"name": name, "reading": reading}
        if not (isinstance(value, dict) and isinstance(word := value.get("name"), str)):
            return value
        known = list(plugins.load(plugins.FILTERS, word).READINGS)
        reading = value.get("reading") or known[0]
        if isinstance(reading, str) and reading not in known:
            raise ValueError(f"filter {word!r}: {_unknown_reading(reading, known)}")
        return {**value, "reading": reading}

    @property
    def aims(self) -> tuple[str, ...]:
        """The filter's target phenomena; () if it names none."""
        targets: tuple[str, ...] = getattr(plugins.load(plugins.FILTERS, self.name), "TARGETS", ())
        return targets

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
    """One of the condition's filters; each once."""
    rate: Rate
    """Share of the condition's sentences, e.g. `0.002`; `natural`: the rate in the corpus at this
    size.
    """
    pool: Name | None = None
    """The reading whose sentences are put back; default: `direct`, else the condition's own."""
    repeat: bool = False
    """Put sentences back more than once if the corpus has too few."""
    tolerance: Share01 = 0.001
    """Largest change of any source's words, as a share of them."""

    @model_validator(mode="after")
    def _reading(self) -> Self:
        known = list(plugins.load(plugins.FILTERS, self.filter).READINGS)
        if self.pool is not None and self.pool not in known:
            raise ValueError(f"pool: filter {self.filter!r}: {_unknown_reading(self.pool, known)}")
        return self


class Condition(Section):
    """A corpus without what the filters remove, plus what is put back."""

    name: Name
    """Its name in experiments."""
    corpus: CorpusName
    """A corpus."""
    filters: list[_WrittenFilter] = Field([])
    """Filters to apply: `passive`, or `passive.published` with its reading."""
    rewrite: list[Name] = Field([])
    """How the sentences that are left are changed: modules of `poshgrid.evidence.rewriters`, which
    follow each other. Dev and test are changed, too.
    """
    control: ConditionName | None = None
    """A condition of the same corpus; as many sentences as it removes are removed at random. Words
    that its rewriters remove are matched by whole sentences.
    """
    match: list[Literal["question"]] = Field([])
    """Further properties, besides source and length, in which the removed sentences of a control
    and its condition agree.
    """
    refill: bool = False
    """Replace removed sentences by further ones of the same source."""
    allow: list[Literal["void", "words"]] = Field([])
    """Checks that do not stop a run: `void` (nothing changes, or another condition is the
    same); `words` (another number of words than conditions of its size).
    """
    reinsert: list[Reinsertion] = Field([])
    """Evidence that is put back, filter by filter."""
    unfiltered_sizes: list[UsedSize] = Field([])
    """Sizes whose training sentences are not filtered."""
    downsample: Kept = 1.0
    """Share (`0.8`) or number (`2.4M`) of the *corpus's* sentences to keep at each size, in
    order; must be the same for all conditions that are compared.
    """
    filtered: bool | None = None
    """Its level of the factor `filter` in regressions; default: yes if it has filters and puts
    nothing back.
    """
    source: CorpusName | None = None
    """Its level of the factor `source` in regressions; default: its corpus."""
    tokenizer: Tokenizer | None = None
    """Keys that differ from the configuration's `tokenizer`; the condition then has its own."""
    seed: Seed = 42
    """Seed for which sentences are kept, put back and replaced."""

    @model_validator(mode="after")
    def _filters(self) -> Self:
        once((item.filter for item in self.reinsert), "give one rate", "reinsert")
        for word in self.rewrite:
            plugins.load(plugins.REWRITERS, word)
        for item in self.reinsert:
            if item.filter not in {entry.name for entry in self.filters}:
                raise ValueError(
                    f"re-insertion of {item.filter!r}, which this condition does not remove; "
                    f"add it to filters: {self.words}"
                )
        changed = bool(self.filters or self.rewrite)
        if self.control and changed:
            raise ValueError("a control removes at random: leave out its filters and rewrite")
        if self.match and not self.control:
            raise ValueError("match is only for controls: name the condition in control")
        if not (changed or self.control):
            if self.refill:
                raise ValueError(
                    "refill: nothing is removed without filters, rewrite or control: leave it out"
                )
            if self.unfiltered_sizes:
                raise ValueError("unfiltered_sizes: it has no filters at any size: leave it out")
        if self.refill and self.downsample != 1:
            raise ValueError("refill and downsample exclude each other: leave one out")
        return self

    @property
    def changed(self) -> bool:
        """Whether sentences of its corpus are removed or rewritten."""
        return bool(self.filters or self.rewrite)

    @property
    def words(self) -> list[str]:
        """The names of the filters, without repetition, sorted."""
        return sorted({entry.name for entry in self.filters})
