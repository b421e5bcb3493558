"""Our own sets of a factorial design, generated from ``resources/factorial`` and the lexicon.

Minimal pairs, of which several make a set; see :mod:`..generation.templates`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from poshgrid.benchmark.generation import suite, templatefile, templates

if TYPE_CHECKING:
    from pathlib import Path

    from poshgrid.benchmark.context import Context, Loaded

CORPORA = True  # items are made from the corpora


class Options(suite.Options):
    """Options of the reader ``factorial``."""

    FOLDER = templates.FACTORIAL

    sets: int = Field(
        200, gt=0, le=999, description="Sets of each phenomenon, of two pairs or more"
    )
    pool: int = Field(16, ge=1, le=1_000, description="Candidates made for each that is kept")


def files(path: Path, options: Options) -> list[Path]:
    """Return the templates and the lexicon; ``path`` is not used."""
    return templatefile.watched(chosen(options), templates.FACTORIAL)


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


def described(options: Options) -> list[templates.Phenomenon]:
    """Return what is made, without making it."""
    return [templates.read(name, templates.FACTORIAL) for name in chosen(options)]


def chosen(options: Options) -> list[str]:
    """Return the phenomena that are made."""
    return sorted(options.phenomena or templatefile.names(templates.FACTORIAL))
