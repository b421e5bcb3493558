"""The section on filtering: figures, tables and sentences hold the numbers of the tables."""

import re
from functools import partial

import polars as pl
import pytest

from poshgrid.report import figures
from poshgrid.report.layout import naming, varied
from poshgrid.report.sections import filtering
from poshgrid.statistics.schema import DELTA_TESTS, DELTAS, PERPLEXITY, RUN_AXES

from .report_results import drawn, shown

AIMED = {"wiki~a": ("p0", "p1"), "wiki~b": ("p2",), "baby-f": ("p0", "p1")}


def point(condition, model, size="10M"):
    return dict(zip(RUN_AXES, (condition, size, model, "fict", "none"), strict=True))


def change(condition, model, phenomenon):
    """A delta (share) that says where it belongs: multiples of a thousandth."""
    number = int(phenomenon[1:]) if phenomenon else 9
    return -(number + 1 + 20 * (condition == "wiki~b") + 100 * (model == "lstm")) / 1000


def table(conditions=("wiki~a", "wiki~b"), points=(("10M", "gpt"), ("10M", "lstm")), n=4):
    rows = []
    places = [*(("phenomenon", f"p{i}") for i in range(n)), ("average", ""), ("overall", "")]
    for condition in conditions:
        for size, model in points:
            for level, p in places:
                delta, single = change(condition, model, p), level == "phenomenon"
                rows.append({
                    **point(condition, model, size),
                    "full": condition[:4], "suite": "blimp", "n_seeds": 3, "n_seeds_full": 3,
                    "accuracy_full": 0.8, "level": level, "category": f"c{p[1:]}", "phenomenon": p,
                    "targeted": p in AIMED[condition], "accuracy": 0.8 + delta, "delta": delta,
                    "delta_sd": 0.004, "margin": 100 * delta if single else None,
                    "margin_full": 2.5 if single else None, "r": 0.75 if single else None,
                })  # fmt: skip
    return pl.DataFrame(rows, schema=DELTAS)


def named(rows):
    return rows.with_columns(series=naming(varied(rows)))


def perplexity():
    rows = [
        {**point(c, model), "seed": seed,
         "tested": "wiki", "sentences": 3, "words": 10, "tokens": 20, "loss": 3.0,
         "perplexity": 40.0 + seed + 5 * (model == "lstm"), "word_perplexity": 90.0}
        for c in ("wiki", "wiki~a")
        for model in ("gpt", "lstm")
        for seed in (1, 3)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=PERPLEXITY)


LINE = {
    "measure": "targeted delta", "suite": "blimp", "axis": "model", "first": "gpt",
    "second": "lstm", "pairs": 15, "mean_first": -0.0541, "mean_second": -0.0462, "t": -0.562,
    "df": 14, "p": 0.583, "r": 0.5,
}  # fmt: skip


def test_rows_are_conditions_and_marks_their_means():
    marks = filtering.marks(named(table()))
    targeted = marks.filter("filled")
    assert targeted.select("row", "series").rows() == [
        ("wiki~a", "gpt"), ("wiki~a", "lstm"), ("wiki~b", "gpt"), ("wiki~b", "lstm")
    ]  # fmt: skip
    assert targeted["value"].to_list() == pytest.approx([-0.15, -10.15, -2.3, -12.3])
    assert targeted["low"].to_list() == pytest.approx([-0.2, -10.2, -2.3, -12.3])
    every = marks.filter(~pl.col("filled"))
    assert every["value"].to_list() == pytest.approx([-1.0, -11.0, -3.0, -13.0])
    assert {round(v, 6) for v in marks["value"]} <= drawn(partial(figures.rows, label=""), marks)


def test_of_one_condition_rows_are_phenomena_targeted_first():
    points = (("10M", "mini"), ("30M", "small"))
    rows = named(table(("baby-f",), points))
    marks = filtering.marks(rows)
    # The model follows from the size and is not named.
    assert marks["series"].unique(maintain_order=True).to_list() == ["10M", "30M"]
    assert marks["row"].unique(maintain_order=True).to_list() == ["p0", "p1", "p2", "p3"]
    first = marks.row(0, named=True)
    assert (first["value"], first["low"], first["high"]) == pytest.approx((-0.1, -0.5, 0.3))
    many = filtering.marks(named(table(("baby-f",), points[:1], n=filtering.FEW + 1)))
    assert many["row"].to_list() == ["p0", "p1", filtering.ALL]


def test_perplexity_falls_with_text_as_the_authors_say(shared):
    """FiCT, section 5.1: LSTMs -.970, Transformers -.976."""
    table = pl.read_csv(shared / "published/fict/tidy_results.csv").select(
        "seed", "corpus_tokens", condition="corpus", model="arch", perplexity="test_ppl"
    ).unique()  # fmt: skip
    rest = {"size": "100M", "recipe": "fict", "bias": "none"}
    read = table.with_columns(pl.lit(value).alias(axis) for axis, value in rest.items())
    counts = table.select("condition", "corpus_tokens").unique().iter_rows()
    tokens = {(c, "100M"): {"train": {"tokens": n}} for c, n in counts}
    said = sorted(filtering.falling(read, tokens))
    assert [re.findall(r"(80|16) |−(0\.\d+)", text) for text in said] == [
        [("80", ""), ("16", ""), ("", r)] for r in ("0.970", "0.976")
    ]
    assert list(filtering.falling(read.head(2), tokens)) == []  # two points always lie on a line


def test_the_tables_of_the_section(study, tmp_path):
    rows = table()
    unknown = LINE | dict.fromkeys(("t", "df", "p", "r"))
    tests = pl.DataFrame([LINE, unknown], schema=DELTA_TESTS)
    made = study.changed(deltas=rows, delta_tests=tests, perplexity=perplexity())
    _, page = made.written(filtering, tmp_path)

    def values(name, row):
        return list(shown(page, name)[row].values())

    assert values("by-condition-blimp", 1) == [
        "wiki~a", "lstm", "2", "−10.2", "−11.0", "0.4", "2.50", "−10.15", "0.75"
    ]  # fmt: skip
    assert len(shown(page, "by-phenomenon-blimp")) == 2 * 2 + 2
    assert values("by-phenomenon-blimp", 0) == [
        "p0", "wiki~a", "gpt", "80.0", "79.9", "−0.1", "0.4", "2.50", "−0.10", "0.75"
    ]  # fmt: skip
    assert values("delta-tests", 0)[4:] == ["15", "−5.41", "−4.62", "−0.56", "14", ".583", "0.50"]
    assert values("delta-tests", 1)[7:] == ["–"] * 4
    assert values("perplexity", 1) == [
        "wiki", "lstm", "wiki", "2", "3.0000", "47.00", "1.41", "90.00", "0.00"
    ]  # fmt: skip
    assert (tmp_path / "figures/deltas-blimp.pdf").is_file()
    whole = pl.read_csv(tmp_path / "tables/deltas-blimp-all.csv")
    assert whole.columns == list(DELTAS) and whole.height == rows.height
    assert study.written(filtering, tmp_path)[0] is None
