"""The filter audit in the report: what was drawn, what labels say, what nobody has read yet."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.stats import beta

from poshgrid import files
from poshgrid.audit import sheet
from poshgrid.audit.sheet import Row
from poshgrid.report.sections import audits
from tests.unit.audit.sheets import fill
from tests.unit.report import report_results


@pytest.fixture
def audited(study, tmp_path):
    """The study with an audit of one filter, its sheets blank, in a folder of its own."""
    folder = tmp_path / "audit/baby-f/10M"
    folder.mkdir(parents=True)
    leakage = drawn(folder, "binding.leakage", 10)
    precision = drawn(folder, "binding.precision", 5)
    facts = {
        "leakage": {**leakage, "candidates": 40, "reinserted": 3, "whole": False},
        "precision": {**precision, "candidates": 5, "backstop": 2},
    }
    files.write_json(folder / "statistics.json", {
        "condition": "baby-f", "size": "10M", "sample": 10, "seed": 42, "sentences": 900,
        "base_sentences": 950, "filters": {"binding": facts},
    })  # fmt: skip
    spec = study.spec.model_copy(update={"audits": ["baby-f/10M"]})
    return study.changed(spec=spec)._replace(folder=tmp_path), folder


def drawn(folder: Path, name: str, n: int) -> dict:
    """Write a blank sheet of n sentences and return what the statistics hold of it."""
    rows = [Row(100 * len(name) + i, "childes", "d", f"Sentence {i}.") for i in range(n)]
    sheet.write(name, rows, folder / f"{name}.csv")
    numbered = [(i, row.sent_id, row.text) for i, row in enumerate(rows, start=1)]
    return {"sampled": n, "digest": sheet.digest(numbered)}


def section(study):
    return audits.blocks(study.page(study.folder / "report"))


def table_of(study):
    return report_results.tables(section(study))["audit"]


def test_blank_sheets_have_counts_and_no_rate(audited):
    leakage, precision = report_results.shown(table_of(audited[0]))
    assert leakage == {
        "Filter": "binding", "Sheet": "leakage", "Condition": "baby-f", "Size": "10M",
        "Drawn from": "with certain words", "Sentences": "900", "Candidates": "40",
        "Put back": "3", "By words alone": "–", "Sampled": "10", "Unlabelled": "10",
    }  # fmt: skip
    assert list(precision.values())[4:9] == ["removed", "950", "5", "–", "2"]


def test_labels_become_a_rate_with_an_exact_interval(audited):
    study, folder = audited
    labels = dict.fromkeys(range(3, 9), "no") | {1: "yes", 6: "unsure"}
    fill(folder / "binding.leakage.csv", labels)
    table = table_of(study)
    named = dict(zip([c.title for c in table.columns], table.rows[0], strict=True))
    # 7 labels: 1 yes, 1 unsure. Clopper and Pearson by quantiles of the beta distribution:
    high = beta.ppf(0.975, 3, 5)  # 2 of 7
    assert (named["Yes"], named["No"], named["Unsure"], named["Unlabelled"]) == (1, 5, 1, 3)
    assert named["Rate (%)"] == pytest.approx(1 / 7)
    assert named["Unsure as yes (%)"] == pytest.approx(2 / 7)
    # At least the one that was found, of 40 candidates
    assert named["2.5% (%)"] == pytest.approx(1 / 40)
    assert named["97.5% (%)"] == pytest.approx(high)
    assert (named["Expected, from"], named["Expected, to"]) == (1.0, pytest.approx(40 * high))
    assert table.classes == {0: "flag"}  # one was skipped
    page = report_results.rendered(section(study))
    assert "14.29 to 28.57%" in page and "8 of 15" in page


def test_sheets_of_another_run_count_once_people_have_labelled_them(audited):
    """What a run of a part of the grid has left is nothing that this one drew."""
    study, folder = audited
    others = study.changed(spec=study.spec.model_copy(update={"audits": []}))
    others = others._replace(folder=study.folder)
    assert section(others) is None
    fill(folder / "binding.leakage.csv", {1: "yes", **dict.fromkeys(range(2, 11), "no")})
    (row,) = report_results.shown(table_of(others))
    assert row["Sheet"] == "leakage"
