"""Estimates: worked by hand, held to the models themselves, and measured before assumed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from poshgrid.errors import PoshgridError
from poshgrid.grid import configfile
from poshgrid.grid.grid import Grid
from poshgrid.planning import measured, schedule, throughput, work
from poshgrid.planning.costs import Costs
from poshgrid.planning.jobs import Job
from poshgrid.planning.throughput import ASSUMED, MEASURED, SCALED
from poshgrid.training import flops, learner
from tests.unit.planning.test_budget import axes, job


@pytest.fixture(scope="module")
def paper(root):
    return configfile.load(root / "config/config.yaml")


def estimates(config, tmp_path, gpu="A100", **options):
    grid = Grid(config.model_copy(update={"results": str(tmp_path)}))
    return Costs(grid, throughput.load(), measured.earlier(grid.paths), gpu=gpu, **options)


def training(costs, **wanted):
    run = next(r for runs in costs.grid.targets.values() for r in runs
               if all(getattr(r, k) == v for k, v in wanted.items()))  # fmt: skip
    return run, costs.of(job(0, "train", **axes(run)))


def manifest(path, **content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def trained(costs, run, speed, **changes):
    """Leave the manifest of a run."""
    spec = json.loads(json.dumps({
        "learner": costs.grid.learners[run.learner].model_dump(mode="json"),
        "regimen": costs.grid.regimens[run.regimen].model_dump(mode="json"),
    }))  # fmt: skip
    for place, value in changes.pop("spec", {}).items():
        section, key = place.split(".")
        spec[section][key] = value
    content = {"device": "cuda", "spec": spec, "tokens_per_second": speed,
               "vocabulary_size": 32768} | changes  # fmt: skip
    manifest(Path(costs.grid.paths.model(run.name), "manifest.json"), **content)


@pytest.mark.parametrize(
    ("architecture", "options"),
    [
        ("gpt2", {"hidden_size": 48, "layers": 3, "heads": 4, "ffn": 100}),
        ("gpt2", {"hidden_size": 48, "layers": 2, "heads": 4}),
        ("lstm", {"hidden_size": 40, "layers": 3}),
        ("babyberta", {"hidden_size": 48, "layers": 3, "heads": 4, "ffn": 100}),
    ],
)
def test_sizes_are_those_of_the_models(paper, architecture, options):
    given = paper.learners[0].model_copy(update={"architecture": architecture, "options": options})
    regimen = paper.regimens[0].model_copy(update={"context_length": 24, "positions": 32})
    found = work.learner_size(given, regimen, 300)
    built = learner.build(given, vocabulary_size=300, context_length=32, dropout=0.0,
                          boundary_id=0, padding_id=1, seed=1)  # fmt: skip
    assert found.flops == flops.per_token(built, 24)
    assert found.parameters == sum(w.numel() for w in built.parameters())
    # the way of an architecture that is not known
    again = work._built(given, 300, 24, 32)
    assert again == found


def test_training_by_hand(paper, tmp_path):
    costs = estimates(paper, tmp_path)
    run, found = training(costs, learner="gpt2-mini", regimen="packed")
    assert costs.training.tokens(run) == 100_000 * 32 * 512
    # 6 FLOPs for each weight that is multiplied, and attention over half of 512 tokens
    matrices = 4 * (4 * 512 * 512 + 2 * 512 * 2048) + 32_768 * 512
    per_token = 6 * matrices + 12 * 4 * 512 * 256
    start = 5  # seconds
    assert found.seconds == pytest.approx(start + 1_638_400_000 * per_token / (0.62 * 19.5e12))
    assert (found.basis, found.gpu_seconds) == (ASSUMED, found.seconds)
    assert "62% of A100's 19.5" in found.source
    # sentences: ten epochs of 10M words at 1.3 tokens; dyck: 2,000 steps of 8 rows of 2,048 more
    plain, _ = training(costs, regimen="sentence", bias="none", size="10M")
    dyck, _ = training(costs, regimen="sentence", bias="dyck+recency", size="10M")
    assert costs.training.tokens(plain) == pytest.approx(130e6)
    assert costs.training.bias_tokens(plain) == 0
    assert costs.training.bias_tokens(dyck) == 2_000 * 8 * 2_048
    # weights of every epoch are kept: eleven models
    _, kept = training(costs, regimen="sentence", bias="none", size="10M")
    sentences = costs.grid.regimens["sentence"]
    assert (sentences.context_length, sentences.positions) == (32, 64)
    parameters = work.learner_size(paper.learners[0], sentences, 32768).parameters
    assert kept.megabytes == pytest.approx(11 * 4 * parameters / 1e6)


def test_without_a_gpu_training_is_the_cpus(paper, tmp_path):
    _, found = training(estimates(paper, tmp_path, gpu=None), learner="gpt2-mini")
    assert (found.gpu_seconds, found.basis) == (0, ASSUMED)
    # 345 tokens a second of this very learner are what the stated rate comes from
    assert 1_638_400_000 / found.seconds == pytest.approx(345, rel=0.01)


def test_the_nearest_earlier_run_is_taken(paper, tmp_path):
    costs = estimates(paper, tmp_path)
    packed, _ = training(costs, learner="gpt2-mini", regimen="packed")
    sentence, _ = training(costs, learner="gpt2-mini", regimen="sentence")
    small, _ = training(costs, learner="gpt2-small", regimen="packed")

    trained(costs, small, 50_000)  # another learner: scaled by FLOPs
    costs = estimates(paper, tmp_path)
    _, found = training(costs, learner="gpt2-mini", regimen="packed")
    ratio = (6 * (12 * (4 * 768**2 + 2 * 768 * 3072) + 32768 * 768) + 12 * 12 * 768 * 256) / (
        6 * (4 * (4 * 512**2 + 2 * 512 * 2048) + 32768 * 512) + 12 * 4 * 512 * 256)  # fmt: skip
    assert (found.basis, found.seconds) == (
        SCALED, pytest.approx(1_638_400_000 / (50_000 * ratio)))  # fmt: skip

    trained(costs, sentence, 111_000)  # the same learner
    _, found = training(estimates(paper, tmp_path), learner="gpt2-mini", regimen="packed")
    assert (found.basis, found.seconds) == (MEASURED, pytest.approx(1_638_400_000 / 111_000))
    assert "same learner (1)" in found.source

    trained(costs, packed, 222_000)  # and the same regimen
    _, found = training(estimates(paper, tmp_path), learner="gpt2-mini", regimen="packed")
    assert found.seconds == pytest.approx(1_638_400_000 / 222_000)

    # Another GPU was asked for by name, and the CPU is another device: measured says nothing.
    _, found = training(estimates(paper, tmp_path, any_gpu=False), learner="gpt2-mini")
    assert found.basis == ASSUMED
    _, found = training(estimates(paper, tmp_path, gpu=None), learner="gpt2-mini")
    assert found.basis == ASSUMED


@pytest.mark.parametrize(
    "changes",
    [{"device": "cpu"}, {"spec": {"regimen.precision": "bf16"}}, {"tokens_per_second": None},
     {"spec": {"learner.options": {"hidden_size": 32, "heads": 4, "layers": 1}},
      "vocabulary_size": 700}],
)  # fmt: skip
def test_runs_that_say_nothing_are_left_aside(paper, tmp_path, changes):
    """On another device, in another precision, without a speed, or a hundred times smaller."""
    costs = estimates(paper, tmp_path)
    run, _ = training(costs, learner="gpt2-mini", regimen="packed")
    trained(costs, run, 1_000_000, **changes)
    _, found = training(estimates(paper, tmp_path), learner="gpt2-mini", regimen="packed")
    assert found.basis == ASSUMED


def test_what_a_run_takes_beside_its_steps(paper, tmp_path):
    costs = estimates(paper, tmp_path)
    run, _ = training(costs, learner="gpt2-mini", regimen="packed")
    # 1,000 tokens at 100 a second in 14 seconds; 1,000 in a last attempt of 3 seconds say nothing
    trained(costs, run, 100.0, tokens=1_000, wall_seconds=14.0)
    _, found = training(estimates(paper, tmp_path), learner="gpt2-mini", regimen="packed")
    assert found.seconds == pytest.approx(1_638_400_000 / 100 + 4)
    trained(costs, run, 100.0, tokens=1_000, wall_seconds=3.0)
    _, found = training(estimates(paper, tmp_path), learner="gpt2-mini", regimen="packed")
    assert found.seconds == pytest.approx(1_638_400_000 / 100)


# ---- GPUs and their names -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "told", "same"),
    [
        ("H100", "NVIDIA H100 80GB HBM3", True),
        ("h100", "NVIDIA H100 NVL", False),  # another chip
        ("H100", "NVIDIA H200", False),  # of the same peak rate
        ("A100", "NVIDIA A100-SXM4-40GB", True),
        ("L4", "NVIDIA L40S", False),
        ("A100", "", False),  # an older manifest
        ("A100", "NVIDIA A100-SXM4-40GB MIG 1g.5gb", False),
    ],
)
def test_a_gpu_is_known_by_its_name(asked, told, same):
    assert measured.same_gpu(asked, told) is same


def test_what_was_measured_counts_for_its_gpu(paper, tmp_path):
    costs = estimates(paper, tmp_path)
    run, _ = training(costs, learner="gpt2-mini", regimen="packed")
    trained(costs, run, 222_000, gpu="NVIDIA H100 80GB HBM3")
    for gpu, any_gpu, basis in (
        ("H100", False, MEASURED), ("A100", False, ASSUMED), ("A100", True, MEASURED),
    ):  # fmt: skip
        costs = estimates(paper, tmp_path, gpu=gpu, any_gpu=any_gpu)
        assert training(costs, learner="gpt2-mini", regimen="packed")[1].basis == basis
    # parsing on a GPU, as any stage
    path = costs.grid.paths.parses("baby", "stanza", 0).replace(".parquet", ".manifest.json")
    manifest(Path(path), device="cuda", gpu="NVIDIA H100 80GB HBM3", wall_seconds=77.0)
    one = job(0, "parse", base="baby", parser="stanza", shard="0")
    assert estimates(paper, tmp_path, gpu="H100", any_gpu=False).of(one).seconds == 77
    assert estimates(paper, tmp_path, gpu="A100", any_gpu=False).of(one).basis == ASSUMED


# ---- runs that share a GPU ------------------------------------------------------------------


def sharing(config, number):
    regimens = [each.model_copy(update={"together": number}) for each in config.regimens]
    return config.model_copy(update={"regimens": regimens})


def packed(costs, share):
    run, _ = training(costs, learner="gpt2-mini", regimen="packed")
    return run, costs.of(job(0, "train", **axes(run)), share)


def test_without_a_measurement_runs_that_share_take_turns(paper, tmp_path):
    config = sharing(paper, 3)
    run, alone = packed(estimates(config, tmp_path), 1)
    _, shared = packed(estimates(config, tmp_path), 3)
    assert shared.gpu_seconds == alone.gpu_seconds  # of a GPU's time, as much
    assert shared.cpu_seconds == 3 * alone.cpu_seconds  # of its cores', all of it
    assert (shared.basis, "3 on a GPU: 1 x one after the other" in shared.source) == (ASSUMED, True)
    # one that had a GPU alone: measured, and one after the other
    trained(estimates(config, tmp_path), run, 100_000)
    _, shared = packed(estimates(config, tmp_path), 3)
    assert (shared.basis, shared.seconds) == (MEASURED, pytest.approx(1_638_400_000 / 100_000))
    # what the table states of sharing
    table = throughput.load()
    table = table.model_copy(update={"gpu": table.gpu.model_copy(update={"together": 1.6})})
    grid = Grid(config.model_copy(update={"results": str(tmp_path)}))
    _, shared = packed(Costs(grid, table, measured.earlier(grid.paths), gpu="A100"), 3)
    assert shared.seconds == pytest.approx(1_638_400_000 / 160_000)


def test_runs_that_shared_tell_of_runs_that_share(paper, tmp_path):
    config = sharing(paper, 3)
    run, _ = packed(estimates(config, tmp_path), 1)
    trained(estimates(config, tmp_path), run, 50_000, command=["poshgrid", "--together", "3", "x"])
    _, shared = packed(estimates(config, tmp_path), 3)
    assert (shared.basis, shared.gpu_seconds) == (
        MEASURED, pytest.approx(1_638_400_000 / 50_000 / 3))  # fmt: skip
    # a run that shared says nothing of one that is alone, or shares with others
    assert packed(estimates(config, tmp_path), 1)[1].basis == ASSUMED
    assert packed(estimates(sharing(paper, 2), tmp_path), 2)[1].basis == ASSUMED


def test_who_shares_and_how_long_it_takes(paper, tmp_path):
    """Four seeds, three at a time, are two and two; a run that is done is in no group."""
    grid = Grid(sharing(paper, 3).model_copy(update={"results": str(tmp_path)}))
    run = next(r for runs in grid.targets.values() for r in runs if r.regimen == "packed")
    seeds = sorted({r for runs in grid.targets.values() for r in runs
                    if r.name.rpartition("/")[0] == run.name.rpartition("/")[0]})  # fmt: skip
    assert len(seeds) == 3
    jobs = [job(0, "tokens"), *(job(n, "train", [0], **axes(r)) for n, r in enumerate(seeds, 1)),
            job(4, "score", [1]), job(5, "together", [1, 2, 3])]  # fmt: skip
    assert schedule.groups(grid, jobs) == [(1, 2, 3)]
    assert schedule.groups(grid, jobs[:3]) == [(1, 2)]
    assert schedule.groups(grid, jobs[:2]) == []
    assert schedule.groups(Grid(paper), jobs) == []

    seconds = {0: 1.0, 1: 10.0, 2: 10.0, 3: 10.0, 4: 2.0, 5: 1.0}
    found, took = schedule.joined(jobs, seconds, [(1, 2, 3)])
    assert [(each.number, each.needs) for each in found] == [(0, ()), (3, (0,)), (4, (3,)),
                                                            (5, (3,))]  # fmt: skip
    assert took == {0: 1.0, 3: 30.0, 4: 2.0, 5: 1.0}
    # three GPUs are of no use to three runs that share one
    assert wall(found, took, {3, 4}, gpus=3, cores=1) == 1 + 30 + 2
    assert wall(jobs, seconds, {1, 2, 3, 4}, gpus=3, cores=1) == 1 + 10 + 2
    assert schedule.joined(jobs, {4: 2.0}, []) == (jobs, {4: 2.0})


# ---- the other stages -----------------------------------------------------------------------


def test_pairs_are_counted_where_they_are_made(paper, tmp_path):
    costs = estimates(paper, tmp_path)
    stated = costs._pairs
    suite = next(s for s in paper.suites if s.reader == "templates")
    manifest(Path(costs.grid.paths.items(suite.name)).with_name("manifest.json"), items=123)
    expected = suite.options.get("pairs", 500) * len(suite.options.get("phenomena") or range(9))
    assert estimates(paper, tmp_path)._pairs == stated - expected + 123


def test_an_untrained_model_reads_dev_and_test(paper, tmp_path):
    costs = estimates(paper, tmp_path, gpu=None)
    run, _ = training(costs, learner="gpt2-mini", regimen="packed")
    found = costs.of(job(0, "untrained", **(axes(run) | {"regimen": "untrained"})))
    size = costs.training.size(costs.grid.learners["gpt2-mini"], costs.grid.regimens["packed"])
    assert found.seconds == pytest.approx(5 + 200_000 * 1.3 * size.flops / 3 / 63e9, rel=0.01)


def test_threads_take_cores_as_long(paper, tmp_path):
    """What the clock says is the cores' each; what the table says of a core is all of theirs."""
    run, _ = training(estimates(paper, tmp_path), learner="gpt2-mini", regimen="packed")
    wanted = {
        "train": axes(run), "score": axes(run), "parse": {"base": "baby", "parser": "stanza"},
        "untrained": axes(run) | {"regimen": "untrained"},
    }  # fmt: skip

    def four(rule, gpu):
        one = job(0, rule, **wanted[rule])
        costs = estimates(paper, tmp_path, gpu=gpu)
        return costs.of(one), costs.of(replace(one, threads=4))

    for rule in ("train", "score", "parse"):
        one, many = four(rule, "A100")
        assert one.seconds == many.seconds == many.gpu_seconds == one.cpu_seconds
        assert many.cpu_seconds == pytest.approx(4 * many.seconds)
    one, many = four("untrained", None)
    assert many.cpu_seconds == pytest.approx(one.cpu_seconds)  # five seconds, and the same FLOPs
    assert many.seconds == pytest.approx(5 + (one.seconds - 5) / 4)
    one, many = four("train", None)
    assert many.cpu_seconds == pytest.approx(4 * many.seconds)
    assert many.seconds == pytest.approx(5 + (one.seconds - 5) / 4)
    one, many = four("parse", None)
    assert many == one


def test_other_stages_are_fitted_within_reach(paper, tmp_path):
    costs = estimates(paper, tmp_path)
    for size, seconds in (("10M", 12.0), ("30M", 32.0), ("50M", 52.0)):
        manifest(tmp_path / f"conditions/baby/{size}/manifest.json", wall_seconds=seconds,
                 cpu_seconds=2 * seconds, device="cpu")  # fmt: skip
    (tmp_path / "conditions/broken/10M").mkdir(parents=True)
    (tmp_path / "conditions/broken/10M/manifest.json").write_text("{")
    costs = estimates(paper, tmp_path)
    found = costs.of(job(0, "condition", condition="wiki", size="100M"))
    assert (found.basis, found.seconds, found.cpu_seconds) == (
        MEASURED, pytest.approx(102), pytest.approx(204))  # fmt: skip
    stated = costs.of(job(0, "condition", condition="wiki", size="900K"))  # below a tenth of 10M
    assert (stated.basis, stated.seconds) == (ASSUMED, pytest.approx(0.2 + 1 * 0.9))
    # one amount of work: more takes longer, less no shorter
    manifest(tmp_path / "tokens/baby/10M/manifest.json", wall_seconds=8.0, cpu_seconds=8.0)
    costs = estimates(paper, tmp_path)
    for size, seconds in (("5M", 8.0), ("20M", 16.0)):
        cell = {"condition": "wiki", "size": size}
        assert costs.of(job(0, "tokens", **cell)).seconds == pytest.approx(seconds)


def test_every_manifest_is_its_rules(root, tmp_path):
    """A job of each rule, at the path that the grid gives it."""
    grid = Grid(configfile.load(root / "config/config.yaml").model_copy(
        update={"results": str(tmp_path)}))  # fmt: skip
    paths = grid.paths
    run = "a/10M/m/packed/none/seed1"
    folders = {
        f"{paths.model(run)}/manifest.json": "train",
        f"{paths.model(run.replace('packed', 'untrained'))}/manifest.json": "untrained",
        f"{paths.model('a/10M/ngram/counted/none/seed0')}/manifest.json": "count",
        f"{paths.score_folder(run)}/manifest.json": "score",
        f"{paths.all_perplexities()}/{run}.manifest.json": "perplexity",
        paths.parses("b", "p", 3).replace(".parquet", ".manifest.json"): "parse",
        paths.evidence("b", "p").replace(".parquet", ".manifest.json"): "evidence",
        paths.sweep("a", "10M").replace(".json", ".manifest.json"): "sweep",
        f"{paths.tokenizer('a', '10M')}/manifest.json": "tokenizer",
        f"{paths.fit('exp1', 'paper')}/manifest.json": "fit",
        f"{paths.statistics('exp1')}/manifest.json": "accuracy",
        f"{paths.measures('exp1', 's')}/manifest.json": "measures",
        f"{paths.ngrams('b', '10M')}/manifest.json": "ngrams",
        f"{paths.checkpoints()}/x/manifest.json": None,
    }  # fmt: skip
    for path in folders:
        manifest(Path(path), command=[path])
    found = {each.content["command"][0]: each.rule for each in measured.earlier(paths)}
    assert found == {path: rule for path, rule in folders.items() if rule}


def test_disk_is_that_of_the_jobs_own_files(paper, tmp_path):
    folder = tmp_path / "tokenizers/a/10M"
    manifest(folder / "manifest.json", code="c")
    manifest(folder / "sweep.manifest.json", code="c")
    (folder / "tokenizer.json").write_bytes(b"x" * 1_000_000)
    (folder / "sweep.json").write_bytes(b"x" * 3_000_000)
    model = tmp_path / "models/a/10M/m/packed/none/seed1"
    manifest(model / "manifest.json", code="c")
    (model / "checkpoints/100").mkdir(parents=True)
    (model / "checkpoints/100/model.safetensors").write_bytes(b"x" * 2_000_000)
    paths = Grid(paper.model_copy(update={"results": str(tmp_path)})).paths
    found = {each.rule: each.megabytes for each in measured.earlier(paths)}
    assert found == pytest.approx({"tokenizer": 1.0, "sweep": 3.0, "train": 2.0}, abs=1e-3)


def test_the_table_agrees_with_the_cluster_profile(root):
    profile = yaml.safe_load((root / "profiles/slurm/config.yaml").read_text(encoding="utf-8"))
    asking = {
        rule for rule, given in profile["set-resources"].items() if {"gpu", "gres"} & set(given)
    }
    assert set(throughput.load().gpu_rules) == asking


def test_a_wrong_table_is_told_by_key(root, tmp_path):
    table = yaml.safe_load((root / "resources/throughput.yaml").read_text(encoding="utf-8"))
    table["stages"]["read"]["seconds"] = -1
    table["gpus"] = 3
    (tmp_path / "t.yaml").write_text(yaml.safe_dump(table))
    with pytest.raises(PoshgridError) as error:
        throughput.load(tmp_path / "t.yaml")
    assert len(str(error.value).splitlines()) == 2
    assert "stages.read.seconds" in str(error.value)


def wall(jobs, seconds, gpu=(), **machines):
    on_gpu = {number: number in gpu for number in seconds}
    return schedule.makespan(jobs, seconds, on_gpu, **machines)


def test_wall_time_by_hand():
    def one(number, needs=(), threads=1):
        return Job(number, "r", {}, ("missing",), (), threads, tuple(needs))

    # 0 before three trainings of 10, 10 and 30, then 4
    jobs = [one(0), one(1, [0]), one(2, [0]), one(3, [0]), one(4, [1, 2, 3])]
    seconds = {0: 5.0, 1: 10.0, 2: 10.0, 3: 30.0, 4: 1.0}
    assert wall(jobs, seconds, {1, 2, 3}, gpus=1, cores=1) == 5 + 50 + 1
    assert wall(jobs, seconds, {1, 2, 3}, gpus=2, cores=1) == 5 + 30 + 1
    assert wall(jobs, seconds, {1, 2, 3}, gpus=9, cores=1) == 5 + 30 + 1
    # what is up to date takes no time, and no place
    assert wall(jobs, {3: 30.0, 4: 1.0}, {3}, gpus=1, cores=1) == 31
    # two cores: a job of two threads waits for both; one of four takes what there is
    jobs = [one(0), one(1, threads=2), one(2, threads=4)]
    assert wall(jobs, {0: 1.0, 1: 2.0, 2: 3.0}, gpus=0, cores=2) == 6
    assert wall([], {}, gpus=1, cores=1) == 0
