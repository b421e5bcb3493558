"""Generated minimal pairs, from ``resources/templates`` and ``resources/lexicon``.

Source: POSH-BENCH, section 3.2, appendices F and G, Table 13; see :mod:`..generation.templates`.
"""

from __future__ import annotations

from pydantic import Field

from poshgrid.benchmark.generation import templates

CORPORA = True  # items are made from the corpora


class Options(templates.Options):
    """Options of the reader ``templates``."""

    FOLDER = templates.TEMPLATES

    pairs: int = Field(500, gt=0, le=9_999, description="Pairs of each phenomenon")


files, described, load = templates.files, templates.described, templates.load
