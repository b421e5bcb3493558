"""Masked engine: both scores against a loop that masks and reads one token at a time."""

from __future__ import annotations

import pytest

from poshgrid.evaluation import tokenized
from poshgrid.evaluation.engines import neural
from tests.unit.models.tiny_causal import TEXT, engine, one_by_one, requests, roberta

TEXTS = [" ".join(text.split()[:n]) for text in TEXT for n in (1, 3, 6)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("masked")
    return folder, *roberta(folder)


@pytest.mark.parametrize("head", [True, False])
@pytest.mark.parametrize("score", ["pseudo-log-likelihood", "holistic"])
def test_scores_equal_those_of_one_token_at_a_time(made, score, head):
    folder, model, words = made
    ours = engine(folder, masked=score)
    assert ours.head is not None
    if not head:
        ours.head = None
    cuts = tokenized.tokenize(ours.tokenizer, requests(TEXTS), special=True)
    found = zip(ours.score(requests(TEXTS)), ours.logprobs(cuts), strict=True)
    for text, (one, each) in zip(TEXTS, found, strict=True):
        ids = words(text)["input_ids"]
        assert (ids[0], ids[-1]) == (0, 2)
        mask = None if score == "holistic" else words.mask_token_id
        expected = one_by_one(model.double(), ids, mask)
        assert each.tolist() == pytest.approx(expected, abs=1e-4)
        assert one.logprob == pytest.approx(sum(expected), abs=1e-4)
        assert one.tokens == len(expected)


@pytest.mark.parametrize("score", ["pseudo-log-likelihood", "holistic"])
def test_the_batch_does_not_change_the_scores(made, monkeypatch, score):
    folder = made[0]
    ours = engine(folder, masked=score)
    expected = [s.logprob for s in ours.score(requests(TEXTS))]
    monkeypatch.setattr(neural, "PROJECTED", 3)
    for bound in (1, 7 * 20, 64 * 20):
        ours.batch_tokens = bound
        found = [s.logprob for s in ours.score(requests(TEXTS))]
        assert found == pytest.approx(expected, abs=1e-5)
