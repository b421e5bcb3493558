"""A suite's files from the Hugging Face hub, in the data folder when they are complete."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from poshgrid import files, logs
from poshgrid.errors import PoshgridError, reason

log = logs.get(__name__)
MARK = "hub.json"
"""File beside the downloaded ones that says which dataset and which commit they are."""


def ensure(
    path: Path, dataset: str, revision: str | None, suffixes: tuple[str, ...]
) -> dict[str, str]:
    """Download a dataset's files unless they are there; files put there by hand are taken as given.

    Args:
        path: folder of the data folder.
        dataset: its id on the hub, e.g. ``nyu-mll/blimp``.
        revision: branch, tag or commit; none: the default branch.
        suffixes: endings of the files that are wanted.

    Returns:
        dataset, revision and commit, or ``{"dataset": ..., "commit": "put there by hand"}``.

    Raises:
        PoshgridError: no network, no such dataset or revision, no such file in it, or the folder
            holds another dataset or revision. The folder is never incomplete.
    """
    mark = path / MARK
    if not path.is_file() and not (path.is_dir() and any(path.iterdir())):
        _download(path, dataset, revision, suffixes)
    elif not mark.is_file():
        log.info("%s: files put there by hand; nothing is downloaded", path)
        return {"dataset": dataset, "commit": "put there by hand"}
    found: dict[str, str] = files.read_json(mark)
    if found["dataset"] != dataset or revision not in {found["revision"], found["commit"], None}:
        raise PoshgridError(
            f"{path}: holds {found['dataset']} at {found['revision'] or found['commit']}, not "
            f"{dataset} at {revision or 'the default branch'}; remove the folder or give another "
            "suites[].path"
        )
    return found


def _download(path: Path, dataset: str, revision: str | None, suffixes: tuple[str, ...]) -> None:
    import huggingface_hub

    by_hand = f"or put its {' or '.join(suffixes)} files into {path} by hand"
    wanted = [f"*{suffix}" for suffix in suffixes]
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        commit = huggingface_hub.dataset_info(dataset, revision=revision, timeout=30).sha
        huggingface_hub.snapshot_download(
            dataset,
            repo_type="dataset",
            revision=commit,
            local_dir=temporary,
            allow_patterns=wanted,
        )
        shutil.rmtree(temporary / ".cache", ignore_errors=True)
        if not any(found for pattern in wanted for found in temporary.rglob(pattern)):
            raise PoshgridError("it holds no such file")
        record = {"dataset": dataset, "revision": revision, "commit": commit}
        files.write_json(temporary / MARK, record)
        if not (path / MARK).is_file():  # another job was faster
            temporary.replace(path)  # whole, or not at all
    except Exception as error:  # the hub's errors and its HTTP library change between releases
        raise PoshgridError(
            f"suites[].options.hub: cannot download {dataset} ({reason(error)}); check hub, "
            f"revision and the network, {by_hand}"
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
