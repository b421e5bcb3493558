"""The gate for files without a grid: baselines as in the workflow, errors of one line."""

from __future__ import annotations

import json

import polars as pl
import pytest
from pydantic import TypeAdapter
from typer.testing import CliRunner

from poshgrid.cli import app
from poshgrid.config.base import Name, path_name
from poshgrid.errors import PoshgridError
from poshgrid.models import ngram
from poshgrid.quality import given
from tests.unit.training.training_support import write_condition

TEXT = ["who sings", "who sings", "who swims", "when it sings", "the dog barks .", "it swims"]


def lines(path, *pairs):
    path.write_text("".join(f"{bad}\n{good}\n" for good, bad in pairs), encoding="utf-8")
    return path


@pytest.fixture
def suite(tmp_path):
    folder = tmp_path / "suite"
    folder.mkdir()
    lines(folder / "principle_a_command.txt", *[(f"who{i} sings", f"when{i} sings") for i in "abc"])
    lines(
        folder / "wanna.txt",
        *[(f"who sings {w}", f"when sings {w}") for w in "abcdefghijkl"],
        ("who barks", "who barks"),
        ("Who sings z", "when sings z"),
    )
    (tmp_path / "text.txt").write_text("\n".join(TEXT), encoding="utf-8")
    return folder


def run(*words):
    return CliRunner().invoke(app, ["check-pairs", *map(str, words)])


def test_files_are_judged_without_a_grid(suite, tmp_path):
    output = tmp_path / "out"
    result = run(suite, "--reader", "lines", "--text", f"child={tmp_path}/text.txt", "--order", 2,
                 "--output", output)  # fmt: skip
    assert result.exit_code == 0, result.output
    found = json.loads((output / "quality.json").read_text())
    assert (found["suite"], found["pairs"], found["verdict"]) == ("suite", 17, "flagged")
    faults = {c["name"]: c["items"] for c in found["checks"]}
    assert faults["capitals in one member only"] == faults["identical members"] == 1
    # By hand: "who" is there three times, "when" once, so that all wanna pairs but the tie are
    # right; of the others no word but "sings" is known.
    baselines = {(n["phenomenon"], n["baseline"]): n for n in found["baselines"]}
    assert baselines["wanna", "unigram"]["mean"] == pytest.approx(13.5 / 14)
    assert baselines["principle-a-command", "unigram"]["mean"] == 0.5
    assert baselines["wanna", "unigram"]["corpora"]["child"]["flagged"]
    assert not baselines["principle-a-command", "unigram"]["flagged"]
    assert "capitals in one member only" in result.output
    heard = tmp_path / "heard.txt"
    heard.write_text("WHEN SINGS B!\n")
    run(suite, "--reader", "lines", "--text", heard, "--output", tmp_path / "out")
    found = json.loads((tmp_path / "out/quality.json").read_text())
    (check,) = [c for c in found["checks"] if c["name"] == "leaked pairs"]
    assert check["first"] == [{"item": "wanna-00002", "reason": "bad member in heard/all"}]


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["--reader", "templates"], "--reader"),
        (["--reader", "lines", "--option", "first=god"], "--option first"),
        (["--reader", "lines", "--option", "first"], "--option 'first'"),
        (["--reader", "lines", "--text", "nowhere.txt"], "nowhere.txt"),
    ],
)
def test_errors_name_what_is_wrong(suite, tmp_path, words, place):
    result = run(suite, *words, "--output", tmp_path / "out")
    assert isinstance(result.exception, PoshgridError)
    assert place in str(result.exception) and "\n" not in str(result.exception)
    assert not (tmp_path / "out").exists()


# ---- poshgrid judge ------------------------------------------------------------------------------


def judge(model, suite, text, output, *words):
    from poshgrid import files
    from poshgrid.statistics.schema import ACCURACY

    arguments = ["judge", model, "--suite", suite, "--text", text, "--output", output, *words]
    result = CliRunner().invoke(app, list(map(str, arguments)))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result, files.read_table(output / "accuracy.parquet", ACCURACY)


def test_a_model_is_judged_beside_what_counts_words(suite, tmp_path):
    """The model judged counts words itself: it and its baseline, counted on one text, are one."""
    table = write_condition(tmp_path / "counted", train=TEXT) / "train.parquet"
    model = tmp_path / "my counts (é)"
    ngram.count(table, model, order=1)
    result, found = judge(model, suite, tmp_path / "text.txt", tmp_path / "out", "--order", 2)
    rows = found.filter(pl.col("level") == "phenomenon")
    by = {(r["model"], r["phenomenon"]): r["mean"] for r in rows.iter_rows(named=True)}
    assert by["my-counts-e", "wanna"] == by["unigram", "wanna"] == pytest.approx(13.5 / 14)
    assert set(found["model"]) == {"my-counts-e", "unigram", "ngram", "class_ngram"}
    assert "my-counts-e" in result.output and "unigram" in result.output
    more = tmp_path / "more.txt"
    more.write_text("he sing\nhe sings\n")
    text, out = tmp_path / "text.txt", tmp_path / "out"
    _, found = judge(model, suite, text, out, "--order", 2, "--suite", more)
    assert set(found["suite"]) == {"judged"}, "pairs of several files bear the name of none"


def test_each_file_is_read_by_its_own_ending(tmp_path):
    lines, table = tmp_path / "one.txt", tmp_path / "two.jsonl"
    lines.write_text("he sing\nhe sings\n")
    row = {"sentence_good": "they sing", "sentence_bad": "they sings", "pair_id": "0", "UID": "two"}
    table.write_text(json.dumps(row) + "\n")
    for paths in ([lines, table], [table, lines]):
        found = given.read(paths, None, {})
        assert dict(found.select("phenomenon", "good").iter_rows()) == {
            "one": "he sings", "two": "they sing",
        }  # fmt: skip


def test_any_file_name_has_a_name_for_paths():
    for text, name in (("modèl (1)", "model-1"), ("a..b.", "a-b"), ("plain+A_1", "plain+A_1")):
        assert path_name(text) == name
    names = [path_name(text) for text in ("配对", "模型", "con", "x" * 70, "")]
    assert len(set(names)) == len(names)
    assert [TypeAdapter(Name).validate_python(name) for name in names] == names
