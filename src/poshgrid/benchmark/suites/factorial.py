"""Generated sets of factorial designs, from ``resources/factorial`` and the lexicon.

Several minimal pairs make a set; see :mod:`..generation.templates`.
"""

from __future__ import annotations

from pydantic import Field

from poshgrid.benchmark.generation import templates

CORPORA = True  # items are made from the corpora


class Options(templates.Options):
    """Options of the reader ``factorial``."""

    FOLDER = templates.FACTORIAL

    sets: int = Field(
        200, gt=0, le=999, description="Sets of each phenomenon, of two pairs or more"
    )
    pool: int = Field(16, ge=1, le=1_000, description="Candidates made for each that is kept")


files, described, load = templates.files, templates.described, templates.load
