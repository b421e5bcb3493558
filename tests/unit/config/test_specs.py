"""The text of a slice: one for equal ones, without defaults, which must not change unnoticed.

``defaults.json`` pins the default of every key that a spec may leave out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, get_args

import pytest

from poshgrid.config import Scoring, specs
from poshgrid.config.base import Section
from poshgrid.core.errors import PoshgridError

RUN = "baby-f/10M/gpt2-mini/packed/dyck+recency/seed42"


def test_equal_specs_have_one_text() -> None:
    text = specs.canonical(specs.CountSpec(order=5, size="10M"))
    assert text == '{"order":5,"size":"10M"}'
    assert specs.parse(specs.CountSpec, ' {"size": "10M",\n "order": 5} ') == specs.parse(
        specs.CountSpec, text
    )
    judged = specs.canonical(specs.JudgementSpec(scoring=Scoring(), runs=[RUN], cells={}))
    assert specs.canonical(specs.parse(specs.JudgementSpec, judged)) == judged


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("{", "Invalid JSON"),
        ('{"order": 0, "size": 3}', "order"),
        ('{"order": 5, "more": 1}', "more"),
    ],
)
def test_what_is_no_slice_is_refused_with_its_place(text: str, key: str) -> None:
    with pytest.raises(PoshgridError, match=rf"^job: spec: {key}: ") as caught:
        specs.parse(specs.CountSpec, text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("run", "is_one"),
    [
        (RUN, True),
        ("a/10M/c/d/e/seed0123456789", True),
        ("../b/c/d/e/seed1", False),
        ("a/b/c/d/e/seed1\n", False),
    ],
)
def test_a_name_of_a_run_becomes_a_path(run: str, is_one: bool) -> None:
    text = json.dumps({"scoring": {}, "runs": [RUN, run], "cells": {}})
    if is_one:
        assert specs.parse(specs.JudgementSpec, text).runs == [RUN, run]
    else:
        with pytest.raises(PoshgridError, match=r"^job: spec: runs\.1: "):
            specs.parse(specs.JudgementSpec, text)


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
    return {section for kind in kinds for section in sections(kind)}


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
    present = {f"{name}.{key}": value for name, keys in now.items() for key, value in keys.items()}
    changed = [key for key in known.keys() & present.keys() - always if known[key] != present[key]]
    assert not changed, f"{sorted(changed)}: default changed; {REMEDY}"
    new = json.dumps(now, indent=1, sort_keys=True)
    assert present.keys() == known.keys(), f"other keys; {PINNED.name} should be:\n{new}"


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
