"""The tiny grid on a real SLURM, and what may happen to a job there.

Every drill ends with the bytes of a run without a cluster that nothing disturbed. They run side by
side.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from tests.slurm.cluster import Cluster
from tests.slurm.site import MODEL, RUN, STEPS, Site

pytestmark = pytest.mark.slurm


@pytest.fixture(scope="module")
def quiet(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The grid run to its report on this machine, without a cluster, undisturbed."""
    site = Site(tmp_path_factory.mktemp("quiet"), cluster)
    site.finish(site.start("--cores=2", "exp1", profile="profiles/default"))
    return site


def whole_grid(site: Site) -> None:
    """Run the grid to its report, undisturbed, with the profile as it is."""
    site.finish(site.start("exp1", profile="slurm"))
    page = (site.folder / "results/report/exp1/index.html").read_text(encoding="utf-8")
    assert "Models trained" in page
    assert site.submitted("train") == 1
    assert "gpu=1" in site.said


def time_limit(site: Site) -> None:
    """Let a job run out of its time twice; an attempt that failed would end the run."""
    process = site.start(MODEL, retries=0)
    for _ in range(2):
        site.run_out_of_time()
    site.finish(process)
    assert site.submitted("train") == 1  # the same job, back in the queue
    assert site.restarts == 2
    assert "resumed at step" in site.model_log
    assert 0 < site.trained < STEPS


def memory_limit(site: Site) -> None:
    """Let a job want more memory than it asked for."""
    site.finish(site.start(MODEL))
    assert site.submitted("train") >= 2


def cancelled(site: Site) -> None:
    """Cancel a training job."""
    process = site.start(MODEL)
    site.cluster.run("scancel", site.training()["id"])
    site.finish(process)
    assert site.submitted("train") == 2
    assert "resumed at step" in site.model_log


def preempted(site: Site) -> None:
    """Take its GPU from a training job."""
    process = site.start(MODEL)
    node = site.node(site.training())
    with site.held() as held:
        site.cluster.run(
            "sbatch", "-p", "urgent", "-w", node, "--gres=gpu:1", "-t", "1", "-o", "/dev/null",
            "--wrap", "sleep 5",
        )  # fmt: skip
        site.wait("it is taken", lambda: not any(process.is_running() for process in held))
    site.finish(process)
    assert site.submitted("train") == 1  # the same job, back in the queue
    assert "resumed at step" in site.model_log


def workflow_killed(site: Site) -> None:
    """Kill Snakemake and start it again while its job runs on.

    A duplicate is submitted, waits for the job that nobody waits for, and trains nothing.
    """
    process = site.start(MODEL)
    site.training()
    with site.held():
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        site.unlock()
        process = site.start(MODEL)
        site.wait("a duplicate is submitted", lambda: site.submitted("train") == 2)
    site.finish(process)
    assert site.submitted("train") == 2
    assert "reused from" in site.model_log
    assert site.trained == 0


def node_down(site: Site) -> None:
    """Take a node down while it trains, and bring it back."""
    process = site.start(MODEL)
    node = site.node(site.training())
    site.cluster.run("scontrol", "update", f"nodename={node}", "state=down", "reason=drill")
    time.sleep(2)
    site.wait("the node is back", lambda: site.cluster.revive(node))
    site.finish(process)
    assert site.submitted("train") == 1  # the same job, back in the queue
    assert "resumed at step" in site.model_log


def interrupted(site: Site) -> None:
    """Press Ctrl-C three times, and start again."""
    process = site.start(MODEL)
    job = site.training()["id"]
    for _ in range(3):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(1)
    assert process.wait(120) != 0
    assert job not in {queued["id"] for queued in site.cluster.queue()}
    assert "no job of this run left in the queue" in site.said
    site.finish(site.start(MODEL))  # no lock is left
    assert "resumed at step" in site.model_log


DRILLS: dict[str, tuple[Callable[[Site], None], dict[str, Any]]] = {
    "grid": (whole_grid, {}),
    "time": (time_limit, {}),
    "memory": (memory_limit, {"mem_mb": "200 * attempt ** 3"}),
    "cancelled": (cancelled, {}),
    "preempted": (preempted, {"slurm_partition": "scavenge"}),
    "killed": (workflow_killed, {}),
    "down": (node_down, {"slurm_partition": "apart"}),  # with a node of its own
    "interrupted": (interrupted, {}),
}
"""Name -> the drill, and resources of training that are other than the profile's."""
SLOW = ("memory", "preempted")


@pytest.fixture(scope="module")
def drills(
    quiet: Site,
    cluster: Cluster,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Iterator[dict[str, tuple[Site, Future[None]]]]:
    """The drills that are asked for, under way at the same time, each at a site of its own."""
    asked = [test.callspec.params["name"] for test in request.session.items
             if "drills" in test.fixturenames]  # fmt: skip
    sites = {}
    for name in asked:
        sites[name] = Site(tmp_path_factory.mktemp(name), cluster, **DRILLS[name][1])
        if name != "grid":
            sites[name].take(quiet)
    with ThreadPoolExecutor(len(DRILLS)) as pool:
        yield {name: (site, pool.submit(DRILLS[name][0], site)) for name, site in sites.items()}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in DRILLS],
)
def test_a_drill_ends_with_the_bytes_of_an_undisturbed_run(
    quiet: Site, drills: dict[str, tuple[Site, Future[None]]], name: str
) -> None:
    site, drill = drills[name]
    drill.result()
    expected, digests = quiet.digests(), site.digests()
    shared = [file for file in digests if file in expected]
    assert f"models/{RUN}/model.safetensors" in shared
    assert [file for file in shared if digests[file] != expected[file]] == []
    assert list((site.folder / "results" / "checkpoints").rglob("step-*")) == []
