"""Where the grammar needs a gap there is one: by the lexicon, and by a list of its own."""

from __future__ import annotations

import pytest

from poshgrid.benchmark.checks import agreement
from tests.unit.benchmark.generated import WORDS

# Verbs that can do without an object, from the literature and not from resources/lexicon: the
# classes of Levin (1993), chapter 1, and the "definite null complements" of Fillmore (1986).
_OPTIONAL = """
bake build carve chop clean collect cook copy crochet draw drink drive dust eat embroider fish hum
hunt iron kill knead knit mend milk mow murder nurse pack paint perform play plow polish practise
read recite record ride sculpt sew sing sketch smoke sow study sweep teach type vacuum wash weave
whittle write argue bathe change clap consult date debate divorce dress embrace exercise fight
hide hug kiss marry meet nod shave shower strip undress wave advise amuse bite butt caution charm
cheat cut disappoint entertain forgive frighten hate hurt itch kick lie love please scare scratch
shock sting threaten trust upset warn worry beat bend break burn close crack drop fly freeze grow
lift move open rest roll run sell shake sink spin stop tear turn wake walk accept answer approve
ask attack believe call choose climb decide enter escape explain fail finish follow forget give
guess hear help imagine interrupt join know lead learn leave listen lose miss notice obey object
order pass pay phone pick prepare promise pull push refuse remember repeat see share shoot show
smell start swear taste tell think throw touch try understand visit wait watch win wonder borrow
buy catch donate enjoy feed hire hit invest lend rent save shop spend steal
"""
OPTIONAL = frozenset(_OPTIONAL.split())


def test_the_lexicon_marks_every_verb_that_the_list_names():
    frames = {w.lemma: w.features["frames"] for w in WORDS.of("verb") if w.features["objects"]}
    assert {verb for verb in OPTIONAL & set(frames) if "either" not in frames[verb]} == set()
    assert len(OPTIONAL & set(frames)) > 60


# ---- the gate sees a vacuous gap by itself ----------------------------------------------------


@pytest.mark.parametrize(
    ("good", "bad", "vacuous"),
    [
        ("Who did the man carry before thanking the girl?",
         "Who did the man carry the girl before thanking?", (False, False)),
        ("Who did the man carry before painting the girl?",
         "Who did the man carry the girl before painting?", (False, True)),
        ("Who did the man call before thanking the girl?",
         "Who did the man call the girl before thanking?", (True, False)),
        ("Who did the man who called the girl like?",
         "Who did the man who called like the girl?", (False, True)),
        ("What did the girl say that John read?",
         "What did the girl say whether John read?", (True, True)),
        ("What did the girl say he ate?", "What did the girl say who ate?", (True, True)),
    ],
)  # fmt: skip
def test_a_planted_vacuous_gap_is_a_fault(good, bad, vacuous):
    judge = agreement.Judge(WORDS)
    assert (bool(judge.vacuous(good)), bool(judge.vacuous(bad))) == vacuous
