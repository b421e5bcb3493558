"""Scores: hand-worked values, independence of the batch, the BOS rule, and errors."""

from __future__ import annotations

import json
import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid import specs
from poshgrid.benchmark.schema import ITEMS
from poshgrid.config import Scoring
from poshgrid.errors import PoshgridError
from poshgrid.evaluation.schema import SCORES
from poshgrid.evaluation.score import score
from poshgrid.evaluation.scorer import Scorer, batches

from .tiny_causal import TEXT, gpt2, tokenizer, unigram

NAMES = [f"item {i}" for i in range(100)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny model of random weights with its tokenizer."""
    folder = tmp_path_factory.mktemp("model")
    gpt2(folder)
    tokenizer(folder)
    return folder


@pytest.fixture
def copy(folder, tmp_path):
    """A copy of the tiny model, to be spoilt."""
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def test_a_uniform_model_gives_each_token_one_over_the_number_of_types(tmp_path):
    words = tokenizer(tmp_path)
    unigram(tmp_path, [0.0] * 400)
    for bos in (True, False):
        found = Scorer(tmp_path, bos=bos).score(TEXT, 64, NAMES[:4])
        for text, (logprob, tokens) in zip(TEXT, found, strict=True):
            assert tokens == len(words(text)["input_ids"]) - (not bos)
            assert logprob == pytest.approx(-tokens * math.log(400), abs=1e-5)


def test_a_unigram_model_gives_the_values_worked_by_hand(tmp_path):
    words = tokenizer(tmp_path)
    logits = [math.sin(i) * 3 for i in range(400)]
    unigram(tmp_path, logits)
    normaliser = math.log(sum(math.exp(x) for x in logits))
    ids = words("the man")["input_ids"]
    by_hand = [logits[i] - normaliser for i in ids]
    whole = Scorer(tmp_path, bos=True).score(["the man"], 64, NAMES[:1])[0]
    assert whole.tokens == len(ids)
    assert whole.logprob == pytest.approx(sum(by_hand), abs=1e-5)
    later = Scorer(tmp_path, bos=False).score(["the man"], 64, NAMES[:1])[0]
    assert later.tokens == len(ids) - 1
    assert later.logprob == pytest.approx(sum(by_hand[1:]), abs=1e-5)


@pytest.mark.parametrize("bos", [True, False])
def test_scores_equal_those_of_one_sentence_at_a_time(folder, bos):
    """Against the model's own logits, token by token, in double precision."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder).double().eval()
    words = AutoTokenizer.from_pretrained(folder)
    found = Scorer(folder, bos=bos).score(TEXT, 100, NAMES[:4])
    for text, (logprob, tokens) in zip(TEXT, found, strict=True):
        ids = ([words.bos_token_id] if bos else []) + words(text)["input_ids"]
        logprobs = model(torch.tensor([ids])).logits[0].log_softmax(-1)
        expected = sum(logprobs[i, ids[i + 1]].item() for i in range(len(ids) - 1))
        assert (tokens, logprob) == (len(ids) - 1, pytest.approx(expected, abs=1e-4))


def test_the_batch_does_not_change_the_scores(folder):
    texts = [" ".join(text.split()[:n]) for text in TEXT for n in range(2, 8)]
    scorer = Scorer(folder, bos=True)
    alone = scorer.score(texts, 1, NAMES[: len(texts)])
    for bound in (17, 40, 100, 8_192):
        together = scorer.score(texts, bound, NAMES[: len(texts)])
        for one, other in zip(alone, together, strict=True):
            assert one.tokens == other.tokens
            assert abs(one.logprob - other.logprob) < 1e-5


def test_projecting_in_parts_or_whole_gives_the_same(folder, monkeypatch):
    scorer = Scorer(folder, bos=True)
    assert scorer._separate
    expected = scorer.score(TEXT, 8_192, NAMES[:4])
    monkeypatch.setattr("poshgrid.evaluation.scorer._PROJECTED", 3)
    assert [s.logprob for s in scorer.score(TEXT, 8_192, NAMES[:4])] == pytest.approx(
        [s.logprob for s in expected], abs=1e-5
    )
    scorer._separate = False
    assert [s.logprob for s in scorer.score(TEXT, 8_192, NAMES[:4])] == pytest.approx(
        [s.logprob for s in expected], abs=1e-5
    )


def test_padding_is_never_projected(folder, monkeypatch):
    import torch

    scorer = Scorer(folder, bos=True)
    head, seen = scorer.model.get_output_embeddings(), []
    head.register_forward_hook(lambda _, given, __: seen.append(given[0].shape))
    found = scorer.score(TEXT, 8_192, NAMES[:4])
    assert seen == [torch.Size([sum(s.tokens for s in found), 32])]


def test_a_model_that_scales_its_logits_is_projected_by_itself(tmp_path):
    """Cohere multiplies its logits by a constant: its output layer alone would be wrong."""
    import torch
    from transformers import AutoModelForCausalLM, CohereConfig, CohereForCausalLM

    torch.manual_seed(0)
    CohereForCausalLM(
        CohereConfig(
            vocab_size=400, hidden_size=32, intermediate_size=32, num_hidden_layers=1,
            num_attention_heads=2, logit_scale=0.5, max_position_embeddings=64,
            initializer_range=0.5, pad_token_id=0, bos_token_id=0, eos_token_id=0,
        )
    ).save_pretrained(tmp_path)  # fmt: skip
    words = tokenizer(tmp_path)
    scorer = Scorer(tmp_path, bos=True)
    assert not scorer._separate
    ids = [words.bos_token_id, *words(TEXT[0])["input_ids"]]
    model = AutoModelForCausalLM.from_pretrained(tmp_path).eval()
    logprobs = model(torch.tensor([ids])).logits[0].log_softmax(-1)
    expected = sum(logprobs[i, ids[i + 1]].item() for i in range(len(ids) - 1))
    assert scorer.score(TEXT, 64, NAMES[:4])[0].logprob == pytest.approx(expected, abs=1e-4)


@given(st.lists(st.integers(1, 30), max_size=60), st.integers(1, 200))
def test_batches_are_a_partition_within_the_bound(lengths, bound):
    made = batches(lengths, bound)
    assert sorted(i for batch in made for i in batch) == list(range(len(lengths)))
    for batch in made:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= bound
    longest = [max(lengths[i] for i in batch) for batch in made]
    assert longest == sorted(longest, reverse=True)


def test_the_first_word_is_cut_as_the_tokenizer_was_trained_to(folder, caplog):
    from tokenizers import Tokenizer

    written = Tokenizer.from_file(str(folder / "tokenizer.json"))
    scorer = Scorer(folder, bos=True)
    for text in TEXT:
        assert scorer._encode(text, "x") == [0, *written.encode(text).ids]
    assert not caplog.records


def test_another_cut_than_the_files_is_reported(copy, caplog):
    from poshgrid.evaluation.scorer import _same_cuts

    path = copy / "tokenizer.json"
    words = tokenizer(copy)
    path.write_text(
        path.read_text().replace('"add_prefix_space": true', '"add_prefix_space": false')
    )
    _same_cuts(copy, words)
    assert "otherwise than this file says" in caplog.text


# ---- the stage --------------------------------------------------------------------------------


def items(path, *pairs):
    frame = pl.DataFrame(
        [
            {
                "item_id": f"p-{i:04}", "category": "c", "phenomenon": "p", "template": "p-t",
                "lexical_set": "x", "contrast": "y", "good": good, "bad": bad,
            }
            for i, (good, bad) in enumerate(pairs, start=1)
        ],
        schema=ITEMS,
    )  # fmt: skip
    frame.write_parquet(path)
    return path


def spec(**scoring):
    return specs.ScoreSpec(scoring=Scoring(**scoring))


def test_the_stage_writes_a_table_for_each_suite(folder, tmp_path):
    suites = {
        "one": items(tmp_path / "one.parquet", TEXT[:2], TEXT[2:]),
        "two": items(tmp_path / "two.parquet", (TEXT[2], TEXT[1])),
    }
    outputs = {suite: tmp_path / f"out/{suite}.parquet" for suite in suites}
    facts = score(spec(), folder, suites, outputs)
    tables = {suite: pl.read_parquet(path) for suite, path in outputs.items()}
    assert all(dict(table.schema) == SCORES for table in tables.values())
    found = Scorer(folder, bos=True).score(TEXT, 8_192, NAMES[:4])
    expected = [(f"p-{i + 1:04}", *_pair(found[2 * i], found[2 * i + 1])) for i in range(2)]
    assert tables["one"].rows() == [
        (name, pytest.approx(g, abs=1e-5), pytest.approx(b, abs=1e-5), n, m)
        for name, g, b, n, m in expected
    ]
    # The same sentence has the same score in every suite, to the last bit.
    assert tables["two"]["good_logprob"][0] == tables["one"]["good_logprob"][1]
    assert facts["pairs"] == {"one": 2, "two": 1}
    assert facts["sentences"] == 4
    assert facts["tokens"] == sum(s.tokens for s in found)
    assert facts["device"] in {"cpu", "cuda"}
    before = outputs["one"].read_bytes()
    score(spec(), folder, suites, outputs)
    assert outputs["one"].read_bytes() == before


def _pair(good, bad):
    return good.logprob, bad.logprob, good.tokens, bad.tokens


def test_a_sentence_longer_than_the_context_is_refused(copy, tmp_path):
    gpt2(copy, context=8)
    suite = {"posh": items(tmp_path / "i.parquet", ("the man", "the man"), ("the man", TEXT[0]))}
    output = tmp_path / "s.parquet"
    with pytest.raises(PoshgridError, match=r"posh: item p-0002 \(bad\): \d+ tokens.*sees 8") as e:
        score(spec(), copy, suite, {"posh": output})
    assert "\n" not in str(e.value)
    assert not output.exists()


def test_a_sentence_with_nothing_to_score_is_refused(folder, tmp_path):
    suite = {"posh": items(tmp_path / "i.parquet", ("the", TEXT[0]))}
    score(spec(), folder, suite, {"posh": tmp_path / "s.parquet"})
    with pytest.raises(PoshgridError, match=r"p-0001 \(good\): 'the' has 1 tokens.*scoring.bos"):
        score(spec(bos=False), folder, suite, {"posh": tmp_path / "s.parquet"})
    suite = {"posh": items(tmp_path / "i.parquet", ("", TEXT[0]))}
    with pytest.raises(PoshgridError, match=r"p-0001 \(good\): '' has 0 tokens"):
        score(spec(), folder, suite, {"posh": tmp_path / "s.parquet"})


def _no_model(folder):
    (folder / "config.json").unlink()


def _no_weights(folder):
    (folder / "model.safetensors").unlink()


def _cut_weights(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:5_000])


def _broken_config(folder):
    (folder / "config.json").write_text("{")


def _other_shape(folder):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "n_embd": 64}))


def _more_layers(folder):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "n_layer": 3}))


def _no_tokenizer(folder):
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()


def _no_bos(folder):
    tokenizer(folder, bos=False)


def _small_model(folder):
    gpt2(folder, types=100)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_no_model, "config.json is missing"),
        (_no_weights, "cannot load the model"),
        (_cut_weights, "cannot load the model"),
        (_broken_config, "cannot load the model"),
        (_other_shape, "cannot load the model"),
        (_more_layers, "weights are missing, e.g. transformer.h.2"),
        (_no_tokenizer, "tokenizer.json is missing"),
        (_no_bos, "the tokenizer has no bos token"),
        (_small_model, "types but the model 100"),
    ],
)
def test_a_spoilt_model_gives_one_line(copy, spoil, message):
    spoil(copy)
    with pytest.raises(PoshgridError, match=message) as error:
        Scorer(copy, bos=True)
    assert str(copy) in str(error.value)
    assert "\n" not in str(error.value)


def test_empty_and_missing_items_are_refused(folder, tmp_path):
    with pytest.raises(PoshgridError, match="no items"):
        score(spec(), folder, {"posh": items(tmp_path / "i.parquet")}, {"posh": tmp_path / "s"})
    with pytest.raises(PoshgridError, match="not found"):
        score(spec(), folder, {"posh": tmp_path / "none"}, {"posh": tmp_path / "s"})
