"""When it is learned: the section's sentence, figure and tables say what the onsets hold."""

import re
from functools import partial

import polars as pl
import pytest

from poshgrid.report import figures
from poshgrid.report.sections import development
from poshgrid.statistics.development import SLACK
from tests.unit.report.report_results import drawn, shown


@pytest.fixture
def rivalled(study):
    """The study with a best rival at 50% for every model."""
    trained = pl.col("recipe") == "packed"
    here = trained & (pl.col("level") == "phenomenon")
    ends = {
        "rival_mean": 0.5,
        "above_rival": pl.col("mean") - 0.5,
        "above_rival_low": pl.col("low") - 0.5,
        "above_rival_high": pl.col("high") - 0.5,
    }
    rows = study.collected.accuracy.with_columns(
        **{name: pl.when(here).then(value) for name, value in ends.items()}
    )
    return study.changed(accuracy=rows)


def test_there_is_nothing_to_say_without_rivals_or_with_one_size(study, biased, tmp_path):
    assert study.written(development, tmp_path)[0] is None
    assert development.sentence(study.collected) is None
    one = biased.collected.accuracy.with_columns(rival_mean=pl.lit(0.5))
    assert biased.changed(accuracy=one).written(development, tmp_path)[0] is None


def test_the_section_says_and_draws_the_onsets(rivalled, tmp_path):
    onsets, ratios = rivalled.collected.development, rivalled.collected.ratios
    assert onsets.height == 27  # nine phenomena, three conditions
    facts, page = rivalled.written(development, tmp_path)
    (said,) = facts["notes"]
    clear = ratios.filter((pl.col("low") >= 1 / SLACK) | (pl.col("high") <= SLACK))
    assert all(f"{row['phenomenon']} (" in said for row in clear.to_dicts())
    unknown = ratios.height - clear.height
    assert re.findall(r"(\d+) of (\d+) comp", said) == [(str(unknown), str(ratios.height))]
    frame = development.named(rivalled.collected, rivalled.layout)
    assert set(frame["series"]) == {"baby", "baby-f", "wiki"}
    # The words that a size was trained on, not what it is called
    known = onsets.filter(pl.col("status").is_in(["within", "by", "after"]))
    ends = {x for end in ("low", "high") for x in known[end].drop_nulls()}
    assert ends
    draw = partial(figures.rows, label="", words=True, columns=1)
    assert ends <= drawn(draw, development.marks(frame))
    assert pl.read_csv(tmp_path / "tables/onsets-data.csv").height == 27
    assert [row["Points"] for row in shown(page, "onsets")] == ["Sizes"] * 27
    ends = ratios.filter(pl.col("low").is_not_null() | pl.col("high").is_not_null())
    assert len(shown(page, "onset-ratios")) == ends.height > 0


def test_without_conditions_to_compare_it_says_how_many_are_learned(rivalled):
    wiki = rivalled.collected.accuracy.filter(condition="wiki")
    alone = rivalled.changed(accuracy=wiki).collected
    sure = alone.development["status"].is_in(["within", "by"]).sum()
    said = development.sentence(alone)
    assert [int(n) for n in re.findall(r"\d+", said)] == [9, sure, 5]


def test_a_clear_comparison_is_told_with_its_interval(rivalled):
    made = rivalled.changed().collected
    row = rivalled.collected.ratios.head(1).with_columns(ratio=1.7)
    ends = [(1.2, 2.64, "1.2 to 2.6 times"), (1.25, None, "at least 1.2 times"), (0.3, 0.5, "0.5")]
    for low, high, words in ends:
        frame = row.with_columns(low=pl.lit(low, pl.Float64), high=pl.lit(high, pl.Float64))
        made.ratios = frame
        said = development.sentence(made)
        assert words in said and " 0 of 1 " in said and " on posh" not in said
        assert ("more words" in said) == (low > 1)
    two = pl.concat([frame, frame.with_columns(suite=pl.lit("zorro"))])  # which is named, then
    made.ratios = two
    assert "on posh (" in development.sentence(made)


def test_curves_that_turn_back_were_learned_and_solved_ones_do_not_count(rivalled):
    wiki = rivalled.collected.accuracy.filter(condition="wiki")
    alone = rivalled.changed(accuracy=wiki).collected
    rows = alone.development.head(3).with_columns(
        status=pl.Series(["turns back", "not testable", "cannot tell"]),
        high=pl.Series([1e7, None, None]),
    )
    alone.development = rows
    said = development.sentence(alone)
    assert [int(n) for n in re.findall(r"\d+", said)] == [2, 1, 5]
