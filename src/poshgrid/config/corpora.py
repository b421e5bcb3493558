"""Sections of text: sources, and the bases that are mixed of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

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
    check_options,
)
from poshgrid.config.names import once
from poshgrid.config.sizes import words


class Cleaning(Section):
    """What becomes of a line of a source before it counts as a sentence."""

    min_words: Positive = Field(1, description="shorter sentences are dropped")
    language: str | None = Field(
        None,
        pattern="^[a-z]{2}$",
        description=(
            "`en`: documents whose first 2,000 characters are in another language are"
            " dropped (py3langid); `null`: none"
        ),
    )


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
        check_options(plugins.READERS, self.reader, self.options)
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

    allow: list[Literal["copies", "leak", "size", "words"]] = Field(
        [],
        description=(
            "checks that do not stop a run. `copies`: documents that stand in its sources twice; "
            "`leak`: training text in dev or test; `size`: other words than a size says; `words`: "
            "other words than other bases of the size"
        ),
    )

    @field_validator("sources")
    @classmethod
    def _sources_once(cls, value: list[Portion]) -> list[Portion]:
        once((portion.source for portion in value), "add the two together")
        called: dict[int, str] = {}
        for size in (size for portion in value for size in portion.words):
            if (earlier := called.setdefault(words(size), size)) != size:
                raise ValueError(f"{earlier} and {size} are the same size: write it in one way")
        return value
