"""Inductive biases: known to the grid, refused by training, one module each."""

from __future__ import annotations

import pytest

from poshgrid import plugins
from poshgrid.errors import PoshgridError
from poshgrid.training import bias
from poshgrid.training.biases import recency
from poshgrid.training.train import train
from tests.unit.training_support import regimen, train_spec


def test_the_grid_knows_three_biases_and_their_published_defaults():
    assert plugins.names(bias.PACKAGE) == ["dyck", "recency", "tree-planting"]
    assert plugins.options(bias.PACKAGE, "dyck", {}).model_dump() == {
        "k": 64,
        "p_open": 0.5,
        "depth": 8,
        "length": 2048,
        "steps": 2000,
        "transfer": "body",
    }
    assert plugins.options(bias.PACKAGE, "recency", {}).decay == 0.6
    assert plugins.options(bias.PACKAGE, "tree-planting", {}).model_dump() == {
        "weight": 0.5,
        "layers": [-1],
        "heads": [0],
    }


def test_no_bias_is_no_bias():
    assert bias.build("none", {}) == []


@pytest.mark.parametrize("word", ["dyck", "recency", "tree-planting", "dyck+recency"])
def test_a_run_with_a_bias_fails_at_once_and_leaves_nothing(tmp_path, word):
    folders = [tmp_path / name for name in ("tokens", "tokenizer", "checkpoints", "model")]
    with pytest.raises(PoshgridError) as error:
        train(train_spec(regimen(), bias=word), *folders)  # before any input is looked at
    message = str(error.value)
    assert repr(word.split("+")[0]) in message
    assert "cannot train it yet" in message
    assert "--config only=bias=none" in message
    assert "\n" not in message
    assert list(tmp_path.iterdir()) == []


def test_unknown_biases_and_options():
    with pytest.raises(PoshgridError, match="did you mean 'recency'"):
        bias.build("recensy", {})
    with pytest.raises(PoshgridError, match=r"biases\.recency\.decay: .*less than 1"):
        bias.build("recency", {"recency": {"decay": 1.5}})


def test_a_module_with_a_build_function_is_a_bias(monkeypatch):
    made = []

    def build(options):
        made.append(options)
        return bias.Bias()

    monkeypatch.setattr(recency, "build", build, raising=False)
    (found,) = bias.build("none+recency", {"recency": {"decay": 0.4}})
    assert isinstance(found, bias.Bias)
    assert made[0].decay == 0.4
