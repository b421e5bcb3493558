"""Sections of text: sources, and the corpora that are mixed from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from poshgrid.config.base import (
    Language,
    Name,
    Place,
    Positive,
    Section,
    Seed,
    Share01,
    Size,
    Words,
    check_options,
)
from poshgrid.config.known import refers
from poshgrid.config.names import once
from poshgrid.config.sizes import words
from poshgrid.core import plugins


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
