"""The stage: tables, checkpoints, tokens, facts, and errors that leave nothing half-written."""

import shutil

import polars as pl
import pytest

from poshgrid.benchmark.schema import CHOICES, COMPLETIONS, PAIRS, PARADIGMS
from poshgrid.config import Scoring, specs
from poshgrid.core.errors import PoshgridError
from poshgrid.evaluation import schema
from poshgrid.evaluation.score import checkpoints, score
from poshgrid.models.ngram import count
from tests.unit.evaluation.test_perplexity import whole
from tests.unit.evaluation.test_tasks import table
from tests.unit.models.tiny_causal import TEXT, engine, gpt2, requests, roberta, tokenizer


def items(path, *pairs):
    rows = [
        {"item_id": f"p-{i:04}", "good": good, "bad": bad}
        for i, (good, bad) in enumerate(pairs, start=1)
    ]
    table(PAIRS, *rows).write_parquet(path)
    return path


def spec(**scoring):
    tasks = dict.fromkeys(("one", "two", "posh", "fine", "zorro", "zorro-holistic"), "pairs")
    tasks |= {f"my-{task}": task for task in schema.TASKS}
    return specs.ScoreSpec(scoring=Scoring(**scoring), tasks=tasks)


def expected(folder, texts, **scoring):
    return engine(folder, **scoring).score(requests(texts))


def _pair(good, bad):
    return (
        pytest.approx(good.logprob, abs=1e-5),
        pytest.approx(bad.logprob, abs=1e-5),
        good.tokens,
        bad.tokens,
    )


def test_the_stage_writes_a_table_for_each_suite(folder, tmp_path):
    suites = {
        "one": items(tmp_path / "one.parquet", TEXT[:2], TEXT[2:]),
        "two": items(tmp_path / "two.parquet", (TEXT[2], TEXT[1])),
    }
    outputs = {suite: tmp_path / f"out/{suite}.parquet" for suite in suites}
    facts = score(spec(), str(folder), suites, outputs)
    tables = {suite: pl.read_parquet(path) for suite, path in outputs.items()}
    assert all(dict(scores.schema) == schema.SCORES for scores in tables.values())
    scores = expected(folder, TEXT)
    assert tables["one"].rows() == [
        (f"p-{i + 1:04}", None, *_pair(scores[2 * i], scores[2 * i + 1])) for i in range(2)
    ]
    # The same sentence has the same score in every suite, to the last bit.
    assert tables["two"]["good_logprob"][0] == tables["one"]["good_logprob"][1]
    assert facts["pairs"] == facts["items"] == {"one": 2, "two": 1}
    assert facts["sentences"] == 4
    assert facts["tokens"] == sum(s.tokens for s in scores)
    assert facts["steps"] == []
    assert facts["device"] in {"cpu", "cuda"}
    before = outputs["one"].read_bytes()
    score(spec(), str(folder), suites, outputs)
    assert outputs["one"].read_bytes() == before


def test_checkpoints_are_scored_with_their_own_weights(copy, tmp_path):
    for step in (20, 100):
        gpt2(copy / "checkpoints" / str(step), seed=step)
    (copy / "checkpoints/state").mkdir()  # is none
    assert checkpoints(str(copy)) == [20, 100]
    suite = {"posh": items(tmp_path / "i.parquet", TEXT[:2])}
    output = tmp_path / "s.parquet"
    facts = score(spec(), str(copy), suite, {"posh": output})
    assert facts["steps"] == [20, 100]
    table_read = pl.read_parquet(output)
    assert table_read["step"].to_list() == [20, 100, None]
    for row, step in zip(table_read.rows(), (20, 100, None), strict=True):
        weights = copy / "checkpoints" / str(step) if step else copy
        if step:
            for file in copy.glob("tokenizer*"):
                shutil.copy(file, weights)
        assert row[2:] == _pair(*expected(weights, TEXT[:2]))
    assert len(set(table_read["good_logprob"])) == 3


def suites_of_every_task(folder):
    text = TEXT[0]
    start = text.index("boy")
    tables = {
        "pairs": table(PAIRS, {"item_id": "p", "good": TEXT[0], "bad": TEXT[1]}),
        "paradigms": table(
            PARADIGMS, {"item_id": "q", "text": text, "start": start, "end": start + 7}
        ),
        "choices": table(CHOICES, {"item_id": "r", "option": 1, "text": TEXT[2]}),
        "completions": table(COMPLETIONS, {"item_id": "s", "prompt": "The", "accepted": ["x"]}),
    }
    paths = {f"my-{task}": folder / f"{task}.parquet" for task in tables}
    for task, made in tables.items():
        made.write_parquet(paths[f"my-{task}"])
    return paths, {suite: folder / f"scores/{suite}.parquet" for suite in paths}


def test_every_task_has_its_table(folder, tmp_path):
    paths, outputs = suites_of_every_task(tmp_path)
    facts = score(spec(), str(folder), paths, outputs)
    assert facts["pairs"] == {"my-pairs": 1}
    for suite, task in facts["tasks"].items():
        rows = pl.read_parquet(outputs[suite])
        assert dict(rows.schema) == schema.TASKS[task]
        assert rows.height == 1
    whole = expected(folder, [TEXT[0]])[0]
    region = pl.read_parquet(outputs["my-paradigms"]).row(0, named=True)
    assert whole.logprob < region["logprob"] < 0


@pytest.mark.parametrize("kind", ["masked", "ngram"])
def test_a_model_that_writes_nothing_has_an_empty_table_and_says_so(tmp_path, caplog, kind):
    if kind == "masked":
        roberta(tmp_path / "model")
    else:
        tokenizer(tmp_path / "model")
        count(whole(tmp_path / "whole.parquet", train=TEXT), tmp_path / "model", order=2)
    paths, outputs = suites_of_every_task(tmp_path)
    facts = score(spec(), str(tmp_path / "model"), paths, outputs)
    assert facts["unwritten"] == ["my-completions"]
    assert pl.read_parquet(outputs["my-completions"]).is_empty()
    assert pl.read_parquet(outputs["my-choices"]).height == 1
    assert "writes no completions" in caplog.text


def test_a_masked_model_scores_a_suite_by_two_scores(tmp_path, folder):
    """Each table has its own score; a model that is not masked has one, and computes it once."""
    model = tmp_path / "masked"
    roberta(model)
    pairs = items(tmp_path / "i.parquet", (TEXT[0], TEXT[1]))
    suites = {"zorro": pairs, "zorro-holistic": pairs}
    asked_spec = spec().model_copy(update={"rescored": {"zorro-holistic": "holistic"}})
    for of, score_of in ((model, "holistic"), (folder, "pseudo-log-likelihood")):
        outputs = {suite: tmp_path / f"{of.name}-{suite}.parquet" for suite in suites}
        facts = score(asked_spec, str(of), suites, outputs)
        for suite, asked in (("zorro", "pseudo-log-likelihood"), ("zorro-holistic", score_of)):
            row = pl.read_parquet(outputs[suite]).row(0, named=True)
            wanted = [one.logprob for one in expected(of, TEXT[:2], masked=asked)]
            assert [row["good_logprob"], row["bad_logprob"]] == pytest.approx(wanted, abs=1e-5)
        assert facts["sentences"] == 2
    masked_tables = [pl.read_parquet(tmp_path / f"masked-{suite}.parquet") for suite in suites]
    assert not masked_tables[0].equals(masked_tables[1])


def test_an_error_names_the_item_and_writes_nothing(copy, tmp_path):
    gpt2(copy, context=8)
    suites = {
        "fine": items(tmp_path / "f.parquet", ("the man", "the man")),
        "posh": items(tmp_path / "i.parquet", ("the man", "the man"), ("the man", TEXT[0])),
    }
    outputs = {suite: tmp_path / f"{suite}.scores" for suite in suites}
    with pytest.raises(PoshgridError, match=r"posh: item p-0002 \(bad\): \d+ tokens.*sees 8"):
        score(spec(), str(copy), suites, outputs)
    assert not any(path.exists() for path in outputs.values())
