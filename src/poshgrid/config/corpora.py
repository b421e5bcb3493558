"""Sections from sources to tokenizers."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from poshgrid import plugins
from poshgrid.config.base import Name, Positive, Section, Seed, Share01, Size, Words
from poshgrid.config.names import repeated


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


class Source(Section):
    """A corpus as people hold it: CHILDES, Switchboard, a Wikipedia dump ..."""

    name: Name
    reader: Name = Field(description="Module of poshgrid.corpora.readers")
    path: str = Field(description="File or folder, relative to the data folder")
    options: dict[str, Any] = Field({}, description="Passed to the reader")
    cleaning: Cleaning = Cleaning()
    words: Words | None = Field(
        None, gt=0, description="Stop after so many words of cleaned text; none: read it all"
    )

    @model_validator(mode="after")
    def _options(self) -> Self:
        plugins.options("poshgrid.corpora.readers", self.reader, self.options)
        return self


class Portion(Section):
    """How many words a source gives to each size of a base (paper, Table 2)."""

    source: Name
    words: dict[Size, Words] = Field(description="Size -> words, e.g. {10M: 4M}; 0 for none")


class Base(Section):
    """A mixture of sources, nested over sizes: 10M is inside 30M is inside 50M."""

    name: Name
    sources: list[Portion] = Field(min_length=1)
    dev_words: Words = Field(100_000, description="Words held out for early stopping")
    test_words: Words = Field(100_000, description="Words held out for perplexity")
    seed: Seed = Field(42, description="Order of documents and choice of held-out sentences")
    downsample: Annotated[float, Field(gt=0, le=1)] = Field(
        1.0, description="Share of a size's sentences that its conditions base~filter keep"
    )

    @field_validator("sources")
    @classmethod
    def _sources_once(cls, value: list[Portion]) -> list[Portion]:
        twice = repeated(portion.source for portion in value)
        if twice:
            raise ValueError(f"{', '.join(map(str, twice))} twice: add the two together")
        return value


class Reinsertion(Section):
    """Direct evidence that is put back at its natural rate (paper, section 3.1 and Table 1)."""

    filter: Name
    rate: Share01 | Literal["natural"] = Field(
        description="Share of the condition's sentences, e.g. 0.002; natural: the base's own share"
    )
    pool: Literal["evidence", "removed"] = Field(
        "evidence", description="Strict evidence only, or whatever the filter removes"
    )
    tolerance: Share01 = Field(0.001, description="Largest change of a source's words")


class Condition(Section):
    """A base, less what the filters remove, plus what is put back; or ready files."""

    name: Name
    base: Name
    filters: list[Name] = Field([], description="Modules of poshgrid.evidence.filters")
    reinsert: list[Reinsertion] = Field([])
    unfiltered_sizes: list[Size] = Field([], description="Sizes at which the bare base is used")
    downsample: Annotated[float, Field(gt=0, le=1)] = Field(
        1.0, description="Share of the base's sentences at each size that is kept, in order"
    )
    prebuilt: str | None = Field(
        None, description="Folder, below data, of {size}/train.txt, dev.txt, test.txt"
    )
    filtered: bool | None = Field(
        None, description="The paper's factor; none: filters, and nothing put back"
    )
    seed: Seed = 42

    @model_validator(mode="after")
    def _filters(self) -> Self:
        for word in self.filters:
            plugins.module_name("poshgrid.evidence.filters", word)
        for item in self.reinsert:
            if item.filter not in self.filters:
                raise ValueError(
                    f"re-insertion of {item.filter!r}, which this condition does not remove; "
                    f"add it to filters: {self.filters}"
                )
        if self.prebuilt and (self.filters or self.downsample < 1):
            raise ValueError("prebuilt files are taken as they are: leave out filters, downsample")
        return self


class Treebank(Section):
    """Gold trees that a parser is trained from."""

    path: str = Field(description="CoNLL-U file or folder of them, relative to the data folder; "
                      "'toy': trees of the toy grammar")  # fmt: skip
    sentences: Positive | None = Field(None, description="Use at most so many sentences")
    heldout: Share01 = Field(0.1, description="Share of sentences kept for the parser's own test")
    seed: Seed = 42


class Parser(Section):
    """A dependency parser: a model given by path, or trained from a treebank."""

    name: Name
    engine: Name = Field(description="Module of poshgrid.parsing.engines: stanza, spacy")
    model: str | None = Field(None, description="Folder of a trained model; none: train one")
    treebank: Treebank | None = None
    options: dict[str, Any] = Field({}, description="Passed to the engine, e.g. training steps")

    @model_validator(mode="after")
    def _origin(self) -> Self:
        plugins.options("poshgrid.parsing.engines", self.engine, self.options)
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


class Audit(Section):
    """Sheets of sentences for people to judge (paper, appendix C: sanity check)."""

    conditions: list[Name] = Field([], description="Conditions to draw them from; none: no sheets")
    sample: Positive = Field(1_000, description="Sentences on one sheet")
    seed: Seed = 42


class Tokenizer(Section):
    """Byte-level BPE, one tokenizer for each condition and size (paper, section 4.1, Table 9)."""

    vocabulary_size: Positive = 32_768
    lowercase: bool = Field(False, description="Fold case, in training and in scoring alike")
    min_frequency: Positive = Field(2, description="Rarer pairs are not merged")
    sweep: list[Positive] = Field(
        [], description="Vocabulary sizes to count tokens at (Table 9); none: no sweep"
    )
