"""Balance, differences, leaks and nulls by hand-worked numbers; the page says what was found."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from html import escape

import polars as pl
import pytest

from poshgrid import files
from poshgrid.benchmark import lexicon
from poshgrid.benchmark.schema import ITEMS
from poshgrid.config import Scoring
from poshgrid.errors import PoshgridError
from poshgrid.evaluation.schema import SCORES
from poshgrid.evidence.schema import CONDITION
from poshgrid.quality import nulls
from poshgrid.quality.gate import differences, gate, leaks
from tests.unit.quality.quality_suite import SOUND, WORDS, table

PLANTED = "<script>alert(1)</script>"


def questions(*auxiliaries: str) -> pl.DataFrame:
    """One wanna pair for each auxiliary, the question words in turn."""
    rows = [
        ("wanna", "wh-word", f"{good} {aux} Mary wanna sleep?", f"{bad} {aux} Mary wanna sleep?")
        for i, aux in enumerate(auxiliaries)
        for good, bad in [(("When", "How")[i % 2], ("Who", "What")[i % 2])]
    ]
    return table(*rows)


def write_train(path, *texts):
    frame = pl.DataFrame({"text": list(texts)}).with_row_index("sent_id")
    frame = frame.with_columns(
        pl.lit("s").alias("source"), pl.lit("d").alias("document"),
        position=pl.col("sent_id"), n_words=pl.lit(1), replaced=None,
    ).select(list(CONDITION)).cast(CONDITION)  # fmt: skip
    files.write_table(frame, path, CONDITION)
    return path


def write_scores(path, items, right):
    """Write scores of which the given ids (or a share) are right; all of two tokens."""
    ids = items["item_id"].to_list()
    if isinstance(right, float):
        right = ids[: round(right * len(ids))]
    frame = pl.DataFrame(
        {
            "item_id": ids,
            "step": [None] * len(ids),
            "good_logprob": [-1.0] * len(ids),
            "bad_logprob": [-2.0 if item in right else -0.5 for item in ids],
            "good_tokens": [2] * len(ids),
            "bad_tokens": [2] * len(ids),
        },
        schema=SCORES,
    )
    files.write_table(frame, path, SCORES)
    return path


# ---- differences --------------------------------------------------------------------------------


def test_differences_by_hand():
    items = table(
        ("p", "c", "When does Mary sleep?", "Who does Mary sleep?"),
        ("p", "c", "How does Mary sleep?", "What, does Mary sleep so?"),
    )
    counts = {"a": Counter({"when": 9, "how": 99, "who": 999, "what": 9, "so": 0, "does": 100})}
    lengths = pl.DataFrame({"item_id": ["x-0001", "x-0001", "x-0002"], "tokens": [1, 3, -1]})
    found = {d["measure"]: d for d in differences(items, counts, lengths)}
    assert (found["words"]["mean"], found["words"]["equal"]) == (-0.5, 1)
    assert found["words"]["sd"] == pytest.approx(math.sqrt(0.5))
    assert found["characters"]["mean"] == pytest.approx((1 - 5) / 2)
    assert (found["tokens"]["mean"], found["tokens"]["pairs"]) == (1, 3)
    total = math.log10(1216)
    first = (1 - 3) / 4  # when - who, of four words
    second = (2 + math.log10(101) - 4 * total) / 4 - (1 + math.log10(101) - 5 * total) / 5
    assert found["log frequency (a)"]["mean"] == pytest.approx((first + second) / 2)


# ---- leaks --------------------------------------------------------------------------------------


def test_leaks_are_found_whatever_their_case_and_marks(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "BATCH", 1)
    items = table(*SOUND[:4])
    train = {
        "a/1K": write_train(tmp_path / "a.parquet", "Nothing .", "The man knew.",
                            "the man knew that john 's mother helped herself"),
        "b/1K": write_train(tmp_path / "b.parquet", "THE MAN, KNEW THAT JOHN'S MOTHER HELPED"
                            " HERSELF", "The boy saw himself: helped the dog!", "...", ""),
    }  # fmt: skip
    assert leaks(items, train) == [
        ("x-0002", "good member in a/1K, b/1K"),
        ("x-0004", "bad member in b/1K"),
    ]
    assert leaks(items, {"a/1K": write_train(tmp_path / "c.parquet", "The man knew.")}) == []


# ---- nulls --------------------------------------------------------------------------------------


def judged(tmp_path, items, shares, tolerance=0.05):
    scores = {
        run: write_scores(tmp_path / f"{i}.parquet", items, share)
        for i, (run, share) in enumerate(shares.items())
    }
    judged = nulls.accuracies(items, scores, Scoring())
    return judged.table, nulls.summarise(judged, items, tolerance, {"b": "a"})


def test_nulls_are_means_over_cells_of_means_over_runs(tmp_path):
    items = questions(*["does", "will"] * 10)
    rows, summary = judged(tmp_path, items, {
        "a/1K/m/untrained/none/seed1": 0.5, "a/1K/m/untrained/none/seed2": 0.7,
        "b/1K/m/untrained/none/seed1": 0.3, "a/1K/ngram/counted/none/seed0": 0.55,
        "a/1K/unigram/counted/none/seed0": 0.6,
    })  # fmt: skip
    assert rows.schema == pl.Schema(nulls.NULLS)
    assert rows["pairs"].to_list() == [20] * 5
    found = {null.null: null for null in summary}
    assert found["untrained"].mean == pytest.approx(0.45)
    assert found["untrained"].cells == pytest.approx({"a/1K": 0.6, "b/1K": 0.3})
    assert (found["untrained"].least, found["untrained"].most) == pytest.approx((0.3, 0.6))
    assert list(found["untrained"].bases) == ["a"]  # of conditions a and b
    assert found["untrained"].bases["a"].mean == pytest.approx(0.5)
    # Twenty pairs cannot tell .6 from one half.
    assert not any(null.flagged for null in found.values())


def test_an_interval_beyond_the_tolerance_is_flagged_base_by_base(tmp_path):
    items = questions(*["does", "will"] * 250)
    shares = {"a/1K/unigram/counted/none/seed0": 0.9, "c/1K/unigram/counted/none/seed0": 0.1}
    _, (null,) = judged(tmp_path, items, shares)
    assert null.mean == pytest.approx(0.5)  # the mean hides what both bases show
    assert {base: of.flagged for base, of in null.bases.items()} == {"a": True, "c": True}
    assert null.flagged
    assert "90.0% (87.0 to 92.5) on a, 10.0% (7.5 to 13.0) on c" in null.sentence()
    for share, tolerance, flagged in ((0.6, 0.05, True), (0.59, 0.05, False), (0.59, 0.04, True)):
        _, (null,) = judged(tmp_path, items, {"a/1K/unigram/counted/none/seed0": share}, tolerance)
        assert null.flagged == flagged, (share, tolerance)


def test_ties_are_half_a_point(tmp_path):
    items = questions("does", "will")
    path = write_scores(tmp_path / "s.parquet", items, ["x-0001"])
    tied = pl.read_parquet(path).with_columns(
        bad_logprob=pl.when(pl.col("item_id") == "x-0002").then(-1.0).otherwise("bad_logprob")
    )
    files.write_table(tied, path, SCORES)
    rows = nulls.accuracies(items, {"a/1K/m/untrained/none/seed1": path}, Scoring()).table
    assert rows.select("ties", "accuracy").row(0) == (1, 0.75)


@pytest.mark.parametrize("run", ["a/1K/m/base/none/seed1", "a/1K/m/counted/none/seed1"])
def test_runs_that_are_no_nulls_are_refused(tmp_path, run):
    items = questions("does", "will")
    path = write_scores(tmp_path / "s.parquet", items, 0.5)
    with pytest.raises(PoshgridError, match="is no"):
        nulls.accuracies(items, {run: path}, Scoring())


# ---- the gate -----------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setattr(lexicon, "read", lambda: WORDS)
    base = tmp_path / "base.parquet"
    words = [" ".join(sorted(f for w in WORDS.words for f in w.folded))]
    pl.DataFrame({"text": words, "split": ["train"]}).write_parquet(base)

    def run(items, *, generated=True, texts=("Nothing to hear.",), share=0.5, **changes):
        files.write_table(items, tmp_path / "items.parquet", ITEMS)
        given = {
            "suite": "toy", "generated": generated, "top_k": 9_999, "bases": {"a": base},
            "train": {"a/1K": write_train(tmp_path / "train.parquet", *texts)},
            "scores": {"a/1K/m/untrained/none/seed1":
                       write_scores(tmp_path / "s.parquet", items, share)},
            "scoring": Scoring(), "tolerance": 0.05, "output": tmp_path / "out",
        }  # fmt: skip
        return gate(tmp_path / "items.parquet", **(given | changes))

    run.output = tmp_path / "out"
    return run


def test_a_sound_suite_passes(run):
    items = questions(*["does", "will"] * 10)
    items = items.unique(["good", "bad"], maintain_order=True)
    facts = run(items)
    assert facts["verdict"] == "passed"
    assert set(facts["faults"].values()) == {0}
    assert "leaked pairs" in facts["faults"]
    assert files.read_json(run.output / "quality.json")["flags"] == {}
    assert sorted(path.name for path in run.output.iterdir()) == [
        "index.html", "nulls.csv", "quality.json",
    ]  # fmt: skip
    assert "Passed." in (run.output / "index.html").read_text()
    row = pl.read_csv(run.output / "nulls.csv").row(0, named=True)
    assert (row["phenomenon"], row["null"], row["accuracy"]) == ("wanna", "untrained", 0.5)


def test_a_null_is_flagged_and_does_not_fail(run):
    items = pl.concat(
        questions("does", "will", "should", "can").with_columns(
            pl.col("good", "bad").str.replace("Mary", name),
            pl.col("item_id", "lexical_set") + name,
        )
        for name in ("John", "Tom", "Mary", "Lucy")
    )
    facts = run(items, share=1.0)
    assert (facts["verdict"], facts["flagged"]) == ("flagged", ["wanna"])
    text = " ".join(files.read_json(run.output / "quality.json")["flags"]["wanna"])
    assert text.startswith("The untrained null is right in 100.0% (")
    assert escape(text) in (run.output / "index.html").read_text()


def test_a_fault_fails_after_the_page_is_written(run):
    wrong = ("wanna", "wh-word", "When do Mary wanna sleep?", "Who do Mary wanna sleep?")
    with pytest.raises(PoshgridError) as error:
        run(table(*SOUND, wrong))
    assert "\n" not in str(error.value)
    assert "suite toy: errors of number: 1 (first: x-0015" in str(error.value)
    assert str(run.output / "index.html") in str(error.value)
    found = json.loads((run.output / "quality.json").read_text())
    assert found["verdict"] == "failed"
    (check,) = [c for c in found["checks"] if c["items"] and c["refuses"]]
    assert check["phenomena"] == {"wanna": 1}
    assert (check["name"], check["first"][0]["item"]) == ("errors of number", "x-0015")
    page = (run.output / "index.html").read_text()
    assert "<b>x-0015</b>" in page
    assert page.count("<mark>When</mark>") > 1  # in its example and in the fault


def test_a_leak_fails_a_generated_suite_and_only_flags_an_outside_one(run):
    heard = ("The man: knew that John's mother helped himself!",)
    with pytest.raises(PoshgridError, match=r"leaked pairs: 1 \(first: x-0002, bad member in a/1K"):
        run(table(*SOUND), texts=heard)
    assert run(table(*SOUND), texts=heard, generated=False)["verdict"] == "flagged"


def test_an_outside_suite_is_flagged_and_not_held_to_templates(run):
    rows = [("x", "x", "zelda are here .", "zelda is here ."), ("x", "x", "same", "same")]
    facts = run(table(*rows), generated=False)
    assert facts["verdict"] == "flagged"
    found = {c["name"]: c for c in files.read_json(run.output / "quality.json")["checks"]}
    assert {name: c["items"] for name, c in found.items() if c["items"]} == {
        "identical members": 1, "words outside the vocabulary": 1,
    }  # fmt: skip
    assert {c["needs"] for c in found.values() if not c["checked"]} == {"grammar"}


def test_the_page_needs_nothing_and_escapes_items(run):
    row = (PLANTED, PLANTED, f"Good {PLANTED} one.", f"Bad {PLANTED} one.")
    run(table(row, ("x", "x", PLANTED, PLANTED)), generated=False, suite=PLANTED)
    text = (run.output / "index.html").read_text()
    assert "<script" not in text
    assert not re.search(r"url\(|@import|https?:| src=", text)
    assert set(re.findall(r'href="([^"]*)"', text)) == {"data:,", "#checks", "nulls.csv"}
