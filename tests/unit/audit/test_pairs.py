"""Sheets of pairs: sides are hidden and come back; agreement as worked by hand."""

from __future__ import annotations

import csv
import io

import polars as pl
import pytest
from scipy import stats
from typer.testing import CliRunner

from poshgrid import files
from poshgrid.audit import pairs
from poshgrid.benchmark.schema import ITEMS
from poshgrid.cli import app
from poshgrid.errors import PoshgridError
from tests.unit.quality.quality_suite import table


@pytest.fixture
def items():
    return table(
        *[("wanna", "wh-word", f"When {w}?", f"Who {w}?") for w in "abcdefghijklmnopqrst"],
        *[("other", "c", f"=good {w}.", f'bad {w}, "it".') for w in "abcdefghijkl"],
    )


def rows(path):
    text = path.read_text(encoding="utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def fill(path, source, answer, **columns):
    """Write a copy of a sheet with labels: ``answer`` gives one for each row."""
    filled = [row | {"label": answer(row)} | columns for row in rows(source)]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(filled[0]))
        writer.writeheader()
        writer.writerows(filled)
    return path


def good(items):
    """Return the label of the good member of a row."""
    known = dict(items.select("item_id", "good").iter_rows())
    return lambda row: "a" if row["a"].lstrip("'") == known[row["item_id"]] else "b"


def test_sides_are_drawn_and_always_the_same(items, tmp_path):
    assert pairs.draw(items, 10, 42, tmp_path / "one.csv") == 20
    assert pairs.draw(items.sample(fraction=1, shuffle=True, seed=3), 10, 42, tmp_path / "b.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    pairs.draw(items, 10, 43, tmp_path / "c.csv")
    drawn = rows(tmp_path / "one.csv")
    assert [row["number"] for row in drawn] == [str(n) for n in range(1, 21)]
    of = dict(items.select("item_id", "phenomenon").iter_rows())
    assert [of[row["item_id"]] for row in drawn].count("wanna") == 10
    assert drawn != sorted(drawn, key=lambda row: row["item_id"])  # phenomena are mixed
    left = [good(items)(row) for row in drawn].count("a")
    assert 3 <= left <= 17
    assert rows(tmp_path / "c.csv") != drawn
    assert set(drawn[0]) == set(pairs.COLUMNS)  # nothing that tells which is which
    with pytest.raises(PoshgridError, match="is there already"):
        pairs.draw(items, 10, 42, tmp_path / "one.csv")


def test_agreement_by_hand(items, tmp_path):
    sheet = tmp_path / "sheet.csv"
    pairs.draw(items, 10, 1, sheet)
    right = good(items)
    wrong = {"a": "b", "b": "a"}

    def first(row):
        n = int(row["number"])
        return (
            ""
            if n == 20
            else "both"
            if n in (1, 2)
            else wrong[right(row)]
            if n == 3
            else right(row)
        )

    def second(row):
        n = int(row["number"])
        return "both" if n == 1 else "Neither " if n == 3 else right(row)

    one, two = fill(tmp_path / "one.csv", sheet, first), fill(tmp_path / "two.csv", sheet, second)
    found = pairs.rate(items, one, two)
    ann, bob = found.readers
    assert (ann.labelled, ann.blank) == (19, 1)
    assert ann.verdicts == {"good": 16, "bad": 1, "both": 2, "neither": 0}
    assert ann.agrees.share == pytest.approx(16 / 19)
    exact = stats.binomtest(16, 19).proportion_ci(method="exact")
    assert ann.agrees.interval == pytest.approx((exact.low, exact.high))
    assert bob.verdicts == {"good": 18, "bad": 0, "both": 1, "neither": 1}
    assert sum(n for n, _ in bob.phenomena.values()) == 18
    # Of the 19 that both labelled: good good 16, both both 1, both good 1, bad neither 1.
    assert (found.compared, found.same) == (19, 17)
    # Of labels, whose sides are drawn: by verdicts, nearly all of them good, kappa would be near 0.
    filled = [[row["label"].strip().lower() for row in rows(each)] for each in (one, two)]
    met = [(x, y) for x, y in zip(*filled, strict=True) if x and y]
    chance = sum(
        [x for x, _ in met].count(label) * [y for _, y in met].count(label)
        for label in pairs.LABELS
    ) / 19**2  # fmt: skip
    assert found.kappa == pytest.approx((17 / 19 - chance) / (1 - chance))
    assert found.kappa > 0.75
    drawn = rows(sheet)
    assert [each["item"] for each in found.disagreements] == [
        drawn[1]["item_id"], drawn[2]["item_id"],
    ]  # fmt: skip
    assert [(e["first"], e["second"]) for e in found.against] == [
        ("both", "both"), ("bad", "neither"),
    ]  # fmt: skip
    said = pairs.lines(found)
    assert "both labelled 19 pairs: the same in 17, Cohen's kappa" in "\n".join(said)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([("good", "good")] * 5, None),
        ([("good", "good"), ("bad", "bad")], 1.0),
        ([("good", "bad"), ("bad", "good")], -1.0),
        # Cohen (1960) by hand: po 35/50, pe (25*30 + 25*20)/2500 = .5
        ([("good", "good")] * 20 + [("good", "bad")] * 5 + [("bad", "good")] * 10
         + [("bad", "bad")] * 15, 0.4),
        ([], None),
    ],
)  # fmt: skip
def test_kappa(verdicts, expected):
    assert pairs.kappa(verdicts) == (expected if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "good"}, r"line 2 \(number \d+\): label 'good'; write a, b, both or neither"),
        ({"item_id": "x-9"}, "not a pair of the suite"),
        ({"a": "Something else."}, "not a pair of the suite"),
        ({"number": "1"}, "number 1 stands on line 2 already"),
        ({"label": ""}, "no pair has a label"),
    ],
)
def test_a_sheet_that_is_none_of_the_suite_is_refused(items, tmp_path, change, message):
    pairs.draw(items, 5, 1, tmp_path / "sheet.csv")
    filled = fill(tmp_path / "one.csv", tmp_path / "sheet.csv", lambda row: "a", **change)
    with pytest.raises(PoshgridError, match=message):
        pairs.rate(items, filled)


def test_two_people_fill_in_copies_of_one_sheet(items, tmp_path):
    for seed in (1, 2):
        pairs.draw(items, 5, seed, tmp_path / f"{seed}.csv")
        fill(tmp_path / f"done{seed}.csv", tmp_path / f"{seed}.csv", lambda row: "a")
    with pytest.raises(PoshgridError, match="give two copies of one sheet"):
        pairs.rate(items, tmp_path / "done1.csv", tmp_path / "done2.csv")
    with pytest.raises(PoshgridError, match="given twice"):
        pairs.rate(items, tmp_path / "done1.csv", tmp_path / "done1.csv")


def test_the_commands_draw_and_report(items, tmp_path):
    path = tmp_path / "items.parquet"
    files.write_table(items, path, ITEMS)
    sheet = tmp_path / "sheet.csv"
    drawn = CliRunner().invoke(
        app, ["pair-sheet", str(path), "--count", "3", "--output", str(sheet)]
    )
    assert "6 pairs" in drawn.output
    filled = fill(tmp_path / "one.csv", sheet, good(items))
    said = CliRunner().invoke(
        app, ["pair-rate", str(path), str(filled), "--output", str(tmp_path / "rate.json")]
    )
    assert "with the suite: 100.0% (54.1 to 100.0%)" in said.output
    assert files.read_json(tmp_path / "rate.json")["readers"][0]["verdicts"]["good"] == 6


def test_texts_that_look_like_formulas_come_back(items, tmp_path):
    sheet = tmp_path / "sheet.csv"
    pairs.draw(items.filter(pl.col("phenomenon") == "other"), 12, 1, sheet)
    assert all(side != "=" for row in rows(sheet) for side in (row["a"][0], row["b"][0]))
    filled = fill(tmp_path / "one.csv", sheet, good(items))
    assert {each.verdict for each in pairs.read(filled, items)} == {"good"}
