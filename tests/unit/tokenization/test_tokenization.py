"""Tokenizers and token folders."""

from __future__ import annotations

import functools
import json
import unicodedata

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoTokenizer, GPT2Config, PreTrainedTokenizerFast

from poshgrid.errors import PoshgridError
from poshgrid.tokenization import encode, tokenizer
from tests.unit.training.training_support import (
    condition,
    sentences,
    tokenizer_spec,
    write_condition,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return condition(tmp_path_factory.mktemp("condition"))


@pytest.fixture(scope="module")
def trained(source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizer")
    tokenizer.train(tokenizer_spec(), [source], folder)
    return folder


@pytest.fixture(scope="module")
def encoded(source, trained, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokens")
    encode.encode(source, trained, folder)
    return folder


@pytest.fixture(scope="module")
def reloaded(trained, tmp_path_factory):
    """The tokenizer as transformers loads it, alone and from a model's folder."""
    model = tmp_path_factory.mktemp("model")
    for file in trained.iterdir():
        (model / file.name).write_bytes(file.read_bytes())
    GPT2Config(vocab_size=300, bos_token_id=0, eos_token_id=0).save_pretrained(model)
    return [PreTrainedTokenizerFast.from_pretrained(trained), AutoTokenizer.from_pretrained(model)]


@given(TEXTS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_reloaded_tokenizer_cuts_as_the_raw_one(reloaded, trained, given_text):
    raw = tokenizer.load(trained).encode(given_text, add_special_tokens=False).ids
    for loaded in reloaded:
        assert loaded(given_text).input_ids == raw
        assert loaded(given_text, add_special_tokens=False).input_ids == raw


@given(TEXTS)
@settings(max_examples=60, deadline=None)
def test_text_comes_back_from_its_ids(trained, given_text):
    cutter = tokenizer.load(trained)
    composed = unicodedata.normalize("NFC", given_text)
    back = cutter.decode(cutter.encode(given_text).ids, skip_special_tokens=False)
    assert back in (composed, f" {composed}")


@pytest.mark.parametrize("word", ["The", "dog", "sees", "What", "wanna", "’tis"])
def test_a_word_is_cut_the_same_first_and_later(trained, word):
    cutter = tokenizer.load(trained)
    first, alone = cutter.encode(f"{word} dog").ids, cutter.encode("dog").ids
    later = cutter.encode(f"dog {word}").ids
    assert first[: len(first) - len(alone)] == later[len(alone) :] == cutter.encode(word).ids


def test_lowercase_folds_case_after_composing(source, tmp_path):
    tokenizer.train(tokenizer_spec(lowercase=True), [source], tmp_path / "lower")
    cutter = tokenizer.load(tmp_path / "lower")
    assert cutter.encode("The DOG cafe\u0301").ids == cutter.encode("the dog caf\u00e9").ids
    tokenizer.train(tokenizer_spec(), [source], tmp_path / "cased")
    cutter = tokenizer.load(tmp_path / "cased")
    assert cutter.encode("The DOG").ids != cutter.encode("the dog").ids


def test_training_twice_gives_the_same_bytes(source, trained, tmp_path):
    tokenizer.train(tokenizer_spec(), [source], tmp_path)
    assert sorted(f.name for f in tmp_path.iterdir()) == [
        "statistics.json",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    for file in trained.iterdir():
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()


def test_a_vocabulary_larger_than_the_text_supports(source, tmp_path):
    with pytest.raises(PoshgridError) as error:
        tokenizer.train(tokenizer_spec(5_000), [source], tmp_path / "out")
    message = str(error.value)
    assert "5,000 types asked" in message
    assert "tokenizer.vocabulary_size" in message
    assert "\n" not in message
    assert not (tmp_path / "out").exists()
    # the number that it names is one that works
    reached = int(message.split("vocabulary_size to ")[1].split(maxsplit=1)[0])
    assert 300 < reached < 5_000
    assert (
        tokenizer.train(tokenizer_spec(reached), [source], tmp_path)["vocabulary_size"] == reached
    )


def test_layout_of_a_split_worked_by_hand(source, trained, encoded):
    cutter = tokenizer.load(trained)
    texts = pl.read_parquet(source / "dev.parquet")["text"].to_list()
    expected, positions = [0], [0]
    for sentence in texts:
        expected += [*cutter.encode(sentence).ids, 0]
        positions.append(len(expected) - 1)
    found = encode.load(encoded, "dev")
    assert found.ids.tolist() == expected
    assert found.offsets.tolist() == positions
    assert found.ids.dtype == np.uint16
    for i, sentence in enumerate(texts):
        row = found.ids[found.offsets[i] : found.offsets[i + 1] + 1].tolist()
        assert row[0] == row[-1] == 0
        assert 0 not in row[1:-1]
        assert cutter.decode(row[1:-1]).strip() == sentence


def test_statistics_count_what_was_written(source, trained, encoded):
    statistics = json.loads((encoded / "statistics.json").read_text())
    assert statistics["dtype"] == "uint16"
    assert statistics["vocabulary_size"] == 300
    for split, number in (("train", 200), ("dev", 30), ("test", 30)):
        frame = pl.read_parquet(source / f"{split}.parquet")
        found = statistics[split]
        size = (encoded / f"{split}.bin").stat().st_size // 2
        assert (found["sentences"], found["tokens"]) == (number, size)
        assert found["words"] == frame["n_words"].sum()
        assert found["distinct"] == len(set(frame["text"]))
        assert sum(each["tokens"] for each in found["sources"].values()) == size - 1
        for name, (each,) in zip(
            found["sources"], frame.group_by("source").agg().sort("source").iter_rows(), strict=True
        ):
            own = frame.filter(source=each)
            assert name == each and found["sources"][each]["distinct"] == len(set(own["text"]))
            assert found["sources"][each]["words"] == own["n_words"].sum()
        assert found["tokens_per_word"] == pytest.approx((size - number - 1) / found["words"])


def test_a_large_vocabulary_takes_four_bytes(tmp_path):
    words = ["<|endoftext|>", "<pad>", *(f"w{i}" for i in range(70_000))]
    large = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<pad>"))
    large.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    (tmp_path / "tokenizer").mkdir()
    large.save(str(tmp_path / "tokenizer" / "tokenizer.json"))
    texts = ["w1 w65533 w65534 w69999"]
    source = write_condition(tmp_path / "condition", train=texts, dev=texts, test=texts)
    statistics = encode.encode(source, tmp_path / "tokenizer", tmp_path / "tokens")
    assert statistics["dtype"] == "uint32"
    ids = encode.load(tmp_path / "tokens", "train").ids
    assert ids.tolist() == [0, 3, 65_535, 65_536, 70_001, 0]


def test_text_that_spells_the_boundary_is_no_boundary(trained, tmp_path):
    texts = ["a <|endoftext|> b", "<pad> c"]
    source = write_condition(tmp_path / "condition", train=texts, dev=texts, test=texts)
    statistics = encode.encode(source, trained, tmp_path / "tokens")
    found = encode.load(tmp_path / "tokens", "train")
    assert statistics["train"]["sentences"] == 2
    assert np.flatnonzero(found.ids == 0).tolist() == found.offsets.tolist()
    assert 1 not in found.ids


def test_damaged_tokens_are_refused(encoded, tmp_path):
    for file in encoded.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    whole = (tmp_path / "dev.bin").read_bytes()
    (tmp_path / "dev.bin").write_bytes(whole[:-2])
    with pytest.raises(PoshgridError, match=r"dev\.bin.*encode it again"):
        encode.load(tmp_path, "dev")
    (tmp_path / "test.offsets.npy").write_bytes(b"")
    with pytest.raises(PoshgridError, match="cannot read test"):
        encode.load(tmp_path, "test")
    (tmp_path / "train.bin").unlink()
    with pytest.raises(PoshgridError, match="cannot read train"):
        encode.load(tmp_path, "train")


@pytest.mark.parametrize(("place", "message"), [(None, "no sentence"), (2, "row 2 has no text")])
def test_a_faulty_table_is_named_and_nothing_is_written(trained, tmp_path, place, message):
    texts = sentences(4)
    faulty = [] if place is None else [*texts[:place], " \t", *texts[place:]]
    source = write_condition(tmp_path / "condition", train=faulty, dev=texts, test=texts)
    for job in (
        functools.partial(tokenizer.train, tokenizer_spec(), [source], tmp_path / "out"),
        functools.partial(encode.encode, source, trained, tmp_path / "out"),
    ):
        with pytest.raises(PoshgridError, match=message) as error:
            job()
        assert str(source / "train.parquet") in str(error.value)
        assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


HERE = ["the dog sees a cat .", "a dog isn't here ."] * 100
THERE = ["the zebra sees a cat .", "a cat sleeps ."] * 100


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two conditions; *zebra* and *sleeps* are seen in the second one alone."""
    folder = tmp_path_factory.mktemp("two")
    found = []
    for name, texts in (("here", HERE), ("there", THERE)):
        write_condition(folder / name, train=texts, dev=texts[:2], test=texts[:2])
        found.append(folder / name)
    return found


def words_spec(size=258, **options):
    """A list of words; the least size is larger than that of these texts."""
    spec = tokenizer_spec(300, kind="words", **options)
    settings = spec.tokenizer.model_copy(update={"vocabulary_size": size})
    return spec.model_copy(update={"tokenizer": settings})


def test_words_are_listed_by_frequency_and_others_are_unknown(two, tmp_path):
    # ".", "a" and "dog" stand in it twice a round, the others once; isn't is one word
    tokenizer.train(words_spec(3 + 8), two[:1], tmp_path)
    cutter = tokenizer.load(tmp_path)
    assert [cutter.id_to_token(i) for i in range(cutter.get_vocab_size())] == [
        "<|endoftext|>", "<pad>", "<unk>", ".", "a", "dog", "cat", "here", "isn't", "sees", "the",
    ]  # fmt: skip


def test_a_word_of_another_condition_has_an_id_where_the_list_is_shared(two, tmp_path):
    tokenizer.train(words_spec(3 + 8), two[:1], tmp_path / "own")
    tokenizer.train(words_spec(3 + 10), two, tmp_path / "shared")
    own, shared = (tokenizer.load(tmp_path / name) for name in ("own", "shared"))
    unknown = own.token_to_id("<unk>")
    assert own.encode("the zebra sees", add_special_tokens=False).ids[1] == unknown
    assert shared.encode("the zebra sees", add_special_tokens=False).ids[1] != unknown
    # One word is one id whatever condition its sentence is from, and unknown words are counted
    counts = {}
    for folder in two:
        tokens = tmp_path / f"tokens-{folder.name}"
        counts[folder.name] = encode.encode(folder, tmp_path / "own", tokens)["train"]
    assert counts["here"]["unknown"] == 0
    assert counts["there"]["unknown"] == 200  # zebra and sleeps, each in a hundred sentences


def test_a_file_is_taken_as_it_is(two, tmp_path):
    tokenizer.train(tokenizer_spec(280), two, tmp_path / "trained")
    tokenizer.given(tokenizer_spec(), tmp_path / "trained/tokenizer.json", tmp_path / "given")
    texts = ["the zebra isn't here .", "  Quizzical é"]
    cut = [
        [
            tokenizer.load(tmp_path / name).encode(text, add_special_tokens=False).ids
            for text in texts
        ]
        for name in ("trained", "given")
    ]
    assert cut[0] == cut[1]
    (tmp_path / "words.txt").write_text("Zebra\n\nthe\nzebra\n", encoding="utf-8")
    facts = tokenizer.given(
        tokenizer_spec(lowercase=True), tmp_path / "words.txt", tmp_path / "words"
    )
    assert facts["vocabulary_size"] == 3 + 2  # the two spellings are one word in lower case
    cutter = tokenizer.load(tmp_path / "words")
    assert cutter.encode("The zebra sleeps", add_special_tokens=False).tokens == [
        "the", "zebra", "<unk>",
    ]  # fmt: skip
