"""Checkpoints: kept, refused, locked."""

from __future__ import annotations

import json

import pytest

from poshgrid.errors import PoshgridError
from poshgrid.training.checkpoint import Checkpoints

STATE = {"step": 1, "loss": 0.1 + 0.2, "lines": [{"a": None}]}


def tensors(value):
    import torch

    return {
        "weights": {"w": torch.full((3,), float(value))},
        "moments": {"w:step": torch.tensor(2)},
    }


@pytest.fixture
def three(tmp_path):
    store = Checkpoints(tmp_path, "abc")
    for step in (5, 10, 15):
        store.save(step, tensors(step), STATE | {"step": step})
    return store


def names(store):
    return sorted(path.name for path in store.folder.iterdir())


def test_two_are_kept_and_nothing_else(three):
    assert names(three) == ["step-000000010", "step-000000015"]
    found = {path.name for path in (three.folder / "step-000000015").iterdir()}
    assert found == {"weights.safetensors", "moments.safetensors", "state.json"}


def test_the_newest_comes_back_exactly(three):
    found, state = three.newest()
    assert state == STATE | {"step": 15}
    assert found["weights"]["w"].tolist() == [15.0] * 3
    assert found["moments"]["w:step"].item() == 2


def test_none_is_none(tmp_path):
    assert Checkpoints(tmp_path, "abc").newest() is None


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("flip", "weights.safetensors is damaged"),
        ("cut", "weights.safetensors is damaged"),
        ("gone", "weights.safetensors is missing"),
        ("json", "state.json cannot be read"),
        ("no state", "state.json cannot be read"),
        ("foreign", "belongs to run xyz, not abc"),
    ],
)
def test_an_unsound_one_is_refused_with_its_reason_and_the_one_before_used(
    three, fault, reason, caplog
):
    newest = three.folder / "step-000000015"
    weights, state = newest / "weights.safetensors", newest / "state.json"
    match fault:
        case "flip":
            content = bytearray(weights.read_bytes())
            content[-1] ^= 1
            weights.write_bytes(content)
        case "cut":
            weights.write_bytes(weights.read_bytes()[:-4])
        case "gone":
            weights.unlink()
        case "json":
            state.write_text(state.read_text()[:20])
        case "no state":
            state.unlink()
        case "foreign":
            state.write_text(json.dumps(json.loads(state.read_text()) | {"fingerprint": "xyz"}))
    found, read = three.newest()
    assert read["step"] == 10
    assert found["weights"]["w"].tolist() == [10.0] * 3
    assert reason in caplog.text
    assert str(newest) in caplog.text


def test_what_a_killed_job_left_half_written_is_not_used(three):
    (three.folder / ".step-000000020.123.tmp").mkdir()
    assert three.newest()[1]["step"] == 15


def test_another_run_has_another_folder(three, tmp_path):
    assert Checkpoints(tmp_path, "xyz").newest() is None


def test_a_second_job_is_refused_while_the_first_runs(tmp_path):
    one, two = Checkpoints(tmp_path, "abc"), Checkpoints(tmp_path, "abc")
    with one.locked():
        with (
            pytest.raises(PoshgridError, match=r"process \d+ on \S+ is training this run"),
            two.locked(),
        ):
            pytest.fail("two jobs hold one lock")
        with Checkpoints(tmp_path, "xyz").locked():
            pass  # another run is free
    with two.locked():
        pass  # and so is this one afterwards


def test_the_lock_survives_the_removal_of_the_folder(tmp_path):
    store = Checkpoints(tmp_path, "abc")
    with store.locked():
        store.remove()
    assert not store.folder.exists()
    with store.locked():
        assert names(store) == ["lock"]


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    store = Checkpoints(tmp_path / "file", "abc")
    with pytest.raises(PoshgridError, match="cannot write"), store.locked():
        pass
    with pytest.raises(PoshgridError, match="cannot write"):
        store.save(5, tensors(5), STATE)
