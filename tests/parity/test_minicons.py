"""Our scorer and minicons agree on every sentence, with and without BOS."""

from __future__ import annotations

import pytest

from poshgrid.evaluation.scorer import Scorer
from tests.unit.tiny_causal import TEXT, gpt2, tokenizer

TEXTS = [*TEXT, *(" ".join(text.split()[:n]) for text in TEXT for n in (2, 4, 6))]


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """minicons' scorer and ours, with and without BOS, over one tiny model."""
    from minicons.scorer import IncrementalLMScorer

    folder = tmp_path_factory.mktemp("model")
    gpt2(folder)
    tokenizer(folder)
    theirs = IncrementalLMScorer(str(folder), "cpu")
    theirs.model.eval()
    return theirs, {bos: Scorer(folder, bos=bos) for bos in (True, False)}


def test_sums_with_bos(both):
    theirs, ours = both
    expected = theirs.sequence_score(
        TEXTS, reduction=lambda logprobs: logprobs.sum(0).item(), bos_token=True
    )
    found = ours[True].score(TEXTS, 8_192, TEXTS)
    assert [s.logprob for s in found] == pytest.approx(expected, abs=1e-4)


def test_means_without_bos(both):
    """minicons' default, by which the published numbers were made."""
    theirs, ours = both
    expected = theirs.sequence_score(TEXTS, bos_token=False)
    found = ours[False].score(TEXTS, 8_192, TEXTS)
    assert [s.logprob / s.tokens for s in found] == pytest.approx(expected, abs=1e-4)
    # The two rules differ, or this test could not fail.
    assert [s.logprob / s.tokens for s in ours[True].score(TEXTS, 8_192, TEXTS)] != pytest.approx(
        expected, abs=1e-2
    )
