"""What has to be the same, byte by byte, after a drill: all results but the times in them."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet

TIMES = frozenset(
    {
        "gpu_memory_mb",
        "seconds",
        "tokens_per_second",
        "training_seconds",
        "utilisation",
        "wall_seconds",
    }
)
"""Entries of JSON files that tell how fast a job was."""
TIMED = re.compile(r"report/[^/]+/(index\.html|(tables|figures)/screening[^/]*)$")
"""The page and its tables of computing time. All other tables and figures are compared."""
UNDECLARED = ("arguments", "checkpoints", "logs")
"""Folders that no rule declares: nothing takes them for results."""


def files(results: Path) -> Iterator[str]:
    """Yield the names of the results' files; hidden ones are temporary, manifests hold times."""
    for path in sorted(results.rglob("*")):
        parts = path.relative_to(results).parts
        name = "/".join(parts)
        passed_over = (
            any(part.startswith(".") for part in parts)
            or parts[0] in UNDECLARED
            or name.endswith("manifest.json")
            or TIMED.match(name)
        )
        if path.is_file() and not passed_over:
            yield name


def digests(results: Path) -> dict[str, str]:
    """Return name -> digest of each file, times left out."""
    found = {}
    for name in files(results):
        try:
            found[name] = hashlib.sha256(content(results / name)).hexdigest()
        except FileNotFoundError:
            continue  # deleted while we looked: Snakemake tidies up after a failed job
    return found


def content(path: Path) -> bytes:
    """Return a file's bytes, less its times."""
    raw = path.read_bytes()
    try:
        if path.suffix == ".json":
            return json.dumps(_without(json.loads(raw)), sort_keys=True).encode()
        if path.suffix == ".jsonl":
            lines = [_without(json.loads(line)) for line in raw.splitlines()]
            return json.dumps(lines, sort_keys=True).encode()
        if path.name == "training.csv":
            rows = list(csv.DictReader(io.StringIO(raw.decode(), newline="")))
            return json.dumps(_without(rows)).encode()
        if path.name == "training.parquet":
            return _untimed(raw)
        if path.suffix == ".nc":
            return _arrays(path)
    except (ValueError, OSError, pyarrow.ArrowException):
        pass  # cut off or damaged: its own bytes speak
    return raw


def differences(found: dict[str, str], expected: dict[str, str], *, whole: bool) -> list[str]:
    """Return the files that differ from an undisturbed run's, and those that it has not.

    Args:
        found: digests of a run that was disturbed.
        expected: digests of one that was not.
        whole: whether missing files count, too.
    """
    wrong = [name for name, digest in found.items() if expected.get(name) != digest]
    return sorted(wrong + [name for name in expected if whole and name not in found])


def _untimed(raw: bytes) -> bytes:
    """Return a parquet table's schema and rows, less its times."""
    table = pyarrow.parquet.read_table(io.BytesIO(raw))
    table = table.drop_columns([name for name in table.column_names if name in TIMES])
    return f"{table.schema}{table.to_pylist()}".encode()


def _arrays(path: Path) -> bytes:
    """Return all arrays of a netCDF file, which also tells when it was made."""
    import xarray

    found = hashlib.sha256()
    with xarray.open_datatree(path) as tree:
        for node in tree.subtree:
            for name, array in sorted(node.to_dataset().variables.items()):
                values = array.values
                plain = values if values.dtype != object else values.astype(str)
                found.update(f"{node.path}/{name} {array.dims} {plain.dtype}".encode())
                found.update(plain.tobytes())
    return found.digest()


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without(part) for key, part in value.items() if key not in TIMES}
    if isinstance(value, list):
        return [_without(part) for part in value]
    return value
