"""Judgements of others: what is written can be read, what is read is judged as published."""

from __future__ import annotations

import polars as pl
import pytest
from typer.testing import CliRunner

from poshgrid import files
from poshgrid.cli import app
from poshgrid.errors import PoshgridError
from poshgrid.evaluation import published
from poshgrid.statistics.schema import ACCURACY

RUN = "baby-f/10M/gpt2-mini/released/none/seed42"
NAME = "gpt2_mini_baby_10Mf_32768_42_principle_a_command.tsv"
HEAD = "sentence1\tPPL1\tSentence2\tPPL2\tCorrect\n"
LINES = ["bad a\t5.5\tgood a\t5.25\tcorrect\n", "bad b\t2\tgood b\t3\tincorrect\n"]


def write(path, *lines, head=HEAD):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(head + "".join(lines or LINES), encoding="utf-8")
    return path


def test_a_published_file_is_a_run_of_the_grid(tmp_path):
    write(tmp_path / NAME)
    found = published.read(tmp_path)
    (run,) = found.runs
    assert run == RUN
    assert found.items.select("phenomenon", "category", "good", "bad").rows() == [
        ("principle-a-command", "binding", "good a", "bad a"),
        ("principle-a-command", "binding", "good b", "bad b"),
    ]
    assert found.runs[run]["good_logprob"].to_list() == [-5.25, -3.0]
    cell = found.cells["baby-f/10M"]
    assert (cell.words, cell.source, cell.filtered) == (10_000_000, "baby", True)


def test_a_page_of_judgements_has_baselines_of_a_text(tmp_path):
    for seed in (42, 53):
        write(tmp_path / "published" / NAME.replace("_42_", f"_{seed}_"))
    (tmp_path / "text.txt").write_text("good a\ngood b\nbad b\n" * 3)
    words = ["import-judgements", str(tmp_path / "published"), "--output", str(tmp_path / "out"),
             "--text"]  # fmt: skip
    refused = CliRunner().invoke(app, [*words, f"wiki={tmp_path}/text.txt"])
    assert refused.exit_code and "baby" in str(refused.exception)
    result = CliRunner().invoke(app, [*words, f"baby={tmp_path}/text.txt"])
    assert result.exit_code == 0, result.output
    rows = files.read_table(tmp_path / "out/statistics/all/accuracy.parquet", ACCURACY)
    (row,) = rows.filter(level="phenomenon", recipe="released").to_dicts()
    assert (row["unigram"], row["n_seeds"]) == (1.0, 2)  # "good" was heard twice as often
    assert row["learned"] == "not testable"
    # the published form holds means over tokens: nobody knows what sums would say
    assert rows["mean_sum"].null_count() == rows.height
    assert (tmp_path / "out/report/all/index.html").is_file()


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("wanna.tsv", HEAD + LINES[0], "its name is no run's"),
        (NAME, "bad\tgood\n", "line 1: the columns must be sentence1, PPL1"),
        (NAME, HEAD + LINES[0] + "bad\tx\tgood\t1\tcorrect\n", "line 3: not a sentence and a"),
        (NAME, HEAD + "bad\tnan\tgood\t1\tcorrect\n", "line 2: not a sentence"),
        (NAME.replace("command", "com\nmand"), HEAD + LINES[0], "its name is no run's"),
        (NAME.replace("10Mf", "0Mf"), HEAD + LINES[0], "impossible size '0M'"),
    ],
)
def test_what_is_no_judgement_is_refused(tmp_path, path, content, message):
    target = tmp_path / "folder" / path
    target.parent.mkdir(parents=True)
    target.write_text(content)
    with pytest.raises(PoshgridError, match=message) as error:
        published.read(tmp_path / "folder")
    assert "\n" not in str(error.value)


def test_runs_must_have_judged_the_same_pairs(tmp_path):
    write(tmp_path / NAME)
    other = tmp_path / NAME.replace("10Mf", "30M")
    write(other, LINES[1], LINES[0])
    with pytest.raises(PoshgridError, match="judged other pairs than"):
        published.read(tmp_path)
    write(other)
    write(tmp_path / NAME.replace("principle_a_command", "wanna"))
    with pytest.raises(PoshgridError, match="have not both wanna"):
        published.read(tmp_path)


def test_the_published_accuracies_come_out(shared, tmp_path):
    """The authors' own column ``Correct``, counted by polars, is what our accuracies say."""
    folder = shared / "published/posh/judgements-seed42"
    if not folder.is_dir():
        pytest.skip("the published judgements are absent")
    result = CliRunner().invoke(app, ["import-judgements", str(folder), "--output", str(tmp_path)])
    assert result.exit_code == 0, result.output
    ours = files.read_table(tmp_path / "statistics/all/accuracy.parquet", ACCURACY)
    ours = ours.filter(level="phenomenon")
    frames = [
        pl.read_csv(path, separator="\t", quote_char=None).with_columns(name=pl.lit(path.stem))
        for path in sorted(folder.glob("*.tsv"))
    ]
    name = pl.col("name").str.extract_groups(r"_(baby|wiki)_(\d+M)(f?)_\d+_42_(.+)$")
    # One pair in 49,500 differs by less than a millionth of a nat: a tie here, wrong there
    tie = (pl.col("PPL1") - pl.col("PPL2")).abs() <= 1e-6
    right = pl.when(tie).then(0.5).otherwise(pl.col("Correct") == "correct")
    counted = pl.concat(frames).group_by(name.alias("n")).agg(share=right.mean()).unnest("n")
    expected = {
        (corpus + ("-f" if f else ""), size, phenomenon.replace("_", "-")): share
        for corpus, size, f, phenomenon, share in counted.iter_rows()
    }
    found = {(c, s, p): m for c, s, p, m in
             ours.select("condition", "size", "phenomenon", "mean").iter_rows()}  # fmt: skip
    assert len(found) == 99
    assert found == pytest.approx(expected, abs=1e-12)
