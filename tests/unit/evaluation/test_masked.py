"""Masked engine: both scores against a loop that masks and reads one token at a time."""

import pytest

from poshgrid.evaluation.engine import tokenize
from tests.unit.models.tiny_causal import TEXT, engine, one_by_one, requests, roberta

TEXTS = [" ".join(text.split()[:n]) for text in TEXT for n in (1, 3, 6)]


@pytest.mark.parametrize("head", [True, False])
@pytest.mark.parametrize("score", ["pseudo-log-likelihood", "holistic"])
def test_scores_equal_those_of_one_token_at_a_time(tmp_path, score, head):
    model, words = roberta(tmp_path)
    ours = engine(tmp_path, masked=score, batch_tokens=7 * 20)
    assert ours.head is not None
    if not head:
        ours.head = None
    cuts = tokenize(ours.tokenizer, requests(TEXTS), special=True)
    scored = zip(ours.score(requests(TEXTS)), ours.logprobs(cuts), strict=True)
    for text, (sentence, by_token) in zip(TEXTS, scored, strict=True):
        ids = words(text)["input_ids"]
        mask = None if score == "holistic" else words.mask_token_id
        expected = one_by_one(model.double(), ids, mask)
        assert by_token.tolist() == pytest.approx(expected, abs=1e-4)
        assert sentence.logprob == pytest.approx(sum(expected), abs=1e-4)
        assert sentence.tokens == len(expected)
