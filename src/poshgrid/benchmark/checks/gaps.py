"""Is there a gap where the bad member should have one?

In *Who did the man leave while painting?* nothing has to be missing after *painting*: the question
word is left over, but out of no island. Such a pair tests the count of arguments, not islands.
"""

from __future__ import annotations

from poshgrid.benchmark.checks import grammar, readings
from poshgrid.benchmark.checks.readings import Readings
from poshgrid.benchmark.checks.words import split


def vacuous(bad: str, known: Readings) -> str:
    """Return why the gap of a bad member is none; "" if it is one, or the member has no gap.

    The rest of a question about an argument lacks that argument somewhere. If it is a yes/no
    question as it stands, nothing is lacking: every verb in it can do without.

    Args:
        bad: the bad member.
        known: what each form may be.
    """
    words = split(bad)
    if not words or words[0] not in readings.WH_ARGUMENTS:
        return ""
    if not grammar.Parser(words[1:], known).parses(question=True):
        return ""
    return f"without {words[0]!r} the bad member is a whole question: it has no gap"
