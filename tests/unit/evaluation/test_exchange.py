"""Judgements of others: what is written can be read, what is read is judged as published."""

from __future__ import annotations

import random
import shutil

import polars as pl
import pytest
from typer.testing import CliRunner

from poshgrid import files
from poshgrid.benchmark.schema import ITEMS
from poshgrid.cli import app
from poshgrid.config import Scoring
from poshgrid.errors import PoshgridError
from poshgrid.evaluation import exchange, judgements
from poshgrid.evaluation.exchange import COLUMNS
from poshgrid.evaluation.schema import SCORES
from poshgrid.report import imported
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
    with pytest.raises(PoshgridError, match="holds other pairs than"):
        exchange.read(tmp_path)
    write(other)
    write(tmp_path / NAME.replace("principle_a_command", "wanna"))
    with pytest.raises(PoshgridError, match="gpt2-mini/released/none/seed42 has no wanna"):
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


@pytest.mark.parametrize(
    ("phenomenon", "file"),
    [
        ("../../../../../../up", "-..-..-..-..-..-up.tsv"),
        ("/etc/passwd", "-etc-passwd.tsv"),
        ("..", "-.tsv"),
        ("x" * 300, "x" * 100 + ".tsv"),
        ("ü" * 300, "ü" * 50 + ".tsv"),
    ],
)
def test_a_phenomenon_names_a_file_in_its_runs_folder_and_no_other(scored, phenomenon, file):
    folder, values = scored
    before = set(folder.rglob("*"))
    items = files.read_table(folder / "items.parquet", ITEMS)
    files.write_table(
        items.with_columns(phenomenon=pl.lit(phenomenon)), folder / "items.parquet", ITEMS
    )
    assert export(folder, values) == 6
    written = {path for path in set(folder.rglob("*")) - before if path.is_file()}
    assert written == {folder / "out/judgements.tsv", *(folder / "out" / r / file for r in values)}


def test_phenomena_that_would_share_a_file_are_refused_and_nothing_is_written(scored):
    folder, values = scored
    items = files.read_table(folder / "items.parquet", ITEMS)
    names = pl.Series(["a/b", "a b", "a/b"])
    files.write_table(items.with_columns(phenomenon=names), folder / "items.parquet", ITEMS)
    with pytest.raises(PoshgridError, match=r"'a/b' and 'a b' would both be a-b\.tsv; rename one"):
        export(folder, values)
    assert not (folder / "out").exists()


def test_of_means_nobody_knows_what_sums_would_say(scored, tmp_path):
    """The published form holds means over tokens; ours held sums, and they differ."""
    folder, values = scored
    export(folder, values)
    words = ["import-judgements", str(folder / "out"), "--output", str(tmp_path / "again")]
    assert CliRunner().invoke(app, words).exit_code == 0
    found = files.read_table(tmp_path / "again/accuracy.parquet", ACCURACY)
    assert found["mean_sum"].null_count() == found.height > 0
    assert found["mean_mean"].null_count() == 0


def test_a_run_that_lacks_pairs_is_not_exported(scored):
    folder, _ = scored
    path = folder / "scores" / RUN / "s.parquet"
    files.write_table(pl.read_parquet(path).filter(pl.col("item_id") != "x-0002"), path, SCORES)
    with pytest.raises(PoshgridError, match=r"scores 2 pairs, .* holds 3"):
        exchange.export([RUN], folder / "scores", "s", folder / "items.parquet", folder / "out")


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


MODELS = """
pretrained: [{name: c, model: c, condition: wiki, size: 10M}]
suites: [{name: posh, reader: lines, path: posh}]
models: [{name: other, only: condition=wiki}]   # which these judgements do not have
"""


def published_form(folder):
    """Write judgements of two models as POSH-BENCH publishes them: baby-f knows no island."""
    rng = random.Random(1)
    for name, right in (("baby_10M", 0.9), ("baby_10Mf", 0.4)):
        for phenomenon in ("island-wh", "wanna", "principle_a_command"):
            rows = ["\t".join(COLUMNS)]
            for n in range(60):
                good = 1.0 if rng.random() < right else 3.0
                rows.append(f"bad the {n} thing\t2.0\tgood the {n} thing\t{good}\tcorrect")
            path = folder / f"gpt2_mini_{name}_32768_42_{phenomenon}.tsv"
            path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def test_published_judgements_become_a_report(tmp_path):
    """Accuracies as counted here, and a page that is about both models."""
    folder = tmp_path / "published"
    folder.mkdir()
    published_form(folder)
    (tmp_path / "models.yaml").write_text(MODELS)
    results = tmp_path / "results"
    words = ["import-judgements", str(folder), "--config", str(tmp_path / "models.yaml"),
             "--output", str(results)]  # fmt: skip
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    statistics = results / "statistics" / "all"
    ours = files.read_table(statistics / "accuracy.parquet", ACCURACY)
    wanna = ours.filter(phenomenon="wanna", condition="baby-f")
    lines = (folder / "gpt2_mini_baby_10Mf_32768_42_wanna.tsv").read_text().splitlines()[1:]
    assert wanna["mean"].to_list() == [sum(line.split("\t")[3] == "1.0" for line in lines) / 60]
    assert not (statistics / "models").exists()
    assert (statistics / "rules" / "shares.parquet").is_file()
    page = (results / "report" / "all" / "index.html").read_text(encoding="utf-8")
    assert "2 language models, 3 phenomena" in page
    assert "Incomplete" not in page


def test_a_page_is_of_released_models_alone(scored, tmp_path):
    folder, _ = scored
    run = RUN.replace("released", "packed")
    (folder / "scores" / run).mkdir(parents=True)
    shutil.copy(folder / "scores" / RUN / "s.parquet", folder / "scores" / run / "s.parquet")
    exchange.export([run], folder / "scores", "s", folder / "items.parquet", folder / "out")
    with pytest.raises(PoshgridError, match="a page of imported judgements is of released models"):
        imported.make(exchange.read(folder / "out"), "s", [], tmp_path / "results")
