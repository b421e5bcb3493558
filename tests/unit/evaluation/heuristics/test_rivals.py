"""What each heuristic says of a pair, and how often words were heard: worked by hand."""

import polars as pl
import pytest

from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.core.plugins import HEURISTICS
from poshgrid.evaluation.heuristics import table
from poshgrid.evaluation.heuristics.english import Sentence
from poshgrid.evaluation.heuristics.pair import Pair
from poshgrid.evaluation.heuristics.table import loaded
from poshgrid.models import ngram
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


# ---- how often words were heard -----------------------------------------------------------------

TEXT = ["The dog ran", "the dog sat", "the cat."]


def preferences(text, *pairs, heuristic="frequency"):
    """Return item -> what the heuristic says, of pairs numbered from 0."""
    rows = [(str(i), good, bad) for i, (good, bad) in enumerate(pairs)]
    items = pl.DataFrame(rows, schema=["item_id", "good", "bad"], orient="row")
    preferred = table.of_counts(table.comparisons(items), ngram.fit(text, 1))
    mine = preferred.filter(heuristic=heuristic)
    return dict(mine.select(pl.col("item_id").cast(int), "prefers").iter_rows())


@pytest.mark.parametrize(("one", "other", "prefers"), WORDS["sums"])
def test_the_larger_sum_wins(one, other, prefers):
    assert preferences(TEXT, (one, other), (other, one)) == {0: prefers, 1: 1 - prefers}


def test_words_are_cut_as_they_were_counted():
    """*Dog's* is one word, which was heard twice; *dog* was never heard."""
    text = ["The dog’s ball", "a dog's", "the ball"]
    pairs = ("Dog's", "Ball dog"), ("The dog's", "the ball dog")
    assert preferences(text, *pairs) == {0: 0.5, 1: 0.5}


def test_sums_are_exact():
    """100,003 times one word, and two that make up as many; then one less."""
    text = ["a " * 100_003, "b " * 100_000, "c c c", "d d"]
    assert preferences(text, ("a", "b c"), ("a", "b d")) == {0: 0.5, 1: 1}


HEARD = ["Who did Ann say left?", "who will say it", "Who said it?", "what did they say to Ann?"]


def test_two_words_are_counted_beside_each_other_and_at_a_distance():
    model = ngram.fit([*HEARD, "who did we the the the the say", "It is who. Say it!"], 1)
    asked = ["who did", "did who", "<s> who", "it </s>", "who … say", "what … say", "who … who"]
    # say is at most six words after who in two sentences, and again after a mark; not after seven
    assert model.times(asked) == [2, 0, 4, 1, 3, 1, 0]
    assert model.times(["ann say", "Ann … say", "zebra … say", "who zebra"]) == [1, 0, 0, 0]
    assert ngram.fit(HEARD, 2).times(asked) == [0] * len(asked)


def test_what_was_heard_together_more_often_wins():
    say, see = "Who did Ann say left?", "Who did Ann see left?"
    assert preferences(HEARD, (say, see), (see, say), heuristic="filler-verb") == {0: 1, 1: 0}
    pairs = [("It did say", "It did they"), ("Did they go", "Did Ann go"), ("We go", "Go we")]
    # did say and did they: never, once; did they and did Ann: once each; neither begins a sentence
    assert preferences(HEARD, *pairs, heuristic="local-bigram") == {0: 0, 1: 0.5, 2: 0.5}
