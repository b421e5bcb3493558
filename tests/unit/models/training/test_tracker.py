"""The tracker: the numbers of training.jsonl, and no part of the training."""

import sys
from types import SimpleNamespace

from poshgrid.models.training.tracker import tracking
from poshgrid.models.training.train import train
from tests.unit.models.training.training_support import equal, log, recipe, train_spec, weights


class Board:
    """A stand-in for TensorBoard's writer: what it is given, by step."""

    def __init__(self, folder):
        self.folder, self.shown = folder, {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def add_scalar(self, name, value, at):
        self.shown.setdefault(at, {})[name] = value

    def flush(self):
        raise OSError("disk full")


def test_tensorboard_is_given_what_training_writes(inputs, tmp_path, whole, monkeypatch, caplog):
    """A disk that is full stops no training."""
    boards = []
    module = SimpleNamespace(SummaryWriter=lambda folder: boards.append(Board(folder)) or boards[0])
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    with tracking("tensorboard", "run", tmp_path / "tracking"):
        train(train_spec(recipe()), *inputs, tmp_path / "c", tmp_path / "model")
    assert boards[0].folder == str(tmp_path / "tracking" / "run")
    assert list(boards[0].shown) == [0, 4, 8, 12]
    for line in log(tmp_path / "model"):
        for key, value in boards[0].shown[line["step"]].items():
            assert value == line[key]
    assert equal(weights(tmp_path / "model"), weights(whole))
    assert "training goes on" in caplog.text
