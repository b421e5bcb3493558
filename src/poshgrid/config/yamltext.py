"""YAML that people write: plain values only, and each key once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml

MAX_VALUES = 100_000
"""Values of a file, each alias written out: the grid of a paper has hundreds."""


class Loader(yaml.SafeLoader):  # type: ignore[misc]  # it has no types
    """The safe loader, which refuses a key that a mapping has twice (YAML 1.2.2, 3.2.1.3).

    PyYAML and Snakemake keep the later one and drop the earlier without a word. Aliases that stand
    for a terabyte, or for themselves, are refused, too.
    """

    def __init__(self, stream: str) -> None:
        """Begin with no values."""
        super().__init__(stream)
        self.values = 0
        self.sizes: dict[int, int] = {}  # of finished nodes, by identity

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Return the next node.

        Raises:
            yaml.constructor.ConstructorError: the file stands for too many values.
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
        """Return a mapping whose keys differ; ``1`` and ``"1"`` do.

        Raises:
            yaml.constructor.ConstructorError: a key is there twice; it names both lines.
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
    """Return what a YAML file holds.

    Raises:
        OSError: it cannot be read.
        UnicodeDecodeError: it is not UTF-8.
        yaml.YAMLError: no YAML, a tag that is no plain value, or a key that is there twice.
    """
    return Loader(Path(path).read_text(encoding="utf-8")).get_single_data()
