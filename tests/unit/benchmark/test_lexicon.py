"""The lexicon is consistent, its reader finds every fault; what corpora say of its words."""

from __future__ import annotations

import shutil
from collections import Counter

import polars as pl
import pytest

from poshgrid.benchmark import frequencies, lexicon
from poshgrid.core.errors import PoshgridError
from poshgrid.models.ngram import count
from tests.cases import read_cases
from tests.unit.benchmark.generated import WORDS
from tests.unit.models.training.training_support import write_condition, write_sentences

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


# ---- corpora --------------------------------------------------------------------------------


@pytest.fixture
def corpus(tmp_path):
    """A table with three training sentences, a spare one, and one that is held out."""
    rows = [
        ("The girl saw it.", "train", "1K"), ("Don't you wanna go?", "train", "1K"),
        ("the girl saw IT", "train", "2K"), ("A cat sat.", "train", ""), ("A dog ran.", "dev", ""),
    ]  # fmt: skip
    return write_sentences(tmp_path / "sentences.parquet", rows)


def test_training_sentences_are_counted_and_no_other(corpus):
    counts = frequencies.count(corpus)
    assert counts["girl"] == counts["saw"] == 2
    assert counts["don"] == counts["t"] == counts["wanna"] == 1
    assert counts["dog"] == counts["cat"] == 0


def test_what_was_heard_whatever_its_case_and_marks(corpus):
    asked = {"The girl saw it!", "the Girl, saw it", "A dog ran.", "Do you wanna go?", "saw it"}
    assert frequencies.heard(asked, [corpus]) == {"The girl saw it!", "the Girl, saw it"}
    # a refill may hold a spare one
    for asked in ({"a cat sat"}, {"dont you wanna go?"}, set()):
        assert frequencies.heard(asked, [corpus]) == asked


def test_what_readers_know_of_the_corpora(corpus, tmp_path):
    texts = pl.read_parquet(corpus).filter(pl.col("size") != "")["text"].to_list()
    table = write_condition(tmp_path / "condition", train=texts) / "train.parquet"
    count(table, tmp_path / "ngram", order=2, size=None)
    context = frequencies.context({"baby": corpus}, {"baby/1K": tmp_path / "ngram"}, top_k=3)
    good, bad = (
        context.baselines["baby/1K"]([text])[0] for text in ("the girl saw it.", "it saw.")
    )
    assert good > bad
    assert context.vocabulary.lacking("girl") == []
    assert context.heard({"the girl saw it", "x"}) == {"the girl saw it"}
