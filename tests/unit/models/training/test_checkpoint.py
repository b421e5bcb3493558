"""Checkpoints: kept, refused, removed."""

import os
import resource
import socket
from contextlib import contextmanager

import pytest
import torch

from poshgrid.core.errors import PoshgridError
from poshgrid.models.training.checkpoint import Checkpoints, remove

STATE = {"step": 1, "loss": 0.1 + 0.2, "lines": [{"a": None}]}


def tensors(value):
    return {
        "weights": {"w": torch.full((3,), float(value))},
        "moments": {"w:step": torch.tensor(2)},
    }


@pytest.fixture
def three(tmp_path):
    store = Checkpoints(tmp_path / "abc", "abc")
    for step in (5, 10, 15):
        store.save(step, tensors(step), STATE | {"step": step})
    return store


def names(store):
    return sorted(path.name for path in store.folder.iterdir())


def test_two_are_kept_and_the_newest_comes_back_exactly(three):
    assert names(three) == ["step-000000010.safetensors", "step-000000015.safetensors"]
    tensors_read, state = three.newest()
    assert state == STATE | {"step": 15}
    assert tensors_read["weights"]["w"].tolist() == [15.0] * 3
    assert tensors_read["moments"]["w:step"].item() == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content[:0], lambda content: content[:60], lambda content: content[:-1],
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),
        lambda content: content.replace(b"0.30000000000000004", b"0.30000000000000005"),
    ],
)  # fmt: skip
def test_an_unsound_one_is_refused_with_a_warning_and_the_one_before_used(three, change, caplog):
    newest = three.folder / "step-000000015.safetensors"
    content = newest.read_bytes()
    assert change(content) != content
    newest.write_bytes(change(content))
    tensors_read, read = three.newest()
    assert read["step"] == 10
    assert tensors_read["weights"]["w"].tolist() == [10.0] * 3
    assert str(newest) in caplog.text


def test_where_none_is_sound_training_starts_afresh_and_what_it_saves_stays(three, caplog):
    for path in three.folder.glob("step-*"):
        path.write_bytes(b"")
    assert three.newest() is None
    assert "training starts afresh" in caplog.text
    three.save(5, tensors(5), STATE | {"step": 5})  # the refused ones have later steps
    assert names(three) == ["step-000000005.safetensors"]
    assert three.newest()[1]["step"] == 5


def test_checkpoints_of_other_settings_are_not_used(three):
    three.keep(12, {"a": torch.zeros(2)})
    three.save(15, tensors(15), STATE)
    other = Checkpoints(three.folder, "xyz")
    assert other.newest() is None
    assert other.kept() == {}
    other.save(5, tensors(5), STATE)
    assert [path.name for path in three.folder.glob("step*")] == ["step-000000005.safetensors"]


# ---- weights put aside -------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["gone", "changed"])
def test_a_checkpoint_without_the_weights_put_aside_before_it_is_not_used(tmp_path, fault):
    """A job that went on from it would not put them aside again."""
    weights = {"a": torch.zeros(2, 3)}
    store = Checkpoints(tmp_path / "abc", "abc")
    for step in (3, 7):
        store.keep(step, weights)
        store.save(step + 2, tensors(step), {"step": step + 2})
    assert sorted(store.kept()) == [3, 7]
    path = store.folder / "kept-000000007.safetensors"
    content = path.read_bytes()
    path.unlink()
    if fault == "changed":
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    again = Checkpoints(tmp_path / "abc", "abc")
    assert again.newest()[1] == {"step": 5}
    assert sorted(again.kept()) == [3]
    again.keep(7, weights)
    again.save(8, tensors(8), {"step": 8})  # knows both
    (store.folder / "kept-000000003.safetensors").unlink()
    assert Checkpoints(tmp_path / "abc", "abc").newest() is None


# ---- a disk that is full -----------------------------------------------------------------------


@contextmanager
def files_up_to(size):
    """Make the system refuse larger files (EFBIG; Python ignores the signal)."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


BIG = {"weights": {"w": torch.zeros(100_000)}}


@pytest.mark.parametrize(
    "write",
    [
        lambda store: store.save(20, BIG, STATE),
        lambda store: store.keep(20, BIG["weights"]),
    ],
)
def test_a_file_that_cannot_be_written_to_its_end(three, write):
    before = names(three)
    with files_up_to(8_192), pytest.raises(PoshgridError, match=str(three.folder)):
        write(three)
    assert names(three) == before
    assert three.newest()[1]["step"] == 15
    three.save(20, BIG, STATE | {"step": 20})
    assert three.newest()[1]["step"] == 20


# ---- what killed jobs leave --------------------------------------------------------------------


def test_what_killed_jobs_left_is_in_nobodys_way_and_goes_with_the_run(three, tmp_path):
    mine = f".step-000000020.safetensors.{socket.gethostname()}-{os.getpid()}.tmp"
    for name in (".step-000000020.safetensors.other-123.tmp", mine):  # mine: of this number, even
        (three.folder / name).write_text("half")
    (three.folder / ".tmpAbC123").write_text("half")  # safetensors' own
    (tmp_path / ".abc.123.old.tmp").mkdir()  # half removed
    three.save(20, tensors(20), STATE | {"step": 20})
    assert three.newest()[1]["step"] == 20
    three.part("dyck").save(5, tensors(5), STATE)
    remove(three.folder)
    remove(three.folder)  # a run that was not trained again
    assert not list(tmp_path.iterdir())
