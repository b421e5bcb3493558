"""What the columns of a table mean: the comments beside them in its schema."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType

from poshgrid.files import Schema

_COMMON = Path(__file__).with_name("columns.txt").read_text("utf-8").splitlines()
COMMON = {name: words for name, _, words in (line.partition(": ") for line in _COMMON)}
"""What a column is that its table says nothing of."""

_SCHEMA = r"^{}(?:: [\w.]+)? = \{{(.*?)\}}(?:  # fmt: skip)?$"
_TABLE = re.compile(
    r'^(\w+)(?:: [\w.]+)? = [^\n]*\n(?:[ })\]][^\n]*\n)*"""(``.*?)"""', re.MULTILINE | re.DOTALL
)
_COLUMN = re.compile(r'^ *(?:"([^"]+)": )?.*?(?:# (.*))?$')


def columns(module: ModuleType, name: str) -> dict[str, str]:
    """Return what each column of a table means, in the table's order.

    A column's meaning is the comment on its line, after comments that stand alone before it. What
    says nothing is one of ``COMMON``, or an end of an interval, or the same of the full condition.

    Args:
        module: that holds the schema.
        name: of the schema in it.

    Raises:
        KeyError: nothing says what a column means.
    """
    schema: Schema = getattr(module, name)
    commented = _comments(module, name)
    return {column: commented.get(column) or _common(column, schema) for column in schema}


def tables(module: ModuleType) -> dict[str, str]:
    """Return the tables that a schema's module holds, and what each is: file, then its rows."""
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
    """Return the comments on a schema's columns, those of schemas that it takes in too."""
    source = inspect.getsource(module)
    schema = re.search(_SCHEMA.format(name), source, re.MULTILINE | re.DOTALL)
    if schema is None:  # another module's
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
