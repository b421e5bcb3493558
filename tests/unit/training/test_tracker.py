"""Trackers: the numbers of training.jsonl, whole curves after a resume, no part of the training."""

from __future__ import annotations

import json
import sys
from types import ModuleType

import pytest

from poshgrid.training.tracker import tracking
from poshgrid.training.train import train
from tests.unit.training.training_support import corpus, regimen, train_spec

RUN = "baby/1K/nano/small/none/seed42"


class Board(ModuleType):
    """A stand-in for TensorBoard: what its writers are given, by folder."""

    def __init__(self):
        super().__init__("torch.utils.tensorboard")
        self.runs, self.closed = {}, 0

    def SummaryWriter(self, folder, purge_step):  # noqa: N802 - TensorBoard's
        shown = self.runs.setdefault(folder, {})
        for step in [step for step in shown if step >= purge_step]:
            del shown[step]
        return Writer(self, shown)


class Writer:
    def __init__(self, board, shown):
        self.board, self.shown = board, shown

    def add_scalar(self, name, value, at):
        self.shown.setdefault(at, {})[name] = value

    def flush(self):
        pass

    def close(self):
        self.board.closed += 1


@pytest.fixture
def board(monkeypatch):
    board = Board()
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", board)
    return board


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    return corpus(tmp_path_factory.mktemp("corpus"))


def lines(model):
    return [json.loads(line) for line in (model / "training.jsonl").read_text().splitlines()]


def test_tensorboard_is_given_what_training_writes(inputs, tmp_path, board):
    plain, told = tmp_path / "plain", tmp_path / "told"
    train(train_spec(regimen()), *inputs, tmp_path / "c", plain)
    with tracking("tensorboard", RUN, tmp_path / "tracking"):
        train(train_spec(regimen()), *inputs, tmp_path / "c", told)
    shown = board.runs[str(tmp_path / "tracking" / RUN)]
    written = {line["step"]: line for line in lines(told)}
    assert list(shown) == list(written) == [0, 4, 8, 12]
    for step, values in shown.items():
        assert values["dev_loss"] == written[step]["dev_loss"]
        assert values.get("train_loss") == written[step]["train_loss"]
        assert values.get("tokens_per_second") == written[step]["tokens_per_second"]
    assert board.closed == 1
    assert (plain / "model.safetensors").read_bytes() == (told / "model.safetensors").read_bytes()


def test_a_tracker_that_fails_costs_a_warning(inputs, tmp_path, board, monkeypatch, caplog):
    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(Writer, "add_scalar", fail)
    with tracking("tensorboard", RUN, tmp_path / "tracking"):
        train(train_spec(regimen()), *inputs, tmp_path / "c", tmp_path / "model")
    warnings = [r.getMessage() for r in caplog.records if "tracker" in r.getMessage()]
    assert warnings == ["the tracker failed (OSError: disk full); training goes on"]
    assert lines(tmp_path / "model")[-1]["step"] == 12
