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
Same = Callable[[Site], None]


@pytest.fixture(scope="module")
def quiet(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The grid run to its report on this machine, without a cluster, undisturbed."""
    site = Site(tmp_path_factory.mktemp("quiet"), cluster)
    site.finish(site.start("--cores=2", "exp1", profile="profiles/default"))
    return site


@pytest.fixture(scope="module")
def drills(
    quiet: Site,
    cluster: Cluster,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Iterator[dict[str, Future[Site]]]:
    """The drills that share the cluster and are asked for, under way at the same time."""
    asked = {mark.args[0] for test in request.session.items for mark in test.iter_markers("drill")}

    plans = {
        "grid": (whole_grid, {}),
        "time": (time_limit, {}),
        "memory": (memory_limit, {"mem_mb": "200 * attempt ** 3"}),
        "cancelled": (cancelled, {}),
        "preempted": (preempted, {"slurm_partition": "scavenge"}),
        "killed": (workflow_killed, {}),
        "down": (node_down, {"slurm_partition": "apart"}),
        "interrupted": (interrupted, {}),
    }  # fmt: skip

    def site(name: str, **given: Any) -> Site:
        made = Site(tmp_path_factory.mktemp(name), cluster, **given)
        if name != "grid":
            made.take(quiet)
        return made

    made = {name: site(name, **given) for name, (_, given) in plans.items() if name in asked}
    with ThreadPoolExecutor(len(plans)) as pool:
        yield {name: pool.submit(plans[name][0], each) for name, each in made.items()}


@pytest.fixture
def site(drills: dict[str, Future[Site]], request: pytest.FixtureRequest) -> Site:
    """What the drill that a test is marked with has left."""
    mark = request.node.get_closest_marker("drill")
    return drills[mark.args[0]].result()


def whole_grid(site: Site) -> Site:
    """Run the grid to its report, undisturbed, with the profile as it is."""
    site.finish(site.start("exp1", profile="slurm"))
    return site


def time_limit(site: Site) -> Site:
    """Let a job run out of its time twice; an attempt that failed would end the run."""
    process = site.start(MODEL, retries=0)
    for _ in range(2):
        site.run_out_of_time()
    site.finish(process)
    return site


def memory_limit(site: Site) -> Site:
    """Let a job want more memory than it asked for."""
    site.finish(site.start(MODEL))
    return site


def cancelled(site: Site) -> Site:
    """Cancel a training job."""
    process = site.start(MODEL)
    site.cluster.run("scancel", site.training()["id"])
    site.finish(process)
    return site


def preempted(site: Site) -> Site:
    """Take its GPU from a training job."""
    process = site.start(MODEL)
    node = site.node(site.training())
    with site.held() as held:
        site.cluster.run(
            "sbatch", "-p", "urgent", "-w", node, "--gres=gpu:1", "-t", "1", "-o", "/dev/null",
            "--wrap", "sleep 5",
        )  # fmt: skip
        site.wait("it is taken", lambda: not any(each.is_running() for each in held))
    site.finish(process)
    return site


def workflow_killed(site: Site) -> Site:
    """Kill Snakemake and start it again while its job runs on: a duplicate is submitted."""
    process = site.start(MODEL)
    site.training()
    with site.held():
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        site.unlock()
        process = site.start(MODEL)
        site.wait("a duplicate is submitted", lambda: site.submitted("train") == 2)
    site.finish(process)
    return site


def node_down(site: Site) -> Site:
    """Take a node down while it trains, and bring it back."""
    process = site.start(MODEL)
    node = site.node(site.training())
    site.cluster.run("scontrol", "update", f"nodename={node}", "state=down", "reason=drill")
    time.sleep(2)
    site.wait("the node is back", lambda: site.cluster.revive(node))
    site.finish(process)
    return site


def interrupted(site: Site) -> Site:
    """Press Ctrl-C three times, and start again."""
    process = site.start(MODEL)
    job = site.training()["id"]
    for _ in range(3):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(1)
    assert process.wait(120) != 0
    assert job not in {each["id"] for each in site.cluster.queue()}
    assert "no job of this run left in the queue" in site.said
    site.finish(site.start(MODEL))  # no lock is left
    return site


@pytest.fixture
def same(quiet: Site) -> Same:
    """Compare a site's results with those of the undisturbed run."""

    def check(site: Site) -> None:
        expected, found = quiet.digests(), site.digests()
        shared = [name for name in found if name in expected]
        assert f"models/{RUN}/model.safetensors" in shared
        assert [name for name in shared if found[name] != expected[name]] == []
        assert list((site.folder / "results" / "checkpoints").rglob("step-*")) == []

    return check


@pytest.mark.drill("grid")
def test_grid_runs_to_its_report(site: Site, same: Same) -> None:
    """With the bytes of a run without a cluster."""
    page = (site.folder / "results/report/exp1/index.html").read_text(encoding="utf-8")
    assert "Models trained" in page
    assert site.submitted("train") == 1
    assert "gpu=1" in site.said
    same(site)


@pytest.mark.drill("time")
def test_out_of_time(site: Site, same: Same) -> None:
    assert site.submitted("train") == 1  # the same job, back in the queue
    assert site.restarts == 2
    assert "resumed at step" in site.model_log
    assert 0 < site.trained < STEPS
    same(site)


@pytest.mark.slow
@pytest.mark.drill("memory")
def test_out_of_memory(site: Site, same: Same) -> None:
    assert site.submitted("train") >= 2
    same(site)


@pytest.mark.drill("cancelled")
def test_cancelled(site: Site, same: Same) -> None:
    assert site.submitted("train") == 2
    assert "resumed at step" in site.model_log
    same(site)


@pytest.mark.slow
@pytest.mark.drill("preempted")
def test_preempted(site: Site, same: Same) -> None:
    assert site.submitted("train") == 1  # the same job, back in the queue
    assert "resumed at step" in site.model_log
    same(site)


@pytest.mark.drill("interrupted")
def test_interrupted(site: Site, same: Same) -> None:
    assert "resumed at step" in site.model_log
    same(site)


@pytest.mark.drill("killed")
def test_workflow_killed(site: Site, same: Same) -> None:
    """A duplicate is submitted, waits for the job that nobody waits for, and trains nothing."""
    assert site.submitted("train") == 2
    assert "taken over" in site.model_log
    assert site.trained == 0
    same(site)


@pytest.mark.drill("down")
def test_node_down(site: Site, same: Same) -> None:
    assert site.submitted("train") == 1  # the same job, back in the queue
    assert "resumed at step" in site.model_log
    same(site)
