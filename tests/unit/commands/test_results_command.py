"""``poshgrid results``: numbers where they belong, and nothing else on stdout for programs."""

import csv
import io
import json

import polars as pl
import pytest
from typer.testing import CliRunner

from poshgrid import files, verification
from poshgrid.cli import app
from poshgrid.commands.base import grid_of
from poshgrid.config.sizes import words
from poshgrid.stages import Stages
from poshgrid.statistics.schema import ACCURACY, CONTRASTS, SUMMARY
from tests.jobs import Cell

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
    axes = ("condition", "size", "learner", "regimen", "bias")
    blank = dict.fromkeys(ACCURACY) | {
        "suite": "posh", "sd": 0.0123, "n_seeds": 2, "n_pairs": 200, "stars_pooled": "",
        "stars_fisher_holm": "", "far": "",
    }  # fmt: skip
    for point in points:
        for i, (level, category, phenomenon) in enumerate(columns):
            mean = share(point, i)
            yield {
                **blank, **dict(zip(axes, point, strict=True)), "words": words(point[1]),
                "level": level, "category": category, "phenomenon": phenomenon, "mean": mean,
                "low": mean - 0.031, "high": mean + 0.029, "mean_sum": mean + 0.4,
                "mean_mean": mean, "p_pooled": 0.01, "p_fisher_holm": 0.2, **changed,
            }  # fmt: skip


def table(points, **changed):
    return pl.DataFrame(list(rows(points, **changed)), schema=ACCURACY)


def write(folder, frame, target="exp2"):
    files.write_table(frame, folder / "statistics" / target / "accuracy.parquet", ACCURACY)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, table([*POINTS, *NULLS]))
    (tmp_path / "models").mkdir()
    return tmp_path


@pytest.fixture
def ask(root, folder, monkeypatch):
    """Run the command on the tiny configuration; return what it answers."""

    def run(*arguments, width=250, target="exp2"):
        monkeypatch.setenv("COLUMNS", str(width))
        named = ["--target", target] if target else []
        given = [
            str(root / "studies/posh-bench/toy.yaml"),
            "--results",
            str(folder),
            *named,
            *arguments,
        ]
        return CliRunner().invoke(app, ["results", *given])

    return run


def line(text, *labels):
    """The numbers of the one line that begins with these labels."""
    (found,) = [one.split() for one in text.splitlines() if one.split()[: len(labels)] == [*labels]]
    return found[len(labels) :]


def of(point, columns):
    return [part for i in columns for part in (f"{100 * share(point, i):.1f}", "(1.2)")]


def test_categories_and_overall_by_condition_and_size(shown):
    text = shown()
    for point in POINTS:
        # five phenomena come first in `share`: four categories, then overall
        assert line(text, *point[:2]) == of(point, range(5, 10))
    head = next(one for one in text.splitlines() if "island" in one).split()
    assert head == ["condition", "size", *CATEGORIES, "overall"]


def test_stars_and_far_nulls_stand_at_their_cells(shown, folder):
    write(folder, table(POINTS, stars_pooled="***", far="‡", sd=None))
    assert line(shown(), "wiki", "60K")[0] == f"{100 * share(POINTS[0], 5):.1f}***‡"


def test_nulls_are_rows_where_they_are_asked_for(shown):
    assert "untrained" not in shown()
    text = shown("--nulls")
    assert "untrained" in text and "unigram" in text and "ngram" in text


def test_filters_are_alternatives_within_an_axis(shown):
    text = shown("--only", "condition=baby,condition=wiki,size=20K")
    assert line(text, "baby", "20K") and line(text, "wiki", "20K")
    assert "baby-f" not in text and "60K" not in text


def test_json_and_csv_hold_the_same_rows_unrounded(ask):
    found = json.loads(ask("--json", "--only", "condition=wiki,size=60K").stdout)
    assert [row["mean"] for row in found] == [share(POINTS[0], i) for i in range(5, 10)]
    answer = ask("--csv", "--only", "condition=wiki,size=60K")
    rows = list(csv.DictReader(io.StringIO(answer.stdout)))
    assert [float(row["mean"]) for row in rows] == [row["mean"] for row in found]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--level", "categories"], "'category'"),
        (["--table", "accuracies"], "'accuracy'"),
        (["--suite", "push"], "'posh'"),
        (["--only", "size=70K"], "'70K'"),
        (["--only", "seed=42"], "'seed'"),
        (["--json", "--csv"], ""),
        (["--fit", "papre"], "'papre'"),
        (["--table", "deltas"], "deltas.parquet"),
    ],
)
def test_mistakes_are_told(refused, arguments, word):
    assert word in refused(*arguments)


def test_targets(shown, refused, folder):
    assert "did you mean 'exp2'" in refused(target="epx2")
    assert line(shown(target=None), "wiki", "60K")  # the only one with results
    write(folder, table(POINTS[:1], mean=0.875), "all")
    assert "87.5" in shown(target=None)
    # `poshgrid run pretrained --config pretrained=[...]`: no configuration names them
    write(folder, table(POINTS[:1], mean=0.625), "pretrained")
    assert "62.5" in shown(target="pretrained")


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
    text = shown("--fit", "paper")
    assert line(text, "Intercept") == ["0.59", "0.61", "0.05", "1.1"]
    assert line(text, "Filtering") == ["−0.094", "−0.09", "−0.11", "−0.07"]
    assert "0.777" not in text  # single seeds stay out
    assert line(text, "filtering", "category", "wanna") == ["0.44", "0.1", "0.31", "0.9975"]
    assert "Converged." in text
    fitted(converged=False, reasons=["17 divergences"])
    assert "NOT CONVERGED (17 divergences): do not quote." in shown("--fit", "paper")


@pytest.mark.parametrize("other", [False, True])
def test_numbers_of_another_configuration_are_said_to_be_that(ask, root, folder, other):
    grid = grid_of([root / "studies/posh-bench/toy.yaml"], folder)
    spec = Stages(grid).accuracy.spec(Cell(target="exp2")).written()
    if other:
        spec["scoring"] = {"reduction": "sum"}
    path = folder / "statistics/exp2/manifest.json"
    path.write_text(verification.sealed({"path": str(path), "cwd": "", "spec": spec}))
    answer = ask()
    assert answer.exit_code == 0, answer.output
    assert ("another configuration" in answer.stderr) == other
