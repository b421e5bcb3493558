"""Learning curves of the report: figures hold the numbers of the table; learners compare."""

from types import SimpleNamespace

import polars as pl
import pytest

from poshgrid import files
from poshgrid.config.paths import Paths
from poshgrid.report import curves, style
from poshgrid.report.blocks import Page
from poshgrid.report.collect import gather
from poshgrid.report.layout import lay_out, title
from poshgrid.statistics.schema import CURVES_MEAN

from . import report_results

SMALL = {"conditions": ("baby-f",), "sizes": ("10K",), "biases": ("none", "dyck"), "seeds": (1, 2)}
EPOCHS = (0, 1, 2)
PER_EPOCH = 10


def value(bias, size, level, phenomenon, epoch):
    """An accuracy that says where it belongs."""
    number = list(report_results.PAIRS).index(phenomenon) if phenomenon else len(level)
    return 30.0 + number + 10 * epoch + 5 * (bias != "none") + 0.5 * (size != "10K")


def curve(bias="none", size="10K", learner="gpt2-mini", condition="baby-f", epochs=EPOCHS, seeds=2):
    """Return the rows of one arm: all levels at every epoch, and what was kept (epoch 1.5)."""
    categories = sorted(set(report_results.CATEGORY.values()))
    places = [("overall", "", ""), ("average", "", ""), *(("category", c, "") for c in categories)]
    places += [("phenomenon", c, p) for p, c in report_results.CATEGORY.items()]
    return [
        {
            "condition": condition, "size": size, "learner": learner, "regimen": "packed",
            "bias": bias, "suite": "posh", "level": level, "category": category,
            "phenomenon": phenomenon, "kept": epoch is None,
            "step": None if epoch is None else round(epoch * PER_EPOCH),
            "epoch": 1.5 if epoch is None else float(epoch),
            "mean": value(bias, size, level, phenomenon, 1.5 if epoch is None else epoch) / 100,
            "sd": 0.02 if seeds > 1 else None, "n_seeds": seeds, "pairs": 100, "dev_loss": 3.5,
        }
        for level, category, phenomenon in places
        for epoch in (*epochs, None)
    ]  # fmt: skip


def table(*arms):
    return pl.DataFrame([row for arm in arms for row in arm], schema=CURVES_MEAN)


def by_category(found, layout):
    """Return the marks of the categories of the suite."""
    panels = [(title(c), "posh", "category", c, "") for c in layout.categories["posh"]]
    return curves.trajectories(found, layout, panels)


def averages(found, layout):
    return curves.trajectories(found, layout, [("posh", "posh", "average", "", "")])


def place(results, rows):
    folder = Paths(str(results)).curves("all")
    files.write_table(rows, f"{folder}/curves_mean.parquet", CURVES_MEAN)


def collected(results, rows=None, **grid):
    spec = report_results.build(results, **(SMALL | grid))
    if rows is not None:
        place(results, rows)
    found = gather(spec, results)
    return found, lay_out(found)


def drawn(frame, **options):
    with style.drawing("test"):
        return curves.draw(frame, **options)


def panels(figure):
    return {axes.get_title(loc="left"): axes for axes in figure.axes if axes.get_title(loc="left")}


def lines(axes):
    return {line.get_label(): line for line in axes.lines}


# ---- frames and figures --------------------------------------------------------------------------


def test_the_figure_draws_the_numbers_of_the_table(tmp_path):
    found, layout = collected(tmp_path, table(curve("none"), curve("dyck", epochs=(1, 2))))
    frame = by_category(found, layout)
    figure = drawn(frame)
    there = panels(figure)
    assert list(there) == ["Islands", "Question formation", "Binding", "Wanna"]
    names = {"island": "Islands", "question-formation": "Question formation",
             "binding": "Binding", "wanna": "Wanna"}  # fmt: skip
    for row in found.curves.filter(level="category").iter_rows(named=True):
        name = "no bias" if row["bias"] == "none" else row["bias"]
        line = lines(there[names[row["category"]]])[f"kept {name}" if row["kept"] else name]
        at = list(line.get_xdata()).index(row["epoch"])
        assert line.get_ydata()[at] == pytest.approx(100 * row["mean"])
    for axes in there.values():
        assert {n: len(line.get_xdata()) for n, line in lines(axes).items() if n[0] != "_"} == {
            "no bias": 3, "dyck": 2, "kept no bias": 1, "kept dyck": 1
        }  # fmt: skip
        baseline, other = lines(axes)["no bias"], lines(axes)["dyck"]
        assert baseline.get_linewidth() > other.get_linewidth()
        band = axes.collections[0].get_paths()[0].vertices  # of the baseline: ± 2
        for epoch, mean in zip(baseline.get_xdata(), baseline.get_ydata(), strict=True):
            ends = [y for x, y in band if x == epoch]
            assert [min(ends), max(ends)] == pytest.approx([mean - 2, mean + 2])
        low, high = axes.get_ylim()
        assert low <= frame["mean"].min() - 2 and high >= frame["mean"].max() + 2
        assert low < 50 < high and axes.get_xlim()[1] > 2


@pytest.mark.parametrize(
    "rows", [None, table(), table(curve(epochs=())), table(curve(epochs=(0,)))]
)
def test_no_curve_without_checkpoints(tmp_path, rows):
    """What was kept and the untrained null alone are no curve."""
    found, layout = collected(tmp_path, rows)
    assert by_category(found, layout).is_empty()
    assert averages(found, layout).is_empty()
    page = Page(found, layout, SimpleNamespace(picture=pytest.fail), Paths("results"))
    assert curves.pictures(page, "posh") == [] and curves.average_picture(page) is None
