"""Exported models and items in the tools of others: the same decisions, to the last pair.

minicons is a dependency. lm-evaluation-harness is not: with it installed
(``pip install -c constraints.txt lm_eval``) its test runs, too.
"""

import json

import pytest

import poshgrid
from poshgrid.config.runs import Run
from poshgrid.report.export import items, models
from tests.unit.report.export import small_results

CLOSE = 1e-4  # nats


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    return poshgrid.open(small_results.build(tmp_path_factory.mktemp("small")).results)


@pytest.fixture(scope="module")
def suite(opened, tmp_path_factory):
    return items.export(opened, "posh", tmp_path_factory.mktemp("items"))


@pytest.fixture(scope="module", params=small_results.NAMES)
def run(request, opened, tmp_path_factory):
    """An exported model, and our scores of its run on each pair."""
    point = Run.parse(request.param)
    output = tmp_path_factory.mktemp("models")
    (folder,) = models.export(opened, [point], output, target=None, licence=None)
    mine = {"recipe": point.recipe, "seed": point.seed}
    scores = opened.table("scores-posh").filter(**mine).collect()
    return folder, {row["item_id"]: row for row in scores.iter_rows(named=True)}


def lines(suite):
    paths = sorted((suite / "pairs").glob("*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]


def test_minicons_decides_alike(run, suite):
    from minicons.scorer import IncrementalLMScorer

    folder, scores = run
    scorer = IncrementalLMScorer(str(folder), "cpu")
    pairs = lines(suite)
    scored = {
        (member, name): scorer.sequence_score(
            [pair[f"sentence_{member}"] for pair in pairs], bos_token=True, **options
        )
        for member in ("good", "bad")
        for name, options in (("sum", {"reduction": lambda x: x.sum(0).item()}), ("mean", {}))
    }
    decided = set()
    for number, pair in enumerate(pairs):
        row = scores[pair["pair_id"]]
        for name in ("sum", "mean"):
            n = [1 if name == "sum" else row[f"{m}_tokens"] for m in ("good", "bad")]
            ours = [
                row[f"{m}_logprob"] / tokens for m, tokens in zip(("good", "bad"), n, strict=True)
            ]
            theirs = [scored[m, name][number] for m in ("good", "bad")]
            assert theirs == pytest.approx(ours, abs=CLOSE)
            if pair["sentence_good"] != pair["sentence_bad"]:
                assert (theirs[0] > theirs[1]) == (ours[0] > ours[1]), pair["pair_id"]
            decided.add((name, ours[0] > ours[1]))
    assert {name for name, _ in decided} == {"sum", "mean"}


def test_the_harness_decides_alike(run, suite, monkeypatch):
    lm_eval = pytest.importorskip("lm_eval")
    from lm_eval.tasks import TaskManager

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder, scores = run
    arguments = {"pretrained": str(folder), "dtype": "float32", "device": "cpu"}
    monkeypatch.chdir(suite)
    manager = TaskManager(include_path="pairs", include_defaults=False, metadata=arguments)
    answer = lm_eval.simple_evaluate(
        model="hf", model_args=arguments, tasks=["posh"], task_manager=manager, batch_size=16,
        bootstrap_iters=0, log_samples=True,
    )  # fmt: skip
    samples = [sample for task in answer["samples"].values() for sample in task]
    assert len(samples) == len(scores)
    right: dict[str, list[bool]] = {}
    for sample in samples:
        row = scores[sample["doc"]["pair_id"]]
        good, bad = (logprob for logprob, _ in sample["filtered_resps"])
        expected = pytest.approx((row["good_logprob"], row["bad_logprob"]), abs=CLOSE)
        assert (good, bad) == expected
        right.setdefault(sample["doc"]["UID"], []).append(good >= bad)  # a tie counts as right
    for phenomenon, decided in right.items():
        results = answer["results"][f"posh_{phenomenon}"]
        assert results["acc,none"] == pytest.approx(sum(decided) / len(decided), abs=1e-12)
