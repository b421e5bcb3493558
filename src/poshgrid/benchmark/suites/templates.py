"""Our own suite: minimal pairs generated from ``resources/templates`` and ``resources/lexicon``.

Source: POSH-BENCH, section 3.2, appendices F and G, Table 13; see :mod:`..generation.suite`.
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
    """Options of the reader ``templates``."""

    FOLDER = templates.TEMPLATES

    pairs: int = Field(500, gt=0, le=9_999, description="Pairs of each phenomenon")


def files(path: Path, options: Options) -> list[Path]:
    """Return the templates and the lexicon; ``path`` is not used."""
    return templatefile.watched(chosen(options), templates.TEMPLATES)


def load(path: Path | None, options: Options, context: Context) -> Loaded:
    """Generate the pairs; see :func:`suite.generate`.

    Args:
        path: not used; the templates are part of the repository.
        options: how many, which, the seed, and the tolerances.
        context: the words, sentences and n-gram models of the bases.

    Raises:
        PoshgridError: too few usable words, or a pair with a fault.
    """
    return suite.generate(described(options), options.pairs, options, context)


def described(options: Options) -> list[templates.Phenomenon]:
    """Return what is made, without making it."""
    return [templates.read(name) for name in chosen(options)]


def chosen(options: Options) -> list[str]:
    """Return the phenomena that are made."""
    return sorted(options.phenomena or templates.names())
