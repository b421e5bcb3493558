"""Accuracies of what should not be, or is extreme: defined results, or one line for people."""

from __future__ import annotations

import math
import re
import subprocess
import sys

import polars as pl
import pytest

from poshgrid import cli, errors, files
from poshgrid.benchmark.schema import ITEMS
from poshgrid.config import Scoring
from poshgrid.evaluation.schema import SCORES
from poshgrid.grid import specs
from poshgrid.quality import nulls
from poshgrid.statistics import tests
from poshgrid.statistics.accuracy import accuracy
from poshgrid.statistics.schema import ACCURACY

# numpy, scipy and polars warn of what they make of a bad number: nobody would know of which.
pytestmark = pytest.mark.filterwarnings("error")

RUN, SECOND = "baby/10M/mini/packed/none/seed42", "baby/10M/mini/packed/none/seed53"
RIGHT, TIE, WRONG = 1.0, 0.0, -1.0
SHAPE = {("island", "adjunct"): 30, ("island", "wh"): 20, ("wanna", "wanna"): 30}
"""(category, phenomenon) -> pairs; two share a lexical set."""


class Case:
    """A suite, runs and their scores, each of which a test may spoil."""

    def __init__(self, folder, shape=None, per_set=2):
        self.folder, self.runs, self.output = folder, [], folder / "out"
        self.items_path = folder / "items.parquet"
        statistics = {"splits": {"train": {"words": 9_990_000}}}
        files.write_json(folder / "conditions/baby/10M/statistics.json", statistics)
        rows = [
            {"item_id": f"{phenomenon}-{i:04}", "category": category, "phenomenon": phenomenon,
             "template": "t", "lexical_set": f"set{i // per_set}", "contrast": "c"}
            for (category, phenomenon), n in (SHAPE if shape is None else shape).items()
            for i in range(n)
        ]  # fmt: skip
        self.write_items(pl.DataFrame(rows, schema=ITEMS))

    def write_items(self, items):
        self.items = items
        files.write_table(items, self.items_path, ITEMS)

    def scores(self, run):
        return self.folder / "scores" / run / "posh.parquet"

    def run(self, name, margin=RIGHT, **of_phenomena):
        """Add a run that judges all pairs alike, or as said for a phenomenon."""
        self.runs.append(name)
        margins = [of_phenomena.get(p, margin) for p in self.items["phenomenon"]]
        frame = pl.DataFrame(
            {
                "item_id": self.items["item_id"],
                "step": [None] * len(margins),
                "good_logprob": [-10.0 + each for each in margins],
                "bad_logprob": [-10.0] * len(margins),
                "good_tokens": [5] * len(margins),
                "bad_tokens": [5] * len(margins),
            },
            schema=SCORES,
        )
        files.write_table(frame, self.scores(name), SCORES)
        return self

    def spoil(self, change, run=RUN):
        path = self.scores(run)
        files.write_table(change(pl.read_parquet(path)), path, SCORES)
        return self

    def spec(self):
        cell = specs.Cell(words=10_000_000, source="baby", filtered=False)
        made = specs.JudgementSpec(
            scoring=Scoring(), tolerance=0.05, runs=[], cells={"baby/10M": cell}
        )
        return made.model_copy(update={"runs": self.runs})  # misnamed ones, too

    def judge(self):
        items = {"posh": self.items_path}
        accuracy(
            self.spec(), self.folder / "scores", items, self.folder / "conditions", self.output
        )
        return files.read_table(self.output / "accuracy.parquet", ACCURACY)

    def arguments(self):
        return [
            "accuracy", "--spec", specs.canonical(self.spec()), "--scores",
            str(self.folder / "scores"), "--items", f"posh={self.items_path}",
            "--conditions", str(self.folder / "conditions"), "--output", str(self.output),
        ]  # fmt: skip

    def refused(self, capfd, monkeypatch):
        """Run the function and the command line; return the message that both give."""
        with pytest.raises(errors.PoshgridError) as caught:
            self.judge()
        message = str(caught.value)
        assert "\n" not in message
        said = capfd.readouterr()
        assert said.out == said.err == ""
        monkeypatch.setattr(sys, "argv", ["poshgrid", *self.arguments()])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code == 1
        assert capfd.readouterr().err == f"error: {message}\n"
        assert not list(self.output.rglob("*")), "nothing half-written"
        return message


@pytest.fixture
def case(tmp_path):
    return Case(tmp_path)


@pytest.fixture
def refused(capfd, monkeypatch):
    return lambda case: case.refused(capfd, monkeypatch)


def only(rows, **where):
    found = rows.filter(**where)
    assert found.height == 1, found
    return found.row(0, named=True)


def finite(rows):
    """No number of a table is NaN or infinite."""
    numbers = rows.select(pl.col(pl.Float64))
    return numbers.select(pl.all().drop_nulls().is_finite().all()).row(0)


# ---- scores that are no judgement ----------------------------------------------------------------


@pytest.mark.parametrize("column", ["good_logprob", "bad_logprob"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None])
def test_scores_that_are_no_numbers(case, refused, column, value):
    case.run(SECOND).run(RUN).spoil(
        lambda f: f.with_columns(
            pl.when(pl.col("item_id") == "wh-0007")
            .then(pl.lit(value, pl.Float64))
            .otherwise(column)
            .alias(column)
        )
    )
    message = refused(case)
    assert message.startswith(f"{case.scores(RUN)}: 1 pairs have a score that is not a number")
    assert "first 'wh-0007'" in message
    assert message.endswith("score the run again (poshgrid score)")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: pl.concat([f, f.head(1)]), "item_id 'adjunct-0000' occurs twice"),
        (lambda f: pl.concat([f, f]), "item_id 'adjunct-0000' occurs twice"),
        (lambda f: f.head(70), "10 of 80 pairs have no score, first 'wanna-0020'"),
        (lambda f: f.clear(), "80 of 80 pairs have no score"),
        # only checkpoints, and not the weights that training kept
        (lambda f: f.with_columns(step=pl.lit(5, pl.UInt32)), "80 of 80 pairs have no score"),
        (
            lambda f: pl.concat([f, f.head(1).with_columns(item_id=pl.lit("new"))]),
            "1 scored pairs are not in the suite, first 'new'",
        ),
        (
            lambda f: pl.concat([f, f.head(1).with_columns(item_id=pl.lit(None, pl.String))]),
            "1 scored pairs are not in the suite",
        ),
        (lambda f: f.with_columns(bad_tokens=pl.lit(None, pl.UInt32)), "80 pairs .* no token"),
    ],
    ids=["row twice", "all twice", "too few", "none", "checkpoints", "unknown", "no id", "tokens"],
)
def test_scores_that_do_not_fit_the_suite(case, refused, change, words):
    case.run(SECOND).run(RUN).spoil(change)
    message = refused(case)
    assert message.startswith(f"{case.scores(RUN)}: ")
    assert re.search(words, message)


def test_a_missing_seed(case, refused):
    case.run(RUN).run(SECOND).scores(SECOND).unlink()
    message = refused(case)
    assert message == f"{case.scores(SECOND)}: not found; run the rule that makes it first"


def test_a_file_that_is_no_table(case, refused):
    case.run(RUN).scores(RUN).write_text("item_id,step\n")
    assert f"{case.scores(RUN)}: not a parquet table" in refused(case)


@pytest.mark.parametrize("value", [math.nan, None])
def test_the_quality_of_a_suite_is_not_judged_by_no_numbers(case, value):
    """NaN is more than any number, and would make a null right."""
    run = RUN.replace("packed", "untrained")
    case.run(run).spoil(lambda f: f.with_columns(good_logprob=pl.lit(value, pl.Float64)), run=run)
    with pytest.raises(errors.PoshgridError, match="80 pairs have a score that is not a number"):
        nulls.accuracies(case.items, {run: case.scores(run)}, Scoring())


# ---- suites and specs ----------------------------------------------------------------------------


def test_a_suite_of_no_pairs(tmp_path, refused):
    case = Case(tmp_path, shape={}).run(RUN)
    assert refused(case).startswith(f"{case.items_path}: no pairs; check the suite's options")


@pytest.mark.parametrize("name", ["item_id", "category", "phenomenon", "lexical_set"])
def test_pairs_without_a_name(case, refused, name):
    case.run(RUN)
    blank = pl.when(pl.int_range(pl.len()) >= 2).then(name).alias(name)
    case.write_items(case.items.with_columns(blank))
    assert refused(case).startswith(f"{case.items_path}: 2 pairs have no {name}; make the suite")


def test_pairs_that_share_an_id(case, refused):
    case.run(RUN)
    case.write_items(pl.concat([case.items, case.items.tail(1)]))
    assert "item_id 'wanna-0029' occurs twice; make the suite's items again" in refused(case)


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("baby/10M/mini/packed/none/42", "is not condition/size/learner/regimen/bias/seedN"),
        ("baby/10M/mini/packed/none/seed4.2", "is not condition/size"),
        ("../10M/mini", "is not condition/size"),
        ("", "'' is not condition/size"),
        ("wiki/10M/mini/packed/none/seed42", "nothing on wiki/10M"),
        (RUN, f"'{RUN}' is given 2 times"),
    ],
)
def test_runs_that_are_misnamed_unknown_or_given_twice(case, capfd, monkeypatch, run, words):
    case.run(RUN).runs.append(run)
    monkeypatch.setattr(sys, "argv", ["poshgrid", *case.arguments()])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    message = capfd.readouterr().err
    assert ended.value.code == 1
    assert message.startswith("error: --spec: ")
    assert message.count("\n") == 1
    assert words in message
    assert not list(case.output.rglob("*"))
    with pytest.raises(errors.PoshgridError, match=r"^--spec: "):
        case.judge()


def test_no_run(case, refused):
    assert refused(case).startswith("--spec: nothing to judge")


# ---- extremes ------------------------------------------------------------------------------------


def test_a_category_of_one_phenomenon_is_that_phenomenon(case):
    rows = case.run(RUN, WRONG, wanna=RIGHT).run(SECOND, WRONG, adjunct=TIE).judge()
    same = ["mean", "sd", "n_pairs", "low", "high", "p_pooled"]
    wanna = only(rows, level="category", category="wanna")
    assert [wanna[c] for c in same] == [only(rows, phenomenon="wanna")[c] for c in same]
    # islands: 0 of 50 and 15 of 50; wanna: 30 of 30 and 0 of 30
    overall, average = only(rows, level="overall"), only(rows, level="average")
    assert overall["mean"] == pytest.approx((0.15 + 0.5) / 2)
    assert overall["sd"] == pytest.approx(abs(0.5 - 0.15) / math.sqrt(2))
    assert average["mean"] == pytest.approx((0.25 + 0 + 0.5) / 3)
    # Every set of a phenomenon is judged alike: other words would change nothing.
    assert overall["low"] == overall["high"] == pytest.approx(overall["mean"])


def test_a_suite_of_one_phenomenon(tmp_path):
    rows = Case(tmp_path, {("only", "one"): 9}).run(RUN, TIE).judge()
    assert rows["level"].to_list() == ["phenomenon", "category", "overall", "average"]
    assert rows["mean"].to_list() == [0.5] * 4


def test_one_seed(case):
    """No SD, and the combination of one test is that test."""
    case.run(RUN, RIGHT, wh=TIE)
    # 28 of 30 pairs of wanna: the last set is wrong
    last = pl.col("item_id").is_in(["wanna-0028", "wanna-0029"])
    case.spoil(lambda f: f.with_columns(bad_logprob=pl.when(last).then(0.0).otherwise(-10.0)))
    rows = case.judge()
    assert rows["sd"].null_count() == rows.height
    assert set(rows["n_seeds"]) == {1}
    wanna = only(rows, phenomenon="wanna")
    assert wanna["p_pooled"] == pytest.approx(tests.chi_square(28, 30))
    adjunct = tests.chi_square(30, 30)  # the least p of three, wanna's the next
    assert wanna["p_fisher_holm"] == pytest.approx(2 * wanna["p_pooled"])
    assert only(rows, phenomenon="adjunct")["p_fisher_holm"] == pytest.approx(3 * adjunct)
    assert 0 < wanna["low"] < 28 / 30 < wanna["high"] <= 1
    assert all(finite(rows))


@pytest.mark.parametrize(("margin", "share"), [(RIGHT, 1.0), (WRONG, 0.0)])
def test_all_right_and_all_wrong(case, margin, share):
    rows = case.run(RUN, margin).run(SECOND, margin).judge()
    for name in ("mean", "low", "high", "mean_sum", "mean_mean"):
        assert rows[name].to_list() == [share] * rows.height
    assert rows["sd"].to_list() == [0.0] * rows.height
    tested = rows.filter(pl.col("p_pooled").is_not_null())
    assert tested.height == 5
    assert (tested["p_pooled"] > 0).all() and (tested["p_pooled"] < 0.001).all()
    assert set(tested["stars_pooled"]) == set(tested["stars_fisher_holm"]) == {"***"}
    assert all(finite(rows))


def test_p_values_below_what_a_float_holds(tmp_path):
    """20,000 pairs, all right by three seeds: p is 0 or next to it, and still a number."""
    case = Case(tmp_path, {("c", "p"): 20_000}, per_set=100)
    for seed in range(3):
        case.run(RUN.replace("42", str(seed)))
    rows = case.judge()
    found = only(rows, level="phenomenon")
    assert found["p_pooled"] == 0
    assert 0 <= found["p_fisher_holm"] < 1e-300
    assert found["stars_pooled"] == found["stars_fisher_holm"] == "***"
    assert all(finite(rows))


def test_ties_only(case):
    rows = case.run(RUN, TIE).run(SECOND, TIE).judge()
    for name in ("mean", "low", "high", "mean_sum", "mean_mean"):
        assert rows[name].to_list() == [0.5] * rows.height
    for p, stars in (("p_pooled", "stars_pooled"), ("p_fisher_holm", "stars_fisher_holm")):
        assert rows[p].drop_nulls().to_list() == [1.0] * 5
        assert set(rows[stars]) == {""}
    counts = pl.read_parquet(case.output / "counts.parquet")
    assert counts["ties"].to_list() == counts["n"].to_list()


def test_one_lexical_set(tmp_path):
    """No interval, and everything else as ever."""
    rows = Case(tmp_path, per_set=1_000).run(RUN, RIGHT, wh=WRONG).judge()
    assert rows["low"].null_count() == rows["high"].null_count() == rows.height
    assert only(rows, level="average")["mean"] == pytest.approx(2 / 3)
    assert rows["p_pooled"].null_count() == 2
    assert all(finite(rows))


def test_one_pair(tmp_path):
    rows = Case(tmp_path, {("c", "p"): 1}).run(RUN).judge()
    assert rows["mean"].to_list() == [1.0] * 4
    # (1 - .5)^2 / .5 twice: chi-square 1
    assert only(rows, level="phenomenon")["p_pooled"] == pytest.approx(0.3173105)


# ---- as a person meets it ------------------------------------------------------------------------


def test_the_command_says_one_line_of_each(case):
    """In a process of its own, where libraries print what they like."""

    def run():
        program = "from poshgrid.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-W", "always", "-c", program, *case.arguments()],
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    case.run(RUN).run(SECOND, WRONG)
    done = run()
    assert (done.returncode, done.stdout) == (0, "")
    (line,) = done.stderr.splitlines()
    assert line.endswith("2 runs, 160 judgements, 0 ties")
    case.spoil(lambda f: f.with_columns(good_logprob=pl.lit(math.nan)))
    failed = run()
    assert (failed.returncode, failed.stdout) == (1, "")
    (line,) = failed.stderr.splitlines()
    assert line.startswith(f"error: {case.scores(RUN)}: 80 pairs have a score that is not a number")
