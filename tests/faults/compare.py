"""What must stay the same, byte by byte: all results but the times in them.

    python -m tests.faults.compare BEFORE AFTER

lists the numeric outputs (tables, weights, scores, fits, counts) in which two results folders
differ, and by how much. The status is 1 if there are any.
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


def values(path: Path) -> dict[str, list[Any]]:
    """Return the values of a table or JSON file by column or key; of other files, nothing."""
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path).to_pydict()
    if path.suffix == ".csv":
        rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
        return dict(zip(rows[0], map(list, zip(*rows[1:], strict=True)), strict=False))
    if path.suffix == ".json":
        return {key: [value] for key, value in _flat(json.loads(path.read_bytes()))}
    return {}


def _flat(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    if not isinstance(value, (dict, list)):
        yield key, value
        return
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for name, part in parts:
        yield from _flat(part, f"{key}.{name}" if key else str(name))


def distance(before: list[Any], after: list[Any]) -> str:
    """Return how far two columns are apart, in words."""
    if len(before) != len(after):
        return f"{len(before)} values, now {len(after)}"
    try:
        largest = max(abs(float(a) - float(b)) for a, b in zip(before, after, strict=True))
    except (TypeError, ValueError):
        unequal = sum(a != b for a, b in zip(before, after, strict=True))
        return f"{unequal} of {len(before)} values differ"
    return f"largest difference {largest:.3g}"


def changes(before: Path, after: Path) -> Iterator[str]:
    """Yield a line for each numeric file, and column or key of it, that differs in two trees."""
    old, new = (
        {name: digest for name, digest in digests(tree).items() if Path(name).suffix in NUMERIC}
        for tree in (before, after)
    )
    for name in sorted(old.keys() | new.keys()):
        if name not in new or name not in old:
            yield f"{name}: {'gone' if name in old else 'new'}"
        elif old[name] != new[name]:
            first, second = values(before / name), values(after / name)
            columns = [key for key in first.keys() | second.keys() if key not in TIMES]
            # As text, in which a value that is no number equals itself
            changed = [key for key in columns if repr(first.get(key)) != repr(second.get(key))]
            yield f"{name}: differs"
            for key in sorted(changed):
                if key in first and key in second:
                    yield f"  {key}: {distance(first[key], second[key])}"
                else:
                    yield f"  {key}: {'gone' if key in first else 'new'}"


if __name__ == "__main__":
    lines = list(changes(Path(sys.argv[1]), Path(sys.argv[2])))
    sys.stdout.write("\n".join(lines or ["no numeric output differs"]) + "\n")
    sys.exit(bool(lines))
