"""From items to scores, task by task, with an engine whose answers are known, and to judgements."""

import math

import polars as pl
import pytest

from poshgrid.benchmark.schema import CHOICES, COMPLETIONS, PAIRS, PARADIGMS
from poshgrid.config import Scoring
from poshgrid.core.errors import PoshgridError
from poshgrid.evaluation import tasks
from poshgrid.evaluation.engine import Score
from poshgrid.evaluation.judgements import judge, judged, read_items, steps
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


# ---- judgements -------------------------------------------------------------------------------

ROWS = [
    # good sum, bad sum, good tokens, bad tokens, correct by mean, by sum
    (-8.0, -9.0, 4, 4, 1.0, 1.0),
    (-9.0, -8.0, 4, 4, 0.0, 0.0),
    (-9.0, -8.0, 6, 4, 1.0, 0.0),  # longer, but less surprising a token
    (-8.0, -9.0, 4, 6, 0.0, 1.0),
    (-8.0, -8.0, 4, 4, 0.5, 0.5),
    (-8.0, -4.0, 4, 2, 0.5, 0.0),  # the same mean, not the same sum
]


@pytest.mark.parametrize(("reduction", "column"), [("mean", 4), ("sum", 5)])
def test_the_lower_perplexity_or_the_higher_log_probability_wins(reduction, column):
    scores = pl.DataFrame([["x", None, *row[:4]] for row in ROWS], schema=SCORES, orient="row")
    judged = judge(scores, Scoring(reduction=reduction))
    assert judged["correct"].to_list() == [row[column] for row in ROWS]
    assert judged.select(list(SCORES)).equals(scores)


@pytest.mark.parametrize(
    ("reduction", "nats", "tokens", "right"),
    [
        ("mean", 3.9e-6, (4, 4), 0.5),  # a millionth a token
        ("mean", 4.1e-6, (4, 4), 1.0),
        ("sum", 3.9e-6, (4, 2), 0.5),  # of the longer member
        ("sum", 3.9e-6, (2, 4), 0.5),
        ("sum", -4.1e-6, (4, 2), 0.0),
    ],
)
def test_a_tie_is_a_millionth_of_a_nat_a_token(reduction, nats, tokens, right):
    scores = pl.DataFrame([["a", None, 0.0, -nats, *tokens]], schema=SCORES, orient="row")
    assert judge(scores, Scoring(reduction=reduction))["correct"].to_list() == [right]


# ---- judgements of files ------------------------------------------------------------------------

JUDGED = [
    # item, set, joint, then at the end of training and after 20 steps: good, bad, tokens of each
    ("c", "s", False, (-9.0, -8.0, 6, 4), (-8.0, -9.0, 4, 4)),  # right by mean, wrong by sum
    ("b", "s", True, (-9.0, -7.0, 2, 3), (-7.0, -9.0, 2, 3)),  # with d: -12 and -11, of 5 and 4
    ("d", "s", True, (-3.0, -4.0, 3, 1), (-3.0, -4.0, 3, 1)),
    ("a", "t", True, (-5.0, -5.0, 1, 1), (-5.0, -5.0, 1, 1)),  # alone in its set
]


def written(folder, change=lambda frame: frame):
    """Write scores of ``JUDGED``; return their file and the items."""
    rows = [
        (item, step, *scores)
        for item, _, _, *both in JUDGED
        for step, scores in zip((None, 20), both, strict=True)
    ]
    scores = change(pl.DataFrame(rows, schema=SCORES, orient="row"))
    scores.write_parquet(folder / "scores.parquet")
    named = [
        {"item_id": item, "lexical_set": of, "joint": joint, "cell": f"cell {item}"}
        for item, of, joint, *_ in JUDGED
    ]
    table(PAIRS, *named).write_parquet(folder / "items.parquet")
    return folder / "scores.parquet", read_items(folder / "items.parquet")


NAMES = ["item_id", "lexical_set", "cell", "margin", "good_tokens", "bad_tokens"]
RIGHT = ["correct", "by_mean", "by_sum"]


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_joint_pairs_are_judged_as_one(tmp_path, reduction):
    table_judged = judged(*written(tmp_path), Scoring(reduction=reduction))
    assert table_judged.select(NAMES).rows() == [
        ("a", "t", "", 0.0, 1, 1),
        ("b", "s", "", -1.0, 5, 4),
        ("c", "s", "cell c", -1.0, 6, 4),
    ]
    assert table_judged.select("by_mean", "by_sum").rows() == [(0.5, 0.5), (1.0, 0.0), (1.0, 0.0)]
    assert table_judged["correct"].equals(table_judged[f"by_{reduction}"], check_names=False)
    assert set(table_judged.columns) == {*NAMES, *RIGHT, "category", "phenomenon", "template"}


def test_a_checkpoint_has_its_own_judgements(tmp_path):
    path, items = written(tmp_path)
    table_judged = judged(path, items, Scoring(), 20)
    assert table_judged.select("item_id", "margin", "correct").rows() == [
        ("a", 0.0, 0.5), ("b", 3.0, 1.0), ("c", 1.0, 1.0),
    ]  # fmt: skip
    assert steps(path) == [20]
    with pytest.raises(
        PoshgridError, match=r"scores\.parquet: step 30: no such step \(steps: 20\)"
    ):
        judged(path, items, Scoring(), 30)


def _at(item, **values):
    """Return a change of one item's scores."""
    return lambda frame: frame.with_columns(
        pl.when(pl.col("item_id") == item)
        .then(pl.lit(value, SCORES[column]))
        .otherwise(pl.col(column))
        .alias(column)
        for column, value in values.items()
    )


@pytest.mark.parametrize(
    ("change", "first"),
    [
        (_at("d", good_logprob=None), "1 scores are .* first of 'd'"),
        (_at("d", bad_logprob=math.nan), "1 scores are .* first of 'd'"),
        (_at("d", good_logprob=math.inf), "1 scores are .* first of 'd'"),
        (_at("d", bad_logprob=-math.inf), "1 scores are .* first of 'd'"),
        (_at("d", good_tokens=None), "1 scores are .* first of 'd'"),
        (_at("d", bad_tokens=0), "1 scores are .* first of 'd'"),
        (lambda f: f.filter(pl.col("item_id") != "b"), "1 .* first 'b'"),
        (lambda f: pl.concat([f, _at("a", item_id="z")(f.filter(item_id="a"))]), "1 .* first 'z'"),
        (lambda f: pl.concat([f, f.filter(item_id="a")]), "2 .* first 'a'"),
    ],
)
def test_scores_that_are_no_numbers_or_of_other_pairs_are_refused(tmp_path, change, first):
    path, items = written(tmp_path, change)
    with pytest.raises(PoshgridError, match=rf"scores\.parquet: {first}"):
        judged(path, items, Scoring())
