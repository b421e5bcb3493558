"""The generator on a toy lexicon: even use, balance, agreement, and ends that it must find."""

from __future__ import annotations

import re
from collections import Counter
from types import SimpleNamespace

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from poshgrid.benchmark import lexicon
from poshgrid.benchmark.generation import pairs as generator
from poshgrid.benchmark.generation import templatefile, templates
from poshgrid.benchmark.generation import words as slot_words
from poshgrid.benchmark.lexicon import Word
from poshgrid.errors import PoshgridError

LETTERS = "abcdefghijklmnopqrst"


def word(category, lemma, forms=None, **features):
    table = lexicon.TABLES[category]
    return Word(
        category,
        lemma,
        dict(zip(table.forms, forms or [lemma] * len(table.forms), strict=True)),
        {name: frozenset(features.get(name, "").split()) for name in table.features},
    )


def noun(lemma, kinds="person", gender="n"):
    return word("noun", lemma, [lemma, f"{lemma}s"], kinds=kinds, gender=gender)


def verb(lemma, objects):
    forms = [lemma, f"{lemma}s", f"{lemma}ed", f"{lemma}ed", f"{lemma}ing"]
    return word("verb", lemma, forms, objects=objects)


def name(lemma, gender):
    return word("name", lemma, gender=gender)


FUNCTIONS = [
    word("function", "himself", roles="reflexive m"),
    word("function", "herself", roles="reflexive f"),
    *(word("function", w, roles="wh-adjunct") for w in ("when", "how", "why")),
    *(word("function", w, roles="wh-argument") for w in ("who", "what")),
]


def phenomenon(*texts):
    """Return a phenomenon of templates in YAML: name, good, bad and slots."""
    return templates.Phenomenon(
        category="c",
        phenomenon="p",
        contrast="wh-word",
        templates=[yaml.safe_load(t) for t in texts],
    )


def made(described, words, pairs, seed=1, **options):
    known = lexicon.Lexicon([*words, *FUNCTIONS])
    vocabulary = lexicon.Vocabulary(9, {"a": frozenset(f for w in known.words for f in w.folded)})
    choices = slot_words.choices(described, known, vocabulary)
    return flat(generator.candidates(described, pairs, seed, choices, **options))


def flat(filled):
    """Return filled templates of one pair each, with the pair's members at hand."""
    return [
        SimpleNamespace(**each._asdict(), good=pair.good, bad=pair.bad)
        for each in filled
        for pair in each.pairs
    ]


def uses(pairs, position, member="good"):
    return Counter(getattr(pair, member).rstrip(".?").split()[position] for pair in pairs)


def spread(counts):
    return max(counts.values()) - min(counts.values())


PERSONS = [noun(n) for n in ("aa", "bb", "cc", "dd", "ee")]
TWO = """
name: two
good: "the {one} {verb:past} the {other}."
bad: "the {other} {verb:past} the {one}."
slots:
  one: {category: noun, where: {kinds: [person]}}
  verb: {category: verb, agree: {objects: other.kinds}}
  other: {category: noun, where: {kinds: [person]}}
"""
OBJECT = """
name: object
good: "the {object} {verb:past}."
bad: "{verb:past} the {object}."
slots:
  object: {category: noun}
  verb: {category: verb, least: 1, agree: {objects: object.kinds}}
"""


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(5, 30))
def test_words_of_a_slot_are_used_equally_often(seed, pairs):
    found = made(phenomenon(TWO), [*PERSONS, *(verb(v, "person") for v in "vwxy")], pairs, seed)
    assert len({pair.good for pair in found}) == pairs
    assert all(len(set(p.good.lower().rstrip(".").split())) == 4 for p in found)  # "the" twice
    assert spread(uses(found, 1)) <= 2
    assert spread(uses(found, 4)) <= 2
    assert spread(uses(found, 2)) <= 2


def test_forms_of_a_word_do_not_meet():
    words = [noun("drawing", "toy"), noun("ball", "toy"), verb("draw", "toy"), verb("hit", "toy")]
    found = {pair.lexical_set for pair in made(phenomenon(OBJECT), words, 3)}
    assert found == {"ball+draw", "ball+hit", "drawing+hit"}  # and not draw+drawing


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
    words = [noun("king", gender="m"), *(noun(n, gender="f") for n in ("queen", "aunt", "girl"))]
    words += [noun("child"), *(verb(v, "person") for v in "uvwxyz")]
    found = made(phenomenon(GENDER), words, 12)
    assert uses(found, 1) == {"king": 6, "queen": 2, "aunt": 2, "girl": 2}
    assert Counter(pair.combination for pair in found) == {
        "himself+herself": 6,
        "herself+himself": 6,
    }
    assert all((" king " in p.good) == p.good.endswith("himself.") for p in found)
    assert all(p.good.split()[:3] == p.bad.split()[:3] and p.good != p.bad for p in found)


WANNA = """
name: wanna
good: "{adjunct} {name} {verb}?"
bad: "{argument} {name} {verb}?"
slots:
  adjunct: {category: function, where: {roles: [wh-adjunct]}, balanced: true}
  argument: {category: function, where: {roles: [wh-argument]}, balanced: true}
  name: {category: name}
  verb: {category: verb}
"""
NARROW = [name("Ann", "f"), name("Bob", "m"), verb("go", ""), verb("sit", ""), verb("lie", "")]


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(6, 36))
def test_combinations_of_balanced_slots_are_equally_frequent(seed, pairs):
    cells = Counter(pair.combination for pair in made(phenomenon(WANNA), NARROW, pairs, seed))
    assert len(cells) == 3 * 2
    assert spread(cells) <= 1


def test_every_needed_form_must_be_usable():
    """A verb whose past is rare is of no use to a template that needs base and past."""
    text = """
name: forms
good: "the {one} {verb:past}."
bad: "the {one} {verb}."
slots:
  one: {category: noun, where: {kinds: [person]}}
  verb: {category: verb}
"""
    known = lexicon.Lexicon([*PERSONS, verb("go", ""), verb("sit", ""), verb("lie", "")])
    forms = frozenset(["aa", "bb", "go", "goed", "sit", "lie", "lieed"])
    vocabulary = lexicon.Vocabulary(9, {"a": forms, "b": forms - {"lieed"} | {"sited"}})
    with pytest.raises(PoshgridError) as error:
        slot_words.choices(phenomenon(text), known, vocabulary)
    assert "phenomenon p, template forms, slot 'verb': 1 usable of 3 words, 2 needed" in str(
        error.value
    )
    assert "sited in a, lieed in b" in str(error.value)
    fixed = slot_words.rare(phenomenon(text), known, vocabulary)
    assert fixed == {"the": ["a", "b"]}


# ---- the templates of the repository --------------------------------------------------------


@pytest.mark.parametrize("phenomenon_name", templatefile.names(templates.TEMPLATES))
def test_every_slot_of_every_template_is_evenly_used(phenomenon_name):
    """With the whole lexicon: words that fit everywhere differ by a few uses only."""
    words = lexicon.read()
    vocabulary = lexicon.Vocabulary(9, {"a": frozenset(f for w in words.words for f in w.folded)})
    described = templates.read(phenomenon_name)
    choices = slot_words.choices(described, words, vocabulary)
    found = flat(generator.candidates(described, 400, 42, choices))
    assert len({(pair.good, pair.bad) for pair in found}) == 400
    assert len({pair.lexical_set for pair in found}) == 400
    for template in described.templates:
        own = [pair for pair in found if pair.template == template.name]
        assert spread(Counter(pair.combination for pair in own)) <= 1
        times = {slot: Counter() for slot in template.slots}
        pattern = re.sub(r"\\\{(\w+)(?::\w+)?\\\}", r"(?P<\1>\\w+)", re.escape(template.good))
        for pair in own:
            for slot, used in re.fullmatch(pattern, pair.good, re.IGNORECASE).groupdict().items():
                times[slot][used] += 1
        for slot, described_slot in template.slots.items():
            if times[slot] and not described_slot.agree and not described_slot.balanced:
                assert spread(times[slot]) <= 2, (template.name, slot, times[slot])
