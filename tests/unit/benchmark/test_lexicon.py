"""The lexicon is consistent, complete for the toy grammar, and its reader finds every fault."""

from __future__ import annotations

import shutil
from collections import Counter

import pytest

from poshgrid.benchmark import lexicon
from poshgrid.core.errors import PoshgridError
from tests.cases import read_cases
from tests.unit.benchmark.generated import WORDS

CASES = read_cases(__file__, "lexicon")

EXPECTED = read_cases(__file__, "words")
DOUBLED = EXPECTED["doubled"].split()


def _s(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh")) or word == "go":
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def _ing(corpus: str) -> str:
    if corpus in DOUBLED:
        return corpus + corpus[-1] + "ing"
    if corpus.endswith("ie"):
        return corpus[:-2] + "ying"
    return (corpus[:-1] if corpus.endswith("e") and not corpus.endswith("ee") else corpus) + "ing"


def _ed(corpus: str) -> str:
    if corpus.endswith("e"):
        return corpus + "d"
    if corpus.endswith("y") and corpus[-2] not in "aeiou":
        return corpus[:-1] + "ied"
    return corpus + (corpus[-1] if corpus in DOUBLED else "") + "ed"


def test_verb_forms_are_those_of_english():
    irregular = EXPECTED["irregular"]
    for verb in WORDS.of("verb"):
        past, participle = irregular.get(verb.lemma, [_ed(verb.lemma)] * 2)
        forms = (verb.lemma, _s(verb.lemma), past, participle, _ing(verb.lemma))
        assert tuple(verb.forms.values()) == forms
    assert set(irregular) <= {verb.lemma for verb in WORDS.of("verb")}


def test_no_word_is_listed_twice():
    listed = Counter((word.category, word.lemma.casefold()) for word in WORDS.words)
    assert set(listed.values()) == {1}


def test_nouns_have_the_gender_that_reflexives_agree_with():
    for gender, listed in EXPECTED["genders"].items():
        nouns = {word.lemma for word in WORDS.of("noun") if word.features["gender"] == {gender}}
        assert nouns == set(listed.split())


def test_every_verb_that_can_do_without_an_object_is_marked():
    frames = {w.lemma: w.features["frames"] for w in WORDS.of("verb") if w.features["objects"]}
    optional = frames.keys() & set(EXPECTED["optional objects"].split())
    assert [verb for verb in optional if "either" not in frames[verb]] == []
    assert len(optional) > 60


@pytest.mark.parametrize(
    ("line", "message"),
    CASES["a_fault_is_named_with_its_line"],
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
    vocabulary = lexicon.usable(counts, 2)
    assert vocabulary.frequent == {"a": {"man", "boy"}, "b": {"man", "xyz"}}
    assert vocabulary.lacking("Man") == []
    assert vocabulary.lacking("boy") == ["b"]
    assert vocabulary.lacking("dog") == ["a", "b"]
