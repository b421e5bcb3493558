"""Differences, leaks and baselines by hand-worked numbers; what fails or flags a suite."""

import json
import math
import re
from collections import Counter

import polars as pl
import pytest

from poshgrid import files
from poshgrid.benchmark import lexicon
from poshgrid.benchmark.schema import ITEMS
from poshgrid.config import Scoring, specs
from poshgrid.evaluation.schema import SCORES
from poshgrid.quality import baselines
from poshgrid.quality.gate import differences, gate, leaks
from tests.unit.benchmark.generated import WORDS
from tests.unit.quality.quality_suite import SOUND, table

PLANTED = "<script>alert(1)</script>"


def questions(number: int) -> pl.DataFrame:
    """Wanna pairs, no two alike."""
    names = ("John", "Tom", "Mary", "Lucy")
    rows = [
        ("wanna", "wh-word", f"When {aux} {name} wanna {verb}?", f"Who {aux} {name} wanna {verb}?")
        for verb in ("sleep", "dance", "read", "leave") * (number // 48 + 1)
        for aux in ("does", "will", "should")
        for name in names
    ]
    return table(*rows[:number])


def write_train(path, *texts):
    pl.DataFrame({"text": texts}).write_parquet(path)
    return path


def write_scores(path, items, share):
    """Write scores of which a share is right; all of two tokens."""
    right = round(share * items.height)
    frame = pl.DataFrame(
        {
            "item_id": items["item_id"],
            "step": [None] * items.height,
            "good_logprob": [-1.0] * items.height,
            "bad_logprob": [-2.0] * right + [-0.5] * (items.height - right),
            "good_tokens": [2] * items.height,
            "bad_tokens": [2] * items.height,
        },
        schema=SCORES,
    )
    files.write_table(frame, path, SCORES)
    return path


def test_differences_by_hand():
    items = table(
        ("p", "c", "When does Mary sleep?", "Who does Mary sleep?"),
        ("p", "c", "How does Mary sleep?", "What, does Mary sleep so?"),
    )
    counts = {"a": Counter({"when": 9, "how": 99, "who": 999, "what": 9, "so": 0, "does": 100})}
    by_name = {d["measure"]: d for d in differences(items, counts)}
    assert (by_name["words"]["mean"], by_name["words"]["sd"]) == (
        -0.5,
        pytest.approx(math.sqrt(0.5)),
    )
    assert by_name["characters"]["mean"] == pytest.approx((1 - 5) / 2)
    total = math.log10(1216)
    first = (1 - 3) / 4  # when - who, of four words
    second = (2 + math.log10(101) - 4 * total) / 4 - (1 + math.log10(101) - 5 * total) / 5
    assert by_name["log frequency (a)"]["mean"] == pytest.approx((first + second) / 2)


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


# ---- baselines ----


def judged(tmp_path, items, shares, tolerance=0.05):
    scores = {
        run: write_scores(tmp_path / f"{i}.parquet", items, share)
        for i, (run, share) in enumerate(shares.items())
    }
    sets = baselines.judged(items, scores, Scoring())
    return sets, baselines.summarise(sets, items, tolerance, {"b": "a"})


def test_nulls_are_means_over_cells_of_means_over_runs(tmp_path):
    sets, summary = judged(tmp_path, questions(20), {
        "a/1K/m/untrained/none/seed1": 0.5, "a/1K/m/untrained/none/seed2": 0.7,
        "b/1K/m/untrained/none/seed1": 0.3, "a/1K/ngram/counted/none/seed0": 0.55,
        "a/1K/unigram/counted/none/seed0": 0.6,
    })  # fmt: skip
    assert (
        sets.group_by("condition", "baseline", "seed").agg(pl.sum("pairs"))["pairs"].to_list()
        == [20] * 5
    )
    by_name = {baseline["baseline"]: baseline for baseline in summary}
    assert by_name["untrained"]["mean"] == pytest.approx(0.45)
    assert list(by_name["untrained"]["corpora"]) == ["a"]  # of conditions a and b
    assert by_name["untrained"]["corpora"]["a"]["mean"] == pytest.approx(0.5)
    # Twenty pairs cannot tell .6 from one half.
    assert not any(baseline["flagged"] for baseline in by_name.values())


def test_an_interval_beyond_the_tolerance_is_flagged_base_by_base(tmp_path):
    items = questions(500)
    shares = {"a/1K/unigram/counted/none/seed0": 0.9, "c/1K/unigram/counted/none/seed0": 0.1}
    _, (baseline,) = judged(tmp_path, items, shares)
    assert baseline["mean"] == pytest.approx(0.5)  # the mean hides what both corpora show
    assert {corpus: of["flagged"] for corpus, of in baseline["corpora"].items()} == {
        "a": True,
        "c": True,
    }
    assert baseline["flagged"]
    bounds = [baseline["corpora"]["a"][end] for end in ("low", "high")]
    assert bounds == pytest.approx([0.870, 0.925], abs=5e-4)
    for share, tolerance, flagged in ((0.6, 0.05, True), (0.59, 0.05, False), (0.59, 0.04, True)):
        _, (baseline,) = judged(
            tmp_path, items, {"a/1K/unigram/counted/none/seed0": share}, tolerance
        )
        assert baseline["flagged"] == flagged, (share, tolerance)


# ---- the gate -----------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setattr(lexicon, "read", lambda: WORDS)
    corpus = tmp_path / "corpus.parquet"
    words = [" ".join(sorted(f for w in WORDS.words for f in w.folded))]
    pl.DataFrame({"text": words, "split": ["train"]}).write_parquet(corpus)

    def run(items, *, generated=True, text="Nothing to hear.", share=0.5):
        files.write_table(items, tmp_path / "items.parquet", ITEMS)
        scores = write_scores(tmp_path / "s.parquet", items, share)
        spec = specs.QualitySpec(
            suite="toy", generated=generated, top_k=9_999, scoring=Scoring(), tolerance=0.05
        )
        train = {"a/1K": write_train(tmp_path / "train.parquet", text)}
        runs = {"a/1K/m/untrained/none/seed1": scores}
        return gate(spec, tmp_path / "items.parquet", {"a": corpus}, train, runs, tmp_path / "out")

    return run


@pytest.mark.parametrize(("share", "flagged"), [(0.5, []), (1.0, ["wanna"])])
def test_a_sound_suite_passes_and_a_baseline_flags_it(run, share, flagged):
    facts = run(questions(12), share=share)
    assert (facts["verdict"], facts["flagged"]) == ("flagged" if flagged else "passed", flagged)
    assert set(facts["faults"].values()) == {0}


def test_a_fault_is_on_the_page_with_its_pair(run, tmp_path):
    wrong = ("wanna", "wh-word", "When do Mary wanna sleep?", "Who do Mary wanna sleep?")
    heard = "The man: knew that John's mother helped himself!"
    facts = run(table(*SOUND, wrong), text=heard)
    assert facts["verdict"] == "flagged"
    assert {name: number for name, number in facts["faults"].items() if number} == {
        "ungrammatical good members": 1, "leaked pairs": 1,
    }  # fmt: skip
    checks = json.loads((tmp_path / "out/quality.json").read_text())["checks"]
    first = [check["first"][0] for check in checks if check["items"]]
    assert [(fault["item"], fault["reason"]) for fault in first[1:]] == [
        ("x-0002", "bad member in a/1K")
    ]
    assert first[0]["item"] == "x-0015"
    page = (tmp_path / "out/index.html").read_text()
    assert page.count("<mark>When</mark>") > 1  # in its example and in the fault


def test_an_outside_suite_needs_no_lexicon_and_its_page_escapes_items(run, tmp_path):
    rows = [("x", "x", "zelda are here .", "zelda is here ."),
            (PLANTED, PLANTED, PLANTED, PLANTED)]  # fmt: skip
    faults = run(table(*rows), generated=False)["faults"]
    assert faults["identical members"] == 1 and faults["words outside the vocabulary"] >= 1
    text = (tmp_path / "out/index.html").read_text()
    assert "<script" not in text and not re.search(r"url\(|@import|https?:| src=", text)
    assert set(re.findall(r'href="([^"]*)"', text)) == {"data:,", "#checks"}
