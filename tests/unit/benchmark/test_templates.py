"""Templates: faults are named, Table 13 is there, what fits; filled evenly, and ends are found."""

import os
import re
from collections import Counter
from types import SimpleNamespace

import pytest
import yaml

from poshgrid.benchmark import lexicon
from poshgrid.benchmark.generation import pairs as generator
from poshgrid.benchmark.generation import templates
from poshgrid.core.errors import PoshgridError
from tests.cases import read_cases
from tests.unit.benchmark.generated import KNOWN, WORDS

CASES = read_cases(__file__, "templates")

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


def read(phenomenon, folder=templates.TEMPLATES):
    return templates.read(phenomenon, folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    CASES["a_faulty_template_is_refused"],
)
def test_a_faulty_template_is_refused(tmp_path, old, new, message):
    path = tmp_path / "p.yaml"
    path.write_text(GOOD)
    assert read("p", tmp_path).templates[0].forms("verb") == ["past", "base"]
    path.write_text(GOOD.replace(old, new, 1))
    os.utime(path, (0, 0))  # written in the same tick
    with pytest.raises(PoshgridError, match=rf"p\.yaml.*{re.escape(message)}") as error:
        read("p", tmp_path)
    assert "\n" not in str(error.value)


# ---- Table 13 -----------------------------------------------------------------------------------

# Slots are written by their category.
SHORT = {
    "auxiliary": "AUX", "determiner": "DET", "function": "F", "verb": "V", "noun": "N",
    "adjective": "A", "name": "NAME",
}  # fmt: skip


def skeleton(template, member):
    """Write a member with its slots' categories in the place of their names."""
    return re.sub(
        r"\{(\w+)((?::\w+)?)\}", lambda m: SHORT[template.slots[m[1]].category] + m[2], member
    )


@pytest.mark.parametrize("row", read_cases(__file__, "table13"))
def test_every_template_of_table_13_is_there(row):
    every = [t for name in templates.names(templates.TEMPLATES) for t in read(name).templates]
    assert tuple(row) in [(skeleton(t, t.bad), skeleton(t, t.good)) for t in every]


# ---- what fits ------------------------------------------------------------------------------


@pytest.mark.parametrize(("named", "sense", "nonsense"), CASES["sense"])
def test_slots_take_sense_and_no_nonsense(named, sense, nonsense):
    phenomenon, name, slot = named.split()
    (template,) = (t for t in read(phenomenon).templates if t.name == name)
    lemmas = {word.lemma for word in template.slots[slot].suitable(WORDS)}
    assert set(sense.split()) <= lemmas
    assert not set(nonsense.split()) & lemmas


# ---- filled ---------------------------------------------------------------------------------


def made(text, lemmas, pairs, vocabulary=KNOWN):
    """Return pairs of one template in YAML, filled with words of the lexicon."""
    words = [word for word in WORDS.words if word.lemma in lemmas.split()]
    described = templates.Phenomenon(
        category="c", phenomenon="p", contrast="c", templates=[yaml.safe_load(text)]
    )
    choices = generator.choices(described, lexicon.Lexicon(words), vocabulary)
    return flat(generator.candidates(described, pairs, 1, choices))


def flat(filled):
    """Return filled templates of one pair each, with the pair's members at hand."""
    return [
        SimpleNamespace(**template._asdict(), good=pair.good, bad=pair.bad)
        for template in filled
        for pair in template.pairs
    ]


def spread(counts):
    return max(counts.values()) - min(counts.values())


OBJECT = """
name: object
good: "the {object} {verb:past}."
bad: "{verb:past} the {object}."
slots:
  object: {category: noun}
  verb: {category: verb, least: 1, agree: {objects: object.kinds}}
"""


def test_forms_of_a_word_do_not_meet():
    sets = {pair.lexical_set for pair in made(OBJECT, "drawing painting draw paint", 2)}
    assert sets == {"draw+painting", "drawing+paint"}  # and not draw+drawing


GENDER = """
name: gender
good: "the {one} {verb:past} {self}."
bad: "the {one} {verb:past} {other}."
slots:
  self: {category: function, where: {roles: [reflexive]}, balanced: true, frequent: false}
  other:
    {category: function, where: {roles: [reflexive]}, unlike: [self], balanced: true}
  one: {category: noun, where: {gender: [m|f]}, agree: {gender: self.roles}}
  verb: {category: verb}
"""


def test_genders_halve_the_pairs_however_many_words_they_have():
    words = "king queen aunt girl child himself herself help see like carry thank find"
    pairs = made(GENDER, words, 12)
    subjects = Counter(pair.good.split()[1] for pair in pairs)
    assert subjects == {"king": 6, "queen": 2, "aunt": 2, "girl": 2}
    cells = Counter(pair.combination for pair in pairs)
    assert cells == {"himself+herself": 6, "herself+himself": 6}
    assert all((" king " in p.good) == p.good.endswith("himself.") for p in pairs)
    assert all(p.good.split()[:3] == p.bad.split()[:3] and p.good != p.bad for p in pairs)


FORMS = """
name: forms
good: "the boy {verb:past}."
bad: "the boy {verb}."
slots:
  verb: {category: verb}
"""


def test_every_needed_form_must_be_usable():
    """A verb whose past is rare is of no use to a template that needs corpus and past."""
    forms = KNOWN.frequent["a"]
    poor = lexicon.Vocabulary(9, {"a": forms - {"sat"}, "b": forms - {"lay"}})
    with pytest.raises(PoshgridError, match=r"slot 'verb': 1 usable of 3 .*lay in b, sat in a"):
        made(FORMS, "go sit lie", 1, poor)


# ---- the templates of the repository --------------------------------------------------------


@pytest.mark.parametrize("phenomenon_name", templates.names(templates.TEMPLATES))
def test_every_slot_of_every_template_is_evenly_used(phenomenon_name):
    """With the whole lexicon: words that fit everywhere differ by a few uses only."""
    described = read(phenomenon_name)
    choices = generator.choices(described, WORDS, KNOWN)
    pairs = flat(generator.candidates(described, 400, 42, choices))
    assert len({(pair.good, pair.bad) for pair in pairs}) == 400
    assert len({pair.lexical_set for pair in pairs}) == 400
    for template in described.templates:
        own = [pair for pair in pairs if pair.template == template.name]
        assert spread(Counter(pair.combination for pair in own)) <= 1
        times = {slot: Counter() for slot in template.slots}
        pattern = re.sub(r"\\\{(\w+)(?::\w+)?\\\}", r"(?P<\1>\\w+)", re.escape(template.good))
        for pair in own:
            for slot, used in re.fullmatch(pattern, pair.good, re.IGNORECASE).groupdict().items():
                times[slot][used] += 1
        for slot, described_slot in template.slots.items():
            if times[slot] and not described_slot.agree and not described_slot.balanced:
                assert spread(times[slot]) <= 2, (template.name, slot, times[slot])
