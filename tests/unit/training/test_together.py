"""Runs that share a GPU: who shares, and how much memory."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from poshgrid.config.runs import Run
from poshgrid.errors import PoshgridError
from poshgrid.training import together

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


def test_a_process_is_kept_to_its_share(monkeypatch):
    torch = pytest.importorskip("torch")
    told, device = [], torch.device("cuda")

    class Properties:
        total_memory = 80 * GIB

    def limit(share, of):  # as torch does: a device without a number is refused
        told.append((share, torch.cuda._get_device_index(of)))

    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: Properties)
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", limit)
    together.limit_memory(device, 1)
    together.limit_memory(torch.device("cpu"), 3)
    assert told == []
    together.limit_memory(device, 3)
    assert told == [(together.memory_share(80 * GIB, 3), 0)]


# ---- the last job ---------------------------------------------------------------------------


def test_the_last_job_names_the_models_and_refuses_one_that_is_missing(tmp_path):
    done, missing = tmp_path / "seed42", tmp_path / "seed53"
    done.mkdir()
    (done / "manifest.json").write_text("{}")
    assert together.trained([done]) == {"models": [str(done)]}
    with pytest.raises(PoshgridError, match=r"seed53: no manifest.json: train this run first"):
        together.trained([done, missing])


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
