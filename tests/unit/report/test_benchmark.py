"""What the report says of suites: nulls beside pretrained models, and the other tasks."""

from __future__ import annotations

import dataclasses

import polars as pl
import pytest

from poshgrid import files
from poshgrid.config.paths import Paths
from poshgrid.report.collect import gather
from poshgrid.report.layout import lay_out
from poshgrid.report.page import write
from poshgrid.report.sections import items, tasks
from poshgrid.statistics.measures.schema import PARADIGM_MEASURES
from poshgrid.statistics.schema import ACCURACY
from tests.unit.report.report_results import build, undrawn


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results without counted nulls, and their spec."""
    folder = tmp_path_factory.mktemp("results")
    return folder, build(folder)


def row(phenomenon, regimen, learner, mean, condition="baby", far=""):
    return {
        **dict.fromkeys(ACCURACY), "condition": condition, "size": "10M", "learner": learner,
        "regimen": regimen, "bias": "none", "suite": "posh", "level": "phenomenon",
        "category": phenomenon.partition("-")[0], "phenomenon": phenomenon, "mean": mean,
        "far": far,
    }  # fmt: skip


def with_accuracies(results, rows):
    folder, spec = results
    collected = gather(spec, folder)
    return dataclasses.replace(collected, accuracy=pl.DataFrame(rows, schema=ACCURACY))


def test_nulls_and_pretrained_models_stand_side_by_side(results):
    collected = with_accuracies(results, [
        row("wanna", "packed", "gpt2-mini", 0.9, far="ngram"),
        row("wanna", "untrained", "gpt2-mini", 0.4),
        row("wanna", "untrained", "gpt2-mini", 0.6, condition="wiki"),
        row("wanna", "counted", "unigram", 0.5),
        row("wanna", "counted", "ngram", 0.8),
        row("wanna", "pretrained", "gpt2", 0.97),
        row("island-wh", "counted", "unigram", 0.5),
    ])  # fmt: skip
    layout = lay_out(collected)
    table = items.nulls(collected, layout, "posh")
    titles = [column.title for column in table.columns]
    assert titles == [
        "Phenomenon", "Untrained", "Least–most", "Unigram", "Least–most", "Ngram", "Least–most",
        "gpt2", "Far from 50% in some cell",
    ]  # fmt: skip
    shown = {cells[0]: cells[1:] for cells in table.shown()}
    assert shown["wanna ‡"] == [
        "50.0", "40.0–60.0", "50.0", "50.0–50.0", "80.0", "80.0–80.0", "97.0", "ngram"
    ]  # fmt: skip
    assert shown["island-wh"] == ["–", "–", "50.0", "50.0–50.0", "–", "–", "–", "–"]
    assert table.classes == {list(shown).index("wanna ‡"): "flag"}
    assert "wanna" not in shown


def test_the_page_shows_other_tasks_and_quality(results):
    folder, spec = results
    paths = Paths(str(folder))
    known = {"learner": "gpt2-mini <b>", "subset": "all", "measure": "did", "mean": 1.23456}
    plain = {pl.String: "x", pl.Float64: 0.5, pl.UInt32: 7, pl.Int64: 1}
    row = {name: known.get(name, plain.get(kind)) for name, kind in PARADIGM_MEASURES.items()}
    measured = pl.DataFrame([row], schema=PARADIGM_MEASURES)
    path = folder / paths.measures("all", "gaps").removeprefix(f"{folder}/") / "measures.parquet"
    path.parent.mkdir(parents=True)
    measured.write_parquet(path)
    files.write_json(f"{paths.quality('all', 'posh')}/quality.json", {"verdict": "flagged"})
    spec = spec.model_copy(update={"measured": {"gaps": "paradigms", "tests": "choices"}})
    with undrawn():
        write(spec, folder, folder / "report/all")
    page = (folder / "report/all/index.html").read_text(encoding="utf-8")
    tasks = page.partition('id="tasks"')[2].partition("</section>")[0]
    assert "<td>1.235</td>" in tasks.replace(' class="n"', "")
    assert "gpt2-mini &lt;b&gt;" in tasks
    assert tasks.count("Not run.") == 1  # `tests` has no measures yet
    assert "Quality of posh: <strong>flagged</strong>" in page
    assert "<code>quality/all/posh/index.html</code>" in page


def test_wrong_answers_are_sorted_by_how_many_gave_them():
    rows = pl.DataFrame(
        [("i1", "x", "r1"), ("i2", "y", "r2"), ("i2", "z", "r2"), ("i2", "z", "r2")],
        schema=["item_id", "answer", "right"], orient="row",
    ).with_columns(category=pl.lit("c"), phenomenon=pl.lit("p"))  # fmt: skip
    assert tasks.wrong_answers("choices", rows).rows == [
        ["i2", "p", 3, "z", 2, "r2"],
        ["i1", "p", 1, "x", 1, "r1"],
    ]
