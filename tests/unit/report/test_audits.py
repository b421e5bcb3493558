"""The filter audit in the report: what was drawn, what labels say, what nobody has read yet."""

from pathlib import Path

import pytest
from scipy.stats import beta

from poshgrid.config.paths import Paths
from poshgrid.core import files
from poshgrid.quality.audit import sheet
from poshgrid.report.sections import audits
from tests.unit.quality.audit.sheets import fill, sentences
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
        "corpus_sentences": 950, "filters": {"binding": facts},
    })  # fmt: skip
    spec = study.spec.model_copy(update={"audits": ["baby-f/10M"]})
    made = study.changed(spec=spec, paths=Paths(str(tmp_path)))
    return made._replace(folder=tmp_path), folder


def drawn(folder: Path, name: str, n: int) -> dict:
    """Write a blank sheet of n sentences and return what the statistics hold of it."""
    rows = sentences(*(f"Sentence {i}." for i in range(n)), first=100 * len(name))
    sheet.write(name, rows, folder / f"{name}.csv")
    numbered = [(i, *row) for i, row in enumerate(rows.select("sent_id", "text").rows(), start=1)]
    return {"sampled": n, "digest": sheet.digest(numbered)}


def rows(study):
    _, page = study.written(audits, study.folder / "report")
    return report_results.shown(page, "audit")


def test_blank_sheets_have_counts_and_no_rate(audited):
    leakage, precision = rows(audited[0])
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
    row = next(audits.gather(study.collected))
    # 7 labels: 1 yes, 1 unsure. Clopper and Pearson by quantiles of the beta distribution:
    high = beta.ppf(0.975, 3, 5)  # 2 of 7
    assert (row["yes"], row["no"], row["unsure"], row["unlabelled"]) == (1, 5, 1, 3)
    assert row["rate"] == pytest.approx(1 / 7)
    assert row["rate_unsure"] == pytest.approx(2 / 7)
    # At least the one that was found, of 40 candidates
    assert (row["low"], row["high"]) == (pytest.approx(1 / 40), pytest.approx(high))
    assert (row["expected_low"], row["expected_high"]) == (1.0, pytest.approx(40 * high))
    assert row["class"] == "flag"  # one was skipped
    html = study.html(audits, study.folder / "report")
    assert "8 of 15" in html


def test_sheets_of_another_run_count_once_people_have_labelled_them(audited):
    """What a run of a part of the grid has left is nothing that this one drew."""
    study, folder = audited
    others = study.changed(spec=study.spec.model_copy(update={"audits": []}))
    assert others.written(audits, folder / "report")[0] is None
    fill(folder / "binding.leakage.csv", {1: "yes", **dict.fromkeys(range(2, 11), "no")})
    (row,) = rows(others)
    assert row["Sheet"] == "leakage"
