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
        ("self.roles", "self.rolls", "slot 'noun': no 'rolls' there"),
        (
            "frames: [that]",
            "frame: [that]",
            "unknown frame 'that' of a verb; did you mean 'frames'",
        ),
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


# ---- Table 13 -----------------------------------------------------------------------------------

# Each row of Table 13, in our notation: bad, then good. Rows that differ in gender alone
# are one, and "who|what", "himself|herself" and the like are a FUNCTION.
SHORT = {
    "auxiliary": "AUX", "determiner": "DET", "function": "F", "verb": "V", "noun": "N",
    "adjective": "A", "name": "NAME",
}  # fmt: skip
TABLE_13 = [
    ("the N V:past that NAME's N V:past F.", "the N V:past that NAME's N V:past F."),
    ("the N V:past that the N who V:past the N V:past F.",) * 2,
    ("the N V:past that the N V:past F.", "the N V:past that the N V:past F."),
    ("the N V:past F V:past DET N.", "the N V:past F V:gerund DET N."),
    ("who AUX DET N V the N F V:gerund?", "who AUX DET N V F V:gerund the N?"),
    ("who AUX DET N V NAME F V:gerund?", "who AUX DET N V F V:gerund NAME?"),
    ("what AUX DET N V the N F V:gerund?", "what AUX DET N V F V:gerund the N?"),
    ("who AUX DET N who V:past V the N?", "who AUX DET N who V:past the N V?"),
    ("who AUX DET N who V:past V NAME?", "who AUX DET N who V:past NAME V?"),
    ("what AUX DET N who V:past V the N?", "what AUX DET N who V:past the N V?"),
    ("what AUX DET N who V:past V NAME?", "what AUX DET N who V:past NAME V?"),
    ("who AUX DET N V whether NAME V:past?", "who AUX DET N V that NAME V:past?"),
    ("what AUX DET N V whether NAME V:past?", "what AUX DET N V that NAME V:past?"),
    ("what AUX DET N V who V:past?", "what AUX DET N V F V:past?"),
    ("AUX DET N who the N V AUX V the N?", "AUX DET N who the N AUX V V the N?"),
    ("AUX DET N who the N V AUX V?", "AUX DET N who the N AUX V V?"),
    ("AUX DET N who V the N AUX V the N?", "AUX DET N who AUX V the N V the N?"),
    ("AUX DET N who V the N AUX V?", "AUX DET N who AUX V the N V?"),
    ("AUX DET N the N V AUX V the N?", "AUX DET N the N AUX V V the N?"),
    ("AUX DET N the N V AUX V?", "AUX DET N the N AUX V V?"),
    ("F AUX the A N wanna V the N?", "F AUX the A N wanna V the N?"),
    ("F AUX NAME wanna V?", "F AUX NAME wanna V?"),
]


def ours():
    for name in templatefile.names(templates.TEMPLATES):
        for template in templates.read(name).templates:
            yield name, template


def skeleton(template, member):
    """Write a member with its slots' categories in the place of their names."""
    return re.sub(
        r"\{(\w+)((?::\w+)?)\}", lambda m: SHORT[template.slots[m[1]].category] + m[2], member
    )


@pytest.mark.parametrize("row", TABLE_13)
def test_every_template_of_table_13_is_there(row):
    found = [(skeleton(t, t.bad), skeleton(t, t.good)) for _, t in ours()]
    assert row in found


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
