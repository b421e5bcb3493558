"""Masked engine: both scores against a loop that masks and reads one token at a time."""

from __future__ import annotations

import pytest
import torch

from poshgrid.config import Scoring
from poshgrid.errors import PoshgridError
from poshgrid.evaluation.engine import Request
from poshgrid.evaluation.engines import neural
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
    monkeypatch.setattr(neural, "PROJECTED", 3)
    for bound in (1, 7 * 20, 64 * 20):
        ours.batch_tokens = bound
        found = [s.logprob for s in ours.score(requests(TEXTS))]
        assert found == pytest.approx(expected, abs=1e-5)


def test_nothing_to_score_or_to_write_is_refused(made):
    ours = engine(made[0])
    with pytest.raises(PoshgridError, match=r"item 0: '' has 0 tokens"):
        ours.score(requests([""]))
    with pytest.raises(PoshgridError, match="does not continue sentences"):
        ours.complete(["Who"], beams=3, tokens=3)
