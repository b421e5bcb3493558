"""From items to scores, task by task, with an engine whose answers are known."""

import polars as pl
import pytest

from poshgrid.benchmark.schema import CHOICES, COMPLETIONS, PAIRS, PARADIGMS
from poshgrid.core.errors import PoshgridError
from poshgrid.evaluation import tasks
from poshgrid.evaluation.engine import Score
from poshgrid.evaluation.schema import CHOICE_SCORES, COMPLETION_SCORES, PARADIGM_SCORES, SCORES
from tests.cases import read_cases


class Letters:
    """A sentence is worth its letters, a word a token; it remembers what it was asked."""

    device = "cpu"

    def __init__(self, written=None):
        self.written, self.asked = written or {}, []

    def score(self, requests):
        self.asked += requests
        return [self._score(request) for request in requests]

    def _score(self, request):
        words = request.text.split()
        part = request.text[slice(*request.region)] if request.region else ""
        total = -float(sum(map(len, words)))
        inside = -float(sum(map(len, part.split())))
        return Score(total, len(words), inside, len(part.split()))

    def complete(self, prompts, *, beams, tokens):
        self.asked += [(tuple(prompts), beams, tokens)]
        return [self.written[prompt] for prompt in prompts]


def table(schema, *rows):
    filler = {pl.Float64: None, pl.String: "x", pl.UInt32: 0, pl.Boolean: False}
    return pl.DataFrame(
        [{name: filler.get(kind, []) for name, kind in schema.items()} | row for row in rows],
        schema=schema,
    )


def test_pairs_have_both_members():
    rows = [("b", "a bb", "a bbb ccc"), ("a", "dddd", "a bb")]
    items = table(PAIRS, *({"item_id": i, "good": g, "bad": b} for i, g, b in rows))
    engine = Letters()
    scores = tasks.pairs("s", items, engine, step=None)
    assert dict(scores.schema) == SCORES
    assert scores.rows() == [("b", None, -3.0, -7.0, 2, 3), ("a", None, -4.0, -3.0, 1, 2)]
    assert engine.asked[1].name == "s: item b (bad)"
    assert engine.asked[1].region is None
    assert tasks.pairs("s", items, engine, step=20)["step"].to_list() == [20, 20]


def test_scores_of_other_sentences_than_asked_for_are_never_taken():
    """An engine that loses a sentence is at fault: no score may move to another item."""
    items = table(PAIRS, *({"item_id": i, "good": "a bb", "bad": "c"} for i in "abc"))
    engine = Letters()
    for kept in (1, 3, 4):
        engine.score = lambda requests, kept=kept: Letters.score(engine, requests)[:kept]
        with pytest.raises((ValueError, pl.exceptions.PolarsError)):
            tasks.pairs("s", items, engine, step=None)


def test_paradigms_have_their_region_alone():
    text = "I know who left yesterday soon"
    start, end = text.index("left"), text.index(" soon")
    items = table(
        PARADIGMS,
        {"item_id": "i", "filler": True, "gap": False, "text": text, "start": start, "end": end},
    )
    engine = Letters()
    scores = tasks.paradigms("s", items, engine, step=None)
    assert dict(scores.schema) == PARADIGM_SCORES
    assert scores.rows() == [("i", None, True, False, -13.0, 2)]
    assert engine.asked[0].name == "s: item i (+filler -gap)"
    for a, b in ((3, 3), (6, 7)):
        empty = items.with_columns(start=pl.lit(a, dtype=pl.UInt32), end=pl.lit(b, dtype=pl.UInt32))
        with pytest.raises(PoshgridError, match=r"s: item i \(\+filler -gap\): .* is empty"):
            tasks.paradigms("s", empty, engine, step=None)


def test_choices_have_a_row_for_each_option():
    items = table(
        CHOICES,
        {"item_id": "i", "option": 0, "text": "a b"},
        {"item_id": "i", "option": 1, "text": "a ccc"},
    )
    scores = tasks.choices("s", items, Letters(), step=3)
    assert dict(scores.schema) == CHOICE_SCORES
    assert scores.rows() == [("i", 3, 0, -2.0, 2), ("i", 3, 1, -4.0, 2)]


def test_completions_are_judged():
    written = {"The dogs": " Were in a", "The dog": " isn't it"}
    rows = [  # prompt, accepted answers, whether anywhere; whether the completion is right
        ("a", "The dogs", ["are", "were"], False, True),
        ("b", "The dog", ["is"], False, False),
        ("c", "The dogs", ["run"], True, False),
        ("d", "The dog", ["is"], True, True),
    ]
    names = ("item_id", "prompt", "accepted", "anywhere")
    items = table(COMPLETIONS, *(dict(zip(names, row, strict=False)) for row in rows))
    engine = Letters(written)
    scores = tasks.completions("s", items, engine, step=None)
    assert dict(scores.schema) == COMPLETION_SCORES
    expected = [(item, None, written[prompt], right) for item, prompt, _, _, right in rows]
    assert scores.rows() == expected
    assert engine.asked == [(("The dogs", "The dog"), 3, 3)]


@pytest.mark.parametrize(
    ("completion", "accepted", "right"), read_cases(__file__, "regions")["answers"]
)
def test_an_answer_appears_among_whole_words(completion, accepted, right):
    assert tasks.accepts(completion, accepted) is right
