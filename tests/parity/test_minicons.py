"""Our scores and minicons' agree on every sentence: causal with and without BOS, and masked."""

import pytest

from poshgrid.config import Scoring
from poshgrid.evaluation.engine import Request, tokenize
from poshgrid.evaluation.engines.load import load
from tests.unit.models.tiny_causal import TEXT, gpt2, roberta, tokenizer

TEXTS = [*TEXT, *(" ".join(text.split()[:n]) for text in TEXT for n in (2, 4, 6))]
REQUESTS = [Request(text, text) for text in TEXTS]


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """minicons' scorer and ours, with and without BOS, over one tiny model."""
    from minicons.scorer import IncrementalLMScorer

    folder = tmp_path_factory.mktemp("model")
    gpt2(folder)
    tokenizer(folder)
    theirs = IncrementalLMScorer(str(folder), "cpu")
    theirs.model.eval()
    return theirs, {bos: load(str(folder), Scoring(bos=bos)) for bos in (True, False)}


@pytest.mark.parametrize("shares", [True, False])
def test_means_without_bos(both, shares):
    """minicons' default, by which the published numbers were made."""
    theirs, ours = both
    expected = theirs.sequence_score(TEXTS, bos_token=False)
    ours[False].shares = shares
    scores = ours[False].score(REQUESTS)
    assert [s.logprob / s.tokens for s in scores] == pytest.approx(expected, abs=1e-4)
    # The two rules differ, or this test could not fail.
    assert [s.logprob / s.tokens for s in ours[True].score(REQUESTS)] != pytest.approx(
        expected, abs=1e-2
    )


@pytest.mark.parametrize("bos", [True, False])
def test_the_engine_is_minicons_with_our_sums(both, bos):
    theirs, ours = both
    engine = load(theirs.model.name_or_path, Scoring(bos=bos, engine="minicons"))
    scores = engine.score(REQUESTS)
    sums = theirs.sequence_score(TEXTS, reduction=lambda x: x.sum(0).item(), bos_token=bos)
    assert [s.logprob for s in scores] == pytest.approx(sums, rel=1e-6)
    assert [s.tokens for s in scores] == [s.tokens for s in ours[bos].score(REQUESTS)]
    cuts = tokenize(engine.tokenizer, REQUESTS, special=False)
    rows = [[engine.bos_id] * bos + cut.ids for cut in cuts]
    both_each = zip(engine.logprobs(rows), ours[bos].logprobs(rows), strict=True)
    for theirs_each, ours_each in both_each:
        assert theirs_each.tolist() == pytest.approx(ours_each.tolist(), abs=1e-4)


def test_a_region_is_scored_by_minicons_too(both):
    theirs, ours = both
    text = TEXT[0]
    end = text.index(" ")
    request = [Request(text, text, region=(0, end))]
    folder = theirs.model.name_or_path
    (other,) = load(folder, Scoring(engine="minicons")).score(request)
    (own,) = ours[True].score(request)
    assert other.region_tokens == own.region_tokens > 0
    assert other.region_logprob == pytest.approx(own.region_logprob, abs=1e-4)


def test_pseudo_log_likelihood(tmp_path):
    """Their encoded tensors are given: strings fail with transformers 5."""
    from minicons.scorer import MaskedLMScorer

    model, words = roberta(tmp_path)
    theirs = MaskedLMScorer(model, "cpu", tokenizer=words)
    scores = load(str(tmp_path), Scoring()).score(REQUESTS)
    seated = load(str(tmp_path), Scoring(engine="minicons")).score(REQUESTS)
    for text, score, other in zip(TEXTS, scores, seated, strict=True):
        encoded = words([text], return_tensors="pt")
        expected = theirs.sequence_score(
            encoded, reduction=lambda logprobs: logprobs.sum(0).item(), PLL_metric="original"
        )
        assert score.logprob == pytest.approx(expected[0], abs=1e-4)
        assert other.logprob == pytest.approx(expected[0], rel=1e-6)
