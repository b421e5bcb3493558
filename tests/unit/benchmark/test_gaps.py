"""Where the grammar needs a gap there is one: by the lexicon, and by a list of its own."""

from __future__ import annotations

import re

import pytest

from poshgrid.benchmark import lexicon
from poshgrid.benchmark.checks import agreement
from poshgrid.benchmark.generation import templates
from tests.unit.benchmark.generated import generate

WORDS = lexicon.read()
VOCABULARY = lexicon.Vocabulary(9, {"a": frozenset(f for w in WORDS.words for f in w.folded)})

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
BASE = {form: word.lemma for word in WORDS.of("verb") for form in word.folded}


def gaps(phenomenon, good, bad):
    """Return the verbs before the gaps of two members, by where a phenomenon has them."""
    good, bad = (text.lower().rstrip("?").split() for text in (good, bad))
    if phenomenon == "island-adjunct" and (good[-1] not in BASE or bad[-1].endswith("ing")):
        (link,) = {"before", "after", "while", "without"} & set(good)
        return good[good.index(link) - 1], bad[-1]
    if phenomenon == "island-complex-np" and bad[-2] != "who":
        return good[-1], bad[bad.index("who", 1) + 1]
    return good[-1], bad[-1]


def _questions():
    for name in ("island-adjunct", "island-complex-np", "island-wh", "island-wh-pronoun"):
        yield name, templates.read(name)
    for name in ("island-adjunct", "island-complex-np", "island-wh"):
        yield name, templates.read(name, templates.FACTORIAL)


@pytest.mark.parametrize(("name", "described"), list(_questions()))
def test_no_gap_stands_after_a_verb_that_can_do_without_an_object(name, described):
    found = generate(described, 500, 42, WORDS, VOCABULARY)
    frames = {w.lemma: w.features["frames"] for w in WORDS.of("verb")}
    found = [row for row in found if row["cell"] in {"", "gap"}]
    assert len(found) == 500
    verbs = {BASE[verb] for row in found for verb in gaps(name, row["good"], row["bad"])}
    assert len(verbs) > 8
    assert not {verb for verb in verbs if frames[verb] & {"either", "intransitive", "objectless"}}
    assert not verbs & OPTIONAL


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


def test_heads_of_reduced_relatives_have_no_possessor():
    found = generate(templates.read("question-formation-rr"), 500, 42, WORDS, VOCABULARY)
    heads = {re.match(r"\w+ (\w+) ", row["good"])[1] for row in found}
    assert heads == {"the", "this", "that"}
