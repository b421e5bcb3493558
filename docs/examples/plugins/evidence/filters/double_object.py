"""Double objects of *give*: *give me the ball*, but not *give the ball to me*."""

from poshgrid.evidence.patterns import readings, written

PATTERNS = written(
    paper="""
    two objects of give:
        {word:give|gives|gave|given|giving}=verb >iobj {}=recipient
        =verb >obj {}=theme
    """,
)
READINGS = readings(PATTERNS)
