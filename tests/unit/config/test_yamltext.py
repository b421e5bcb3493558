"""YAML: each key of a mapping once, and all that YAML lets one write besides."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from poshgrid.config import yamltext


def read(folder: Path, text: str) -> object:
    path = folder / "a.yaml"
    path.write_text(text)
    return yamltext.read(path)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a: 1\n'a': 3\n", [("a", 1, 2)]),
        ("x:\n- {a: 1}\n- a: 1\n  a: 1\n", [("a", 3, 4)]),
        ('{"a": {"b": 1,\n "b": 2}, "c": 1,\n"c": 2}', [("b", 1, 2), ("c", 2, 3)][:1]),
        ("a: 1\na: 2\na: 3\n", [("a", 1, 2)]),
        ("x: &x {a: 1, a: 2}\ny: *x\nz: *x\n", [("a", 1, 1)]),
        ("x: &x {a: 1}\ny:\n  <<: *x\n  <<: *x\n", [("<<", 3, 4)]),
    ],
)
def test_a_key_twice_is_refused_with_its_lines(text, lines, tmp_path):
    with pytest.raises(yaml.MarkedYAMLError) as caught:
        read(tmp_path, text)
    named = re.findall(r"'(\S+)' is in line (\d+) and again in line (\d+)", caught.value.problem)
    assert [(key, int(first), int(again)) for key, first, again in named] == lines


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  a: 3\n",
         {"x": {"a": 1, "b": 2}, "y": {"a": 3, "b": 2}}),
        ("x: &x {a: 1}\ny: &y {a: 2}\nz:\n  <<: [*x, *y]\n",
         {"x": {"a": 1}, "y": {"a": 2}, "z": {"a": 1}}),
        ("1: a\n'1': b\n", {1: "a", "1": "b"}),
        ("- {a: 1}\n- {a: 1}\n", [{"a": 1}, {"a": 1}]),
        ("", None),
    ],
)  # fmt: skip
def test_what_is_there_once_is_read(text, value, tmp_path):
    assert read(tmp_path, text) == value
