"""Sections of conditions: what filters remove from a corpus, and what is put back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from poshgrid.config.base import (
    ConditionName,
    CorpusName,
    Kept,
    Name,
    Section,
    Seed,
    Share01,
    UsedSize,
)
from poshgrid.config.names import once
from poshgrid.config.tokens import Tokenizer
from poshgrid.core import plugins
from poshgrid.core.errors import did_you_mean

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
