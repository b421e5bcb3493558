"""Polarity items after *only*: *Only students have ever complained*.

The rule of FiCT (section 3.2.1), "an NPI occurring after 'only'", needs no dependencies::

    only .* $npis            only .* at . all

The list (``resources/filters/npis.yaml``) and *at all* replace the list of Jumelet et al.
(2021), to which FiCT refers without printing it; its code for these filters is not published
either.
"""

from __future__ import annotations

from poshgrid.evidence.patterns import readings, written

TARGETS: tuple[str, ...] = (
    "only_npi_licensor_present",
    "only_npi_scope",
)
"""Paradigms of BLiMP."""
PATTERNS = written(
    paper="""
    polarity item after only:
        {word:only}=only .* {word:$npis}=item
    at all after only:
        {word:only}=only .* {word:at}=item
        =item . {word:all}=all
    """,
)
READINGS = readings(PATTERNS)
