"""The filters' readings, written anew from their definitions: a reference to hold ours against.

Sources: POSH-BENCH, appendix C; FiCT, section 3.2 and the table of rules in docs/filters.md; the
guidelines of Universal Dependencies. Nothing here comes from the package, and nothing there may
come from here: two that were written apart seldom err alike.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.parity.readings_binding import binding_direct, binding_paper
from tests.parity.readings_fict import FICT
from tests.parity.readings_question import question_direct, question_paper
from tests.parity.ud import Sentence

Reading = tuple[str, str]
"""A filter and its reading."""
READINGS: dict[Reading, Callable[[Sentence], bool]] = {
    ("question-formation", "paper"): question_paper,
    ("question-formation", "direct"): question_direct,
    ("binding", "paper"): binding_paper,
    ("binding", "direct"): binding_direct,
    **{(name, "paper"): rule for name, rule in FICT.items()},
}
