"""Sections of treebanks, parsers, evidence and audit: what decides what is evidence."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from poshgrid import plugins
from poshgrid.config.base import Name, Place, Positive, Section, Words, check_options, place
from poshgrid.config.names import once


class Treebank(Section):
    """Gold trees that a parser is trained from."""

    path: Place | Annotated[list[Place], Field(min_length=1)] = Field(
        description=(
            "CoNLL-U file, or folder of them, below `data`; `toy`: trees of the toy "
            "grammar; or a list of these"
        )
    )
    sentences: Positive | None = Field(None, description="use at most so many")
    heldout: float = Field(
        0.1,
        gt=0,
        lt=1,
        description="share of sentences held out for its test",
    )

    @field_validator("path")
    @classmethod
    def _parts_once(cls, value: str | list[str]) -> str | list[str]:
        once([value] if isinstance(value, str) else value, "name it once")
        return value


class Parser(Section):
    """A dependency parser: a model given by path, or trained from a treebank."""

    name: Name = Field(description="how `evidence` calls it")
    engine: Name = Field(description="a module of `poshgrid.parsing.engines`: `stanza` or `spacy`")
    model: Place | None = Field(
        None, description="folder of a trained model; either this or `treebank`"
    )
    treebank: Treebank | None = Field(None, description="gold trees to train one from")
    options: dict[str, Any] = Field({}, description="the engine's")

    @model_validator(mode="after")
    def _origin(self) -> Self:
        check_options(plugins.ENGINES, self.engine, self.options)
        if (self.model is None) == (self.treebank is None):
            raise ValueError("give either model (a folder) or treebank (to train one), not both")
        return self


class Evidence(Section):
    """Which parser decides what is evidence, and which others are compared with it."""

    parser: Name = Field("stanza", description="decides")
    compare: list[Name] = Field([], description="parsers whose labels are set beside its own")
    parse: Literal["screened", "all"] = Field(
        "screened",
        description=(
            "`screened`: only sentences that hold the words which a filter needs are "
            "parsed, and no label changes by it; `all`: every one"
        ),
    )
    backstop: bool = Field(
        True,
        description=(
            "conditions lose, too, what looks like evidence by its words alone (docs/footguns.md)"
        ),
    )
    shard_words: Words = Field(2_000_000, gt=0, description="words that one parsing job takes")
    gold: list[Annotated[str, Field(min_length=1), AfterValidator(place)]] = Field(
        [],
        description=(
            "gold trees, CoNLL-U files or folders below `data`, or `toy`, that the parsers are "
            "set beside: the report then says how much of the evidence each one finds; "
            "sentences that a parser was trained on are left out"
        ),
    )

    @field_validator("gold")
    @classmethod
    def _gold_once(cls, value: list[str]) -> list[str]:
        once(value, "name it once")
        return value


class Audit(Section):
    """Sheets of sentences for people to judge (paper, appendix C: sanity check)."""

    conditions: list[Name] = Field(
        [], description="conditions to draw sheets from, at the largest size that is filtered"
    )
    sample: Positive = Field(
        1_000, description="sentences on a sheet; a larger sample begins with the smaller one"
    )
    whole: bool = Field(
        False,
        description=(
            "leakage is drawn from all sentences that a filter left in; `false`: from those with "
            "the words that its evidence needs, as in the paper"
        ),
    )
