"""Checkpoint folders: which of them a run of the grid goes on from, and which nobody does.

A finished run removes its own folder. A run whose settings, text or code have changed starts afresh
under another name, and what it had stays: gigabytes on a cluster.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from poshgrid.config import specs
from poshgrid.config.runs import Run
from poshgrid.errors import PoshgridError
from poshgrid.files import read_json
from poshgrid.grid.grid import Grid
from poshgrid.provenance import durable, lock
from poshgrid.training import identity

_NAME = re.compile(r"\.?[0-9a-f]{16}(\..*)?")
_RUN = 6
"""Parts of a run's name, the end of its model's path."""
_CHANGED = {
    "spec": "its learner, regimen or bias has changed",
    "tokens": "its text or tokenizer has changed",
    "distances": "its trees have changed",
    "code": "the code of its training has changed",
}

Life = Literal["locked", "current", "unknown", "stale"]


@dataclass(frozen=True)
class Folder:
    """A folder of checkpoints.

    Attributes:
        path: the folder.
        run: the run that made it, or where its model goes; "": it does not say.
        life: ``locked``: a job holds it; ``current``: a run of the grid goes on from it;
            ``unknown``: that cannot be told now; ``stale``: nobody does.
        why: the reason.
        size: bytes.
    """

    path: Path
    run: str
    life: Life
    why: str
    size: int


def folders(grid: Grid) -> list[Folder]:
    """Return the checkpoint folders of a grid's results, sorted by name.

    Args:
        grid: whose runs count, ``only`` left aside.
    """
    top = Path(grid.paths.checkpoints())
    paths = [path for path in top.iterdir() if path.is_dir()] if top.is_dir() else []
    runs = {run.name: run for run in grid.every_run}
    life = functools.partial(_life, grid, runs)
    return [_folder(path, life) for path in sorted(paths) if _NAME.fullmatch(path.name)]


def chosen(found: Sequence[Folder], name: str | None) -> list[Folder]:
    """Return the folders that are to be deleted: the stale ones, or the one that is named.

    Raises:
        PoshgridError: there is no folder of that name, or a job holds it.
    """
    if name is None:
        return [each for each in found if each.life == "stale"]
    for each in found:
        if each.path.name == name:
            if each.life == "locked":
                raise PoshgridError(f"{each.path}: {each.why}; end that job first")
            return [each]
    known = ", ".join(each.path.name for each in found) or "none"
    raise PoshgridError(f"--folder: no checkpoints {name!r}; folders: {known}")


def delete(found: Iterable[Folder]) -> tuple[int, list[str]]:
    """Delete folders; return how many are gone, and why the others are not.

    Each is locked meanwhile: a job that has come since they were looked at keeps its own.
    """
    done, said = 0, []
    for each in found:
        with lock.at_once(each.path) as refused:
            if refused and (refused.taken or each.life != "unknown"):
                said.append(f"{each.path}: {refused.why}; left alone")
                continue
            durable.discard(each.path)
        if each.path.exists() or durable.aside(each.path).exists():
            said.append(f"{each.path}: cannot be deleted; check the folder's permissions")
        else:
            done += 1
    return done, said


def clear(checkpoints: Path, model: Path, spec: specs.TrainSpec) -> None:
    """Remove the checkpoints of a finished run, from whatever machine they are.

    What it left under other settings stays, and is :attr:`stale <Folder.life>`.

    Args:
        checkpoints: folder of all runs' checkpoints.
        model: the run's folder, written and on the disk.
        spec: of the run.
    """
    mine = {"spec": specs.canonical(spec), "code": identity.code(spec)}
    for note in sorted(Path(checkpoints).glob(f"*/{identity.NOTE}")):
        try:
            told = read_json(note)
            same = told["model"] == str(model.resolve())
            same &= mine.items() <= told["decisive"].items()
        except (PoshgridError, KeyError, TypeError, AttributeError):
            continue  # of nobody: whoever trains that run writes it anew
        if same:
            with lock.held(note.parent):
                durable.discard(note.parent)


def _life(
    grid: Grid, runs: dict[str, Run], name: str, decisive: dict[str, Any]
) -> tuple[Life, str]:
    """Return the life of the checkpoints of a run that a note tells of, and why."""
    if name not in runs:
        return "stale", "no run of this configuration"
    run, paths = runs[name], grid.paths
    try:
        parser = grid.trees(run)
        trees = Path(paths.distances(run.condition, run.size, parser)) if parser else None
        facts = read_json(Path(paths.tokens(run.condition, run.size)) / "statistics.json")
        spec = grid.train_spec(run)
        now = identity.of_run(spec, facts, trees)
    except PoshgridError as error:
        return "unknown", f"cannot be compared: {error}"
    changed = [why for kind, why in _CHANGED.items() if decisive.get(kind) != now[kind]]
    if changed:
        return "stale", "; ".join(changed)
    return "current", f"trained on {decisive.get('device')}, torch {decisive.get('torch')}"


_Judge = Callable[[str, dict[str, Any]], tuple[Life, str]]
"""What has become of a run, by its name and what decided it."""


def _folder(path: Path, judge: _Judge) -> Folder:
    run, life, why = _read(path, judge)
    with lock.at_once(path) as refused:
        if refused:
            life, why = ("locked" if refused.taken else "unknown"), refused.why
    return Folder(path, run, life, why, _size(path))


def _read(path: Path, judge: _Judge) -> tuple[str, Life, str]:
    """Return run, life and reason of a folder that no job holds."""
    if path.name.startswith("."):
        return "", "stale", "half removed"
    note = path / identity.NOTE
    if not note.exists():
        # The code that writes notes decides the name: none of today's runs has this one.
        return "", "stale", "of an earlier version"
    try:
        told = read_json(note)
        model, decisive = Path(told["model"]), dict(told["decisive"])
    except (PoshgridError, KeyError, TypeError, ValueError):
        return "", "unknown", f"{identity.NOTE} cannot be read"
    name = "/".join(model.parts[-_RUN:])
    return name, *judge(name, decisive)


def _size(path: Path) -> int:
    """Return the bytes of a folder's files; those that go meanwhile count nothing."""
    found = 0
    for folder, _, names in os.walk(path):
        for name in names:
            with suppress(OSError):
                found += Path(folder, name).lstat().st_size
    return found
