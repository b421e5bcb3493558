"""Where the grammar needs a gap there is one: by the lexicon, and by a list of its own."""

from __future__ import annotations

import re

import pytest

from poshgrid.benchmark import lexicon
from poshgrid.benchmark.checks import agreement, readings
from poshgrid.benchmark.checks.readings import split
from poshgrid.benchmark.generation import factorial, templates
from tests.unit.benchmark.generated import generate

WORDS = lexicon.read()
VOCABULARY = lexicon.Vocabulary(9, {"a": frozenset(f for w in WORDS.words for f in w.folded)})

# Verbs that can do without an object, from the literature and not from resources/lexicon: the
# classes of Levin (1993), chapter 1, and the "definite null complements" of Fillmore (1986).
_OPTIONAL = {
    # unspecified object: "she ate"
    "unspecified object": """
        bake build carve chop clean collect cook copy crochet draw drink drive dust eat
        embroider fish hum hunt iron kill knead knit mend milk mow murder nurse pack paint
        perform play plow polish practise read recite record ride sculpt sew sing sketch smoke
        sow study sweep teach type vacuum wash weave whittle write
    """,
    # understood reflexive, body part or reciprocal object: "he dressed", "he waved", "they met"
    "understood reflexive, body part or reciprocal object": """
        argue bathe change clap consult date debate divorce dress embrace exercise fight hide
        hug kiss marry meet nod shave shower strip undress wave
    """,
    # characteristic of the subject, object "people": "that dog bites", "the film frightens"
    "characteristic of the subject": """
        advise amuse bite butt caution charm cheat cut disappoint entertain forgive frighten
        hate hurt itch kick lie love please scare scratch shock sting threaten trust upset warn
        worry
    """,
    # causative and inchoative, middle: "it broke", "it sells"
    "causative and inchoative, middle": """
        beat bend break burn close crack drop fly freeze grow lift move open rest roll run sell
        shake sink spin stop tear turn wake walk
    """,
    # definite, known from the context: "I see", "he left", "don't touch"
    "definite, known from the context": """
        accept answer approve ask attack believe call choose climb decide enter escape explain
        fail finish follow forget give guess hear help imagine interrupt join know lead learn
        leave listen lose miss notice obey object order pass pay phone pick prepare promise pull
        push refuse remember repeat see share shoot show smell start swear taste tell think
        throw touch try understand visit wait watch win wonder
    """,
    # habitual, trade: "he steals"
    "habitual, trade": """
        borrow buy catch donate enjoy feed hire hit invest lend rent save shop spend steal
    """,
}
OPTIONAL = frozenset(verb for verbs in _OPTIONAL.values() for verb in verbs.split())
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
        yield name, factorial.read(name)


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


def test_the_three_values_exclude_each_other():
    for verb in WORDS.of("verb"):
        frames = verb.features["frames"]
        assert not {"either", "objectless"} <= frames, verb
        if "intransitive" in frames:
            assert frames & {"either", "objectless"}, verb
        if verb.features["objects"]:
            assert "objectless" not in frames, verb


# ---- the gate sees a vacuous gap by itself ----------------------------------------------------


def fault(phenomenon, contrast, good, bad, **more):
    judge = agreement.Judge(WORDS)
    return judge.fault(
        {"phenomenon": phenomenon, "contrast": contrast, "good": good, "bad": bad, **more}
    )


@pytest.mark.parametrize(
    ("phenomenon", "contrast", "good", "bad", "verb"),
    [
        ("island-adjunct", "gap-position", "Who did the man carry {} thanking the girl?",
         "Who did the man carry the girl {} thanking?", None),
        ("island-adjunct", "gap-position", "Who did the man carry {} painting the girl?",
         "Who did the man carry the girl {} painting?", "painting"),
        ("island-adjunct", "gap-position", "Who did the man call {} thanking the girl?",
         "Who did the man call the girl {} thanking?", "call"),
        ("island-complex-np", "gap-position", "Who did the man who called the girl like?",
         "Who did the man who called like the girl?", "called"),
        ("island-wh", "clause-type", "What did the girl say that John read?",
         "What did the girl say whether John read?", "read"),
        ("island-wh", "clause-type", "What did the girl say that John fixed?",
         "What did the girl say whether John fixed?", None),
        ("island-wh-pronoun", "wh-pronoun", "What did the girl say he ate?",
         "What did the girl say who ate?", "ate"),
    ],
)  # fmt: skip
def test_a_planted_vacuous_gap_is_a_fault(phenomenon, contrast, good, bad, verb):
    found = fault(phenomenon, contrast, good.format("before"), bad.format("before"))
    if verb is None:
        assert found is None
    else:
        assert found.kind == "gap"
        assert repr(verb) in found.reason


def test_gap_sites_are_where_no_object_follows():
    known = readings.readings(WORDS)

    def verbs(text):
        words = split(text)
        return [words[place] for place in agreement.gap_sites(words, known)]

    assert verbs("Who did the man help before seeing the girl?") == ["help"]
    assert verbs("Who did the man who carried like the girl?") == ["carried"]
    assert verbs("What did the girl say whether John fixed?") == ["fixed"]
    assert verbs("Who did the dress surprise?") == ["surprise"]  # "the dress" is a noun


def test_heads_of_reduced_relatives_have_no_possessor():
    found = generate(templates.read("question-formation-rr"), 500, 42, WORDS, VOCABULARY)
    heads = {re.match(r"\w+ (\w+) ", row["good"])[1] for row in found}
    assert heads == {"the", "this", "that"}
