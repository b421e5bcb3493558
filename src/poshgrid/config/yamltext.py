"""YAML that people write: plain values, each key once, no more of them than its text shows."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

_LARGEST = 100_000  # values of a text, each alias written out: the paper's grid has hundreds
_LONGEST = 10_000_000  # bytes of a file: a device need not end
_DEEPEST = 50  # values inside one another


class UnboundedError(Exception):
    """YAML that stands for too much; the message begins with its line."""


def read(path: str | os.PathLike[str]) -> str:
    """Return the text of a file.

    Raises:
        OSError: it cannot be read, or is longer than anybody writes.
        UnicodeDecodeError: it is not UTF-8.
    """
    with Path(path).open("rb") as stream:
        content = stream.read(_LONGEST + 1)
    if len(content) > _LONGEST:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return content.decode("utf-8")


def parse(text: str) -> Any:  # noqa: ANN401 - YAML is what it is
    """Parse YAML into plain values only, and count what its aliases stand for before that is built.

    A key that a mapping holds twice is no YAML (1.2.2, section 3.2.1.3), but PyYAML and Snakemake
    keep the later and drop the earlier without a word.

    Raises:
        yaml.YAMLError: no YAML, a tag that is no plain value, or keys that are there twice.
        UnboundedError: a kilobyte of aliases may stand for a terabyte, or for itself.
    """
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _extent(node, {}, 0)
        repeated = [
            (key, f"{key.value!r} is in line {first.start_mark.line + 1} and again in line "
                  f"{key.start_mark.line + 1}")
            for first, key in _repeated(node, set())
        ]  # fmt: skip
        if repeated:
            found = "; ".join(dict.fromkeys(said for _, said in repeated))
            mark = repeated[0][0].start_mark
            raise yaml.constructor.ConstructorError(None, None, f"each key once: {found}", mark)
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _repeated(node: yaml.Node, seen: set[int]) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    """Yield each key that its mapping has had already, after the first one, in the text's order."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for each in node.value:
            yield from _repeated(each, seen)
    elif isinstance(node, yaml.MappingNode):
        first: dict[tuple[str, str], yaml.Node] = {}
        for key, value in node.value:
            # `1` and `"1"` are two keys: the tag tells them apart
            if isinstance(key, yaml.ScalarNode) and (
                first.setdefault((key.tag, key.value), key) is not key
            ):
                yield first[key.tag, key.value], key
            yield from _repeated(value, seen)


def _extent(node: yaml.Node, known: dict[int, tuple[int, int]], depth: int) -> tuple[int, int]:
    """Return the number of values of a node and how deep they lie; ``known`` are those counted."""
    if id(node) in known:
        size, height = known[id(node)]
    else:
        known[id(node)] = 0, _DEEPEST + 1  # what is met again below itself has no end
        inner: Iterable[yaml.Node] = ()
        if isinstance(node, yaml.SequenceNode):
            inner = node.value
        elif isinstance(node, yaml.MappingNode):
            inner = [each for pair in node.value for each in pair]
        found = [_extent(each, known, depth + 1) for each in inner] if depth <= _DEEPEST else []
        size = 1 + sum(each for each, _ in found)
        height = 1 + max((each for _, each in found), default=0)
        known[id(node)] = size, height
    place = f":{node.start_mark.line + 1}"
    if depth + height > _DEEPEST:
        raise UnboundedError(f"{place}: more than {_DEEPEST} values inside one another")
    if size > _LARGEST:
        raise UnboundedError(f"{place}: more than {_LARGEST:,} values, each alias written out")
    return size, height
