"""Judgements of others: what is written can be read, what is read is judged as published."""

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from poshgrid.cli import app
from poshgrid.core import files
from poshgrid.core.errors import PoshgridError
from poshgrid.evaluation import published
from poshgrid.statistics.measures.schema import PARADIGM_MEASURES
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
    judgements = published.read(tmp_path)
    (run,) = judgements.runs
    assert run == RUN
    assert judgements.items["posh"].select("phenomenon", "category", "good", "bad").rows() == [
        ("principle-a-command", "binding", "good a", "bad a"),
        ("principle-a-command", "binding", "good b", "bad b"),
    ]
    assert judgements.runs[run]["posh"]["good_logprob"].to_list() == [-5.25, -3.0]
    cell = judgements.cells["baby-f/10M"]
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
        ("wanna.tsv", HEAD + LINES[0], "its name does not give a run"),
        (NAME, "bad\tgood\n", "line 1: the columns must be sentence1, PPL1"),
        (NAME, HEAD + LINES[0] + "bad\tx\tgood\t1\tcorrect\n", "line 3: not a sentence and a"),
        (NAME.replace("10Mf", "0Mf"), HEAD + LINES[0], "impossible size '0M'"),
        (NAME.replace("10Mf", "30M"), HEAD + LINES[1] + LINES[0], "judged other pairs than"),
        (NAME.replace("principle_a_command", "wanna"), HEAD + LINES[0], "has wanna"),
    ],
)
def test_what_is_no_judgement_or_of_other_pairs_is_refused(tmp_path, path, content, message):
    target = tmp_path / "folder" / path
    write(target.with_name(NAME))
    write(target.with_name(NAME.replace("10Mf", "50M")))
    target.write_text(content)
    with pytest.raises(PoshgridError, match=message) as error:
        published.read(target.parent)
    assert "\n" not in str(error.value)


def test_files_of_zorro_are_a_model_without_a_place(tmp_path):
    name = "probing_binding-principle_a_results_500000.txt"
    (tmp_path / name).write_text("it is a . 0.5\nit is b . 0.25\nthis is c . 0.1\nthis d . 0.2\n")
    judgements = published.read(tmp_path, "zorro", "roberta")
    ((run, scores),) = judgements.runs.items()
    assert run == "pretrained/given/roberta/pretrained/none/seed0"
    assert judgements.items["zorro"].select("phenomenon", "good", "bad").rows() == [
        ("binding-principle_a", "it is b .", "it is a ."),
        ("binding-principle_a", "this d .", "this is c ."),
    ]
    assert scores["zorro"].select("good_logprob", "bad_logprob").rows() == [
        (-0.25, -0.5), (-0.2, -0.1),
    ]  # fmt: skip
    (tmp_path / name).write_text("it is a . 0.5\nit is b . x\n")
    with pytest.raises(PoshgridError, match="line 1"):
        published.read(tmp_path)


GAPS = {"PFPG": "who it is about to bother soon .", "MFPG": "that it is about to bother soon .",
        "PFMG": "who it is about to bother you soon .",
        "MFMG": "that it is about to bother you soon ."}  # fmt: skip


@pytest.mark.parametrize("words", [False, True])
def test_surprisals_of_sets_are_measured_beside_baselines(tmp_path, words):
    """Conditions are named in letters or in words, in either file."""
    full = {"P": "PLUS", "M": "MINUS", "F": "FILLER", "G": "GAP"}
    name = {c: "_".join(full[letter] for letter in c) if words else c for c in GAPS}
    lines = [f"pg,1,{c},I know {text}\n" for c, text in GAPS.items()]
    (tmp_path / "in").mkdir()
    (tmp_path / "in/own_stimuli.csv").write_text(
        "sentence_type,item_id,condition,full_sentence\n" + "".join(lines)
    )
    (tmp_path / "in/own_surprisals.csv").write_text(
        f"sentence_type,item_id,{','.join(name.values())}\npg,1,8,9,10,10.5\n"
    )
    (tmp_path / "text.txt").write_text("he came soon\nsoon you left\nsoon\n")
    result = CliRunner().invoke(app, [
        "import-judgements", str(tmp_path / "in"), "--model", "m",
        "--output", str(tmp_path / "out"), "--text", f"mine={tmp_path}/text.txt",
    ])  # fmt: skip
    assert result.exit_code == 0, result.output
    table = files.read_table(
        tmp_path / "out/statistics/all/measures/own/measures.parquet", PARADIGM_MEASURES
    )
    means = {(m, k): v for m, k, v in table.select("model", "measure", "mean").iter_rows()}
    assert means["m", "delta_plus_filler"] == pytest.approx(10 - 8)
    assert means["m", "did"] == pytest.approx(10 - 8 - (10.5 - 9))
    assert means["unigram", "delta_plus_filler"] > 0  # "soon" is more frequent than "you"
    assert means["unigram", "did"] == 0


def test_the_published_numbers_of_parasitic_gaps_and_zorro_come_out(shared, tmp_path):
    """Section 4.1 of Pistotti et al.; Table 2 of Huebner et al.: 82.5 on average."""
    folder = shared / "published"
    if not (folder / "parasitic-gaps").is_dir():
        pytest.skip("the published judgements are absent")
    study = Path(__file__).parents[3] / "studies/parasitic-gaps/config.yaml"
    words = ["import-judgements", "--output", str(tmp_path)]
    gaps = [str(folder / "parasitic-gaps"), "--model", "gpt2", "--config", str(study)]
    assert CliRunner().invoke(app, [*words, *gaps]).exit_code == 0
    rows = pl.read_csv(tmp_path / "report/all/tables/comparison.csv")
    assert rows["ours"].null_count() == 0 and rows.height == 14
    for ours, printed in rows.select("ours", pl.col("value").cast(pl.String)).iter_rows():
        assert round(ours, len(printed.partition(".")[2])) == float(printed)
    zorro = [str(folder / "zorro-reference"), "--suite", "zorro"]
    assert CliRunner().invoke(app, [*words, *zorro]).exit_code == 0
    table = files.read_table(tmp_path / "statistics/all/accuracy.parquet", ACCURACY)
    assert round(table.filter(level="average")["mean"].item() * 100, 1) == 82.5


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
    accuracies = {(c, s, p): m for c, s, p, m in
             ours.select("condition", "size", "phenomenon", "mean").iter_rows()}  # fmt: skip
    assert len(accuracies) == 99
    assert accuracies == pytest.approx(expected, abs=1e-12)
