"""Read YAML files by people: only plain values, and each key once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml

MAX_VALUES = 100_000
"""Largest number of values in a file, with aliases written out; a paper's grid has hundreds."""


class Loader(yaml.SafeLoader):  # type: ignore[misc]  # it has no types
    """The safe loader, which also rejects repeated keys in a mapping (YAML 1.2.2, 3.2.1.3).

    PyYAML and Snakemake silently keep the later key. Aliases that expand to a terabyte, or contain
    themselves, are also rejected.
    """

    def __init__(self, stream: str) -> None:
        """Start with a count of 0 values."""
        super().__init__(stream)
        self.values = 0
        self.sizes: dict[int, int] = {}  # of finished nodes, by identity

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Return the next node.

        Raises:
            yaml.constructor.ConstructorError: the file expands to too many values.
        """
        before, alias = self.values, self.check_event(yaml.AliasEvent)
        node: yaml.Node | None = super().compose_node(parent, index)
        if alias:
            self.values += self.sizes.get(id(node), MAX_VALUES)
        else:
            self.values += 1
            self.sizes[id(node)] = self.values - before
        if self.values > MAX_VALUES:
            mark = node.start_mark if node else None
            problem = f"more than {MAX_VALUES:,} values, each alias written out"
            raise yaml.constructor.ConstructorError(None, None, problem, mark)
        return node

    def compose_mapping_node(self, anchor: dict[Any, yaml.Node]) -> yaml.MappingNode:
        """Return a mapping with different keys; ``1`` and ``"1"`` are different.

        Raises:
            yaml.constructor.ConstructorError: a key is repeated; the message names both lines.
        """
        node = super().compose_mapping_node(anchor)
        first: dict[tuple[str, str], yaml.Node] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                earlier = first.setdefault((key.tag, key.value), key)
                if earlier is not key:
                    raise yaml.constructor.ConstructorError(
                        None, None,
                        f"each key once: {key.value!r} is in line {earlier.start_mark.line + 1} "
                        f"and again in line {key.start_mark.line + 1}",
                        key.start_mark,
                    )  # fmt: skip
        mapping: yaml.MappingNode = node
        return mapping


def read(path: str | os.PathLike[str]) -> Any:  # noqa: ANN401 - YAML is what it is
    """Return the contents of a YAML file.

    Raises:
        OSError: it cannot be read.
        UnicodeDecodeError: it is not UTF-8. yaml.YAMLError: not YAML, a tag that is not a plain
        value, or a repeated key.
    """
    return Loader(Path(path).read_text(encoding="utf-8")).get_single_data()
