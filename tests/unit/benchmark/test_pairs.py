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
from poshgrid.benchmark.generation import templatefile, templates, words
from poshgrid.benchmark.generation import words as slot_words
from poshgrid.benchmark.lexicon import Word
from poshgrid.errors import PoshgridError
from tests.unit.benchmark.generated import generate

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


def test_use_is_as_even_as_agreement_allows():
    """Half of the nouns are food. What fits both kinds steps back behind what fits one."""
    words = [
        *(noun(f"food{i}", "food") for i in LETTERS), *(noun(f"toy{i}", "toy") for i in LETTERS),
        verb("eat", "food"), verb("throw", "toy"), verb("see", "food toy"),
    ]  # fmt: skip
    for seed in range(5):
        found = made(phenomenon(OBJECT), words, 40, seed)
        assert set(uses(found, 1).values()) == {1}
        assert spread(uses(found, 2)) <= 2  # drawn blindly, "see" would have half of all


def test_a_word_without_partners_is_passed_over():
    """No verb takes a song: it is least used for ever, and in nobody's way."""
    words = [noun("song", "music"), noun("ball", "toy"), noun("bat", "toy"), verb("hit", "toy")]
    assert uses(made(phenomenon(OBJECT), words, 2), 1) == {"ball": 1, "bat": 1}
    with pytest.raises(PoshgridError, match=r"template object: only 2 different pairs of 3"):
        made(phenomenon(OBJECT), words, 3)


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


def test_new_sets_of_words_come_first():
    found = made(phenomenon(WANNA), NARROW, 6)
    assert len({pair.lexical_set for pair in found}) == 6  # all there are
    assert found[0].lexical_set.count("+") == 1


def test_what_the_words_allow_is_taken_if_it_is_enough():
    """2 names x 3 verbs x 3 x 2 wh-words are 36 pairs."""
    found = made(phenomenon(WANNA), NARROW, 500, least=20)
    assert len(found) == len({(p.good, p.bad) for p in found}) == 36
    assert len(made(phenomenon(WANNA), NARROW, 500, least=36)) == 36
    for options in ({"least": 37}, {}):
        with pytest.raises(
            PoshgridError, match=r"p, template wanna: only 36 different pairs of"
        ) as e:
            made(phenomenon(WANNA), NARROW, 500, **options)
        assert "slot 'name' has 2 usable words (Ann, Bob)" in str(e.value)
        assert "\n" not in str(e.value)


def test_templates_have_equal_shares_and_share_no_pair():
    again = WANNA.replace("name: wanna", "name: again")
    found = made(phenomenon(WANNA, again), NARROW, 35)
    assert Counter(pair.template for pair in found) == {"wanna": 18, "again": 17}
    assert len({(pair.good, pair.bad) for pair in found}) == 35


def test_the_same_seed_gives_the_same_pairs():
    assert made(phenomenon(WANNA), NARROW, 30, 7) == made(phenomenon(WANNA), NARROW, 30, 7)
    assert made(phenomenon(WANNA), NARROW, 30, 7) != made(phenomenon(WANNA), NARROW, 30, 8)
    longer = made(phenomenon(WANNA), NARROW, 30, 7)[:20]
    assert longer == made(phenomenon(WANNA), NARROW, 20, 7)


def test_given_choices_are_the_only_words():
    known = lexicon.Lexicon([*NARROW, *FUNCTIONS])
    vocabulary = lexicon.Vocabulary(9, {"a": frozenset(f for w in known.words for f in w.folded)})
    described = phenomenon(WANNA)
    choices = slot_words.choices(described, known, vocabulary)
    assert {key: [w.lemma for w in words] for key, words in choices.items()} == {
        ("wanna", "adjunct"): ["when", "how", "why"],
        ("wanna", "argument"): ["who", "what"],
        ("wanna", "name"): ["Ann", "Bob"],
        ("wanna", "verb"): ["go", "sit", "lie"],
    }
    choices["wanna", "verb"] = [w for w in known.of("verb") if w.lemma == "sit"]
    rows = generate(described, 8, 1, known, vocabulary, choices)
    assert {row["good"].split()[2] for row in rows} == {"sit?"}
    assert [row["item_id"] for row in rows] == [f"p-{n:04}" for n in range(1, 9)]
    assert {row["template"] for row in rows} == {"p-wanna"}
    free = generate(described, 8, 1, known, vocabulary)
    assert {row["good"].split()[2] for row in free} == {"go?", "sit?", "lie?"}


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


def test_a_set_of_words_that_is_there_waits_for_a_new_one():
    """What repeats no pair, but the content words of one, is taken after 40 draws."""
    ann, bob = name("Ann", "f"), name("Bob", "m")
    who, what = FUNCTIONS[-2:]

    def run(*later):
        drawn = iter([{"n": ann, "w": who}, *later])
        return list(
            words.fillings(
                "here", {"n": [ann, bob], "w": [who, what]}, [{}, {}],
                lambda start, used, attempt: next(drawn),
                lambda found: [tuple(word.lemma for word in found.values())],
                seen=set(), tries=60, least=2, kind="pairs",
            )
        )  # fmt: skip

    old, new = {"n": ann, "w": what}, {"n": bob, "w": who}
    assert run({"n": ann, "w": who}, None, old, new)[1] == new
    assert run(*[old] * 39, new)[1] == new
    assert run(*[old] * 41, new)[1] == old
    with pytest.raises(PoshgridError, match=r"here: only 1 different pairs of 2 .*\(Ann, Bob\)"):
        run(*[{"n": ann, "w": who}] * 60)


@pytest.mark.parametrize(("items", "parts"), [(7, [3, 2, 2]), (6, [2, 2, 2]), (2, [1, 1, 0])])
def test_shares_are_as_equal_as_can_be(items, parts):
    assert words.shares(items, 3) == parts


def test_words_that_make_the_construction_may_be_rare_in_the_form_that_is_used():
    """The base form is not used, and is not reported; the noun must be frequent."""
    text = """
name: rare
good: "The {one} wanna {verb:past}."
bad: "The {one} {verb:past} wanna."
slots:
  one: {category: noun, where: {kinds: [person]}}
  verb: {category: verb, frequent: false}
"""
    known = lexicon.Lexicon([*PERSONS, verb("go", ""), verb("sit", "")])
    vocabulary = lexicon.Vocabulary(9, {"a": {"the", "aa", "goed"}, "b": {"aa", "wanna", "goed"}})
    found = slot_words.rare(phenomenon(text), known, vocabulary)
    assert found == {"sited": ["a", "b"], "the": ["b"], "wanna": ["a"]}
    with pytest.raises(PoshgridError, match=r"slot 'one': 1 usable of 5 words, 2 needed"):
        slot_words.choices(phenomenon(text), known, vocabulary)


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
        assert all(auxiliaries_differ(pair.good, words) for pair in own)
        times = {slot: Counter() for slot in template.slots}
        pattern = re.sub(r"\\\{(\w+)(?::\w+)?\\\}", r"(?P<\1>\\w+)", re.escape(template.good))
        for pair in own:
            for slot, used in re.fullmatch(pattern, pair.good, re.IGNORECASE).groupdict().items():
                times[slot][used] += 1
        for slot, described_slot in template.slots.items():
            if times[slot] and not described_slot.agree and not described_slot.balanced:
                assert spread(times[slot]) <= 2, (template.name, slot, times[slot])


def auxiliaries_differ(sentence, words):
    known = {w.lemma for w in words.of("auxiliary")}
    found = [w for w in sentence.lower().split() if w in known]
    return len(found) == len(set(found))
