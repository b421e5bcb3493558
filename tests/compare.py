"""What must stay the same, byte by byte: all results but the times in them.

    python -m tests.compare BEFORE AFTER

lists the numeric outputs (tables, weights, scores, fits, counts) in which two results folders
differ. The status is 1 if there are any.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet

TIMES = {
    "gpu_memory_mb", "seconds", "tokens_per_second", "training_seconds", "utilisation",
    "wall_seconds",
}  # fmt: skip
"""Entries of JSON files that tell how fast a job was."""
TIMED = re.compile(r"report/[^/]+/index\.html$")
"""The report's page is not compared, because it shows times; its tables and figures are."""
UNDECLARED = ("arguments", "checkpoints", "logs")
"""Folders that no rule declares: nothing takes them for results."""
NUMERIC = frozenset({".bin", ".csv", ".json", ".jsonl", ".nc", ".npy", ".parquet", ".safetensors"})
"""Endings of files that hold numbers, not pages or pictures."""


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
    digested = {}
    for name in files(results):
        try:
            digested[name] = hashlib.sha256(content(results / name)).hexdigest()
        except FileNotFoundError:
            continue  # deleted while we looked: Snakemake tidies up after a failed job
    return digested


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


def _untimed(raw: bytes) -> bytes:
    """Return a parquet table's schema and rows, less its times."""
    table = pyarrow.parquet.read_table(io.BytesIO(raw))
    table = table.drop_columns([name for name in table.column_names if name in TIMES])
    return f"{table.schema}{table.to_pylist()}".encode()


def _arrays(path: Path) -> bytes:
    """Return all arrays of a netCDF file, which also tells when it was made."""
    import xarray

    digest = hashlib.sha256()
    with xarray.open_datatree(path) as tree:
        for node in tree.subtree:
            for name, array in sorted(node.to_dataset().variables.items()):
                values = array.values
                plain = values if values.dtype != object else values.astype(str)
                digest.update(f"{node.path}/{name} {array.dims} {plain.dtype}".encode())
                digest.update(plain.tobytes())
    return digest.digest()


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without(part) for key, part in value.items() if key not in TIMES}
    if isinstance(value, list):
        return [_without(part) for part in value]
    return value


def changes(before: Path, after: Path) -> list[str]:
    """Return a line for each numeric file that two trees do not share, or in which they differ."""
    old, new = (
        {name: digest for name, digest in digests(tree).items() if Path(name).suffix in NUMERIC}
        for tree in (before, after)
    )
    lines = [f"{name}: {'gone' if name in old else 'new'}" for name in old.keys() ^ new.keys()]
    lines += [f"{name}: differs" for name in old.keys() & new.keys() if old[name] != new[name]]
    return sorted(lines)


if __name__ == "__main__":
    lines = changes(Path(sys.argv[1]), Path(sys.argv[2]))
    sys.stdout.write("\n".join(lines or ["no numeric output differs"]) + "\n")
    sys.exit(bool(lines))
