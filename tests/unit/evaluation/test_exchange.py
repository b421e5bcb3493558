"""Judgements of others: what is written can be read, what is read is judged as published."""

from __future__ import annotations

import polars as pl
import pytest
from typer.testing import CliRunner

from poshgrid import files
from poshgrid.benchmark.schema import ITEMS
from poshgrid.cli import app
from poshgrid.config import Scoring
from poshgrid.errors import PoshgridError
from poshgrid.evaluation import exchange, judgements
from poshgrid.evaluation.schema import SCORES
from poshgrid.statistics.schema import ACCURACY
from tests.unit.quality.quality_suite import table

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
    found = exchange.read(tmp_path)
    (run,) = found.runs
    assert run == RUN
    assert found.items.select("phenomenon", "category", "good", "bad").rows() == [
        ("principle-a-command", "binding", "good a", "bad a"),
        ("principle-a-command", "binding", "good b", "bad b"),
    ]
    assert found.runs[run]["good_logprob"].to_list() == [-5.25, -3.0]
    cell = found.cells["baby-f/10M"]
    assert (cell.words, cell.source, cell.filtered) == (10_000_000, "baby", True)


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("wanna.tsv", HEAD + LINES[0], "its name tells no run"),
        ("a/b/wanna.tsv", HEAD + LINES[0], "its name tells no run"),
        (NAME, "bad\tgood\n", "line 1: the columns must be sentence1, PPL1"),
        (NAME, HEAD + LINES[0] + "bad\tx\tgood\t1\tcorrect\n", "line 3: not a sentence and a"),
        (NAME, HEAD + "bad\tnan\tgood\t1\tcorrect\n", "line 2: not a sentence"),
        (NAME, HEAD + "bad\t1\tgood\n", "line 2: not a sentence"),
        (NAME.replace("command", "\udcff"), HEAD + LINES[0], "its name is not all text"),
        (NAME.replace("command", "com\nmand"), HEAD + LINES[0], "its name is not all text"),
        (NAME.replace("10Mf", "0Mf"), HEAD + LINES[0], "impossible size '0M'"),
    ],
)
def test_what_is_no_judgement_is_refused(tmp_path, path, content, message):
    target = tmp_path / "folder" / path
    target.parent.mkdir(parents=True)
    target.write_text(content)
    with pytest.raises(PoshgridError, match=message) as error:
        exchange.read(tmp_path / "folder")
    assert "\n" not in str(error.value)


def test_runs_must_have_judged_the_same_pairs(tmp_path):
    write(tmp_path / NAME)
    other = tmp_path / NAME.replace("10Mf", "30M")
    write(other, LINES[1], LINES[0])
    with pytest.raises(PoshgridError, match="judged other pairs than"):
        exchange.read(tmp_path)
    write(other)
    write(tmp_path / NAME.replace("principle_a_command", "wanna"))
    with pytest.raises(PoshgridError, match="have not both wanna"):
        exchange.read(tmp_path)
    write(tmp_path / "baby/30M/gpt2-mini/released/none/seed42/principle-a-command.tsv")
    with pytest.raises(PoshgridError, match="a second file"):
        exchange.read(tmp_path)
    with pytest.raises(PoshgridError, match="no such folder"):
        exchange.read(tmp_path / "nowhere")


@pytest.fixture
def scored(tmp_path):
    """Two phenomena, two runs: (good, bad) sums and tokens by hand."""
    items = table(
        ("wanna", "wh-word", "when a", "who a"),
        ("principle-a-command", "c", "himself b", "herself b"),
        ("wanna", "wh-word", "when c", 'who "c"'),
    )
    files.write_table(items, tmp_path / "items.parquet", ITEMS)
    values = {
        RUN: [(-6.0, -7.0, 2, 2), (-9.0, -8.0, 3, 2), (-4.0, -4.0, 2, 2)],
        RUN.replace("42", "53"): [(-8.0, -7.0, 2, 2), (-1.0, -8.0, 3, 2), (-0.1, -0.3, 1, 1)],
    }
    for run, rows in values.items():
        frame = pl.DataFrame(
            {"item_id": items["item_id"], "step": [None] * 3}
            | {name: [row[i] for row in rows] for i, name in enumerate(list(SCORES)[2:])},
            schema=SCORES,
        )
        again = frame.with_columns(step=pl.lit(5, pl.UInt32), good_logprob=pl.lit(-99.0))
        both = pl.concat([again, frame])  # a checkpoint, which is not exported
        files.write_table(both, tmp_path / "scores" / run / "s.parquet", SCORES)
    return tmp_path, values


def test_deltas_are_margins_of_sums(scored):
    folder, values = scored
    out = folder / "out"
    number = exchange.export(list(values), folder / "scores", "s", folder / "items.parquet", out)
    assert number == 6
    assert (out / "judgements.tsv").read_text().splitlines()[:4] == [
        "item_id\trun\tdelta", f"x-0001\t{RUN}\t1.0", f"x-0002\t{RUN}\t-1.0", f"x-0003\t{RUN}\t0.0",
    ]  # fmt: skip
    assert (out / RUN / "wanna.tsv").read_text().splitlines() == [
        HEAD.rstrip("\n"), "who a\t3.5\twhen a\t3.0\tcorrect",
        'who "c"\t2.0\twhen c\t2.0\tincorrect',
    ]  # fmt: skip


def test_what_is_exported_is_imported_with_the_same_judgements(scored):
    folder, values = scored
    exchange.export(list(values), folder / "scores", "s", folder / "items.parquet", folder / "out")
    found = exchange.read(folder / "out")
    assert sorted(found.runs) == sorted(values)
    ours = files.read_table(folder / "items.parquet", ITEMS)
    for run, frame in found.runs.items():
        files.write_table(frame, folder / "again" / f"{run}.parquet", SCORES)
        pairs = [
            judgements.judged(path, items, Scoring()).join(
                items.select("item_id", "good"), on="item_id"
            ).sort("good")["correct"].to_list()
            for path, items in (
                (folder / "again" / f"{run}.parquet", found.items),
                (folder / "scores" / run / "s.parquet", ours),
            )
        ]  # fmt: skip
        assert pairs[0] == pairs[1]


def export(folder, values):
    return exchange.export(
        list(values), folder / "scores", "s", folder / "items.parquet", folder / "out"
    )


def test_of_means_nobody_knows_what_sums_would_say(scored, tmp_path):
    """The published form holds means over tokens; ours held sums, and they differ."""
    folder, values = scored
    export(folder, values)
    words = ["import-judgements", str(folder / "out"), "--output", str(tmp_path / "again")]
    assert CliRunner().invoke(app, words).exit_code == 0
    found = files.read_table(tmp_path / "again/accuracy.parquet", ACCURACY)
    assert found["mean_sum"].null_count() == found.height > 0
    assert found["mean_mean"].null_count() == 0


def test_the_published_accuracies_come_out(shared, tmp_path):
    """The authors' own column ``Correct``, counted by polars, is what our accuracies say."""
    folder = shared / "published/posh/judgements-seed42"
    if not folder.is_dir():
        pytest.skip("the published judgements are absent")
    result = CliRunner().invoke(app, ["import-judgements", str(folder), "--output", str(tmp_path)])
    assert result.exit_code == 0, result.output
    ours = files.read_table(tmp_path / "accuracy.parquet", ACCURACY).filter(level="phenomenon")
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
        (base + ("-f" if f else ""), size, phenomenon.replace("_", "-")): share
        for base, size, f, phenomenon, share in counted.iter_rows()
    }
    found = {(c, s, p): m for c, s, p, m in
             ours.select("condition", "size", "phenomenon", "mean").iter_rows()}  # fmt: skip
    assert len(found) == 99
    assert found == pytest.approx(expected, abs=1e-12)
