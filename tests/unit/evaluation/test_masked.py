"""Masked engine: both scores against a loop that masks and reads one token at a time."""

from __future__ import annotations

import pytest

from poshgrid.config import Scoring
from poshgrid.errors import PoshgridError
from poshgrid.evaluation.engine import Request
from poshgrid.evaluation.engines import masked
from poshgrid.evaluation.engines.load import load
from tests.unit.models.tiny_causal import TEXT, roberta

TEXTS = [" ".join(text.split()[:n]) for text in TEXT for n in (1, 3, 6)]


def engine(folder, **scoring):
    return load(str(folder), Scoring(**scoring))


def requests(texts):
    return [Request(text, f"item {i}") for i, text in enumerate(texts)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("masked")
    return folder, *roberta(folder)


def by_hand(model, words, text, *, holistic):
    """Log-probability of each token but the special ones, in double precision."""
    import torch

    model = model.double()
    ids = words(text)["input_ids"]
    assert (ids[0], ids[-1]) == (0, 2)
    found = []
    for k in range(1, len(ids) - 1):
        shown = ids if holistic else [*ids[:k], words.mask_token_id, *ids[k + 1 :]]
        with torch.inference_mode():
            logits = model(torch.tensor([shown])).logits[0, k]
        found.append(logits.log_softmax(-1)[ids[k]].item())
    return found


@pytest.mark.parametrize("head", [True, False])
@pytest.mark.parametrize("score", ["pseudo-log-likelihood", "holistic"])
def test_scores_equal_those_of_one_token_at_a_time(made, score, head):
    folder, model, words = made
    ours = engine(folder, masked=score)
    assert ours.head is not None
    if not head:
        ours.head = None
    found = ours.score(requests(TEXTS), per_token=True)
    for text, one in zip(TEXTS, found, strict=True):
        expected = by_hand(model, words, text, holistic=score == "holistic")
        assert [token.logprob for token in one.each] == pytest.approx(expected, abs=1e-4)
        assert one.logprob == pytest.approx(sum(expected), abs=1e-4)
        assert one.tokens == len(expected)
        assert [token.text for token in one.each] == words.tokenize(text)


@pytest.mark.parametrize("score", ["pseudo-log-likelihood", "holistic"])
def test_the_batch_does_not_change_the_scores(made, monkeypatch, score):
    folder = made[0]
    ours = engine(folder, masked=score)
    expected = [s.logprob for s in ours.score(requests(TEXTS))]
    monkeypatch.setattr(masked, "PROJECTED", 3)
    for bound in (1, 7 * 20, 64 * 20):
        ours.batch_tokens = bound
        found = [s.logprob for s in ours.score(requests(TEXTS))]
        assert found == pytest.approx(expected, abs=1e-5)


def test_batches_keep_their_bound_and_repeated_sentences_are_shown_once(made):
    ours = engine(made[0], batch_tokens=100)
    shapes = []
    ours.model.base_model.register_forward_pre_hook(
        lambda _, __, given: shapes.append(given["input_ids"].shape), with_kwargs=True
    )
    found = ours.score(requests([*TEXTS, TEXTS[2]]))
    assert all(rows * length <= 100 for rows, length in shapes)
    assert sum(rows for rows, _ in shapes) == sum(s.tokens for s in found[:-1])
    assert found[-1] == found[2]


def test_a_region_is_the_sum_over_its_words(made):
    folder, model, words = made
    text = TEXT[0]
    start = text.index("man who")
    found = engine(folder).score([Request(text, "x", (start, start + 7))])[0]
    each = by_hand(model, words, text, holistic=False)
    before = len(words.tokenize("Will the"))
    inside = each[before : before + len(words.tokenize("man who"))]
    assert found.region_tokens == len(inside)
    assert found.region_logprob == pytest.approx(sum(inside), abs=1e-4)


def test_a_bert_has_a_head_of_its_own(tmp_path):
    import torch
    from transformers import BertConfig, BertForMaskedLM

    words = roberta(tmp_path)[1]
    torch.manual_seed(1)
    model = BertForMaskedLM(
        BertConfig(
            vocab_size=400, hidden_size=32, intermediate_size=64, num_hidden_layers=1,
            num_attention_heads=2, max_position_embeddings=64, pad_token_id=1,
            initializer_range=0.3,
        )
    ).eval()  # fmt: skip
    model.save_pretrained(tmp_path)
    ours = engine(tmp_path)
    assert ours.head is not None
    assert ours.context == 64
    for text, one in zip(TEXT, ours.score(requests(TEXT)), strict=True):
        expected = sum(by_hand(model, words, text, holistic=False))
        assert one.logprob == pytest.approx(expected, abs=1e-4)


def test_a_sentence_longer_than_the_context_is_refused(tmp_path):
    """RoBERTa counts positions from after the padding id: of 14, 12 are left."""
    model, words = roberta(tmp_path, context=12)
    assert model.config.max_position_embeddings == 14
    ours = engine(tmp_path)
    fits = "z" * 9  # a prefix space, and letters that were never merged
    assert len(words(fits)["input_ids"]) == 12
    ours.score(requests([fits]))
    with pytest.raises(PoshgridError, match=r"item 0: 13 tokens, but .* sees 12 at a time"):
        ours.score(requests([fits + "z"]))


def test_nothing_to_score_or_to_write_is_refused(made):
    ours = engine(made[0])
    with pytest.raises(PoshgridError, match=r"item 0: '' has 0 tokens"):
        ours.score(requests([""]))
    with pytest.raises(PoshgridError, match="does not continue sentences"):
        ours.complete(["Who"], beams=3, tokens=3)


def test_a_tokenizer_without_a_mask_is_refused(tmp_path):
    import json

    roberta(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    settings = json.loads(path.read_text())
    del settings["mask_token"]
    path.write_text(json.dumps(settings))
    with pytest.raises(PoshgridError, match="the tokenizer has no mask token"):
        engine(tmp_path)
