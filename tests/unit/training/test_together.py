"""Runs that share a GPU: who shares, how much memory, and what a finished run leaves."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from poshgrid.errors import PoshgridError
from poshgrid.grid.runs import Run
from poshgrid.training import together
from poshgrid.training.checkpoint import Checkpoints

GIB = 2**30


def runs(*seeds, size="10M", regimen="packed", bias="none"):
    return [Run("baby", size, "gpt2-mini", regimen, bias, seed) for seed in seeds]


def seeds(found):
    return {cell: [run.seed for run in members] for cell, members in found.items()}


# ---- who shares ----------------------------------------------------------------------------


def test_seeds_of_a_cell_share():
    grid = runs(42, 53, 64) + runs(42, 53, size="30M") + runs(42, 53, bias="dyck")
    assert seeds(together.cells(grid, {"packed": 3})) == {
        "baby/10M/gpt2-mini/packed/none/0": [42, 53, 64],
        "baby/30M/gpt2-mini/packed/none/0": [42, 53],
        "baby/10M/gpt2-mini/packed/dyck/0": [42, 53],
    }


def test_a_large_cell_is_cut_into_parts_of_like_size():
    assert seeds(together.cells(runs(1, 2, 3, 4), {"packed": 3})) == {
        "baby/10M/gpt2-mini/packed/none/0": [1, 2],
        "baby/10M/gpt2-mini/packed/none/1": [3, 4],
    }


@pytest.mark.parametrize(("number", "most"), [*itertools.product(range(1, 12), range(2, 6))])
def test_every_run_has_one_place(number, most):
    members = runs(*range(number))
    found = list(together.cells(members, {"packed": most}).values())
    assert sorted(itertools.chain(*found)) == members
    sizes = {len(part) for part in found}
    assert max(sizes) <= most
    assert max(sizes) - min(sizes) <= 1
    assert len(found) == -(-number // most)


def test_order_and_repetition_change_nothing():
    members = runs(64, 42, 53)  # several targets may have the same run
    expected = together.cells(members, {"packed": 2})
    assert together.cells(reversed(members * 2), {"packed": 2}) == expected


def test_one_shares_with_nobody():
    members = runs(42, 53) + runs(42, 53, regimen="untrained")
    assert together.cells(members, {"packed": 1}) == {}


# ---- memory --------------------------------------------------------------------------------


def test_shares_and_contexts_fill_the_gpu():
    for total, number in itertools.product((12 * GIB, 80 * GIB), (2, 3, 5)):
        share = together.memory_share(total, number)
        assert number * (share * total + together.CONTEXT) == pytest.approx(total)


def test_a_gpu_that_is_too_small():
    with pytest.raises(PoshgridError, match=r"together: 3: a GPU of 2\.0 GiB has no room"):
        together.memory_share(2 * GIB, 3)


class Device:
    type = "cuda"


def test_a_process_is_kept_to_its_share(monkeypatch):
    torch = pytest.importorskip("torch")
    told, device = [], Device()

    class Properties:
        total_memory = 80 * GIB

    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: Properties)
    monkeypatch.setattr(
        torch.cuda, "set_per_process_memory_fraction", lambda *given: told.append(given)
    )
    together.limit_memory(device, 1)
    together.limit_memory(torch.device("cpu"), 3)
    assert told == []
    together.limit_memory(device, 3)
    assert told == [(together.memory_share(80 * GIB, 3), device)]


# ---- what a finished run leaves ------------------------------------------------------------


def tensors(value):
    import torch

    weights = {"w": torch.full((3,), float(value))}
    return {"weights": weights, "best": weights, "moments": {"w:step": torch.tensor(2.0)}}


def model(folder):
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text("{}")
    return folder


@pytest.fixture
def shared(tmp_path):
    """Two runs that share a GPU, after a step each: their stores and models."""
    stores = [Checkpoints(tmp_path / "checkpoints", name) for name in ("a" * 16, "b" * 16)]
    for step, store in enumerate(stores, 1):
        store.save(step, tensors(step), {"step": step})
    return stores, [tmp_path / "models" / name for name in ("seed42", "seed53")]


def test_alone_a_finished_run_leaves_nothing(shared):
    (store, other), (output, _) = shared
    with store.locked():
        together.finish(store, model(output), 1)
    assert not store.folder.exists()
    assert other.newest() is not None


def test_a_finished_run_goes_on_where_it_was_if_its_neighbour_fails(shared):
    (store, _), (output, _) = shared
    with store.locked():
        together.finish(store, model(output), 2)
    again = Checkpoints(store.folder.parent, store.fingerprint)
    with again.locked():
        assert again.newest()[1] == {"step": 1}
        together.finish(again, output, 2)  # the second attempt, after the first one's note
    assert json.loads((store.folder / together.FINISHED).read_text())["model"] == str(output)


def test_checkpoints_go_when_all_are_finished(shared):
    stores, outputs = shared
    for store, output in zip(stores, outputs, strict=True):
        together.finish(store, model(output), 2)
    found = together.clear(stores[0].folder.parent, outputs)
    assert found == {"models": [str(output) for output in outputs]}
    assert list(stores[0].folder.parent.iterdir()) == []


def test_what_is_not_finished_stays(shared):
    (done, going), (output, _) = shared
    together.finish(done, model(output), 2)
    together.clear(done.folder.parent, [output])
    assert not done.folder.exists()
    assert going.newest()[1] == {"step": 2}


def test_what_others_have_left_stays(shared):
    (mine, theirs), (output, other) = shared
    together.finish(mine, model(output), 2)
    together.finish(theirs, model(other), 2)
    together.clear(mine.folder.parent, [output])
    assert not mine.folder.exists()
    assert theirs.newest()[1] == {"step": 2}


@pytest.mark.parametrize("damaged", ["", "{", "[]", "{}", '{"model": 3}'])
def test_a_damaged_note_is_nobodys(shared, damaged):
    (store, _), (output, _) = shared
    (store.folder / together.FINISHED).write_text(damaged)
    together.clear(store.folder.parent, [model(output)])
    assert store.newest() is not None


def test_a_model_that_is_missing(shared):
    (store, _), (output, missing) = shared
    together.finish(store, model(output), 2)
    with pytest.raises(PoshgridError, match=r"seed53: no manifest.json: train this run first"):
        together.clear(store.folder.parent, [output, missing])
    assert store.newest() is not None


def test_models_may_be_named_from_where_the_workflow_runs(shared, monkeypatch):
    (store, _), (output, _) = shared
    together.finish(store, model(output), 2)
    monkeypatch.chdir(output.parent)
    together.clear(store.folder.parent, [output.relative_to(output.parent)])
    assert not store.folder.exists()


# ---- trained in two attempts ---------------------------------------------------------------


def test_trained_again_from_what_was_left(tmp_path, monkeypatch, caplog):
    """The bytes of a run that was alone, from the last checkpoint and not from the start."""
    from poshgrid.training.train import train
    from tests.unit.training.training_support import corpus, regimen, train_spec

    tokens, tokenizer = corpus(tmp_path, train=60, dev=10, test=10)
    checkpoints = tmp_path / "checkpoints"
    spec = train_spec(regimen(steps=8, warmup_steps=1, evaluate_every=4, checkpoint_every=3))
    whole = tmp_path / "whole"
    kept = []
    monkeypatch.setattr(Checkpoints, "remove", lambda store: kept.append(store.folder))
    train(spec, tokens, tokenizer, checkpoints, whole)
    monkeypatch.undo()
    store = Checkpoints(checkpoints, kept[0].name)
    together.finish(store, whole, 2)
    assert store.newest()[1]["step"] == 6
    with caplog.at_level("INFO", "poshgrid"):
        train(spec, tokens, tokenizer, checkpoints, tmp_path / "again")
    assert "resumed at step 6 of 8" in caplog.text
    first, second = (p / "model.safetensors" for p in (whole, tmp_path / "again"))
    assert first.read_bytes() == second.read_bytes()


# ---- what Snakemake makes of it ------------------------------------------------------------

WORKFLOW = """
rule all:
    input: "together"
rule train:
    input: "tokens{seed}"
    output: "model{seed}"
    group: lambda wc: "together"
    resources: gres="gpu:1"
    shell: "cp {input} {output}"
rule together:
    input: JOINED
    output: "together"
    group: "together"
    shell: "touch {output}"
"""


def groups(folder, joined):
    """Return the sorted outputs of each job of the cluster."""
    for seed in (42, 53):
        (folder / f"tokens{seed}").touch()
    (folder / "Snakefile").write_text(WORKFLOW.replace("JOINED", joined))
    command = ["snakemake", "-n", "--executor", "slurm", "--jobs", "9", "model42", "model53", "all"]
    said = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, check=True, capture_output=True, text=True
    )
    jobs = re.split(r"Group job together", said.stdout + said.stderr)[1:]
    return sorted(sorted(re.findall(r"output: (\w+)", job.split("rule all:")[0])) for job in jobs)


def test_the_last_job_makes_one_job_of_the_cluster(tmp_path):
    """Runs are joined by what reads them; without it each is a job of its own."""
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    everything = groups(tmp_path / "with", '"model42", "model53"')
    assert everything == [["model42", "model53", "together"]]
    assert groups(tmp_path / "without", '"model42"') == [["model42", "together"], ["model53"]]


def test_a_group_asks_for_one_gpu_only_by_name():
    """Snakemake adds up numbers of jobs that run side by side, and leaves texts alone."""
    from snakemake.resources import GroupResources, Resources

    asked = {"gpu": 1, "gres": "gpu:1", "_cores": 1, "mem_mb": 100, "runtime": 60}
    jobs = [SimpleNamespace(pipe_group=None, resources=asked) for _ in range(3)]
    found = GroupResources.basic_layered([jobs], Resources(), run_local=False)
    assert (found["gres"], found["gpu"]) == ("gpu:1", 3)
    assert (found["_cores"], found["mem_mb"], found["runtime"]) == (3, 300, 60)


def test_the_last_job_adds_no_time():
    """Times of jobs that follow each other are added: a partition's limit would be exceeded."""
    from snakemake.resources import GroupResources, Resources

    train = SimpleNamespace(pipe_group=None, resources={"runtime": 1440, "gres": "gpu:1"})
    last = SimpleNamespace(pipe_group=None, resources={"runtime": 0})
    found = GroupResources.basic_layered([[train], [last]], Resources(), run_local=False)
    assert (found["runtime"], found["gres"]) == (1440, "gpu:1")
