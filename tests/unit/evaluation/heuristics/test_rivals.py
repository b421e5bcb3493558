"""What each heuristic says of a pair, worked by hand for every phenomenon."""

import pytest

from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.core.plugins import HEURISTICS
from poshgrid.evaluation.heuristics.english import Sentence
from poshgrid.evaluation.heuristics.pair import Pair
from poshgrid.evaluation.heuristics.table import loaded
from tests.cases import read_cases

CASES, WORDS = (read_cases(__file__, name) for name in ("pairs", "words"))


@pytest.mark.parametrize("case", CASES, ids=[next(iter(case)) for case in CASES])
def test_by_hand_whichever_member_is_first(case):
    (good, for_good), (bad, for_bad) = case.items()
    for pair, value in ((Pair(good, bad), 1), (Pair(bad, good), 0)):
        preferred = {
            name: heuristic.prefers(pair)
            for name, heuristic in loaded().items()
            if hasattr(heuristic, "prefers") and heuristic.prefers(pair) is not None
        }
        assert preferred == dict.fromkeys(for_good, value) | dict.fromkeys(for_bad, 1 - value)


def test_every_rule_that_reads_words_has_an_example():
    shown = {name for case in CASES for heuristics in case.values() for name in heuristics}
    assert shown == {name for name, heuristic in loaded().items() if hasattr(heuristic, "prefers")}


def test_a_heuristic_that_prefers_nothing_is_refused(monkeypatch):
    monkeypatch.delattr(loaded()["island"], "prefers")
    with pytest.raises(PoshgridError, match=r"island.py: .* has none"):
        loaded()


def test_hierarchical_rules_are_marked():
    marked = {n for n, heuristic in loaded().items() if getattr(heuristic, "HIERARCHICAL", False)}
    assert marked == {"main-auxiliary", "command", "island", "contraction"}


@pytest.mark.parametrize(("text", "nouns"), WORDS["nouns"].items())
def test_nouns_and_their_genders(text, nouns):
    sentence = Sentence(text)
    assert nouns == [
        [sentence.words[n.index], "".join(sorted(n.genders)), n.possessor] for n in sentence.nouns
    ]


@pytest.mark.parametrize(("heuristic", "good", "bad", "words"), WORDS["looked up"])
def test_words_that_rules_look_up(heuristic, good, bad, words):
    compares = plugins.load(HEURISTICS, heuristic).compares
    assert compares(Pair(good, bad)) == (words and tuple(words))
    assert compares(Pair(bad, good)) == (words and tuple(words[::-1]))
