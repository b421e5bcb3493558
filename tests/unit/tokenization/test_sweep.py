"""The sweep of vocabulary sizes: one training stands for all, and counts are those of the text."""

from __future__ import annotations

import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poshgrid.config import Tokenizer, specs
from poshgrid.errors import PoshgridError
from poshgrid.tokenization import encode, sweep, tokenizer
from tests.unit.training.training_support import (
    condition,
    sentences,
    tokenizer_spec,
    write_condition,
)

ODD = [
    "the <|endoftext|> ends <pad> here", "  two  spaces\tand\u00a0more ", "cafe\u0301 café ’tis",
    "I'll won't DON'T 12345 ...!?", "日本語 ß ﬁ 🙂🙂", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
]  # fmt: skip
SIZES = (258, 259, 270, 300, 325)


def spec(*sizes: int, **options: object) -> specs.TokenizerSpec:
    """Return a spec with a list of sizes; its own size leaves no merge: it must not be read."""
    given = Tokenizer(vocabulary_size=258, sweep=list(sizes), **options)
    return specs.TokenizerSpec(tokenizer=given)


def asked_alone(source, size, folder, **options):
    tokenizer.train(tokenizer_spec(size, **options), [source], folder)
    return tokenizer.load(folder)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("condition")
    texts = [*sentences(150), *ODD]
    return write_condition(folder, train=texts, dev=texts[:3], test=texts[:3])


@pytest.fixture(scope="module")
def swept(source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("swept")
    return sweep.sweep(spec(*SIZES), source, folder / "sweep.json"), folder


@pytest.mark.parametrize("size", SIZES)
def test_a_smaller_tokenizer_is_the_first_merges_of_a_larger(source, tmp_path, size):
    largest = asked_alone(source, SIZES[-1], tmp_path / "large")
    alone = asked_alone(source, size, tmp_path / "alone")
    smaller = tokenizer.truncate(largest, size)
    smaller.encode_special_tokens = True
    assert smaller.get_vocab_size() == size
    assert json.loads(smaller.to_str()) == json.loads(alone.to_str())
    texts = [*pl.read_parquet(source / "train.parquet")["text"], "Unseen, zebras; quickly"]
    for given_text in texts:
        assert smaller.encode(given_text).ids == alone.encode(given_text).ids


@given(
    st.lists(st.text("ab ", min_size=1, max_size=12), min_size=1, max_size=12),
    st.integers(258, 280),  # few letters: long runs, ties, and texts that yield fewer types
)
@settings(max_examples=150, deadline=None)
def test_truncating_gives_what_training_gives(texts, size):
    options = Tokenizer(min_frequency=1)
    large = tokenizer.learn(options, 280, [texts])
    alone = tokenizer.learn(options, size, [texts])
    assert json.loads(tokenizer.truncate(large, size).to_str()) == json.loads(alone.to_str())


@pytest.mark.parametrize("lowercase", [False, True])
def test_counts_are_those_of_the_encoded_text(source, tmp_path, lowercase):
    found = sweep.sweep(
        spec(*SIZES, lowercase=lowercase), source, tmp_path / "sweep" / "sweep.json"
    )
    for row in found["vocabularies"]:
        folder = tmp_path / str(row["vocabulary_size"])
        cutter = asked_alone(source, row["vocabulary_size"], folder, lowercase=lowercase)
        texts = pl.read_parquet(source / "train.parquet")["text"]
        assert row["tokens_without_boundaries"] == sum(len(cutter.encode(t).ids) for t in texts)
        encoded = encode.encode(source, folder, folder / "tokens")["train"]
        assert row["tokens_with_boundaries"] == encoded["tokens"]
        assert row["tokens_per_word"] == encoded["tokens_per_word"]
        assert row["reached"] == row["vocabulary_size"]
        assert (found["sentences"], found["words"]) == (encoded["sentences"], encoded["words"])


def test_counts_worked_by_hand(tmp_path):
    # Words of bytes: " aa" twice, " b" once. At 258 types each byte is a token: 3 + 3 + 2.
    # The first merge is of a pair that occurs twice, the second makes " aa" one token.
    source = write_condition(tmp_path / "condition", train=["aa b", "aa"], dev=["b"], test=["b"])
    found = sweep.sweep(spec(258, 259, 260, 5000), source, tmp_path / "sweep.json")
    assert found == json.loads((tmp_path / "sweep.json").read_text())
    assert (found["sentences"], found["words"], found["distinct_words"]) == (2, 3, 2)
    rows = [tuple(row.values()) for row in found["vocabularies"]]
    assert rows == [  # size, reached, tokens without and with 3 boundaries, per word
        (258, 258, 8, 11, 2.666667),
        (259, 259, 6, 9, 2.0),
        (260, 260, 4, 7, 1.333333),
        (5000, 260, 4, 7, 1.333333),  # " b" occurs once, below min_frequency: no more types
    ]


def test_a_size_beyond_the_text_is_reported_as_what_training_names(source, tmp_path):
    found = sweep.sweep(spec(300, 50_000), source, tmp_path / "sweep.json")["vocabularies"][-1]
    with pytest.raises(PoshgridError) as error:
        tokenizer.train(tokenizer_spec(50_000), [source], tmp_path / "alone")
    assert f"yield only {found['reached']:,};" in str(error.value)


def test_without_a_list_the_sizes_of_the_paper_are_taken(tmp_path):
    source = condition(tmp_path / "condition", train=5, dev=1, test=1)
    found = sweep.sweep(spec(), source, tmp_path / "sweep.json")
    sizes = [row["vocabulary_size"] for row in found["vocabularies"]]
    assert sizes == [8192, 16384, 32768, 49152, 65536]


def test_sizes_are_sorted_and_counted_once(source, tmp_path):
    found = sweep.sweep(spec(300, 260, 300), source, tmp_path / "sweep.json")
    assert [row["vocabulary_size"] for row in found["vocabularies"]] == [260, 300]


def test_batches_do_not_change_the_counts(source, swept, tmp_path, monkeypatch):
    sizes, whole = [], tokenizer.batches

    def small(*args):
        for batch in whole(*args, size=7):
            sizes.append(len(batch.texts))
            yield batch

    monkeypatch.setattr(tokenizer, "batches", small)
    monkeypatch.setattr(sweep, "_WORDS", 3)
    assert sweep.sweep(spec(*SIZES), source, tmp_path / "sweep.json") == swept[0]
    assert max(sizes) == 7
    assert (tmp_path / "sweep.json").read_bytes() == (swept[1] / "sweep.json").read_bytes()


@pytest.mark.parametrize(
    ("fault", "message"), [("missing", "not found"), ("blank", "row 1 has no text")]
)
def test_a_faulty_table_is_named_and_nothing_is_written(tmp_path, fault, message):
    texts = ["a b", " \t" if fault == "blank" else "c"]
    source = write_condition(tmp_path / "condition", train=texts, dev=["a"], test=["a"])
    if fault == "missing":
        (source / "train.parquet").unlink()
    with pytest.raises(PoshgridError, match=message) as error:
        sweep.sweep(spec(300), source, tmp_path / "out" / "sweep.json")
    assert str(source / "train.parquet") in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()
