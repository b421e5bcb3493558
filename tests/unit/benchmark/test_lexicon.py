"""The lexicon is consistent, complete for the toy grammar, and its reader finds every fault."""

from __future__ import annotations

import shutil
from collections import Counter

import pytest

from poshgrid.benchmark import lexicon
from poshgrid.errors import PoshgridError

WORDS = lexicon.read()

# past and participle of the irregular verbs, from memory and not from the lexicon
IRREGULAR = """
beat beat beaten, bite bit bitten, break broke broken, bring brought brought, build built built,
buy bought bought, catch caught caught, choose chose chosen, come came come, cut cut cut, draw
drew drawn, drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen, feed fed fed,
feel felt felt, fight fought fought, find found found, fly flew flown, forget forgot forgotten,
forgive forgave forgiven, get got gotten, give gave given, go went gone, grow grew grown, hear
heard heard, hide hid hidden, hit hit hit, hold held held, hurt hurt hurt, keep kept kept, kneel
knelt knelt, know knew known, lead led led, leave left left, lie lay lain, lose lost lost, make
made made, mean meant meant, meet met met, pay paid paid, put put put, read read read, ride rode
ridden, rise rose risen, run ran run, say said said, see saw seen, sell sold sold, send sent sent,
show showed shown, sing sang sung, sit sat sat, sleep slept slept, speak spoke spoken, stand stood
stood, steal stole stolen, swear swore sworn, swim swam swum, take took taken, teach taught
taught, tell told told, think thought thought, throw threw thrown, understand understood
understood, wake woke woken, wear wore worn, win won won, write wrote written
"""
DOUBLED = {"admit", "begin", "control", "cut", "drop", "forget", "get", "hit", "hug", "nod"} | {
    "put", "run", "sit", "stop", "swim", "win"
}  # fmt: skip


def _s(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh")) or word == "go":
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def _ing(base: str) -> str:
    if base in DOUBLED:
        return base + base[-1] + "ing"
    if base.endswith("ie"):
        return base[:-2] + "ying"
    return (base[:-1] if base.endswith("e") and not base.endswith("ee") else base) + "ing"


def _ed(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + (base[-1] if base in DOUBLED else "") + "ed"


def test_verb_forms_are_those_of_english():
    irregular = {e.split()[0]: e.split()[1:] for e in IRREGULAR.replace("\n", " ").split(",")}
    for verb in WORDS.of("verb"):
        past, participle = irregular.get(verb.lemma, [_ed(verb.lemma)] * 2)
        forms = (verb.lemma, _s(verb.lemma), past, participle, _ing(verb.lemma))
        assert tuple(verb.forms.values()) == forms
    assert set(irregular) <= {verb.lemma for verb in WORDS.of("verb")}


GENDERS = {
    "m": """boy boyfriend brother dad daddy duke emperor father fireman gentleman grandfather
    grandpa groom guy husband king knight lord man monk nephew policeman prince son uncle""",
    "f": """actress aunt bride daughter duchess girl girlfriend grandma grandmother lady mom mommy
    mother niece nun princess queen sister waitress wife witch woman""",
}


def test_nouns_have_the_gender_that_reflexives_agree_with():
    for gender, listed in GENDERS.items():
        nouns = {word.lemma for word in WORDS.of("noun") if word.features["gender"] == {gender}}
        assert nouns == set(listed.split())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("man\tmen\tm\tperson\tno", "5 cells"),
        ("man\tmen\tm\tperson\tno\tdefinite", "'man' is in the file twice"),
        ("pal\tpals\tx\tperson\tno\tdefinite", "unknown gender 'x'"),
        ("pal\tpals\tm\tpersn\tno\tdefinite", "unknown kinds 'persn'; did you mean 'person'?"),
        ("pal\tpals 2\tm\tperson\tno\tdefinite", "'pals 2' is not a word form"),
    ],
)
def test_a_fault_is_named_with_its_line(tmp_path, line, message):
    shutil.copytree(lexicon.LEXICON, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "nouns.tsv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, line]) + "\n")
    with pytest.raises(PoshgridError, match=message) as error:
        lexicon.read(tmp_path)
    assert f"nouns.tsv: line {len(lines) + 1}" in str(error.value)


def test_a_word_is_usable_only_if_frequent_in_every_base():
    counts = {"a": Counter(man=3, boy=2, dog=1), "b": Counter(man=3, dog=2, boy=1, xyz=9)}
    vocabulary = lexicon.usable(WORDS, counts, 2)
    assert vocabulary.frequent == {"a": {"man", "boy"}, "b": {"man", "xyz"}}
    assert vocabulary.lacking("Man") == []
    assert vocabulary.lacking("boy") == ["b"]
    assert vocabulary.lacking("dog") == ["a", "b"]
    assert {form: n for form, n in vocabulary.counts["b"].items() if n} == {
        "man": 3, "dog": 2, "boy": 1,
    }  # fmt: skip
    assert vocabulary.totals == {"a": 6, "b": 15}
