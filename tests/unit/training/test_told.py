"""Told to end during a dev loss: it is left where it is, and taken again by who resumes."""

from __future__ import annotations

import os
import signal

import pytest

from poshgrid.errors import PoshgridError
from poshgrid.training import losses, signals
from poshgrid.training.train import train
from tests.unit.training.training_support import corpus, regimen, train_spec


def test_until():
    told = []
    assert list(signals.until(told, [1, 2, 3])) == [1, 2, 3]
    assert next(signals.until([15], [1, 2, 3])) == 1
    assert list(signals.until([15], [1, 2, 3])) == [1]


@pytest.mark.parametrize("at", [0, 8, 12])
def test_a_dev_loss_is_left_and_taken_again(tmp_path, monkeypatch, at):
    inputs = corpus(tmp_path / "corpus")
    spec = train_spec(regimen(checkpoint_every=1_000, patience_steps=4))
    train(spec, *inputs, tmp_path / "c", tmp_path / "whole")
    original, seen = losses.mean, []

    def mean(model, batches, *rest):
        def signalled():
            for batch in batches:
                if len(seen) == at // 4:
                    os.kill(os.getpid(), signal.SIGUSR1)
                    seen.append("batch")
                yield batch

        if len(seen) < at // 4:
            seen.append("whole")
            return original(model, batches, *rest)
        return original(model, signalled(), *rest)

    with monkeypatch.context() as patch:
        patch.setattr(losses, "mean", mean)
        with pytest.raises(PoshgridError, match=f"at step {at} of 12") as error:
            train(spec, *inputs, tmp_path / "c", tmp_path / "model")
    assert error.value.steps == at
    assert len(seen) == at // 4 + 1
    left = [int(path.name.partition("-")[2]) for path in (tmp_path / "c").glob("*/step-*")]
    assert left == [at] * bool(at)  # of the initial weights there is nothing to save
    train(spec, *inputs, tmp_path / "c", tmp_path / "model")
    for name in ("model.safetensors", "config.json"):
        one, two = tmp_path / "model" / name, tmp_path / "whole" / name
        assert one.read_bytes() == two.read_bytes()
