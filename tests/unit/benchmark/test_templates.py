"""Templates: faults are refused with their place, Table 13 is there, nonsense is not taken."""

from __future__ import annotations

import re

import pytest

from poshgrid.benchmark import lexicon
from poshgrid.benchmark.generation import templatefile, templates
from poshgrid.errors import PoshgridError

WORDS = lexicon.read()
NINE = [
    "island-adjunct", "island-complex-np", "island-wh", "principle-a-command",
    "principle-a-locality", "question-formation-or", "question-formation-rr",
    "question-formation-sr", "wanna",
]  # fmt: skip

GOOD = """
category: c
phenomenon: p
contrast: wh-word
templates:
  - name: one
    good: "the {noun} {verb:past} {self}."
    bad: "the {noun} {verb} {self}."
    slots:
      noun: {category: noun, where: {gender: [m|f]}, agree: {gender: self.roles}}
      verb: {category: verb, without: {frames: [that]}, distinct: [base, past]}
      self: {category: function, where: {roles: [reflexive]}, balanced: true, frequent: false}
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{self}.", "{them}.", "slot 'them' is used but not described"),
        ("      self:", "      other: {category: name}\n      self:", "described but not used"),
        ("verb:past", "verb:pst", "slot 'verb' has no form 'pst'"),
        ("gender: [m|f]", "gender: [m|x]", "unknown gender 'x'"),
        ("gender: self.roles", "gender: me.roles", "slot 'noun': no slot 'me'"),
        ("self.roles", "self.rolls", "'self' has no 'rolls'"),
        ("frames: [that]", "frame: [that]", "unknown feature 'frame' of a verb; did you mean"),
        ("distinct: [base", "distinct: [bas", "unknown form 'bas'"),
        ("balanced", "balance", "Extra inputs are not permitted"),
        ("category: verb", "category: verbs", "Input should be"),
        ("contrast: wh-word", "contrast: wh-word\ndefault: sometimes", "valid boolean"),
        ("phenomenon: p", "phenomenon: q", "must be 'p'"),
        ("category: c", "category: [", "not YAML"),
    ],
)
def test_a_faulty_template_is_refused(tmp_path, old, new, message):
    (tmp_path / "p.yaml").write_text(GOOD)
    assert templates.read("p", tmp_path).templates[0].forms("verb") == ["past", "base"]
    (tmp_path / "p.yaml").write_text(GOOD.replace(old, new, 1))
    with pytest.raises(PoshgridError, match=re.escape(message)) as error:
        templates.read("p", tmp_path)
    assert "p.yaml" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_of_templates_is_named(tmp_path):
    (tmp_path / "wanna.yaml").write_text(GOOD)
    with pytest.raises(PoshgridError, match="no templates for 'wana'; did you mean 'wanna'"):
        templates.read("wana", tmp_path)


def test_what_is_not_default_is_listed_only_when_asked_for(tmp_path):
    (tmp_path / "p.yaml").write_text(GOOD)
    other = GOOD.replace("phenomenon: p", "phenomenon: o") + "default: false\n"
    (tmp_path / "o.yaml").write_text(other)
    assert templates.names(tmp_path) == ["p"]
    assert templatefile.names(tmp_path) == ["o", "p"]
    assert templates.names() == NINE
    assert set(templatefile.names(templates.TEMPLATES)) - set(NINE) == {
        "island-wh-pronoun",
        "principle-a-participle",
    }


# ---- Table 13 -----------------------------------------------------------------------------------

# Each row of Table 13, in our notation: bad, then good. Rows that differ in gender alone
# are one, and "who|what", "himself|herself" and the like are a FUNCTION.
TABLE_13 = {
    "c-command, possessor": (
        "the NOUN VERB:past that NAME's NOUN VERB:past FUNCTION.",
        "the NOUN VERB:past that NAME's NOUN VERB:past FUNCTION.",
    ),
    "c-command, relative": (
        "the NOUN VERB:past that the NOUN who VERB:past the NOUN VERB:past FUNCTION.",
        "the NOUN VERB:past that the NOUN who VERB:past the NOUN VERB:past FUNCTION.",
    ),
    "locality, antecedent": (
        "the NOUN VERB:past that the NOUN VERB:past FUNCTION.",
        "the NOUN VERB:past that the NOUN VERB:past FUNCTION.",
    ),
    "locality, participle": (
        "the NOUN VERB:past FUNCTION VERB:past DETERMINER NOUN.",
        "the NOUN VERB:past FUNCTION VERB:gerund DETERMINER NOUN.",
    ),
    "adjunct, who": (
        "who AUXILIARY DETERMINER NOUN VERB the NOUN FUNCTION VERB:gerund?",
        "who AUXILIARY DETERMINER NOUN VERB FUNCTION VERB:gerund the NOUN?",
    ),
    "adjunct, who, a name": (
        "who AUXILIARY DETERMINER NOUN VERB NAME FUNCTION VERB:gerund?",
        "who AUXILIARY DETERMINER NOUN VERB FUNCTION VERB:gerund NAME?",
    ),
    "adjunct, what": (
        "what AUXILIARY DETERMINER NOUN VERB the NOUN FUNCTION VERB:gerund?",
        "what AUXILIARY DETERMINER NOUN VERB FUNCTION VERB:gerund the NOUN?",
    ),
    "complex NP, who": (
        "who AUXILIARY DETERMINER NOUN who VERB:past VERB the NOUN?",
        "who AUXILIARY DETERMINER NOUN who VERB:past the NOUN VERB?",
    ),
    "complex NP, who, a name": (
        "who AUXILIARY DETERMINER NOUN who VERB:past VERB NAME?",
        "who AUXILIARY DETERMINER NOUN who VERB:past NAME VERB?",
    ),
    "complex NP, what": (
        "what AUXILIARY DETERMINER NOUN who VERB:past VERB the NOUN?",
        "what AUXILIARY DETERMINER NOUN who VERB:past the NOUN VERB?",
    ),
    "complex NP, what, a name": (
        "what AUXILIARY DETERMINER NOUN who VERB:past VERB NAME?",
        "what AUXILIARY DETERMINER NOUN who VERB:past NAME VERB?",
    ),
    "wh-island, who": (
        "who AUXILIARY DETERMINER NOUN VERB whether NAME VERB:past?",
        "who AUXILIARY DETERMINER NOUN VERB that NAME VERB:past?",
    ),
    "wh-island, what": (
        "what AUXILIARY DETERMINER NOUN VERB whether NAME VERB:past?",
        "what AUXILIARY DETERMINER NOUN VERB that NAME VERB:past?",
    ),
    "wh-island, pronoun": (
        "what AUXILIARY DETERMINER NOUN VERB who VERB:past?",
        "what AUXILIARY DETERMINER NOUN VERB FUNCTION VERB:past?",
    ),
    "object relative, transitive": (
        "AUXILIARY DETERMINER NOUN who the NOUN VERB AUXILIARY VERB the NOUN?",
        "AUXILIARY DETERMINER NOUN who the NOUN AUXILIARY VERB VERB the NOUN?",
    ),
    "object relative, intransitive": (
        "AUXILIARY DETERMINER NOUN who the NOUN VERB AUXILIARY VERB?",
        "AUXILIARY DETERMINER NOUN who the NOUN AUXILIARY VERB VERB?",
    ),
    "subject relative, transitive": (
        "AUXILIARY DETERMINER NOUN who VERB the NOUN AUXILIARY VERB the NOUN?",
        "AUXILIARY DETERMINER NOUN who AUXILIARY VERB the NOUN VERB the NOUN?",
    ),
    "subject relative, intransitive": (
        "AUXILIARY DETERMINER NOUN who VERB the NOUN AUXILIARY VERB?",
        "AUXILIARY DETERMINER NOUN who AUXILIARY VERB the NOUN VERB?",
    ),
    "reduced relative, transitive": (
        "AUXILIARY DETERMINER NOUN the NOUN VERB AUXILIARY VERB the NOUN?",
        "AUXILIARY DETERMINER NOUN the NOUN AUXILIARY VERB VERB the NOUN?",
    ),
    "reduced relative, intransitive": (
        "AUXILIARY DETERMINER NOUN the NOUN VERB AUXILIARY VERB?",
        "AUXILIARY DETERMINER NOUN the NOUN AUXILIARY VERB VERB?",
    ),
    "wanna, transitive": (
        "FUNCTION AUXILIARY the ADJECTIVE NOUN wanna VERB the NOUN?",
        "FUNCTION AUXILIARY the ADJECTIVE NOUN wanna VERB the NOUN?",
    ),
    "wanna, intransitive": (
        "FUNCTION AUXILIARY NAME wanna VERB?",
        "FUNCTION AUXILIARY NAME wanna VERB?",
    ),
}


def ours():
    for name in templatefile.names(templates.TEMPLATES):
        for template in templates.read(name).templates:
            yield name, template


def skeleton(template, member):
    """Write a member with its slots' categories in the place of their names."""
    return re.sub(
        r"\{(\w+)((?::\w+)?)\}", lambda m: template.slots[m[1]].category.upper() + m[2], member
    )


@pytest.mark.parametrize("row", TABLE_13)
def test_every_template_of_table_13_is_there(row):
    found = [(skeleton(t, t.bad), skeleton(t, t.good)) for _, t in ours()]
    assert TABLE_13[row] in found


def test_the_two_question_verbs_of_table_13_are_two_templates():
    """Its last two wh-islands differ in the class of the embedded verb alone."""
    first, second = templates.read("island-wh-pronoun").templates
    assert skeleton(first, first.good) == skeleton(second, second.good)
    takes = [
        {w.lemma for w in WORDS.of("verb") if t.slots["verb2"].takes(w)} for t in (first, second)
    ]
    assert {"fix", "carry"} <= takes[0] - takes[1]
    assert {"discuss", "discover"} <= takes[1] - takes[0]


# ---- what fits ------------------------------------------------------------------------------


def taken(phenomenon, template, slot):
    (found,) = (t for t in templates.read(phenomenon).templates if t.name == template)
    described = found.slots[slot]
    return {w.lemma for w in WORDS.of(described.category) if described.takes(w)}


@pytest.mark.parametrize(
    ("place", "sense", "nonsense"),
    [
        # a question reaches out of what is said or known, not out of what is seen or found
        ("island-wh who verb", {"say", "know", "hear", "guess"}, {"see", "find", "think", "ask"}),
        ("island-wh-pronoun object verb", {"say", "know"}, {"see", "believe", "wonder"}),
        ("principle-a-locality clause verb2", {"help", "wash", "teach"}, {"name", "call", "give"}),
        ("principle-a-command possessor verb2", {"see", "like"}, {"remember", "marry", "meet"}),
        ("principle-a-command possessor head", {"mother", "son"}, {"king", "teacher", "baby"}),
        ("principle-a-participle thing verb", {"see", "find"}, {"help", "know", "wash"}),
        ("island-adjunct who verb", {"carry", "thank"}, {"show", "like", "know", "help", "paint"}),
        ("island-complex-np what verb2", {"like", "carry"}, {"bring", "show", "eat", "follow"}),
        ("island-complex-np what verb", {"carry", "invite"}, {"hit", "see", "help", "teach"}),
        ("question-formation-sr intransitive verb", {"carry", "like"}, {"see", "hear", "help"}),
        ("question-formation-sr intransitive verb2", {"leave", "sleep"}, {"open", "break", "like"}),
        ("wanna transitive verb", {"help", "eat"}, {"know", "like", "lose", "give", "bring"}),
        ("wanna intransitive-name verb", {"go", "sleep"}, {"fall", "cry", "eat", "run", "succeed"}),
        ("wanna transitive adjective", {"happy", "tall"}, {"broken", "empty", "wet"}),
        ("wanna transitive aux", {"does", "did"}, {"do", "can", "will"}),
    ],
)  # fmt: skip
def test_slots_take_sense_and_no_nonsense(place, sense, nonsense):
    found = taken(*place.split())
    assert sense <= found
    assert not nonsense & found


@pytest.mark.parametrize(
    ("verb", "sense", "nonsense"),
    [
        ("drive", "car truck", "airplane boat chair"),
        ("ride", "horse bus", "car cat"),
        ("throw", "ball stone", "piano door"),
        ("carry", "bag book", "house car bed star"),
        ("eat", "cake apple", "coffee chair"),
        ("drink", "milk water", "bread cup"),
        ("open", "door box book", "poem apple"),
        ("move", "table machine", "door bird"),
        ("tell", "story joke", "letter song"),
        ("hear", "song story", "newspaper box"),
        ("build", "house bridge", "river mountain"),
        ("explain", "plan problem", "apple"),
        ("wear", "hat shoe", "apple ring"),
        ("pay", "", "captain door"),
        ("name", "dog", "king"),
    ],
)
def test_verbs_take_objects_that_make_sense(verb, sense, nonsense):
    verbs = {w.lemma: w.features["objects"] for w in WORDS.of("verb")}
    nouns = {w.lemma: w.features["kinds"] for w in WORDS.of("noun")}
    assert all(verbs[verb] & nouns[noun] for noun in sense.split())
    assert not any(verbs[verb] & nouns.get(noun, set()) for noun in nonsense.split())


def test_possessors_stand_before_those_whom_one_has():
    """*My man*, *your giant* are out; *the man* and *my teacher* are in."""
    nouns = {w.lemma: w.features["determiners"] for w in WORDS.of("noun")}
    for word in ("man", "woman", "giant", "stranger", "person", "passenger"):
        assert nouns[word] == {"definite"}
    for word in ("teacher", "brother", "friend", "king", "dog"):
        assert nouns[word] == {"definite", "possessive"}
    for name, template in ours():
        if "det" in template.slots:
            after = re.search(r"\{det\} \{(\w+)\}", template.good)
            if after:
                assert template.slots[after[1]].agree["determiners"] == "det.kind", name
