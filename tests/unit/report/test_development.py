"""When it is learned: the section's sentence, figure and tables say what the onsets hold."""

import re
import types
from functools import partial

import polars as pl
import pytest

from poshgrid.report import figures
from poshgrid.report.sections import development
from poshgrid.statistics.development import SLACK
from tests.unit.report.report_results import changed as changed_results
from tests.unit.report.report_results import drawn, shown


@pytest.fixture
def rivalled(study):
    """The study with a best rival at 50% for every model."""
    here = (pl.col("recipe") == "packed") & (pl.col("level") == "phenomenon")
    ends = {"rival_mean": 0.5, "above_rival": pl.col("mean") - 0.5,
            "above_rival_low": pl.col("low") - 0.5,
            "above_rival_high": pl.col("high") - 0.5}  # fmt: skip
    rows = {name: pl.when(here).then(value) for name, value in ends.items()}
    return study.changed(accuracy=study.collected.accuracy.with_columns(**rows))


def said(made, **changed):
    """Return the sentences on a study, its results changed."""
    page = types.SimpleNamespace(collected=changed_results(made.collected), layout=made.layout)
    vars(page.collected).update(changed)
    return [finding.text for finding in development.sentences(page)]


def test_the_section_draws_and_lists_the_onsets(rivalled, tmp_path):
    onsets, ratios = rivalled.collected.development, rivalled.collected.ratios
    assert onsets.height == 27  # nine phenomena, three conditions
    _, page = rivalled.written(development, tmp_path)
    clear = ratios.filter((pl.col("low") >= 1 / SLACK) | (pl.col("high") <= SLACK))
    *comparisons, counted = said(rivalled)
    for phenomenon in clear["phenomenon"]:
        assert any(f"{phenomenon} (" in text for text in comparisons)
    unknown = ratios.height - clear.height
    assert re.findall(r"(\d+) of (\d+) comp", counted) == [(str(unknown), str(ratios.height))]
    frame = development.named(rivalled.collected, rivalled.layout)
    # The words that a size was trained on, not what it is called
    known = onsets.filter(pl.col("status").is_in(["within", "by", "after"]))
    ends = {x for end in ("low", "high") for x in known[end].drop_nulls()}
    assert ends
    draw = partial(figures.rows, label="", words=True, columns=1)
    assert ends <= drawn(draw, development.marks(frame))
    assert pl.read_csv(tmp_path / "tables/onsets-data.csv").height == 27
    assert [row["Points"] for row in shown(page, "onsets")] == ["Sizes"] * 27
    assert len(shown(page, "onset-ratios")) == ratios.height > 0


def test_without_conditions_to_compare_it_says_how_many_are_learned(rivalled):
    wiki = rivalled.collected.accuracy.filter(condition="wiki")
    alone = rivalled.changed(accuracy=wiki)
    sure = alone.collected.development["status"].is_in(["within", "by"]).sum()
    (text,) = said(alone)
    assert [int(n) for n in re.findall(r"\d+", text)] == [9, sure, 5]
    # Curves that turn back were learned, and solved ones do not count
    rows = alone.collected.development.head(3).with_columns(
        status=pl.Series(["turns back", "not testable", "cannot tell"]),
        high=pl.Series([1e7, None, None]),
    )
    (text,) = said(alone, development=rows)
    assert [int(n) for n in re.findall(r"\d+", text)] == [2, 1, 5]


@pytest.mark.parametrize(("low", "high"), [(1.2, 2.64), (0.3, 0.5)])
def test_a_clear_comparison_says_in_which_direction(rivalled, low, high):
    ratios = rivalled.collected.ratios.head(1).with_columns(low=low, high=high)
    first, last = said(rivalled, ratios=ratios)
    assert ("more words" in first) == (low > 1) and " 0 of 1 " in last
