"""Sections of conditions: what filters remove of a base, and what is put back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from poshgrid import plugins
from poshgrid.config.base import Name, Section, Seed, Share01, Size, place
from poshgrid.config.names import once
from poshgrid.config.tokens import Tokenizer
from poshgrid.errors import did_you_mean

Rate = Share01 | Literal["natural"]


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
        known = list(plugins.load(plugins.FILTERS, word).READINGS)
        reading = value.get("reading") or known[0]
        if isinstance(reading, str) and reading not in known:
            raise ValueError(f"filter {word!r}: {_unknown_reading(reading, known)}")
        return {**value, "reading": reading}

    @property
    def aims(self) -> tuple[str, ...]:
        """The phenomena that it is aimed at; (): it names none."""
        found: tuple[str, ...] = getattr(plugins.load(plugins.FILTERS, self.name), "TARGETS", ())
        return found

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
        known = list(plugins.load(plugins.FILTERS, self.filter).READINGS)
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
    allow: list[Literal["void", "leak", "size", "words", "copies"]] = Field(
        [],
        description=(
            "checks that do not stop a run. `void`: a filter removes nothing, nothing is put back, "
            "or another condition holds the same; `words`: more words than its base, or others "
            "than conditions of its size; of ready files `leak`: training text in dev or test; "
            "`size`: other words than its size says; `copies`: the same text twice"
        ),
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
        words = [f"{each.name}.{each.reading}" for each in self.filters]
        once(words, "name it once", "filters")
        once((item.filter for item in self.reinsert), "give one rate", "reinsert")
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
