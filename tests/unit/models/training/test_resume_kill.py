"""Killed, stopped, out of disk: a run that is started again ends as if nothing had happened.

Each attempt is the real command in a process of its own. The processes are forked from a server
that has imported torch already, so that an attempt takes tenths of a second, not five.
"""

import multiprocessing
import os
import random
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from poshgrid.cli import main
from poshgrid.core import fingerprint
from poshgrid.models.training import loop, seeds
from tests import compare, jobs
from tests.unit.models.training.training_support import recipe, train_spec

PRELOADED = [
    "poshgrid.cli",
    "poshgrid.models.training.train",
    "pytest",
    "safetensors.torch",
    "torch._dynamo",
    "torch.optim",
    "transformers.models.gpt2.modeling_gpt2",
    "transformers.models.qwen3.modeling_qwen3",
    "transformers.models.roberta.modeling_roberta",
]
STEPS = 80
PATIENCE = 60  # seconds that an attempt may take


@dataclass(frozen=True)
class Case:
    """A run, and how often it is killed."""

    kills: int
    bias: str = "none"
    model: str = "gpt2"
    input: str = "packed"
    optimizer: str = "adamw"


CASES = [
    Case(20),
    Case(6, bias="recency"),
    Case(6, bias="tree-planting", input="sentence"),
    Case(6, bias="dyck"),
    Case(6, bias="dyck+recency"),
    Case(6, model="lstm"),
    Case(6, model="babyberta", input="sentence"),
    Case(6, model="modern", optimizer="muon"),
    Case(6, model="hybrid", input="sentence"),
]
OPTIONS = {
    "dyck": {
        "steps": 40, "k": 4, "length": 16, "depth": 3, "batch_size": 4, "warmup_steps": 2
    }
}  # fmt: skip


def attempt(command, log, step, slow):
    """Run the command; in the forked process.

    Args:
        command: words after ``poshgrid``.
        log: file that standard error is added to.
        step: shared integer: the last step that was begun, of the last stage.
        slow: seconds that the disk needs more for each file.
    """
    with Path(log).open("ab") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    dropout, fsync = seeds.dropout, os.fsync

    def begun(seed, number):
        step.value = number
        dropout(seed, number)

    def slowly(descriptor):
        time.sleep(slow)
        fsync(descriptor)

    seeds.dropout, os.fsync = begun, slowly
    loop.SAVE_SECONDS = loop.SAVE_SHARE = 0  # each step is saved
    fingerprint.code = lambda *_: ""  # half a second, and the code is the same each time
    sys.argv = ["poshgrid", *command]
    main()


class Job:
    """A run of the grid in a folder of its own, started as often as one likes."""

    def __init__(self, folder, inputs, spec):
        self.folder, self.inputs, self.spec = folder, inputs, spec
        self.model = folder / "baby" / "10M" / "nano" / "small" / spec.bias / "seed42"
        self.checkpoints, self.log = folder / "checkpoints", folder / "log"
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(PRELOADED)
        self._process = None

    def start(self, slow=0.0):
        tokens, tokenizer = self.inputs
        trees = tokens.parent / "distances"
        job = jobs.text(
            self.model,
            self.spec,
            tokens=sorted(path for path in tokens.iterdir() if path.is_file()),
            tokenizer=tokenizer / "tokenizer.json",
            distances=sorted(trees.iterdir()) if "tree-planting" in self.spec.bias else [],
            results=str(self.folder),
            wildcards=vars(jobs.of_run("/".join(self.model.parts[-6:]))),
        )
        command = ["stage", "train", job]
        self.step = self._context.RawValue("i", -1)
        self.log.write_text("")
        self._process = self._context.Process(
            target=attempt, args=(command, str(self.log), self.step, slow), daemon=True
        )
        self._process.start()
        return self

    def until(self, happened):
        """Wait until something has happened; the process must still run then."""
        end = time.monotonic() + PATIENCE
        while not happened():
            assert self._process.is_alive(), f"it has ended too early: {self.log.read_text()}"
            assert time.monotonic() < end, "nothing happens"
            time.sleep(0.0005)
        return self

    def told(self, *numbers):
        """Send signals."""
        for number in numbers:
            os.kill(self._process.pid, number)
        return self

    def status(self):
        """Wait for the end."""
        self._process.join(PATIENCE)
        return self._process.exitcode

    def hidden(self):
        """Names that are not whole, of this run's checkpoints."""
        return sorted(path.name for path in self.checkpoints.rglob(".*"))

    def errors(self):
        """The lines of standard error that are no log lines."""
        lines = self.log.read_text().splitlines()
        return [line for line in lines if line[2:3] != ":"]


def spec_of(case):
    chosen = recipe(
        steps=STEPS, evaluate_every=10, checkpoints=[7, 30, 64],
        input=case.input, optimizer=case.optimizer,
    )  # fmt: skip
    options = {word: OPTIONS[word] for word in set(case.bias.split("+")) & OPTIONS.keys()}
    return train_spec(chosen, bias=case.bias, architecture=case.model, biases=options)


@pytest.fixture
def job(inputs, tmp_path):
    """Make a job in a fresh folder."""

    def make(name, case=Case(0)):
        (tmp_path / name).mkdir()
        return Job(tmp_path / name, inputs, spec_of(case))

    return make


@pytest.fixture(scope="module")
def whole(inputs, tmp_path_factory):
    """A run that nothing interrupts."""
    job = Job(tmp_path_factory.mktemp("whole"), inputs, spec_of(Case(0)))
    assert job.start().status() == 0, job.log.read_text()
    return job


def digests(job):
    """All that a model's folder says, but for times."""
    contents = compare.digests(job.folder / "baby")
    assert any(name.endswith("/checkpoints/64/model.safetensors") for name in contents)
    return contents


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.model}-{c.bias}-{c.kills}")
def test_killed_again_and_again(request, job, case):
    """At random moments: within and between steps, while a checkpoint is written, at the end."""
    if "tree-planting" in case.bias:
        request.getfixturevalue("distances")
    whole, killed = job("whole", case), job("killed", case)
    assert whole.start().status() == 0, whole.log.read_text()
    draw = random.Random(case.kills)
    moments = sorted(draw.randrange(STEPS - 8) for _ in range(case.kills - 1))
    torn, resumed = 0, 0
    for number, moment in enumerate(moments):
        writing = number % 2 == 1
        killed.start(slow=0.03 if writing else 0.0)
        killed.until(lambda moment=moment: killed.step.value >= moment)
        if writing:
            killed.until(lambda: any(n.startswith((".step", ".kept")) for n in killed.hidden()))
        time.sleep(draw.random() * 0.02)
        assert killed.told(signal.SIGKILL).status() == -signal.SIGKILL
        torn += bool(killed.hidden())
        resumed += "resumed at step" in killed.log.read_text()
    killed.start().until(lambda: list(killed.model.glob(".writing-*")))
    assert killed.told(signal.SIGKILL).status() == -signal.SIGKILL
    assert not (killed.model / "statistics.json").exists()
    assert killed.start().status() == 0, killed.log.read_text()
    assert torn >= len(moments) // 4  # a checkpoint was being written
    assert resumed >= len(moments) // 2
    assert digests(killed) == digests(whole)
    assert not [path for path in killed.checkpoints.rglob("*") if path.is_file()]


def test_told_to_end(job, whole):
    """SIGTERM, SIGUSR1, both, and both again: one line, status 1, all steps saved."""
    stopped, reached = job("told"), 0
    for numbers in (
        [signal.SIGTERM],
        [signal.SIGUSR1],
        [signal.SIGUSR1, signal.SIGTERM, signal.SIGTERM, signal.SIGUSR1],
    ):
        moment = reached + 5
        stopped.start(slow=0.02).until(lambda moment=moment: stopped.step.value >= moment)
        assert stopped.told(*numbers).status() == 1
        (line,) = stopped.errors()
        newest = max(path.stem for path in stopped.checkpoints.rglob("step-*"))
        reached = int(newest.partition("-")[2])
        assert reached > moment
        assert line.startswith("error: ")
        assert f"stopped by a signal at step {reached} of {STEPS}; the same command goes on" in line
        assert stopped.hidden() == []
    assert stopped.start().status() == 0
    assert f"resumed at step {reached} of {STEPS}" in stopped.log.read_text()
    assert digests(stopped) == digests(whole)
