"""Our own sets of a factorial design, generated from ``resources/factorial`` and the lexicon.

Minimal pairs, of which several make a set; see :mod:`..generation.factorial`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field, field_validator

from poshgrid.benchmark.generation import factorial, suite, templatefile

if TYPE_CHECKING:
    from pathlib import Path

    from poshgrid.benchmark.context import Context, Loaded

CORPORA = True  # items are made from the corpora


class Options(suite.Options):
    """Options of the reader ``factorial``."""

    sets: int = Field(
        200, gt=0, le=999, description="Sets of each phenomenon, of two pairs or more"
    )
    pool: int = Field(16, ge=1, le=1_000, description="Candidates made for each that is kept")
    phenomena: list[str] | None = Field(None, description="Default: every file of designs")

    @field_validator("phenomena")
    @classmethod
    def _known(cls, value: list[str] | None) -> list[str] | None:
        return templatefile.chosen(value, factorial.FACTORIAL)


def files(path: Path, options: Options) -> list[Path]:
    """Return the templates and the lexicon; ``path`` is not used."""
    return templatefile.watched(chosen(options), factorial.FACTORIAL)


def load(path: Path | None, options: Options, context: Context) -> Loaded:
    """Generate the sets; see :func:`suite.generate`.

    Args:
        path: not used; the templates are part of the repository.
        options: how many, which, the seed, and the tolerances.
        context: the words, sentences and n-gram models of the bases.

    Raises:
        PoshgridError: too few usable words, or a pair with a fault.
    """
    return suite.generate(described(options), options.sets, options, context)


def described(options: Options) -> list[factorial.Designed]:
    """Return the phenomena that are made, as their files describe them."""
    return [factorial.read(name) for name in chosen(options)]


def chosen(options: Options) -> list[str]:
    """Return the phenomena that are made."""
    return sorted(options.phenomena or templatefile.names(factorial.FACTORIAL))
