"""Specs are written without defaults, so a default must not change unnoticed.

``defaults.json`` pins the default of every key that a spec may leave out.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, get_args

import pytest

from poshgrid.config import specs
from poshgrid.config.base import Section

PINNED = Path(__file__).with_name("defaults.json")
REMEDY = (
    "add `ALWAYS: ClassVar[frozenset[str]] = frozenset({...})` with the key to its class: specs "
    "that leave the key out mean the pinned default"
)


def sections(kind: Any) -> Iterator[type[Section]]:
    """Yield the sections in an annotation, and those inside them."""
    if isinstance(kind, type) and issubclass(kind, Section):
        yield kind
        for field in kind.model_fields.values():
            yield from sections(field.annotation)
    for inner in get_args(kind):
        yield from sections(inner)


def in_specs() -> set[type[Section]]:
    kinds = [kind for kind in vars(specs).values() if isinstance(kind, type)]
    return {found for kind in kinds for found in sections(kind)}


def defaults(kind: type[Section]) -> dict[str, Any]:
    """Return key -> default, as JSON has it, of the keys that a spec may leave out."""
    fields = {
        key: field.get_default(call_default_factory=True)
        for key, field in kind.model_fields.items()
        if not field.is_required() and not field.exclude
    }
    return {
        key: value.written() if isinstance(value, Section) else json.loads(json.dumps(value))
        for key, value in fields.items()
    }


def test_defaults_are_pinned() -> None:
    pinned = json.loads(PINNED.read_text(encoding="utf-8"))
    now = {kind.__name__: defaults(kind) for kind in in_specs() if defaults(kind)}
    always = {f"{kind.__name__}.{key}" for kind in in_specs() for key in kind.ALWAYS}
    known = {f"{name}.{key}": value for name, keys in pinned.items() for key, value in keys.items()}
    found = {f"{name}.{key}": value for name, keys in now.items() for key, value in keys.items()}
    changed = [key for key in known.keys() & found.keys() - always if known[key] != found[key]]
    assert not changed, f"{sorted(changed)}: default changed; {REMEDY}"
    new = json.dumps(now, indent=1, sort_keys=True)
    assert found.keys() == known.keys(), f"other keys; {PINNED.name} should be:\n{new}"


class Inner(Section):
    a: int = 1
    b: float = 2.0


class Changed(Inner):
    ALWAYS: ClassVar[frozenset[str]] = frozenset({"b"})


class Outer(Section):
    inner: Inner = Inner()
    other: Changed = Changed()
    several: list[Inner] = specs.Field([])
    maybe: Inner | None = None
    speed: int = specs.Field(3, exclude=True)


@pytest.mark.parametrize(
    ("values", "written"),
    [
        ({}, {"other": {"b": 2.0}}),
        ({"inner": {"a": 1}, "speed": 7}, {"other": {"b": 2.0}}),
        (
            {"inner": {"a": 5}, "other": {"a": 6}, "several": [{}, {"b": 3}], "maybe": {}},
            {"inner": {"a": 5}, "other": {"a": 6, "b": 2.0}, "several": [{}, {"b": 3.0}],
             "maybe": {}},
        ),
    ],
)  # fmt: skip
def test_a_spec_holds_what_differs_and_what_is_always_written(values, written) -> None:
    spec = Outer.model_validate(values)
    text = specs.canonical(spec)
    assert json.loads(text) == written
    assert specs.parse(Outer, text) == spec.model_copy(update={"speed": 3})


SHOW = """
import json
from pathlib import Path
from poshgrid.planning import current, jobs

with jobs.graph([Path("studies/posh-bench/toy.yaml")], "all", None) as workflow:
    found = {str(job.output): current.job_of(job.params) for job in workflow.dag.jobs}
print(json.dumps({name: [job.get("spec"), job.get("code")] for name, job in found.items()}))
"""


def test_a_new_key_with_a_default_changes_no_job(root: Path, tmp_path: Path) -> None:
    """It is added to every section of the configuration and every spec; jobs stay as they are."""
    copy = tmp_path / "src"
    without = shutil.ignore_patterns("share")
    shutil.copytree(root / "src/poshgrid", copy / "poshgrid", ignore=without)
    (copy / "poshgrid/share").symlink_to(root / "src/poshgrid/share")
    number = 0
    for path in sorted((copy / "poshgrid/config").glob("*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        for place in reversed(range(len(lines))):
            if lines[place].startswith("class ") and "Section)" in lines[place]:
                lines.insert(place + 1, "    added_for_this_test: float = 0.5")
                number += 1
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert number >= 50

    def shown(source: Path) -> dict[str, str]:
        answer = subprocess.run(
            [sys.executable, "-c", SHOW], cwd=root, text=True, capture_output=True, check=True,
            env=os.environ | {"PYTHONPATH": str(source), "XDG_CACHE_HOME": str(tmp_path)},
        )  # fmt: skip
        return json.loads(answer.stdout)

    before, after = shown(root / "src"), shown(copy)
    assert len(before) > 120
    assert [job for job in before if before[job] != after[job]] == []
