"""The filter audit in the report: what was drawn, what labels say, what nobody has read yet."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from scipy.stats import beta

from poshgrid import files
from poshgrid.audit import sheet
from poshgrid.audit.sheet import Row
from poshgrid.errors import PoshgridError
from poshgrid.report.blocks import Bullets, Fold
from poshgrid.report.collect import gather
from poshgrid.report.sections import audits
from poshgrid.report.shelf import Shelf
from tests.unit.report import report_results


@pytest.fixture
def results(tmp_path):
    """A small results folder with an audit of one filter, its sheets blank."""
    folder = tmp_path / "results"
    spec = report_results.build(
        folder, conditions=("baby", "baby-f"), sizes=("10K",), seeds=(1,), swept=False
    )
    audit = folder / "audit/baby-f/10K"
    audit.mkdir(parents=True)
    facts = {
        "leakage": {
            **drawn(audit, "binding.leakage", 10),
            "candidates": 40,
            "reinserted": 3,
            "whole": False,
        },
        "precision": {"candidates": 5, **drawn(audit, "binding.precision", 5), "backstop": 2},
    }
    files.write_json(audit / "statistics.json", {
        "condition": "baby-f", "size": "10K", "sample": 10, "seed": 42, "sentences": 900,
        "base_sentences": 950,
        "filters": {"binding": facts},
    })  # fmt: skip
    return folder, spec.model_copy(update={"audits": ["baby-f/10K"]}), audit


def drawn(folder: Path, name: str, n: int) -> dict:
    """Write a blank sheet of n sentences and return what the statistics hold of it."""
    rows = [Row(100 * len(name) + i, "childes", "d", f"Sentence {i}.") for i in range(n)]
    sheet.write(name, rows, folder / f"{name}.csv")
    numbered = [(i, row.sent_id, row.text) for i, row in enumerate(rows, start=1)]
    return {"sampled": n, "digest": sheet.digest(numbered)}


def fill(path: Path, labels: str, copy: Path | None = None) -> None:
    """Write labels (y, n, u, or - for none) into a sheet, or into a copy of it."""
    words = {"y": "yes", "n": "no", "u": "unsure", "-": ""}
    lines = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
    place = lines[0].index("label")
    for line, label in zip(lines[1:], labels, strict=True):
        line[place] = words[label]
    with (copy or path).open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(lines)


def section(results, tmp_path):
    folder, spec, _ = results
    collected = gather(spec, folder)
    return audits.blocks(report_results.page(collected, Shelf(tmp_path / "report"), folder))


def table_of(found, name="audit"):
    return report_results.tables(found).get(name)


def said(found):
    return [text for each in found if isinstance(each, Bullets) for text in each.texts]


def test_blank_sheets_have_counts_and_no_rate(results, tmp_path):
    found = section(results, tmp_path)
    leakage, precision = report_results.shown(table_of(found))
    assert leakage == {
        "Filter": "binding", "Sheet": "leakage", "Condition": "baby-f", "Size": "10K",
        "Drawn from": "with certain words", "Sentences": "900", "Candidates": "40",
        "Put back": "3", "By words alone": "–", "Sampled": "10", "Unlabelled": "10",
    }  # fmt: skip
    assert list(precision.values())[4:9] == ["removed", "950", "5", "–", "2"]
    assert said(found) == [] and table_of(found, "audit-agreement") is None
    assert "15 sampled sentences" in "".join(report_results.of(found, str))


def test_labels_become_a_rate_with_an_exact_interval(results, tmp_path):
    fill(results[2] / "binding.leakage.csv", "y-nnnunn--")
    found = section(results, tmp_path)
    table = table_of(found)
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
    numbers = ["14.29", "28.57", "95", "2.50", f"{100 * high:.2f}", "7", "1", "1", "1.0",
               f"{40 * high:.1f}", "900"]  # fmt: skip
    assert (
        re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?!K)", said(found)[0].partition("): ")[2]) == numbers
    )
    assert "8 of 15" in "".join(report_results.of(found, str))
    assert table.classes == {0: "flag"}  # one was skipped


def test_sheets_of_another_run_count_once_people_have_labelled_them(results, tmp_path):
    """What a run of a part of the grid has left is nothing that this one drew."""
    folder, spec, audit = results
    others = folder, spec.model_copy(update={"audits": []}), audit
    assert section(others, tmp_path) is None
    fill(audit / "binding.leakage.csv", "ynnnnnnnnn")
    (row,) = report_results.shown(table_of(section(others, tmp_path)))
    assert row["Sheet"] == "leakage"


def test_broken_statistics_are_one_line(results, tmp_path):
    files.write_json(results[2] / "statistics.json", {"filters": {"binding": {"leakage": {}}}})
    with pytest.raises(PoshgridError, match=r"statistics\.json: not the statistics of an audit"):
        section(results, tmp_path)


def test_without_an_audit_there_is_no_section(results, tmp_path):
    for path in results[2].iterdir():
        path.unlink()
    assert section(results, tmp_path) is None


def test_the_page_names_the_sheets(results, tmp_path):
    found = section(results, tmp_path)
    (sheets,) = (each for each in found if isinstance(each, Fold))
    paths = [text.rpartition(" ")[2] for text in sheets.blocks[0].texts]
    assert paths == [f"audit/baby-f/10K/binding.{k}.csv" for k in ("leakage", "precision")]
