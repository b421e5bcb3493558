"""Polarity items in questions, as in *Should I ever join?*.

The rule of FiCT (section 3.2.1), "questions with NPIs in them". A sentence with a question mark
after the item counts as a question, as all of the paradigm's have one; wh-questions are removed,
too, because the paper does not distinguish them::

    $npis .* ?            at . all .* ?

The list (``resources/filters/npis.yaml``) and *at all* replace the list of Jumelet et al.
(2021), to which FiCT refers without printing it; its code for these filters is not published
either.
"""

from __future__ import annotations

from poshgrid.evidence.patterns import readings, written

TARGETS: tuple[str, ...] = ("matrix_question_npi_licensor_present",)
"""Paradigms of BLiMP."""
PATTERNS = written(
    paper="""
    polarity item in a question:
        {word:$npis}=item .* {word:/[?]/}=mark
    at all in a question:
        {word:at}=item . {word:all}=all
        =all .* {word:/[?]/}=mark
    """,
)
READINGS = readings(PATTERNS)
