"""The tiny grid on a real SLURM, and what may happen to a job there.

Every drill ends with the bytes of a run that nothing disturbed. The drills that concern one job
run side by side; those that concern the cluster run alone.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.slurm.cluster import Cluster
from tests.slurm.site import ONLY, RUN, STEPS, TABLE, Site

pytestmark = pytest.mark.slurm
SHARED = "results/together/baby-f/20K/gpt2-tiny/packed/none/0.json"
SCORES = f"results/scores/{RUN}/manifest.json"
Same = Callable[[Site], None]


@pytest.fixture(scope="module")
def quiet(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The grid run to its report, undisturbed, with the profile as it is."""
    site = Site(tmp_path_factory.mktemp("quiet"), cluster)
    site.finish(site.start("exp1", profile="slurm"))
    return site


@pytest.fixture(scope="module")
def drills(
    quiet: Site, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future[Site]]]:
    """The drills that concern one job, under way at the same time."""

    def site(name: str, **train: object) -> Site:
        made = Site(tmp_path_factory.mktemp(name), cluster, **train)
        made.take(quiet)
        return made

    plans = {
        "time": (time_limit, site("time")),
        "memory": (memory_limit, site("memory", mem_mb="200 * attempt ** 3")),
        "cancelled": (cancelled, site("cancelled")),
        "preempted": (preempted, site("preempted", slurm_partition="scavenge")),
        "killed": (workflow_killed, site("killed")),
        "ended": (ended_meanwhile, site("ended")),
        "refused": (refused, site("refused")),
    }
    with ThreadPoolExecutor(len(plans)) as pool:
        yield {name: pool.submit(drill, site) for name, (drill, site) in plans.items()}


def time_limit(site: Site) -> Site:
    """Tell a job that its time is over, as SLURM does; an attempt that failed would end the run."""
    process = site.start(TABLE, retries=0)
    site.cluster.run("scancel", "--signal=USR1", site.training()["id"])
    site.finish(process)
    return site


def memory_limit(site: Site) -> Site:
    """Let a job want more memory than it asked for."""
    site.finish(site.start(TABLE))
    return site


def cancelled(site: Site) -> Site:
    """Cancel a training job."""
    process = site.start(TABLE)
    site.cluster.run("scancel", site.training()["id"])
    site.finish(process)
    return site


def preempted(site: Site) -> Site:
    """Take a node from a training job."""
    process = site.start(TABLE)
    job = site.training()["id"]
    node = site.cluster.run("squeue", "-h", "-j", job, "-o", "%N").strip()
    site.cluster.run(
        "sbatch", "-p", "urgent", "-w", node, "--exclusive", "-t", "1", "-o", "/dev/null",
        "--wrap", "sleep 5",
    )  # fmt: skip
    site.finish(process)
    return site


def workflow_killed(site: Site) -> Site:
    """Kill Snakemake and start it again while its job runs on: a duplicate is submitted."""
    process = site.start(TABLE)
    site.training()
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    site.unlock()
    site.finish(site.start(TABLE))
    return site


def ended_meanwhile(site: Site) -> Site:
    """Kill Snakemake, and start it again when its job has ended well."""
    process = site.start(TABLE)
    job = site.training()["id"]
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    site.wait("the job ends", lambda: job not in {each["id"] for each in site.cluster.queue()}, 600)
    assert (site.folder / f"results/models/{RUN}/manifest.json").is_file()
    site.unlock()
    site.finish(site.start(TABLE))
    return site


def refused(site: Site) -> Site:
    """Let sbatch refuse a job three times, as a full queue does."""
    site.refuse(3, "sbatch: error: QOSMaxSubmitJobPerUserLimit")
    site.finish(site.start(TABLE, retries=0))
    return site


@pytest.fixture
def same(quiet: Site, record_property: Callable[[str, object], None]) -> Same:
    """Hold a site's results to those of the undisturbed run, and record what happened to it."""

    def check(site: Site) -> None:
        expected, found = quiet.digests(), site.digests()
        shared = [name for name in found if name in expected]
        differ = [name for name in shared if found[name] != expected[name]]
        told = replace(site.account(), compared=len(shared), differ=len(differ))
        record_property("account", told.line)
        assert f"results/models/{RUN}/model.safetensors" in shared
        assert differ == []
        for name in ("checkpoints", "finished"):
            left = list((site.folder / "results" / name).glob("*"))
            assert left == [], f"{name} left: {left}"

    return check


def test_grid_runs_to_its_report(
    quiet: Site, record_property: Callable[[str, object], None]
) -> None:
    record_property("account", quiet.account().line)
    page = (quiet.folder / "results/report/exp1/index.html").read_text(encoding="utf-8")
    assert "Models trained" in page
    assert quiet.submitted("train") == 1
    assert "gpu=1" in quiet.said
    # Groups: the steps of a cell are one job of the cluster.
    assert (quiet.submitted("tokens"), quiet.grouped("tokens")) == (0, 1)


def test_out_of_time(drills: dict[str, Future[Site]], same: Same) -> None:
    site = drills["time"].result()
    assert site.submitted("train") == 1  # the same job, back in the queue
    assert "resumed at step" in site.model_log
    assert 0 < site.trained < STEPS
    same(site)


def test_out_of_memory(drills: dict[str, Future[Site]], same: Same) -> None:
    site = drills["memory"].result()
    assert site.submitted("train") >= 2
    same(site)


def test_cancelled(drills: dict[str, Future[Site]], same: Same) -> None:
    site = drills["cancelled"].result()
    assert site.submitted("train") == 2
    assert "resumed at step" in site.model_log
    same(site)


def test_preempted(drills: dict[str, Future[Site]], same: Same) -> None:
    site = drills["preempted"].result()
    assert site.submitted("train") == 1  # the same job, back in the queue
    assert "resumed at step" in site.model_log
    same(site)


def test_workflow_killed(drills: dict[str, Future[Site]], same: Same) -> None:
    """A duplicate is submitted, waits for the job that nobody waits for, and trains nothing."""
    site = drills["killed"].result()
    assert site.submitted("train") == 2
    assert "taken over" in site.model_log
    assert site.trained == 0
    same(site)


def test_training_that_ended_while_snakemake_was_away(
    drills: dict[str, Future[Site]], same: Same
) -> None:
    """The job's own Snakemake has recorded its end, or what it made is taken over."""
    site = drills["ended"].result()
    submitted = site.submitted("train")
    assert (submitted, site.trained) in {(1, STEPS), (2, 0)}
    assert (submitted == 2) == ("taken over" in site.model_log)
    same(site)


def test_refused_for_a_moment(drills: dict[str, Future[Site]], same: Same) -> None:
    site = drills["refused"].result()
    assert site.submitted("train") == 1
    assert site.said.count("QOSMaxSubmitJobPerUserLimit; trying again in") == 3
    same(site)


def test_node_down(
    drills: dict[str, Future[Site]], quiet: Site, same: Same, cluster: Cluster, tmp_path: Path
) -> None:
    for drill in drills.values():
        drill.exception()  # the others have the cluster to themselves
    site = Site(tmp_path, cluster)
    site.take(quiet)
    process = site.start(TABLE)
    job = site.training()["id"]
    node = cluster.run("squeue", "-h", "-j", job, "-o", "%N").strip()
    cluster.run("scontrol", "update", f"nodename={node}", "state=down", "reason=drill")
    time.sleep(2)
    site.wait("the node is back", lambda: cluster.revive(node))
    site.finish(process)
    assert "resumed at step" in site.model_log
    same(site)


def test_controller_restarted(
    drills: dict[str, Future[Site]], quiet: Site, same: Same, cluster: Cluster, tmp_path: Path
) -> None:
    for drill in drills.values():
        drill.exception()
    site = Site(tmp_path, cluster)
    site.take(quiet)
    process = site.start(TABLE)
    site.training()
    cluster.stop_controller(signal.SIGKILL)
    time.sleep(3)
    cluster.start_controller()
    site.finish(process)
    assert site.submitted("train") == 1
    same(site)


def test_two_seeds_share_a_gpu(quiet: Site, same: Same, cluster: Cluster, tmp_path: Path) -> None:
    """One of two seeds in one job is killed; both are tried again, and are as if alone."""
    site = Site(
        tmp_path, cluster, only=f"{ONLY},seed=53", together=2, gpu=None, gres="'gpu:1'",
        mem_mb=2000, step="'srun --overlap --ntasks=1 --cpu-bind=none'",
    )  # fmt: skip
    site.take(quiet)
    process = site.start(SHARED)
    job = site.training()
    assert "=gres:gpu:1\n" in cluster.run("scontrol", "show", "job", job["id"])
    site.kill_training()
    site.finish(process)
    assert (site.submitted("train"), site.grouped("train")) == (0, 2)
    assert "resumed at step" in site.model_log
    other = f"results/models/{RUN.replace('seed42', 'seed53')}/model.safetensors"
    assert (site.folder / other).is_file()
    same(site)


def test_two_workflows_at_once(quiet: Site, same: Same, cluster: Cluster, tmp_path: Path) -> None:
    site = Site(tmp_path, cluster)
    site.take(quiet)
    first = site.start(TABLE)
    site.training()
    second = subprocess.run(
        [sys.executable, "-m", "snakemake", "--directory", str(site.folder), "-c", "1",
         "--configfile", str(site.folder / "config.yaml"), "--", SCORES],
        env=cluster.environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert second.returncode != 0
    assert "lock" in second.stderr.lower()
    site.finish(first)
    same(site)
