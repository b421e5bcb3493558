"""The meaning of a table's columns, read from the comments in its schema."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType

from poshgrid.core.files import Schema

_COMMON = Path(__file__).with_name("columns.txt").read_text("utf-8").splitlines()
COMMON = {name: words for name, _, words in (line.partition(": ") for line in _COMMON)}
"""Column -> its meaning in tables whose schema has no comment on it."""

_SCHEMA = r"^{}(?:: [\w.]+)? = \{{(.*?)\}}(?:  # fmt: skip)?$"
_TABLE = re.compile(
    r'^(\w+)(?:: [\w.]+)? = [^\n]*\n(?:[ })\]][^\n]*\n)*"""(``.*?)"""', re.MULTILINE | re.DOTALL
)
_COLUMN = re.compile(r'^ *(?:"([^"]+)": )?.*?(?:# (.*))?$')


def columns(module: ModuleType, name: str) -> dict[str, str]:
    """Return what each column of a table means, in the table's order.

    The meaning of a column is the comment on its line, together with comment lines directly above
    it. Without a comment it is taken from ``COMMON``, or derived from the name: an end of an
    interval, or the same value of the full condition.

    Args:
        module: the module with the schema.
        name: name of the schema in the module.

    Raises:
        KeyError: a column's meaning is not given anywhere.
    """
    schema: Schema = getattr(module, name)
    commented = _comments(module, name)
    return {column: commented.get(column) or _common(column, schema) for column in schema}


def tables(module: ModuleType) -> dict[str, str]:
    """Return the tables of a schema module: name of the schema -> its file and what a row is."""
    matches = _TABLE.finditer(inspect.getsource(module))
    return {match[1]: " ".join(match[2].split()) for match in matches}


def _common(column: str, schema: Schema) -> str:
    if column in COMMON:
        return COMMON[column]
    if column.endswith("_full") and column.removesuffix("_full") in schema:
        return f"`{column.removesuffix('_full')}` of the full condition"
    start, _, end = column.rpartition("_")
    low = column.replace("high", "low")
    if low != column and low in schema:
        return f"upper end of the interval that begins at `{low}`"
    if end == "low" and start in schema:
        return f"lower end of the 95% interval of `{start}`"
    raise KeyError(column)


def _comments(module: ModuleType, name: str) -> dict[str, str]:
    """Return the comments on a schema's columns, including schemas that it contains."""
    source = inspect.getsource(module)
    schema = re.search(_SCHEMA.format(name), source, re.MULTILINE | re.DOTALL)
    if schema is None:  # the schema is defined in another module
        home = re.search(rf"^from (\S+) import (?:\([^)]*)?\b{name}\b", source, re.MULTILINE)
        return _comments(importlib.import_module(home[1]), name) if home else {}
    comments: dict[str, str] = {}
    before: list[str] = []
    for line in schema[1].splitlines():
        ((column, text),) = _COLUMN.findall(line)
        for other in re.findall(r"\*\*(\w+)", line.partition("#")[0]):
            comments |= _comments(module, other)
        if column:
            comments[column] = " ".join(filter(None, [*before, text]))
        before = [*before, text] if text and line.lstrip().startswith("#") else []
    return comments
