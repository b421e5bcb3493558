"""Sections of treebanks, parsers, evidence and audit."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from poshgrid.config.base import (
    ConditionName,
    Language,
    Name,
    ParserName,
    Place,
    Positive,
    Section,
    Words,
    check_options,
    place,
)
from poshgrid.core import plugins


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
