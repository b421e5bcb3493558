"""The toy grammar: constructions come as often as asked, and a seed's trees stay what they were."""

import hashlib
import itertools
import re
from collections import Counter

import pytest
import yaml

from poshgrid.core import resources
from poshgrid.corpora import toy

N = 8_000
SEED = 7
DIGESTS = {"baby": "f111d544fe3d2eff", "wiki": "9124f8e0a0c26159"}


@pytest.mark.parametrize("register", DIGESTS)
def test_sentences_are_in_proportion_and_pinned(register):
    """Results on toy text are compared over versions: another digest makes them other results."""
    sentences = list(itertools.islice(toy.sentences(register, SEED), N))
    for sentence in sentences:
        assert re.fullmatch(r"[A-Z][A-Za-z' ,]*[.?!]", sentence.text), sentence.text
        assert [word[-1] for word in sentence.words if word[6] == "0"] == ["root"]
    grammar = yaml.safe_load(resources.path("toy", "grammar.yaml").read_text(encoding="utf-8"))
    weights = grammar["registers"][register]
    drawn = Counter(sentence.construction for sentence in sentences)
    assert set(drawn) <= set(weights)
    for name, weight in weights.items():
        share = weight / sum(weights.values())
        tolerance = 4 * (share * (1 - share) / N) ** 0.5
        assert abs(drawn[name] / N - share) <= tolerance, name
    text = repr([(s.text, s.construction, s.words) for s in sentences])
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == DIGESTS[register]
