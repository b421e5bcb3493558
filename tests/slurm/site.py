"""A working folder from which the tiny grid runs on a cluster, and what its runs left."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import yaml

from poshgrid.core import adopt
from tests import compare, shipped
from tests.slurm.cluster import Cluster

ROOT = Path(__file__).resolve().parents[2]
RUN = "baby-f/20K/gpt2-tiny/packed/none/seed42"
ONLY = "only=size=20K,seed=42"
MODEL = f"results/models/{RUN}/manifest.json"
STEPS = 1500  # long enough to be disturbed


class Site:
    """A folder with its own configuration, profile and results; the workflow is the checkout's."""

    def __init__(self, folder: Path, cluster: Cluster, **train: Any) -> None:
        """Write configuration and profile.

        Args:
            folder: where all is.
            cluster: where jobs run.
            train: resources of rule `train` other than the profile's.
        """
        self.folder, self.cluster = folder, cluster
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "snakemake.log"
        self._configuration()
        self._profile(train)

    @property
    def model_log(self) -> str:
        """What training said, in its last attempt."""
        path = self.folder / f"results/logs/train/{RUN}.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    @property
    def said(self) -> str:
        """What Snakemake said."""
        return self.log.read_text(encoding="utf-8") if self.log.exists() else ""

    @property
    def trained(self) -> int:
        """The steps that the last attempt at training took, by its log."""
        steps = [int(n.replace(",", "")) for n in re.findall(r" step ([\d,]+) of", self.model_log)]
        return max(steps) - min(steps) if steps else 0

    @property
    def restarts(self) -> int:
        """How often the job that was submitted last has gone back into the queue."""
        *_, job = re.findall(r"SLURM jobid (\d+)", self.said)
        text = self.cluster.run("scontrol", "show", "job", job)
        return int(re.findall(r"Restarts=(\d+)", text)[0])

    def submitted(self, rule: str) -> int:
        """Return how many jobs of a rule were submitted, by themselves or in a group."""
        kind = rf"(?:rule_{rule}|group_(?:\w*_)?{rule}(?:_\w*)?)"
        return len(re.findall(rf"has been submitted .*/slurm_logs/{kind}/", self.said))

    def start(
        self, *targets: str, profile: str | None = None, retries: int | None = None
    ) -> subprocess.Popen[bytes]:
        """Start Snakemake in a session of its own, with the profile's retries or others.

        Args:
            targets: and further options.
            profile: another one than that of :meth:`__init__`.
            retries: other than the profile's.
        """
        command = [
            "env", "--default-signal=INT",  # which jobs in the background of a shell ignore
            sys.executable, "-m", "snakemake", "--profile", profile or str(self.folder / "profile"),
            "--directory", str(self.folder), "--configfile", str(self.folder / "config.yaml"),
            "--config", ONLY, "--latency-wait", "20",
            *([] if retries is None else ["--retries", str(retries)]), *targets,
        ]  # fmt: skip
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        with self.log.open("ab") as stream:
            return subprocess.Popen(
                command, cwd=ROOT, env=self.cluster.environment | {"PATH": path},
                stdout=stream, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def finish(self, process: subprocess.Popen[bytes], seconds: float = 2400) -> None:
        """Wait for Snakemake; it must end well."""
        code = process.wait(seconds)
        assert code == 0, f"{self.log}\n{self.said[-6000:]}"

    def unlock(self) -> None:
        """Remove the lock of a Snakemake that was killed."""
        subprocess.run(
            [sys.executable, "-m", "snakemake", "--unlock", "--directory", str(self.folder),
             "--configfile", str(self.folder / "config.yaml"), "--config", ONLY],
            cwd=ROOT, check=True, capture_output=True,
        )  # fmt: skip

    def take(self, other: Site) -> None:
        """Copy another site's results and Snakemake's records, without the trained model.

        Nor with the copy of it that a later job would take over.
        """
        for name in ("results", ".snakemake"):
            shutil.copytree(other.folder / name, self.folder / name, symlinks=True)
        shutil.rmtree(self.folder / ".snakemake/slurm_logs", ignore_errors=True)
        kept = adopt.folder_of(self.folder / MODEL)
        for name in (f"results/models/{RUN}", str(kept), f"results/scores/{RUN}",
                     "results/statistics", "results/report", "results/checkpoints"):  # fmt: skip
            shutil.rmtree(self.folder / name, ignore_errors=True)
        (self.folder / f"results/logs/train/{RUN}.log").unlink()

    def wait(self, what: str, ready: Callable[[], Any], seconds: float = 300) -> Any:
        """Return what a check returns once that is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            answer = ready()
            if answer:
                return answer
            time.sleep(0.3)
        raise TimeoutError(f"{what}: not within {seconds:.0f} s\n{self.said[-4000:]}")

    def training(self) -> dict[str, str]:
        """Wait until the model is being trained, and has a checkpoint; return its job.

        A step is told of before it is saved: with one killed between the two, nothing resumes.

        The drills outnumber the GPUs: a job may wait for the others to end.
        """
        self.wait("training is on its way", self._saved, 1200)
        return self.job()

    def node(self, job: dict[str, str]) -> str:
        """Return the node that a job runs on."""
        return self.cluster.run("squeue", "-h", "-j", job["id"], "-o", "%N").strip()

    def job(self) -> dict[str, str]:
        """Return the training job that runs."""
        return self.wait("the job runs", lambda: next(iter(self._jobs("RUNNING")), None))

    @contextmanager
    def held(self) -> Iterator[list[psutil.Process]]:
        """Have training wait, on however fast a machine; yield its processes."""
        held = list(self._trainers())
        for process in held:
            process.suspend()
        try:
            yield held
        finally:
            for process in held:
                with suppress(psutil.NoSuchProcess):
                    process.resume()

    def run_out_of_time(self) -> None:
        """Hold training until SLURM has told it that its time is nearly over; give it time anew."""
        process = self.wait("training takes steps", self._taking_steps, 1200)
        process.suspend()
        job = self.job()["id"]
        elapsed = self.cluster.run("squeue", "-h", "-j", job, "-o", "%M").strip()
        seconds = sum(int(n) * 60**i for i, n in enumerate(reversed(elapsed.split(":"))))
        self._limit(job, seconds // 60 + 3)  # it is told two minutes before
        # SLURM wakes it to tell it.
        self.wait("it is told, and ends", lambda: not process.is_running())
        self.wait("it has time again", lambda: self._limit(job, 60))

    def digests(self) -> dict[str, str]:
        """Return file -> digest of the results that hold numbers, times left out."""
        tops = ("models", "scores", "tokens", "benchmark", "statistics")
        digests = compare.digests(self.folder / "results")
        return {
            name: digest
            for name, digest in digests.items()
            if name.startswith(tops)
            and not name.endswith((".nc", "diagnostics.json", "statistics.json"))
        }

    def _limit(self, job: str, minutes: int) -> bool:
        """Set a job's time limit; not while it goes back into the queue."""
        with suppress(RuntimeError):
            return not self.cluster.run(
                "scontrol", "update", f"jobid={job}", f"timelimit={minutes}"
            )
        return False

    def _saved(self) -> bool:
        """Say whether the model has a checkpoint."""
        saved = any(self.folder.glob("results/checkpoints/**/step-*"))
        return "step 100 of" in self.model_log and saved

    def _trainers(self) -> Iterator[psutil.Process]:
        for process in psutil.process_iter(["cmdline"]):
            words = process.info["cmdline"] or []
            ours = len(words) > 2 and Path(words[1]).name == "poshgrid" and "train" in words[2:4]
            if ours and any(f"results/models/{RUN}" in word for word in words):
                with suppress(psutil.Error):
                    if process.cwd() == str(self.folder):
                        yield process

    def _taking_steps(self) -> psutil.Process | None:
        log = self.folder / f"results/logs/train/{RUN}.log"
        return next(
            (process for process in self._trainers()
             if self.trained and log.stat().st_mtime > process.create_time()), None,
        )  # fmt: skip

    def _jobs(self, state: str) -> list[dict[str, str]]:
        mine = {line.split("jobid ")[1].split()[0] for line in self.said.splitlines()
                if "SLURM jobid" in line}  # fmt: skip
        return [
            job for job in self.cluster.queue()
            if job["id"] in mine and job["state"] == state
            and "rule_train" in job["comment"]
        ]  # fmt: skip

    def _configuration(self) -> None:
        toy = shipped.toy()
        for section in ("sources", "corpora", "conditions", "models", "recipes", "experiments",
                        "suites", "regressions"):  # fmt: skip
            del toy[section][1:]
        for section in ("audit", "biases", "filtering"):
            del toy[section]
        toy["recipes"][0] |= {"steps": STEPS, "patience_steps": None}
        toy |= {
            "results": "results",
            "data": str(ROOT / toy["data"]),
            "parsers": [parser for parser in toy["parsers"] if parser["name"] == "spacy"],
            "evidence": {"parser": "spacy"},
        }
        (self.folder / "config.yaml").write_text(yaml.safe_dump(toy), encoding="utf-8")

    def _profile(self, train: dict[str, Any]) -> None:
        profile = yaml.safe_load((ROOT / "profiles/slurm/config.yaml").read_text(encoding="utf-8"))
        profile["set-resources"]["train"] |= train
        folder = self.folder / "profile"
        folder.mkdir(exist_ok=True)
        (folder / "config.yaml").write_text(yaml.safe_dump(profile), encoding="utf-8")
