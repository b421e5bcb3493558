"""``poshgrid results``: numbers where they belong, at any width, and nothing else on stdout."""

import csv
import io
import json
import re
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console
from typer.testing import CliRunner

from poshgrid import files
from poshgrid.cli import app
from poshgrid.commands import results  # noqa: F401 - it adds the command
from poshgrid.commands.base import look_above
from poshgrid.config import words
from poshgrid.errors import PoshgridError
from poshgrid.report.terminal import table as drawing
from poshgrid.report.terminal import view
from poshgrid.statistics.schema import ACCURACY, CONTRASTS, DELTAS, SUMMARY

CATEGORIES = {"island": 2, "question-formation": 1, "binding": 1, "wanna": 1}
PHENOMENA = {
    "island-adjunct": "island", "island-wh": "island", "question-formation-or":
    "question-formation", "principle-a-locality": "binding", "wanna": "wanna",
}  # fmt: skip
POINTS = [
    (condition, size, "gpt2-tiny", "packed", "none")
    for condition in ("wiki", "baby", "baby-f")  # not the order of the configuration
    for size in ("60K", "20K")
]
NULLS = [
    (condition, size, learner, regimen, "none")
    for condition, size, *_ in POINTS
    for learner, regimen in (("ngram", "counted"), ("gpt2-tiny", "untrained"),
                             ("unigram", "counted"))
]  # fmt: skip


def share(point, column):
    """A share that names its cell: no two are alike."""
    index = [*POINTS, *NULLS].index(point)
    return (137 + 26 * index + 5 * column) / 1000


def rows(points, **changed):
    columns = [("phenomenon", c, p) for p, c in PHENOMENA.items()]
    columns += [("category", c, "") for c in CATEGORIES]
    columns += [("overall", "", ""), ("average", "", "")]
    for point in points:
        for i, (level, category, phenomenon) in enumerate(columns):
            null = point[3] in ("untrained", "counted")
            axes = ("condition", "size", "learner", "regimen", "bias")
            yield {
                **dict(zip(axes, point, strict=True)),
                "words": words(point[1]), "suite": "posh", "level": level, "category": category,
                "phenomenon": phenomenon, "mean": share(point, i), "sd": 0.0123, "n_seeds": 2,
                "n_pairs": 200 * CATEGORIES.get(category, 5), "low": share(point, i) - 0.031,
                "high": share(point, i) + 0.029, "mean_sum": share(point, i) + 0.4,
                "mean_mean": share(point, i), "p_pooled": 0.01, "stars_pooled": "",
                "p_fisher_holm": 0.2, "stars_fisher_holm": "", "untrained": None if null else 0.4,
                "unigram": None, "ngram": None, "far": "", **changed,
            }  # fmt: skip


def table(points, **changed):
    return pl.DataFrame(list(rows(points, **changed)), schema=ACCURACY)


def write(folder, frame, target="exp2"):
    files.write_table(frame, folder / "statistics" / target / "accuracy.parquet", ACCURACY)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, table([*POINTS, *NULLS]))
    return tmp_path


@pytest.fixture
def ask(root, folder, monkeypatch):
    """Run the command on the tiny configuration; return what it answers."""

    def run(*arguments, width=120, target="exp2"):
        monkeypatch.setenv("COLUMNS", str(width))
        named = ["--target", target] if target else []
        given = [str(root / "config/tiny.yaml"), "--results", str(folder), *named, *arguments]
        return CliRunner().invoke(app, ["results", *given])

    return run


def cells(text):
    return re.findall(r"\d+\.\d \(\d+\.\d\)", text)


def line(text, *labels):
    """The one line that begins with these labels."""
    start = r"^" + r" +".join(map(re.escape, labels)) + r"  +(?=[\d+−–]|not)"
    found = re.findall(start + r"(.*)$", text, re.M)
    assert len(found) == 1, text
    return found[0]


def of(point, columns):
    return [f"{100 * share(point, i):.1f} (1.2)" for i in columns]


# ---- what stands where ---------------------------------------------------------------------------


def test_categories_and_overall_by_condition_and_size(shown):
    text = shown()
    for point in POINTS:
        assert cells(line(text, point[0], point[1])) == of(point, range(5, 10))
    heads = text.splitlines()[1:3]
    assert [h.split() for h in heads] == [
        ["Question"], ["Condition", "Size", "Islands", "formation", "Binding", "Wanna", "Overall"]
    ]  # fmt: skip
    order = re.findall(r"^(baby-f|baby|wiki) +(\w+)", text, re.M)
    # Conditions as the configuration has them, sizes by words
    assert order == [(c, s) for c in ("baby-f", "baby", "wiki") for s in ("20K", "60K")]
    assert "2 seeds" in text
    assert "200–400 pairs a category" in text
    assert "Learner gpt2-tiny; regimen packed; bias none." in text


def test_phenomena_and_average(shown):
    text = shown("--level", "phenomenon", "--only", "condition=baby,size=20K")
    assert cells(text) == of(("baby", "20K", "gpt2-tiny", "packed", "none"), [0, 1, 2, 3, 4, 10])
    assert "Average: mean of the phenomena" in " ".join(text.split())
    assert "Overall" not in text


def test_a_mean_alone(shown):
    assert len(cells(shown("--level", "overall"))) == len(POINTS)
    assert "Islands" not in shown("--level", "average")


@pytest.mark.parametrize("level", ["category", "phenomenon"])
def test_every_number_is_there_at_any_width_and_no_line_is_too_long(shown, level):
    wide = shown("--level", level, width=200)
    assert len(set(cells(wide))) == len(cells(wide)) == len(POINTS) * {"c": 5, "p": 6}[level[0]]
    for width in (40, 60, 79, 80, 100, 120):
        text = shown("--level", level, width=width)
        assert max(map(len, text.splitlines())) <= width
        assert sorted(cells(text)) == sorted(cells(wide)), width


def test_a_template_is_named_once_and_broken_at_its_hyphens_alone(folder, shown):
    parts = ["principle-a-command-possessor", "principle-a-command-relative", "other-template"]
    parts += [f"principle-a-command-{number}" for number in range(20)]
    frame = table(POINTS, level="template").filter(phenomenon="principle-a-locality")
    named = [frame.with_columns(part=pl.lit(part), phenomenon=pl.lit("principle-a-command"))
             for part in parts]  # fmt: skip
    write(folder, pl.concat(named).select(list(ACCURACY)))
    text = shown("--level", "template", width=60)
    said = "\n".join(line.split("  ")[0].strip() for line in text.splitlines())
    assert "principle-a-command-\npossessor" in said
    assert "principle-a-command-\nrelative" in said
    assert "principle-a-command\nother-template" in said


def test_columns_keep_their_rows_when_the_table_is_divided(shown):
    text = shown(width=60)
    for point in POINTS:
        halves = re.findall(rf"^{point[0]} +{point[1]} +(.*)$", text, re.M)
        assert len(halves) > 1
        assert cells(" ".join(halves)) == of(point, range(5, 10))


def test_long_labels_cost_lines_not_numbers():
    """Five axes that vary, on a narrow view."""
    points = [
        (condition, "20K", learner, regimen, bias)
        for condition in ("baby", "baby-f")
        for learner, regimen, bias in (("babyberta-tiny", "sentence", "dyck+recency"),
                                       ("gpt2-tiny", "packed", "none"))
    ]  # fmt: skip
    frame = pl.concat([table(POINTS[:1]).with_columns(
        **{a: pl.lit(v) for a, v in zip(
            ("condition", "size", "learner", "regimen", "bias"), p, strict=True)},
        mean=pl.col("mean") / 2 + i / 10,
    ) for i, p in enumerate(points)])  # fmt: skip
    kept = view.select(frame, "posh", "category", {})
    found = view.view(kept, "category", view.MEASURES["accuracy"])
    assert len(found.axes) == 5
    for width in (44, 60, 80):
        console = Console(width=width, file=io.StringIO())
        for each in drawing.draw(found, console):
            console.print(each)
        text = console.file.getvalue()
        assert "…" not in text
        assert max(map(len, text.splitlines())) <= width
        assert len(set(cells(text))) == len(cells(text)) == 4 * 5
        assert "babyberta-tiny" in text


def test_a_few_points_are_turned_into_columns():
    """Many columns and two rows: phenomena go down the side, and no table is divided."""
    frame = view.select(table(POINTS), "posh", "phenomenon", {"size": {"20K"}})
    found = view.view(frame, "phenomenon", view.MEASURES["accuracy"])
    console = Console(width=64, file=io.StringIO())
    for each in drawing.draw(found, console):
        console.print(each)
    text = console.file.getvalue()
    for i, phenomenon in enumerate(PHENOMENA):
        points = [(c, "20K", "gpt2-tiny", "packed", "none") for c in ("baby", "baby-f", "wiki")]
        assert cells(line(text, phenomenon)) == [of(point, [i])[0] for point in points]


def test_axes_that_vary_are_named_and_a_learner_that_the_size_decides_is_not():
    frame = table(POINTS[:2])
    by_size = frame.with_columns(
        learner=pl.when(pl.col("size") == "20K").then(pl.lit("mini")).otherwise(pl.lit("small"))
    )
    by_regimen = pl.concat(
        [frame, frame.with_columns(learner=pl.lit("lstm"), regimen=pl.lit("sentence"))]
    )
    both = pl.concat([frame, frame.with_columns(learner=pl.lit("lstm"))])
    biased = pl.concat([frame, frame.with_columns(bias=pl.lit("dyck"))])

    def axes(rows):
        kept = view.select(rows, "posh", "category", {})
        found = view.view(kept, "category", view.MEASURES["accuracy"])
        return found.axes, found.notes[-1]

    assert axes(by_size) == (
        ["Condition", "Size"],
        "Learner mini (20K), small (60K); regimen packed; bias none.",
    )
    assert axes(by_regimen)[0] == ["Condition", "Size", "Learner", "Regimen"]
    assert axes(both)[0] == ["Condition", "Size", "Learner"]
    assert axes(biased)[0] == ["Condition", "Size", "Bias"]


# ---- cells ---------------------------------------------------------------------------------------


def test_stars_and_far_nulls_stand_at_their_cells(shown, folder):
    frame = table(POINTS)
    here = (pl.col("condition") == "baby") & (pl.col("size") == "20K")
    wanna = here & (pl.col("category") == "wanna") & (pl.col("level") == "category")
    island = here & (pl.col("category") == "island") & (pl.col("level") == "category")
    write(folder, frame.with_columns(
        stars_pooled=pl.when(island).then(pl.lit("***")).otherwise(pl.lit("")),
        stars_fisher_holm=pl.when(island).then(pl.lit("*")).otherwise(pl.lit("")),
        far=pl.when(wanna).then(pl.lit("ngram")).otherwise(pl.lit("")),
    ))  # fmt: skip
    first, *_, last, _ = re.split(r" {2,}", line(shown(), "baby", "20K"))
    assert first.endswith(")***")
    assert last.endswith(")‡")
    assert shown().count("***") == 1 + 1  # the cell, and the note
    assert "‡ A null of the cell" in shown()
    per_seed = shown("--stars", "per-seed")
    assert re.split(r" {2,}", line(per_seed, "baby", "20K"))[0].endswith(")*")
    assert "Fisher-combined, Holm-corrected" in per_seed
    assert "pooled" not in per_seed


def test_other_measures(shown):
    point = POINTS[1]
    value = share(point, 9)
    interval = line(shown("--level", "overall", "--measure", "interval"), "wiki", "20K")
    low, high = 100 * (value - 0.031), 100 * (value + 0.029)
    assert interval == f"{100 * value:.1f} [{low:.1f}, {high:.1f}]"
    assert line(shown("--level", "overall", "--measure", "sum"), "wiki", "20K") == (
        f"{100 * (value + 0.4):.1f}"
    )
    assert line(shown("--level", "overall", "--measure", "mean"), "wiki", "20K") == (
        f"{100 * value:.1f}"
    )


def test_one_seed_has_no_sd(shown, folder):
    write(folder, table(POINTS, sd=None, n_seeds=1))
    assert cells(shown()) == []
    assert line(shown("--level", "overall"), "wiki", "20K") == f"{100 * share(POINTS[1], 9):.1f}"


def test_deltas_have_signs_and_marks(shown, folder):
    deltas = [
        {
            "condition": "baby-f", "size": "20K", "learner": "gpt2-tiny", "regimen": "packed",
            "bias": "none", "full": "baby", "suite": "posh", "level": level, "category": category,
            "phenomenon": "", "targeted": category == "binding", "n_seeds": 2, "n_seeds_full": 2,
            "accuracy": 0.5, "accuracy_full": 0.5, "delta": delta, "delta_sd": 0.02,
            "margin": None, "margin_full": None, "r": None,
        }
        for level, category, delta in (
            ("category", "binding", -0.0512), ("category", "wanna", 0.25),
            ("category", "island", -0.0001), ("overall", "", 0.01),
        )
    ]  # fmt: skip
    frame = pl.DataFrame(deltas, schema=DELTAS)
    files.write_table(frame, folder / "statistics/exp2/deltas/deltas.parquet", DELTAS)
    text = shown("--measure", "delta")
    assert re.split(r" {2,}", line(text, "baby-f", "20K")) == [
        "0.0 (2.0)", "−5.1 (2.0)†", "+25.0 (2.0)", "+1.0 (2.0)",
    ]  # fmt: skip
    assert "† A filter of the condition is aimed at" in text
    assert "Not run" not in text


def test_colour_shows_the_side_of_chance_and_only_on_a_terminal(shown):
    assert "\x1b" not in shown()

    def styles(mean):
        frame = view.select(table(POINTS[:1], mean=mean), "posh", "overall", {})
        found = view.view(frame, "overall", view.MEASURES["accuracy"])
        console = Console(width=80, file=io.StringIO(), force_terminal=True,
                          color_system="truecolor", no_color=False)  # fmt: skip
        for each in drawing.draw(found, console):
            console.print(each)
        text = console.file.getvalue()
        return re.search(rf"((?:\x1b\[[\d;]*m)*) *{100 * mean:.1f}", text)[1]

    def rgb(name):
        return ";".join(str(int(name[i : i + 2], 16)) for i in (1, 3, 5))

    assert rgb(view.ABOVE) in styles(0.6)
    assert rgb(view.BELOW) in styles(0.4)
    assert "38;2" not in styles(0.52)
    assert styles(0.9) != styles(0.6)  # further away: stronger


# ---- nulls, filters, what is missing -------------------------------------------------------------


def test_nulls_stand_below_the_runs_of_their_cell(shown):
    text = shown("--nulls", "--only", "condition=wiki,learner=gpt2-tiny")
    found = re.findall(r"^wiki +(\w+) ?(untrained|unigram|ngram|) ", text, re.M)
    names = ["", "untrained", "unigram", "ngram"]
    assert found == [(size, null) for size in ("20K", "60K") for null in names]
    null = ("wiki", "60K", "ngram", "counted", "none")
    assert cells(line(text, "wiki", "60K", "ngram")) == of(null, range(5, 10))
    assert "unigram" not in shown()


def test_filters_are_alternatives_within_an_axis(shown):
    text = shown("--only", "condition=baby,condition=wiki,size=60K")
    assert re.findall(r"^(\S+) +(20K|60K)", text, re.M) == [("baby", "60K"), ("wiki", "60K")]


def test_missing_runs_are_told(shown, ask, folder):
    frame = table(POINTS[1:])
    write(folder, frame.with_columns(
        n_seeds=pl.when((pl.col("condition") == "baby") & (pl.col("size") == "20K"))
        .then(1).otherwise(2).cast(pl.UInt32)
    ))  # fmt: skip
    text = shown()
    assert re.split(r" {2,}", line(text, "wiki", "60K")) == ["not run"] * 5
    expected = "Not run: 3 of 12 runs: baby 20K (1 of 2 seeds), wiki 60K."
    assert expected in text
    assert "1–2 seeds" in text
    answer = ask("--json")
    assert answer.stderr.strip() == expected
    assert len(json.loads(answer.stdout)) == 5 * 5
    assert "Not run" not in shown("--only", "condition=baby-f")


# ---- for other programs --------------------------------------------------------------------------


def test_json_and_csv_hold_the_same_rows_unrounded(ask, folder):
    frame = files.read_table(folder / "statistics/exp2/accuracy.parquet", ACCURACY)
    asked = ["--level", "phenomenon", "--nulls", "--only", "condition=baby"]
    answer = ask(*asked, "--json")
    records = json.loads(answer.stdout)
    assert answer.stderr == ""
    kept = frame.filter(
        pl.col("level").is_in(["phenomenon", "average"]), pl.col("condition") == "baby"
    )
    assert len(records) == kept.height == 2 * 4 * 6

    def ordered(found):
        return sorted(found, key=lambda row: json.dumps(row, sort_keys=True))

    assert ordered(records) == ordered(kept.to_dicts())
    read = list(csv.DictReader(io.StringIO(ask(*asked, "--csv").stdout)))
    assert [float(row["mean"]) for row in read] == [row["mean"] for row in records]
    assert list(read[0]) == list(ACCURACY)


# ---- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--suite", "pohs"], "did you mean 'posh'"),
        (["--suite", "filler-gap"], "holds paradigms.*measures/filler-gap/measures.csv"),
        (["--level", "categories"], "did you mean 'category'"),
        (["--measure", "accurracy"], "did you mean 'accuracy'"),
        (["--stars", "pool"], "did you mean 'pooled'"),
        (["--only", "sise=20K"], "did you mean 'size'"),
        (["--only", "condition=babyf"], "unknown condition 'babyf'; did you mean 'baby-f'"),
        (["--only", "seed=42"], "means over seeds"),
        (["--only", "size"], "not axis=value"),
        (["--json", "--csv"], "choose one"),
        (["--fit", "papre"], "did you mean 'paper'"),
        (["--measure", "delta"], r"yet; run `poshgrid run exp2 --configfile \S*tiny.yaml"),
    ],
)
def test_mistakes_are_told_with_a_remedy(refused, arguments, message):
    assert re.search(message, refused(*arguments))


def test_unknown_targets_and_those_without_results(refused, folder):
    assert "did you mean 'exp2'" in refused(target="epx2")
    assert re.search(
        r"exp1/accuracy.parquet: no results yet \(targets with results: exp2\); "
        r"run `poshgrid run exp1 --configfile \S+tiny.yaml --config results=\S+` first",
        refused(target="exp1"),
    )
    line = refused(target=None)  # all is absent: those that are there are listed
    assert "targets with results: exp2; name one with --target exp2" in line
    (folder / "statistics/exp2/accuracy.parquet").unlink()
    assert "no results yet; run `poshgrid run all" in refused(target=None)


def test_results_of_the_folder_above_are_told(tmp_path, monkeypatch):
    for name in ("results", "docs"):
        (tmp_path / name).mkdir()
    (tmp_path / "results/mine").touch()
    monkeypatch.chdir(tmp_path / "docs")
    look_above(Path("results/yours"))
    with pytest.raises(PoshgridError, match=f"^results/mine: not in this folder; go to {tmp_path}"):
        look_above(Path("results/mine"))
    monkeypatch.chdir(tmp_path)
    look_above(Path("results/mine"))


def test_all_is_the_default_target(shown, folder):
    write(folder, table(POINTS[:1], mean=0.875), "all")
    assert "87.5" in shown(target=None)


def test_models_that_were_given_on_the_command_line_are_shown(shown, refused, folder):
    """`poshgrid run pretrained --config pretrained=[...]`: no configuration names them."""
    assert "unknown target 'pretrained'" in refused(target="pretrained")
    write(folder, table(POINTS[:1], mean=0.875), "pretrained")
    assert "87.5" in shown(target="pretrained")


def test_results_of_another_version_are_to_be_made_again(refused, folder):
    path = folder / "statistics/exp2/accuracy.parquet"
    pl.read_parquet(path).drop("mean_sum", "mean_mean").write_parquet(path)
    assert re.search("'mean_sum' is missing.*run `poshgrid run exp2 .*` again", refused())


# ---- models --------------------------------------------------------------------------------------


@pytest.fixture
def fitted(folder):
    def write_fit(**diagnosis):
        numbers = {"sd": 0.1, "r_hat": 1.0, "ess_bulk": 900.0, "ess_tail": 800.0}
        summary = [
            ("Intercept", "common", False, 0.59, 0.61, 0.05, 1.10),
            ("Filtering", "common", False, -0.094, -0.09, -0.11, -0.07),
            ("Category (wanna)", "common", True, 0.003, 0.003, -0.6, 0.6),
            ("Seed intercept SD", "sd", False, 0.06, 0.07, 0.001, 0.28),
            ("Seed 42", "group", False, 0.777, 0.777, 0.7, 0.8),
        ]
        names = ("label", "kind", "implicit", "median", "mean", "low", "high")
        frame = pl.DataFrame(
            [{"term": r[0], **dict(zip(names, r, strict=True)), **numbers} for r in summary],
            schema=SUMMARY,
        )
        contrast = {
            "factor": "condition", "first": "baby-f", "less": "baby", "mean": 0.2, "low": 0.1,
            "high": 0.31, "above": 0.9975, "share": 0.051, "joint_low": 0.02, "joint_high": 0.08,
            **numbers,
        }  # fmt: skip
        found = pl.DataFrame(
            [
                {"contrast": "filtering", "by": "", "level": "", "median": 0.21, **contrast},
                {"contrast": "filtering", "by": "category", "level": "wanna", "median": 0.44,
                 **contrast},
            ],
            schema=CONTRASTS,
        )  # fmt: skip
        place = folder / "statistics/exp2/models/paper"
        files.write_table(frame, place / "summary.parquet", SUMMARY)
        files.write_table(found, place / "contrasts.parquet", CONTRASTS)
        facts = {"formula": "p(correct, n) ~ 1", "rows": 297, "pairs": 148500, "max_r_hat": 1.004,
                 "min_ess": 811.6, "divergences": 0, "converged": True, "reasons": [],
                 "predictive": {"cells": 99, "inside": 88, "share": 0.89, "p": 0.0001}}  # fmt: skip
        files.write_json(place / "diagnostics.json", facts | diagnosis)

    return write_fit


def test_a_fitted_model(shown, fitted):
    fitted()
    for width in (60, 80, 120):
        text = shown("--fit", "paper", width=width)
        assert max(map(len, text.splitlines())) <= width
        assert re.search(r"^Intercept +0\.59 +0\.61 +\[0\.05, 1\.10\]", text, re.M)
        assert re.search(r"^Filtering +−0\.09 +−0\.09 +\[−0\.11, −0\.07\]", text, re.M)
        assert re.search(r"^Category \(wanna\) † +0\.00", text, re.M)
        assert "0.78" not in text  # single seeds stay out
        odds, points = (
            r"^filtering +wanna +0\.44 +\[0\.10, 0\.31\] +\.99",
            r"\+5\.1 +\[2\.0, 8\.0\]",
        )
        assert re.search(odds, text, re.M)
        assert re.search(rf"^filtering +wanna .*{points}", text, re.M)
        assert bool(re.search(rf"{odds}\d +{points}", text, re.M)) == (width > 60)
        assert re.search(r"^filtering +all +0\.21", text, re.M)
    assert "297 counts; 148,500 pairs; largest R-hat 1.004; smallest ESS 812; 0 diverg" in text
    assert "P(> 0): posterior probability that the difference is above 0." in " ".join(text.split())
    assert "NOT CONVERGED" not in text
    assert "Predictive check: 88 of 99 cells inside their 95% intervals; p < .001." in text


def test_a_model_that_did_not_converge_says_so(shown, fitted):
    fitted(converged=False, reasons=["17 divergences"])
    assert "NOT CONVERGED (17 divergences): not to be quoted." in shown("--fit", "paper")


def test_a_model_for_other_programs(ask, refused, fitted):
    assert re.search("models/paper/summary.parquet: no results yet; run", refused("--fit", "paper"))
    fitted()
    found = json.loads(ask("--fit", "paper", "--json").stdout)
    assert [row["median"] for row in found["summary"]] == [0.59, -0.094, 0.003, 0.06, 0.777]
    assert [row["level"] for row in found["contrasts"]] == ["", "wanna"]
    assert found["diagnostics"]["min_ess"] == 811.6
    answer = ask("--fit", "paper", "--csv")
    assert [row["label"] for row in csv.DictReader(io.StringIO(answer.stdout))][1] == "Filtering"
    assert "contrasts.csv" in answer.stderr


@pytest.mark.parametrize("other", [False, True])
def test_numbers_of_another_configuration_are_said_to_be_that(root, tmp_path, monkeypatch, other):
    from poshgrid.commands.base import grid_of
    from poshgrid.grid.slices import Slices

    monkeypatch.chdir(root)
    spec = json.loads(Slices(grid_of([root / "config/tiny.yaml"], tmp_path)).judgement("exp2"))
    if other:
        spec["scoring"]["reduction"] = "sum"
    write(tmp_path, table(POINTS))
    files.write_json(tmp_path / "statistics/exp2/manifest.json", {"spec": spec})
    words = ["results", "config/tiny.yaml", "--target", "exp2", "--results", str(tmp_path)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert ("made with another configuration" in result.stderr) == other


def test_models_given_with_an_option_are_of_no_other_configuration(root, tmp_path, monkeypatch):
    """The command of the README: which they were the configuration does not say."""
    monkeypatch.chdir(root)
    write(tmp_path, table(POINTS), target="pretrained")
    files.write_json(tmp_path / "statistics/pretrained/manifest.json", {"spec": {"runs": ["own"]}})
    words = ["results", "config/tiny.yaml", "--target", "pretrained", "--results", str(tmp_path)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "another configuration" not in result.stderr


def test_so_is_a_fit_of_another_formula(root, ask, fitted, folder):
    from poshgrid.commands.base import grid_of
    from poshgrid.grid.slices import Slices

    fitted()
    spec = json.loads(Slices(grid_of([root / "config/tiny.yaml"], folder)).model("paper"))
    for formula in (spec["model"]["formula"], "p(correct, total) ~ 1"):
        spec["model"]["formula"] = formula
        made = folder / "statistics/exp2/models/paper/manifest.json"
        files.write_json(made, {"spec": spec})
        answer = ask("--fit", "paper")
        assert answer.exit_code == 0, answer.output
        assert ("made with another configuration" in answer.stderr) == (formula.endswith("~ 1"))
