"""Tokenizers, token folders and the sweep of vocabulary sizes."""

import json
import shutil
import unicodedata

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoTokenizer, GPT2Config, PreTrainedTokenizerFast

from poshgrid import config
from poshgrid.core.errors import PoshgridError
from poshgrid.models.tokenization import encode, sweep, tokenizer
from tests.unit.models.training.training_support import corpus, tokenizer_spec, write_condition

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


@pytest.fixture(scope="module")
def encoded(tmp_path_factory):
    """The folder of a condition's tokens."""
    return corpus(tmp_path_factory.mktemp("corpus"))[0]


@pytest.fixture(scope="module")
def source(encoded):
    return encoded.parent / "condition"


@pytest.fixture(scope="module")
def trained(encoded):
    return encoded.parent / "tokenizer"


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


@pytest.mark.parametrize("word", ["The", "wanna", "’tis"])
def test_a_word_is_cut_the_same_first_and_later(trained, word):
    cutter = tokenizer.load(trained)
    dog, alone = cutter.encode("dog").ids, cutter.encode(word).ids
    assert cutter.encode(f"{word} dog").ids == alone + dog
    assert cutter.encode(f"dog {word}").ids == dog + alone


def test_lowercase_folds_case_after_composing(source, tmp_path):
    tokenizer.train(tokenizer_spec(lowercase=True), [source], tmp_path / "lower")
    cutter = tokenizer.load(tmp_path / "lower")
    assert cutter.encode("The DOG cafe\u0301").ids == cutter.encode("the dog caf\u00e9").ids
    tokenizer.train(tokenizer_spec(), [source], tmp_path / "cased")
    cutter = tokenizer.load(tmp_path / "cased")
    assert cutter.encode("The DOG").ids != cutter.encode("the dog").ids


def test_a_final_mark_is_cut_the_same_with_and_without_a_space():
    """Only at the end of a text: an abbreviation and several marks stay as they are."""
    spacing = config.Tokenizer(space_final_mark=True, lowercase=True)
    spaced = tokenizer.learn(spacing, 600, [["See the dog .", "Where is it ?", "No !"] * 9])
    plain = tokenizer.learn(config.Tokenizer(lowercase=True), 600, [[]])
    for one, other in (("The dog.", "the dog ."), ("Is it?", "is it ?"), ("Oh no!", "oh no !")):
        assert spaced.encode(one).ids == spaced.encode(other).ids
        assert spaced.encode(one).tokens[-1] == f"Ġ{one[-1]}"
        assert plain.encode(one).tokens[-1] == one[-1]
    for text in ("what?!", "well...", "e.g. it", "mr. x"):
        assert "Ġ." not in spaced.encode(text).tokens
        assert "".join(spaced.encode(text).tokens) == "Ġ" + text.replace(" ", "Ġ")


@pytest.mark.parametrize("lowercase", [True, False])
def test_a_final_mark_is_spaced_before_a_tokenizer_of_a_file(tmp_path, lowercase):
    text = [["see the dog .", "is it ?", "no !"] * 9]
    own = tokenizer.learn(config.Tokenizer(lowercase=lowercase), 600, text)
    if not lowercase:
        own.normalizer = None  # as in GPT-2's file
    own.save(str(tmp_path / "own.json"))
    tokenizer.from_file(tmp_path / "own.json", tmp_path / "plain")
    tokenizer.from_file(tmp_path / "own.json", tmp_path / "spaced", space_final_mark=True)
    plain, spaced = (tokenizer.load(tmp_path / name) for name in ("plain", "spaced"))
    assert plain.encode("the dog.").tokens[-1] == "."
    assert spaced.encode("the dog.").ids == plain.encode("the dog .").ids


def test_training_twice_gives_the_same_bytes(source, trained, tmp_path):
    tokenizer.train(tokenizer_spec(), [source], tmp_path)
    for file in trained.iterdir():
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()


def test_a_vocabulary_larger_than_the_text_supports(source, tmp_path):
    with pytest.raises(PoshgridError, match="5,000 types asked") as error:
        tokenizer.train(tokenizer_spec(5_000), [source], tmp_path / "out")
    assert not (tmp_path / "out").exists()
    # the number that it names is one that works, of a text with fewer sentences, too
    advised = int(str(error.value).split("vocabulary_size to ")[1].split(maxsplit=1)[0])
    assert 258 < advised < 5_000
    sentences = pl.read_parquet(source / "train.parquet")["text"].to_list()
    less = write_condition(tmp_path / "less", train=sentences[: len(sentences) * 9 // 10])
    for folder in (source, less):
        facts = tokenizer.train(tokenizer_spec(advised), [folder], tmp_path / "out")
        assert facts["vocabulary_size"] == advised


def test_layout_of_a_split_worked_by_hand(source, trained, encoded):
    cutter = tokenizer.load(trained)
    texts = pl.read_parquet(source / "dev.parquet")["text"].to_list()
    expected, positions = [0], [0]
    for sentence in texts:
        expected += [*cutter.encode(sentence).ids, 0]
        positions.append(len(expected) - 1)
    tokens = encode.load(encoded, "dev")
    assert tokens.ids.tolist() == expected
    assert tokens.offsets.tolist() == positions
    assert tokens.ids.dtype == np.uint16


def test_statistics_count_what_was_written(source, encoded):
    statistics = json.loads((encoded / "statistics.json").read_text())
    assert (statistics["dtype"], statistics["vocabulary_size"]) == ("uint16", 300)
    for split, number in (("train", 200), ("dev", 30), ("test", 30)):
        frame = pl.read_parquet(source / f"{split}.parquet")
        facts = statistics[split]
        size = (encoded / f"{split}.bin").stat().st_size // 2
        assert (facts["sentences"], facts["tokens"]) == (number, size)
        assert facts["words"] == frame["n_words"].sum()
        assert facts["distinct"] == frame["text"].n_unique()
        assert facts["tokens_per_word"] == pytest.approx((size - number - 1) / facts["words"])


def test_statistics_of_each_source(trained, tmp_path):
    texts = ["the dog", "the cat", "the dog", "a boy sees"]
    source = write_condition(tmp_path / "condition", train=texts, dev=texts, test=texts)
    for path in source.iterdir():
        frame = pl.read_parquet(path).with_columns(source=pl.Series(["b", "b", "a", "b"]))
        frame.write_parquet(path)
    facts = encode.encode(source, trained, tmp_path / "tokens")["dev"]
    cutter = tokenizer.load(trained)
    tokens = [len(cutter.encode(text).ids) + 1 for text in texts]
    assert facts["distinct"] == 3
    assert facts["sources"] == {
        "a": {"sentences": 1, "words": 2, "tokens": tokens[2], "distinct": 1},
        "b": {"sentences": 3, "words": 7, "tokens": sum(tokens) - tokens[2], "distinct": 3},
    }


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
    tokens = encode.load(tmp_path / "tokens", "train")
    assert statistics["train"]["sentences"] == 2
    assert np.flatnonzero(tokens.ids == 0).tolist() == tokens.offsets.tolist()
    assert 1 not in tokens.ids


def test_damaged_tokens_are_refused(encoded, tmp_path):
    shutil.copytree(encoded, tmp_path / "tokens")
    whole = (encoded / "dev.bin").read_bytes()
    (tmp_path / "tokens" / "dev.bin").write_bytes(whole[:-2])
    (tmp_path / "tokens" / "test.offsets.npy").write_bytes(b"")
    (tmp_path / "tokens" / "train.bin").unlink()
    for split, where in (("dev", r"dev\.bin"), ("test", "tokens: .* test"), ("train", "tokens: ")):
        with pytest.raises(PoshgridError, match=where):
            encode.load(tmp_path / "tokens", split)


@pytest.mark.parametrize("faulty", [[], ["The dog.", "A cat.", " \t"]])
def test_a_faulty_table_is_named_and_nothing_is_written(trained, tmp_path, faulty):
    texts = ["The dog."]
    source = write_condition(tmp_path / "condition", train=faulty, dev=texts, test=texts)
    for job in (
        lambda out: tokenizer.train(tokenizer_spec(), [source], out),
        lambda out: encode.encode(source, trained, out),
    ):
        with pytest.raises(PoshgridError, match=str(source / "train.parquet")):
            job(tmp_path / "out")
        assert not list((tmp_path / "out").glob("*"))


HERE = ["the dog sees a cat .", "a dog isn't here ."] * 100
THERE = ["the zebra sees a cat .", "a cat sleeps ."] * 100


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two conditions; *zebra* and *sleeps* are seen in the second one alone."""
    folder = tmp_path_factory.mktemp("two")
    folders = []
    for name, texts in (("here", HERE), ("there", THERE)):
        write_condition(folder / name, train=texts, dev=texts[:2], test=texts[:2])
        folders.append(folder / name)
    return folders


def words_spec(size):
    """A list of words; the least size is larger than that of these texts."""
    spec = tokenizer_spec(300, kind="words")
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
    tokenizer.from_file(tmp_path / "trained/tokenizer.json", tmp_path / "given")
    for text in ("the zebra isn't here .", "  Quizzical é"):
        one, other = (tokenizer.load(tmp_path / name).encode(text) for name in ("trained", "given"))
        assert one.ids == other.ids


def test_a_word_that_a_corpus_calls_unknown_is_the_unknown_token():
    learned = tokenizer.learn(words_spec(300).tokenizer, 300, iter(["a <unk> is <unk>."] * 2))
    tokens = learned.encode("a <unk> is zebra <unk>.").tokens
    assert tokens == ["a", "<unk>", "is", "<unk>", "<unk>", "."]
    assert not {"<", "unk", ">"} & set(learned.get_vocab())


def test_a_sweep_counts_tokens_as_worked_by_hand(tmp_path):
    """One list of sizes; the tokenizer's own size leaves no merge: it must not be read."""
    # Words of bytes: " aa" twice, " b" once. At 258 types each byte is a token: 3 + 3 + 2.
    # The first merge is of a pair that occurs twice, the second makes " aa" one token.
    source = write_condition(tmp_path / "condition", train=["aa b", "aa"], dev=["b"], test=["b"])
    facts = sweep.sweep(
        tokenizer_spec(258, sweep=[258, 259, 260, 5000]), source, tmp_path / "sweep.json"
    )
    assert facts == json.loads((tmp_path / "sweep.json").read_text())
    assert (facts["sentences"], facts["words"]) == (2, 3)
    rows = [tuple(row.values()) for row in facts["vocabularies"]]
    assert rows == [  # size, reached, tokens without and with 3 boundaries, per word
        (258, 258, 8, 11, 2.666667),
        (259, 259, 6, 9, 2.0),
        (260, 260, 4, 7, 1.333333),
        (5000, 260, 4, 7, 1.333333),  # " b" occurs once, below min_frequency: no more types
    ]
