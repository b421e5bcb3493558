"""``poshgrid judge``: pairs from files, without a study; errors of one line."""

import json

import polars as pl
import pytest
from pydantic import TypeAdapter
from typer.testing import CliRunner

from poshgrid.cli import app
from poshgrid.config.base import Name, path_name
from poshgrid.core.errors import PoshgridError
from poshgrid.models import ngram
from tests.unit.models.training.training_support import write_condition

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


def judge(*words):
    result = CliRunner().invoke(app, ["judge", *map(str, words)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def means(output, level="phenomenon"):
    """Return (model, suite, phenomenon) -> accuracy."""
    frame = pl.read_parquet(output / "statistics/all/accuracy.parquet").filter(level=level)
    return {row[:3]: row[3] for row in frame.select("model", "suite", "phenomenon", "mean").rows()}


def test_pairs_are_checked_without_a_model(suite, tmp_path):
    text, output = tmp_path / "text.txt", tmp_path / "out"
    result = judge("--suite", suite, "--text", text, "--output", output)
    facts = json.loads((output / "quality/all/suite/quality.json").read_text())
    assert (facts["suite"], facts["pairs"], facts["verdict"]) == ("suite", 17, "flagged")
    faults = {c["name"]: c["items"] for c in facts["checks"]}
    assert faults["capitals in one member only"] == faults["identical members"] == 1
    # By hand: "who" is there three times, "when" once, so that all wanna pairs but the tie are
    # right; of the others no word but "sings" is known.
    of = means(output)
    assert of["unigram", "suite", "wanna"] == pytest.approx(13.5 / 14)
    assert of["unigram", "suite", "principle-a-command"] == 0.5
    assert "1 identical members" in result.output
    assert (output / "report/all/index.html").is_file()
    # Without a text there are faults only, and no numbers of pairs that were there before
    assert (output / "pairs.csv").is_file()
    assert "1 identical members" in judge("--suite", suite, "--output", output).output
    assert not any((output / name).exists() for name in ("pairs.csv", "statistics/all"))


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (["--reader", "templates"], "--reader"),
        (["--option", "spelling=god"], "options.spelling"),
        (["--text", "nowhere.txt"], "nowhere.txt"),
        (["models/ngram", "--text", __file__], "models/ngram: a baseline has that name"),
    ],
)
def test_errors_name_what_is_wrong(suite, tmp_path, words, where):
    with pytest.raises(PoshgridError, match=where) as caught:
        judge("--suite", suite, *words, "--output", tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_results_of_a_study_are_not_replaced(suite, tmp_path):
    (tmp_path / "results/corpora").mkdir(parents=True)
    with pytest.raises(PoshgridError, match="results of a study"):
        judge("--suite", suite, "--output", tmp_path / "results")
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["corpora"]


def test_models_are_judged_beside_what_counts_words(suite, tmp_path):
    """A model judged counts words itself: it and its baseline, counted on one text, are one."""
    table = write_condition(tmp_path / "counted", train=TEXT) / "train.parquet"
    models = [tmp_path / "my counts (é)", tmp_path / "two"]
    for order, model in enumerate(models, 1):
        ngram.count(table, model, order=order)
    more, text, out = tmp_path / "more.csv", tmp_path / "text.txt", tmp_path / "out"
    more.write_text("ungrammatical,grammatical,item_id\nhe sing,he sings,a\nit swim,it swim,b\n")
    words = (*models, "--suite", suite, "--text", text, "--output", out)
    result = judge(*words, "--suite", more)
    of = means(out)
    for name in ("my-counts-e", "unigram"):
        assert of[name, "suite", "wanna"] == pytest.approx(13.5 / 14)
    assert of["two", "more", "more"] == 0.75
    # The page and the terminal compare a model with the same baselines
    table = pl.read_parquet(out / "statistics/all/accuracy.parquet").filter(level="phenomenon")
    model = table.filter(model="two", suite="suite", phenomenon="wanna").row(0, named=True)
    assert model["unigram"] == pytest.approx(13.5 / 14) and "unigram" in model["far"]
    assert set(table.filter(suite="more")["category"]) == {"more"}  # its own name
    rows = [line.split()[0] for line in result.output.splitlines() if line]
    order = ["my-counts-e", "two", "unigram", "ngram", "class_ngram"]
    assert [row for row in rows if row in order] == order
    pairs = pl.read_csv(out / "pairs.csv")
    assert pairs.height == (17 + 2) * (2 + 3)
    one = pairs.filter(model="two", item_id="a").row(0, named=True)
    assert (one["good"], one["bad"], one["correct"]) == ("he sings", "he sing", 1.0)
    assert one["good_logprob"] > one["bad_logprob"]
    with pytest.raises(PoshgridError, match="twice"):
        judge(models[0], models[0], "--suite", more, "--output", out)


def test_any_file_name_has_a_name_for_paths():
    for text, name in (("modèl (1)", "model-1"), ("a..b.", "a-b"), ("plain+A_1", "plain+A_1")):
        assert path_name(text) == name
    long = "x" * 70
    names = [path_name(text) for text in ("配对", "模型", "con", long, f"{long}y", f"y{long}", "")]
    assert len(set(names)) == len(names)
    assert [TypeAdapter(Name).validate_python(name) for name in names] == names
