"""What labelled sheets say: rates, intervals, agreement, and sheets that are refused."""

import csv

import numpy as np
import polars as pl
import pytest
from scipy import stats

from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import write_json
from poshgrid.quality.audit import sheet
from poshgrid.quality.audit.rate import agreement, cohens_kappa, interval, lines, rate
from tests.unit.quality.audit.sheets import fill, write_sheet


def statistics(folder, path, candidates):
    """Write what the audit of a sheet wrote."""
    digest = sheet.digest((e.number, e.sent_id, e.text) for e in sheet.read(path))
    facts = {"candidates": candidates, "digest": digest}
    value = {"condition": "baby-f", "size": "10M", "filters": {"binding": {"leakage": facts}}}
    write_json(folder / "statistics.json", value)


def clopper_pearson(yes, n):
    """The interval by its definition: each tail holds half of what the interval leaves out."""
    low = stats.beta.ppf(0.025, yes, n - yes + 1) if yes else 0.0
    high = stats.beta.ppf(0.975, yes + 1, n - yes) if yes < n else 1.0
    return low, high


def test_the_papers_number(tmp_path):
    """Appendix C: 6 of 1,000 of 5.7k candidates, "30 sentences in 1.5M"."""
    path = write_sheet(tmp_path, ["yes"] * 6 + ["no"] * 994)
    statistics(tmp_path, path, 5_700)
    rated = rate(path)
    assert (rated.yes, rated.blank) == (6, 0)
    assert rated.rates == (0.006, 0.006)
    low, high = rated.interval
    assert (low, high) == pytest.approx((0.002205, 0.013013), abs=1e-6)
    # So many or more, and so many or fewer, are as rare as 1 in 40 at the bounds
    assert stats.binom.sf(5, 1_000, low) == pytest.approx(0.025)
    assert stats.binom.cdf(6, 1_000, high) == pytest.approx(0.025)
    assert "34.2 (12.6 to 74.2) of 5,700" in lines(path, rated)[-1]
    for yes, n in ((0, 1_000), (10, 10), (1, 7), (50, 100)):
        assert interval(yes, n) == pytest.approx(clopper_pearson(yes, n))
    assert interval(6, 1_000, 1_000) == (0.006, 0.006)  # all were read


def test_unsure_counts_both_ways(tmp_path):
    path = write_sheet(tmp_path, ["yes"] * 2 + ["unsure"] * 3 + ["no"] * 15 + [""] * 5)
    statistics(tmp_path, path, 200)
    rated = rate(path)
    assert (rated.yes, rated.no, rated.unsure, rated.blank) == (2, 15, 3, 5)
    assert rated.rates == (0.1, 0.25)
    assert rated.interval[0] == pytest.approx(clopper_pearson(2, 20)[0])
    assert rated.interval[1] == pytest.approx(clopper_pearson(5, 20)[1])
    assert not rated.skipped


def test_sentences_that_were_skipped_are_reported(tmp_path):
    path = write_sheet(tmp_path, ["no", "", "yes", ""])
    lines = path.read_text("utf-8-sig").splitlines()
    path.write_text("\n".join([lines[0], *lines[:0:-1]]))  # sorted the other way round
    assert rate(path).skipped
    fill(path, {1: "no", 2: "yes"})
    assert not rate(path).skipped


@pytest.mark.parametrize(
    "saved",
    [{"separator": "\t"}, {"separator": ";"}, {"end": "\n", "encoding": "utf-8"}],
)
def test_sheets_as_spreadsheets_save_them(tmp_path, saved):
    path = write_sheet(tmp_path, [""] * 6)
    labels = {1: "YES", 2: " no ", 3: "Unsure", 4: "No\u00a0", 5: "yes"}
    fill(path, labels, note="a; note, with\r\na line", **saved)
    encoding = saved.get("encoding", "utf-8-sig")
    text = path.read_bytes().decode(encoding).replace("label", "Label", 1)
    empty = saved.get("separator", ",") * HEADER.count(",")  # a row that somebody cleared
    path.write_bytes((text + empty + saved.get("end", "\r\n")).encode(encoding))
    rated = rate(path)
    assert (rated.yes, rated.no, rated.unsure, rated.blank) == (2, 2, 1, 1)


def test_exports_of_label_studio_and_doccano_are_read(tmp_path):
    """Columns in another order, some left out, some more, and rows in another order."""
    path = write_sheet(tmp_path, ["", "", ""])
    statistics(tmp_path, path, 10)
    rows = list(csv.DictReader(path.read_text("utf-8-sig").splitlines()))
    for row, label in zip(rows, ["no", "yes", ""], strict=True):
        row |= {"label": label, "annotator": "1", "lead_time": "3.2"}
    kept = ["annotator", "label", "lead_time", "number", "sent_id", "sheet", "text"]
    pl.DataFrame(rows[::-1]).select(kept).write_csv(path)
    rated = rate(path)
    assert (rated.yes, rated.no, rated.blank) == (1, 1, 1)
    assert rated.drawn["candidates"] == 10


def test_two_people(tmp_path):
    """Cohen (1960) by hand: 4 both yes, 1 and 1 apart, 4 neither: .8 observed, .5 expected."""
    one = ["yes"] * 5 + ["no"] * 4 + ["unsure", "no", ""]
    two = ["yes"] * 4 + ["no"] + ["no"] * 3 + ["yes", "no", "", "yes"]
    first, second = write_sheet(tmp_path, one), write_sheet(tmp_path, two, "binding.ben.csv")
    assert agreement(first, second) == (10, 0.7, pytest.approx(0.6))
    assert np.isnan(cohens_kappa(np.zeros(3), np.zeros(3)))  # nothing to agree about
    for other in (first, write_sheet(tmp_path, one, "other.csv", first=101)):
        with pytest.raises(PoshgridError, match="not another copy"):
            agreement(first, other)


def wrong(message, path):
    with pytest.raises(PoshgridError, match=message) as error:
        rate(path)
    assert "\n" not in str(error.value)


HEADER = ",".join(["number", "sheet", *sheet.ROWS, "label", "note"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{HEADER}\n1,b.leakage,5,s,d,t,w,ja,\n", "line 2: label: .*'yes'"),
        (f'{HEADER}\n1,b.leakage,5,s,d,"text,w,no,\n', "unexpected end of data"),
        (f"{HEADER}\n1,b.leakage,5,s,d,t,w,no,\n1,b.leakage,6,s,d,t,w,no,\n", "a number is"),
        (f"{HEADER}\n1,b.leakage,5,s,d,t,w,no,\n2,c.leakage,6,s,d,t,w,no,\n", "one sheet alone"),
        (f"{HEADER}\n1,b.leakage,5,s,d,t,w, ,\n", "no sentence has a label"),
        (f"{HEADER},Label\n1,b.leakage,5,s,d,t,w,no,,yes\n", "column 'label' is there twice"),
        (f"{HEADER.replace('label', 'answer')}\n1,b.leakage,5,s,d,t,w,no,\n", "line 1: no column"),
    ],
)
def test_what_is_no_annotated_sheet_is_refused(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    wrong(message, tmp_path / "a.csv")


def test_sheets_that_do_not_belong_together(tmp_path):
    path = write_sheet(tmp_path, ["no", "yes", ""])
    wrong("none.csv: cannot read", tmp_path / "none.csv")
    statistics(tmp_path, path, 10)
    wrong("not a sample of", write_sheet(tmp_path, ["no", "yes", ""], "o.csv", first=7))
    rows = path.read_text("utf-8-sig").splitlines()
    path.write_text("\n".join(rows[:-1]))
    wrong("not a sample of", path)
    write_json(tmp_path / "statistics.json", {"condition": "x"})
    wrong("not a sample of", path)
