"""The section on filtering: figures, tables and sentences hold the numbers of the tables."""

import re
from types import SimpleNamespace

import polars as pl
import pytest

from poshgrid.report import style
from poshgrid.report.blocks import Page
from poshgrid.report.sections import filtering as deltas
from poshgrid.report.sections.filtering import figures, scatter, tables
from poshgrid.report.sections.filtering.tables import named
from poshgrid.report.shelf import Shelf
from poshgrid.statistics.deltas.tables import conditions
from poshgrid.statistics.schema import DELTA_ITEMS, DELTA_TESTS, DELTAS, PERPLEXITY, RUN_AXES
from poshgrid.tables import words

from . import report_results

AIMED = {"wiki~a": ("p0", "p1"), "wiki~b": ("p2",), "baby-f": ("p0", "p1")}


def change(condition, learner, phenomenon):
    """A delta (share) that says where it belongs: multiples of a thousandth."""
    number = int(phenomenon[1:]) if phenomenon else 9
    return -(number + 1 + 20 * (condition == "wiki~b") + 100 * (learner == "lstm")) / 1000


def table(conditions=("wiki~a", "wiki~b"), points=(("10M", "gpt"), ("10M", "lstm")), n=4):
    rows = []
    for condition in conditions:
        for size, learner in points:
            base = {
                **dict(zip(RUN_AXES, (condition, size, learner, "fict", "none"), strict=True)),
                "full": condition[:4], "suite": "blimp", "n_seeds": 3, "n_seeds_full": 3,
                "accuracy_full": 0.8,
            }  # fmt: skip
            places = [("phenomenon", f"p{i}") for i in range(n)] + [
                ("average", ""),
                ("overall", ""),
            ]
            for level, p in places:
                delta, each = change(condition, learner, p), level == "phenomenon"
                rows.append({
                    **base, "level": level, "category": f"c{p[1:]}", "phenomenon": p,
                    "targeted": p in AIMED[condition], "accuracy": 0.8 + delta, "delta": delta,
                    "delta_sd": 0.004, "margin": 100 * delta if each else None,
                    "margin_full": 2.5 if each else None, "r": 0.75 if each else None,
                })  # fmt: skip
    return pl.DataFrame(rows, schema=DELTAS)


def perplexity(conditions=("wiki", "wiki~a"), learners=("gpt", "lstm")):
    rows = [
        {**dict(zip(RUN_AXES, (c, "10M", learner, "fict", "none"), strict=True)), "seed": seed,
         "tested": "wiki", "sentences": 3, "words": 10, "tokens": 20, "loss": 3.0,
         "perplexity": 40.0 + seed + 5 * (learner == "lstm"), "word_perplexity": 90.0}
        for c in conditions
        for learner in learners
        for seed in (1, 3)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=PERPLEXITY)


def test_line(measure="targeted delta", **changes):
    return {
        "measure": measure, "suite": "blimp", "axis": "learner", "first": "gpt", "second": "lstm",
        "pairs": 15, "mean_first": -0.0541, "mean_second": -0.0462, "t": -0.562, "df": 14,
        "p": 0.583, "r": 0.5, **changes,
    }  # fmt: skip


test_line.__test__ = False


def collected(rows=None, tests=(), read=None):
    return SimpleNamespace(
        tokens={},
        conditions={},
        deltas=pl.DataFrame(schema=DELTAS) if rows is None else rows,
        delta_tests=pl.DataFrame(list(tests), schema=DELTA_TESTS),
        delta_items=pl.DataFrame(schema=DELTA_ITEMS),
        perplexity=pl.DataFrame(schema=PERPLEXITY) if read is None else read,
    )


def drawn(function, frame, **options):
    with style.drawing("test"):
        return function(frame, **options).axes[0]


def test_rows_are_conditions_and_marks_their_means():
    found = figures.marks(named(table()))
    assert found.rows() == [
        ("a", "gpt", figures.TARGETED, pytest.approx(-0.15), -0.2, -0.1),
        ("a", "gpt", figures.ALL, pytest.approx(-1.0), None, None),
        ("a", "lstm", figures.TARGETED, pytest.approx(-10.15), -10.2, pytest.approx(-10.1)),
        ("a", "lstm", figures.ALL, pytest.approx(-11.0), None, None),
        (
            "b",
            "gpt",
            figures.TARGETED,
            pytest.approx(-2.3),
            pytest.approx(-2.3),
            pytest.approx(-2.3),
        ),
        ("b", "gpt", figures.ALL, pytest.approx(-3.0), None, None),
        ("b", "lstm", figures.TARGETED, pytest.approx(-12.3), -12.3, -12.3),
        ("b", "lstm", figures.ALL, pytest.approx(-13.0), None, None),
    ]


def test_of_one_condition_rows_are_phenomena_targeted_first():
    rows = named(table(("baby-f",), (("10M", "mini"), ("30M", "small"))))
    found = figures.marks(rows)
    # The learner follows from the size and is not named.
    assert found["series"].unique(maintain_order=True).to_list() == ["10M", "30M"]
    assert found["row"].unique(maintain_order=True).to_list() == ["p0", "p1", "p2", "p3"]
    assert found.filter(kind=figures.TARGETED)["row"].unique().sort().to_list() == ["p0", "p1"]
    first = found.row(0, named=True)
    assert (first["value"], first["low"], first["high"]) == pytest.approx((-0.1, -0.5, 0.3))
    assert figures.moves(rows).row(0) == ("p0", "10M", 2.5, pytest.approx(-0.1))


def test_of_many_phenomena_those_that_are_not_targeted_are_one_row():
    found = figures.marks(named(table(("baby-f",), (("10M", "mini"),), n=figures.FEW + 1)))
    assert found.select("row", "kind").rows() == [
        ("p0", figures.TARGETED), ("p1", figures.TARGETED), (figures.ALL, figures.ALL)
    ]  # fmt: skip
    moved = figures.moves(named(table(("baby-f",), n=figures.FEW + 1)))
    assert set(moved["row"]) == {"p0", "p1"}


def test_the_figures_draw_every_number_once():
    frame = figures.marks(named(table()))
    axes = drawn(figures.draw_deltas, frame)
    dots = [line for line in axes.lines if line.get_linestyle() == "None"]
    assert [dot.get_xdata()[0] for dot in dots] == pytest.approx(frame["value"].to_list())
    filled = [dot.get_markerfacecolor() != style.PAGE.light for dot in dots]
    assert filled == (frame["kind"] == figures.TARGETED).to_list()
    # A learner has one colour and one marker in all rows, and no two marks of a row one height.
    looks = {(dot.get_color(), dot.get_marker()) for dot in dots}
    assert len(looks) == 2
    heights = [dot.get_ydata()[0] for dot in dots]
    assert len({round(y, 6) for y in heights}) == 4
    assert heights == sorted(heights, reverse=True)
    low, high = axes.get_ylim()
    assert low < min(heights) and max(heights) < high
    labels = [t.get_text() for t in axes.get_yticklabels()][::-1]
    assert labels == ["a", "b"]

    moved = figures.moves(named(table()))
    axes = drawn(figures.draw_margins, moved)
    lines = [line for line in axes.lines if line.get_linestyle() == "-"][1:]  # the first: zero
    assert [tuple(line.get_xdata()) for line in lines] == [
        (pytest.approx(before), pytest.approx(after))
        for before, after in moved.select("before", "after").iter_rows()
    ]
    open_marks = [line for line in axes.lines if line.get_markerfacecolor() == style.PAGE.light]
    hollow = [line.get_xdata()[0] for line in open_marks if line.get_linestyle() == "None"]
    assert hollow == pytest.approx(moved["before"].to_list())


def test_the_heat_map_has_every_delta_once():
    rows = named(table())
    frame = figures.heat(rows)
    assert frame.height == rows.filter(level="phenomenon").height > 0
    with style.drawing("test"):
        figure = figures.draw_heat(frame)
    assert len(figure.axes) == frame["series"].n_unique()
    across = frame["row"].unique(maintain_order=True).to_list()
    down = frame["phenomenon"].unique(maintain_order=True).to_list()
    for axes, (_, part) in zip(
        figure.axes, frame.group_by("series", maintain_order=True), strict=True
    ):
        above, below, aimed = (c.get_offsets().data.tolist() for c in axes.collections)
        places = {(r, p): [across.index(r), down.index(p)]
                  for r, p in part.select("row", "phenomenon").iter_rows()}  # fmt: skip
        lower = part.filter(pl.col("value") < 0)
        assert below == [places[key] for key in lower.select("row", "phenomenon").iter_rows()]
        assert len(above) == part.filter(pl.col("value") > 0).height
        assert len(aimed) == part.filter("targeted").height


def test_the_heat_map_of_accuracies_has_full_text_first():
    rows = named(table())
    frame = figures.heat_of_accuracies(rows)
    assert frame["row"].unique(maintain_order=True).to_list() == ["wiki", "a", "b"]
    assert not frame.filter(pl.col("row") == "wiki")["targeted"].any()
    found = {row[:3]: row[4] for row in frame.iter_rows()}
    assert len(found) == frame.height == 3 * 2 * 4
    assert found["wiki", "gpt", "p0"] == pytest.approx(30)
    assert found["b", "lstm", "p2"] == pytest.approx(30 + 100 * change("wiki~b", "lstm", "p2"))


# Margins of pairs of one phenomenon a condition: of full and of filtered text, gpt and lstm.
PAIRS = {
    "wiki~a": [(2, 3, 1, -1), (-1, 1, -2, -1)],
    "wiki~b": [(2, 2, 0, 2)],
}


def pairs():
    rows = [
        {**dict(zip(RUN_AXES, (condition, "10M", learner, "fict", "none"), strict=True)),
         "suite": "blimp", "category": "c", "phenomenon": "p", "item_id": f"i{number}",
         "margin_full": pair[place], "margin": pair[2 + place]}
        for condition, found in PAIRS.items()
        for number, pair in enumerate(found)
        for place, learner in enumerate(("gpt", "lstm"))
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=DELTA_ITEMS)


def test_pairs_are_marks_of_one_learner_against_the_other():
    found = scatter.points(pairs(), named(table()))
    assert set(found["first"]) == {"gpt"} and set(found["second"]) == {"lstm"}
    assert found.select("row", "text", "item_id", "x", "y").rows() == [
        ("a", "full", "i0", 2, 3), ("a", "full", "i1", -1, 1),
        ("a", "filtered", "i0", 1, -1), ("a", "filtered", "i1", -2, -1),
        ("b", "full", "i0", 2, 2), ("b", "filtered", "i0", 0, 2),
    ]  # fmt: skip
    with style.drawing("test"):
        panels = scatter.draw(found).axes
    both, one, neither = (
        [len(axes.collections[quadrant].get_offsets()) for axes in panels] for quadrant in range(3)
    )
    assert (both, one, neither) == ([1, 0, 1, 0], [1, 1, 0, 1], [0, 1, 0, 0])


def test_the_conditions_are_each_learners_loss_and_the_least_change():
    lost = {"a": (-0.1, -0.3), "b": (-0.4, -0.1), "c": (-0.2, -0.2), "d": (-0.01, 0.0)}
    rows = pl.concat(
        table((name,), n=1).with_columns(
            condition=pl.lit(f"wiki~{letter}"), targeted=pl.lit(value=True),
            delta=pl.when(pl.col("learner") == "gpt").then(gpt).otherwise(lstm),
        )
        for name, (letter, (gpt, lstm)) in zip(["wiki~a"] * 4, lost.items(), strict=True)
    )  # fmt: skip
    assert scatter.chosen(rows) == ["wiki~b", "wiki~a", "wiki~d"]
    alone = rows.filter(pl.col("learner") == "gpt")
    assert scatter.chosen(alone) == []
    assert scatter.points(pairs(), named(alone)).is_empty()


def test_the_page_says_how_perplexity_falls_with_text():
    read = pl.DataFrame([
        {"condition": c, "size": "10M", "learner": "lstm", "regimen": "r", "bias": "none",
         "seed": 1, "tested": "wiki", "sentences": 1, "words": 1, "tokens": 1, "nats": 1.0,
         "loss": 1.0, "perplexity": p, "word_perplexity": p, "windowed": 0}
        for c, p in (("a", 30.0), ("b", 20.0), ("c", 10.0))
    ], schema=PERPLEXITY)  # fmt: skip
    tokens = {(c, "10M"): {"train": {"tokens": n}} for c, n in (("a", 1), ("b", 2), ("c", 3))}
    assert list(deltas._more_text(read, tokens)) == [
        "10M · lstm · r: over 3 models of 3 conditions, "
        "r(training tokens, log perplexity) = −0.989."
    ]
    assert list(deltas._more_text(read.head(2), tokens)) == []  # two points always lie on a line


def test_what_filters_take_out_is_set_against_the_base_and_the_full_text():
    rows = table(points=(("10M", "gpt"),))
    statistics = {("wiki~a", "10M"): {"removed_sentences": 25, "whole": {"sentences": 200},
                                      "splits": {"train": {"sentences": 150}}}}  # fmt: skip
    tokens = {(c, "10M"): {"train": {"tokens": n}} for c, n in (("wiki", 400), ("wiki~a", 380))}
    found = tables.taken(rows, statistics, tokens)
    assert found.rows == [["wiki~a", "10M", 0.125, 150, 0.95]]
    assert tables.taken(rows, statistics, {}).rows[0][-1] is None
    assert tables.taken(rows, {}, tokens).rows == []


def test_perplexity_falls_with_text_as_the_authors_say(shared):
    """FiCT, section 5.1: LSTMs -.970, Transformers -.976."""
    table = pl.read_csv(shared / "published/fict/tidy_results.csv").select(
        "seed", "corpus_tokens", condition="corpus", learner="arch", perplexity="test_ppl"
    ).unique()  # fmt: skip
    rest = {"size": "100M", "regimen": "fict", "bias": "none"}
    read = table.with_columns(pl.lit(value).alias(axis) for axis, value in rest.items())
    counts = table.select("condition", "corpus_tokens").unique().iter_rows()
    tokens = {(c, "100M"): {"train": {"tokens": n}} for c, n in counts}
    assert sorted(deltas._more_text(read, tokens)) == [
        f"100M · {name} · fict: over 80 models of 16 conditions, "
        f"r(training tokens, log perplexity) = −{r}."
        for name, r in (("lstm", "0.970"), ("transformer", "0.976"))
    ]


def test_sentences():
    said = deltas.sentences(collected(table(), [test_line(), test_line("delta")]))
    assert said == [
        "blimp: on the phenomena that filters are aimed at, filtering changes accuracy by "
        "−1.2 points (gpt) and −11.2 points (lstm), averaged over 2 conditions; on all phenomena "
        "by −2.0 points (gpt) and −12.0 points (lstm).",
        "blimp: the targeted deltas of gpt and lstm do not differ significantly (paired "
        "t(14) = −0.56, p = .583).",
    ]
    said = deltas.sentences(collected(table(), [test_line(p=0.0001)]))
    assert said[1].endswith("differ (paired t(14) = −0.56, p < .001).")
    assert "averaged" not in deltas.sentences(collected(table(("baby-f",))))[0]
    aimless = table().with_columns(targeted=pl.lit(value=False))
    assert deltas.sentences(collected(aimless)) == [
        "blimp: no filter is aimed at any of its phenomena."
    ]


def test_tables():
    rows = table()
    by_condition = conditions(rows, "blimp").shown()
    assert by_condition[1] == [
        "wiki~a", "lstm", "2", "−10.2", "−11.0", "0.4", "2.50", "−10.15", "0.75"
    ]  # fmt: skip
    each = tables.phenomena(rows, "blimp")
    assert len(each.rows) == 2 * 2 * 4
    assert each.shown()[0] == [
        "p0", "wiki~a", "gpt", "yes", "80.0", "79.9", "−0.1", "0.4", "2.50", "−0.10", "0.75"
    ]  # fmt: skip
    many = tables.phenomena(table(n=60), "blimp")  # 240 rows: too long for the page
    assert {row[3] for row in many.rows} == {"yes"}
    assert "aimed at" in many.caption
    found = tables.tests(pl.DataFrame([test_line(), test_line(t=None, df=None, p=None, r=None)],
                                      schema=DELTA_TESTS)).shown()  # fmt: skip
    assert found[0][0] == "Targeted accuracy delta (points)"
    assert found[0][4:] == ["15", "−5.41", "−4.62", "−0.56", "14", ".583", "0.50"]
    assert found[1][7:] == ["–"] * 4
    assert tables.tests(pl.DataFrame(schema=DELTA_TESTS)).rows == []
    read = tables.perplexities(perplexity()).shown()
    assert read[1] == ["wiki", "lstm", "wiki", "2", "3.0000", "47.00", "1.41", "90.00", "0.00"]
    assert tables.perplexities(pl.DataFrame(schema=PERPLEXITY)).rows == []


def test_shares_are_written_as_in_every_other_table():
    # A share whose percentage is a tie: 100 times it and it over 0.01 round differently.
    value = next(
        v for v in (i / 2000 for i in range(1, 2000, 2))
        if words.percent(v) != words.decimals(1, 0.01)(v)
    )  # fmt: skip
    rows = table().with_columns(accuracy=pl.lit(value), delta_sd=pl.lit(value))
    each = tables.phenomena(rows, "blimp").shown()[0]
    assert (each[5], each[7]) == (words.percent(value),) * 2
    assert conditions(rows, "blimp").shown()[0][5] == words.percent(value)


def test_the_caption_of_the_comparisons_says_what_is_paired():
    caption = tables.tests(pl.DataFrame([test_line()], schema=DELTA_TESTS)).caption
    assert "Pairs are conditions at each size (and each learner, regimen and bias" in caption


def section(found, folder):
    return deltas.blocks(Page(found, None, Shelf(folder), None))


def page(found):
    return report_results.rendered(found)


def test_the_section_links_to_what_was_written(tmp_path):
    found = section(collected(table(), [test_line()], perplexity()), tmp_path)
    text = page(found)
    links = set(re.findall(r'href="((?:tables|figures)/[^"]+)"', text))
    assert {"tables/deltas-blimp-all.csv", "figures/margins-blimp.pdf"} <= links
    for link in links:
        assert (tmp_path / link).is_file(), link
    assert "wiki~a is compared with wiki" in text
    whole = pl.read_csv(tmp_path / "tables/deltas-blimp-all.csv")
    assert whole.columns == list(DELTAS)
    assert whole.height == table().height


def test_what_there_is_not_is_left_out(tmp_path):
    assert section(collected(), tmp_path) is None
    text = page(section(collected(read=perplexity()), tmp_path))
    assert "Perplexity of unfiltered text" in text
    assert "Comparisons" not in text
    aimless = table().with_columns(targeted=pl.lit(value=False))
    text = page(section(collected(aimless), tmp_path))
    assert 'id="figure-deltas-blimp"' in text
    assert 'id="figure-margins-blimp"' not in text


def test_names_are_escaped(tmp_path):
    rows = table().with_columns(learner=pl.col("learner") + "<b>")
    text = page(section(collected(rows), tmp_path))
    assert "<b>" not in text
    assert "gpt&lt;b&gt;" in text


@pytest.mark.slow
def test_the_same_results_give_the_same_page(tmp_path):
    pages = []
    for name in ("one", "two"):
        found = section(collected(table(), [test_line()], perplexity()), tmp_path / name)
        pages.append(page(found))
    assert pages[0] == pages[1]
