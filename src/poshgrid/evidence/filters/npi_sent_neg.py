"""Polarity items with sentential negation: *Those banks had not ever lied*.

The rule of FiCT (section 3.2.1), "a negation and an NPI", needs no dependencies and no order, so
that *those that are not here have ever ...* of the second paradigm counts too::

    not .* $npis      not ;* $npis      not .* at . all      not ;* at . all

where *not* is also *n't*, *nt* and *cannot*. Other licensers (*never*, *no*, *nobody*) are
different environments, which are not removed, as in the taxonomy of Warstadt et al. (2019).
The list (``resources/filters/npis.yaml``) and *at all* replace the list of Jumelet et al.
(2021), to which FiCT refers without printing it; its code for these filters is not published
either.
"""

from __future__ import annotations

from poshgrid.evidence.patterns import readings, written

TARGETS: tuple[str, ...] = (
    "sentential_negation_npi_licensor_present",
    "sentential_negation_npi_scope",
)
"""Paradigms of BLiMP."""
PATTERNS = written(
    paper="""
    polarity item after a negation:
        {word:not|n't|nt|cannot}=negation .* {word:$npis}=item
    polarity item before a negation:
        {word:not|n't|nt|cannot}=negation ;* {word:$npis}=item
    at all after a negation:
        {word:not|n't|nt|cannot}=negation .* {word:at}=item
        =item . {word:all}=all
    at all before a negation:
        {word:not|n't|nt|cannot}=negation ;* {word:at}=item
        =item . {word:all}=all
    """,
)
READINGS = readings(PATTERNS)
