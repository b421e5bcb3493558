"""Polarity items in questions, as in *Should I ever join?*.

The rule of FiCT (section 3.2.1), "questions with NPIs in them". A question is what has a question
mark behind the item, as all of the paradigm's have; wh-questions are removed too, since the paper
makes no difference::

    $npis .* ?            at . all .* ?

The list (``resources/filters/npis.yaml``) and *at all* stand in for that of Jumelet et al. (2021),
which FiCT refers to and does not print; nor is its code for these filters published.
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
