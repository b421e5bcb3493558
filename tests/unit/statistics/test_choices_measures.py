"""Accuracy, chance, blocks of choices and completions: by hand, by another way, and with faults."""

import itertools
import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poshgrid.benchmark.schema import CHOICES, COMPLETIONS
from poshgrid.config import specs
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import write_table
from poshgrid.evaluation.schema import CHOICE_SCORES, COMPLETION_SCORES
from poshgrid.statistics.measures import choices
from poshgrid.statistics.measures.schema import CHOICE_MEASURES, CHOICE_RESULT, TAGS

RUN = "baby/10M/gpt2-mini/packed/none/seed42"


def suite(*rows, context=0):
    """Return items and scores from item, phenomenon, block, logprobs; the target is option 0."""
    items, scores = [], []
    for item, phenomenon, block, *logprobs in rows:
        for option, given_score in enumerate(logprobs):
            logprob, tokens = given_score if isinstance(given_score, tuple) else (given_score, 1)
            text = f"{item}{option}"
            items.append(
                (item, "sc", phenomenon, block, option, option == 0, text, context, None, [])
            )
            scores.append((item, None, option, float(logprob), tokens))
    return (
        pl.DataFrame(scores, schema=CHOICE_SCORES, orient="row"),
        pl.DataFrame(items, schema=CHOICES, orient="row"),
    )


def measured(scores, items):
    return choices.measures(choices.judged(scores, items, "scores"))


def whole(rows, context=0):
    return measured(*suite(*rows, context=context)).row(-1, named=True)


# ---- who wins ------------------------------------------------------------------------------------


def test_in_a_context_the_sum_decides_and_is_equal_to_a_millionth_of_a_nat_a_token():
    assert whole([("a", "p", "", (-6, 6), (-4, 2))], context=3)["raw"] == 0
    assert whole([("a", "p", "", (-4, 2), (-6, 6))], context=3)["raw"] == 1
    assert whole([("a", "p", "", (-4, 2), (-4 + 5e-6, 6))], context=3)["raw"] == 0.5


def test_a_tie_of_k_options_is_worth_one_kth():
    rows = [
        ("a", "p", "", -1, -1, -2),  # 1/2
        ("b", "p", "", -1, -1, -1),  # 1/3
        ("c", "p", "", -2, -1, -1),  # the target is not in the tie: 0
        ("d", "p", "", -1, -1 - 1e-9, -2),  # equal but for rounding: 1/2
        ("e", "p", "", -1, -1.001, -2),  # 1
        # Perplexity per token decides: e against e^2, though the sum of the other is higher
        ("f", "p", "", (-6, 6), (-4, 2)),  # 1
        ("g", "p", "", (-6, 2), (-4, 4)),  # 0
    ]
    row = whole(rows)
    assert row["raw"] == pytest.approx(1 / 2 + 1 / 3 + 0 + 1 / 2 + 1 + 1 + 0)
    assert row["ties"] == 4


# ---- levels, chance, intervals -------------------------------------------------------------------


def test_levels_by_hand():
    scores, items = suite(
        ("a", "p", "", -1, -2, -3, -4),
        ("b", "p", "", -2, -1, -3, -4),
        ("c", "q", "", -1, -2),
    )
    table = measured(scores, items)
    assert table.schema == CHOICE_RESULT
    kept = table.select("level", "category", "phenomenon", "n", "raw", "accuracy", "chance")
    assert kept.rows() == [
        ("phenomenon", "sc", "p", 2, 1.0, 0.5, 0.25),
        ("phenomenon", "sc", "q", 1, 1.0, 1.0, 0.5),
        ("category", "sc", "", 3, 2.0, pytest.approx(2 / 3), pytest.approx(1 / 3)),
        ("suite", "", "", 3, 2.0, pytest.approx(2 / 3), pytest.approx(1 / 3)),
    ]
    assert table["test"].to_list() == ["binomial", "binomial"] + ["poisson-binomial"] * 2
    # Right by guessing: a 1/4, b 1/4, c 1/2. P(0) 9/32, P(1) 15/32, P(2) 7/32, P(3) 1/32.
    assert table["p"][3] == pytest.approx(7 / 32 + 1 / 32)
    # Two items of a quarter: P(0) 9/16, P(1) 6/16, P(2) 1/16.
    assert table["p"][0] == pytest.approx(6 / 16 + 1 / 16)
    assert table["blocks"].null_count() == 4
    scores, items = completions(("a", "p", "", True), ("b", "p", "", False), ("c", "q", "", True))
    table = measured(scores, items)  # completions have no chance
    assert table["accuracy"].to_list() == pytest.approx([0.5, 1, 2 / 3, 2 / 3])
    assert table.select("chance", "p", "blocks").drop_nulls("p").is_empty()


CHANCES = st.lists(st.sampled_from([1 / 2, 1 / 3, 1 / 4]), min_size=1, max_size=7)


@settings(max_examples=60, deadline=None)
@given(CHANCES, st.data())
def test_p_agrees_with_an_enumeration_of_all_outcomes(chances, data):
    correct = data.draw(st.integers(0, len(chances)))
    pmf = [0.0] * (len(chances) + 1)
    for outcome in itertools.product((0, 1), repeat=len(chances)):
        pmf[sum(outcome)] += math.prod(
            c if right else 1 - c for c, right in zip(chances, outcome, strict=True)
        )
    expected = sum(p for p in pmf if p <= pmf[correct] * (1 + 1e-7))
    p, test = choices.against_chance(correct, chances)
    assert p == pytest.approx(expected, rel=1e-6)
    assert test == ("binomial" if len(set(chances)) == 1 else "poisson-binomial")


def test_a_fractional_score_is_tested_as_both_neighbours():
    chances = [0.25] * 8
    around = [choices.against_chance(k, chances)[0] for k in (4, 5)]
    assert choices.against_chance(4.5, chances)[0] == max(around)
    third = 1 / 3 + 1 / 3 + 1 / 3 + 4
    assert choices.against_chance(third, chances)[0] == around[1]


# ---- blocks --------------------------------------------------------------------------------------


def block(name, right, of=4, phenomenon="p"):
    return [
        (f"{name}{i}", phenomenon, name, *((-1, -2, -2, -2) if i < right else (-2, -1, -2, -2)))
        for i in range(of)
    ]


@pytest.mark.parametrize(
    ("right", "of", "passes"), [(3, 4, 1), (2, 4, 0), (3, 5, 0), (4, 5, 1), (9, 12, 1)]
)
def test_a_block_is_passed_with_three_quarters(right, of, passes):
    row = whole(block("b", right, of))
    assert (row["blocks"], row["blocks_passed"]) == (1, passes)
    tie = [("t", "p", "b", -1, -1, -2, -2)]  # half an item
    assert whole([*block("b", right, of - 1), *tie])["blocks_passed"] == passes


def test_blocks_are_counted_at_every_level():
    scores, items = suite(*block("x", 3), *block("y", 2), *block("z", 4, phenomenon="q"))
    table = measured(scores, items)
    assert table.select("level", "phenomenon", "blocks", "blocks_passed").rows() == [
        ("phenomenon", "p", 2, 1),
        ("phenomenon", "q", 1, 1),
        ("category", "", 3, 2),
        ("suite", "", 3, 2),
    ]
    # Guessing among four: P(3 or 4 of 4) = 4 (1/4)^3 (3/4) + (1/4)^4 = 13/256, for each block.
    assert table["blocks_chance"].to_list() == pytest.approx([k * 13 / 256 for k in (2, 1, 3, 3)])


# ---- completions ---------------------------------------------------------------------------------


def completions(*rows):
    """Return items and scores from item, phenomenon, block, correct."""
    items = [(i, "prod", p, b, f"{i} is", ["x"], False, []) for i, p, b, _ in rows]
    scores = [(i, None, "x y", right) for i, *_, right in rows]
    return (
        pl.DataFrame(scores, schema=COMPLETION_SCORES, orient="row"),
        pl.DataFrame(items, schema=COMPLETIONS, orient="row"),
    )


# ---- planted faults ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spoil",
    [
        lambda s: s[1:],
        lambda s: pl.concat([s, s[:1]]),
        lambda s: pl.concat([s[1:], s[1:2]]),
        lambda s: s.with_columns(step=pl.lit(5, dtype=pl.UInt32)),
    ],
)
def test_faulty_scores_are_refused(spoil):
    scores, items = suite(("a", "p", "", -1, -2), ("b", "p", "", -1, -2))
    with pytest.raises(PoshgridError, match=r"^scores: .* first .*'[abz]'"):
        measured(spoil(scores), items)


# ---- files ---------------------------------------------------------------------------------------


@pytest.fixture
def results(tmp_path):
    """Two runs of a suite of two blocks; the second run exchanges who wins."""
    scores, items = suite(*block("x", 4), *block("y", 2))
    write_table(items, tmp_path / "items.parquet", CHOICES)
    exchanged = pl.when(pl.col("option") < 2).then(-3 - pl.col("logprob")).otherwise("logprob")
    other = scores.with_columns(logprob=exchanged)
    for run, table in ((RUN, scores), (RUN.replace("42", "53"), other)):
        write_table(table, tmp_path / "scores" / run / "test.parquet", CHOICE_SCORES)

    def write(*runs):
        spec = specs.MeasuresSpec(suite="test", task="choices", runs=runs)
        inputs = tmp_path / "scores", tmp_path / "items.parquet"
        return choices.write(spec, *inputs, tmp_path / "out")

    return write


def test_files_of_runs(results, tmp_path):
    assert results(RUN.replace("42", "53"), RUN) == {"runs": 2, "silent": [], "ties": 0}
    table = pl.read_parquet(tmp_path / "out/measures.parquet")
    assert table.schema == CHOICE_MEASURES
    rows = table.filter(level="suite").select("seed", "raw", "blocks_passed").rows()
    assert rows == [(42, 6.0, 1), (53, 2.0, 0)]
    assert not (tmp_path / "out/norms.csv").exists()


def test_tags_are_written_and_go_when_they_are_taken_out(results, tmp_path):
    path, output = tmp_path / "items.parquet", tmp_path / "out"
    plain = pl.read_parquet(path)
    tags = {"x0": ["neg", "pas"], "x1": ["neg"], "x2": ["neg"]}  # of block x, which is right
    tagged = [tags.get(item, []) for item in plain["item_id"]]
    write_table(plain.with_columns(tags=pl.Series(tagged, dtype=CHOICES["tags"])), path, CHOICES)
    results(RUN)
    table = pl.read_parquet(output / "tags.parquet")
    assert table.schema == TAGS
    columns = ("tag", "other", "n", "raw", "n_rest", "raw_rest")
    assert table.select(columns).rows() == [
        ("neg", "", 3, 3.0, 5, 3.0), ("neg", "pas", 1, 1.0, 2, 2.0),
        ("pas", "", 1, 1.0, 7, 5.0), ("pas", "neg", 1, 1.0, 0, 0.0),
    ]  # fmt: skip
    # Of 8 items 6 are right: all three tagged ones, or both wrong ones among them.
    ways = math.comb(8, 6)
    assert table["p"][0] == pytest.approx((math.comb(5, 3) + math.comb(5, 5) * 3) / ways)
    assert table["p"][3] is None
    # Over two suites the counts add up, and what was no test may become one.
    both = choices.pooled(pl.concat([table, table.with_columns(suite=pl.lit("two"))]))
    assert both.filter(tag="neg", other="").select(columns[2:]).row(0) == (6, 6.0, 10, 6.0)
    write_table(plain, path, CHOICES)
    results(RUN)
    assert not list(output.glob("tags.*"))


def test_answers_are_named_with_the_right_ones():
    scores, items = suite(("a", "p", "b", -9, -5, -7), ("t", "p", "b", -6, -6, -7))  # t: a tie
    answers = choices.shown(choices.judged(scores, items, "scores"), scores, items)
    assert answers.rows() == [("a", "sc", "p", "b", "a1", False, "a0")]
