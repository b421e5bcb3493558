"""Write the generated pages of the reference: every key, every column.

    python docs/generate.py            # docs/reference/configuration.md, docs/reference/tables.md

A test holds the pages to what this writes.
"""

from __future__ import annotations

import importlib
import json
import re
import types
import typing
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from poshgrid import plugins
from poshgrid.config import Config, Section
from poshgrid.tables import columns

PAGES = Path(__file__).parent / "reference"
HEAD = "<!-- Made by docs/generate.py: change the {source}, then run it. -->\n\n"
ROOMS = {
    "corpora": "Text",
    "parsing": "Parses",
    "evidence": "Evidence and conditions",
    "training": "Models",
    "benchmark": "Items",
    "evaluation": "Scores",
    "rules": "Rules",
    "statistics": "Statistics",
    "statistics.measures": "Results of other tasks",
}
PLUGINS = {
    "Readers of corpora": ("sources[].options", "poshgrid.corpora.readers"),
    "Engines of parsers": ("parsers[].options", "poshgrid.parsing.engines"),
    "Architectures": ("learners[].options", "poshgrid.models.architectures"),
    "Readers and generators of suites": ("suites[].options", "poshgrid.benchmark.suites"),
    "Biases": ("biases", "poshgrid.training.biases"),
}


def cell(text: str) -> str:
    """Escape a cell of a table, and make links of the pages that it names."""
    text = text.replace("|", "\\|").replace("<bos>", "`<bos>`")
    return re.sub(r"docs/([a-z-]+)\.md", r"[\1](../\1.md)", text)


def row(*cells: str) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(map(cell, cells))} |\n"


def header(*names: str) -> str:
    """Return the head of a table."""
    return f"| {' | '.join(names)} |\n|{'---|' * len(names)}\n"


def sections(
    kind: type[BaseModel] = Config, place: str = ""
) -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield every part of the configuration: where it stands, and its model."""
    yield place, kind
    for name, field in kind.model_fields.items():
        pending = [(field.annotation, name)]
        for annotation, here in pending:
            if isinstance(annotation, type) and issubclass(annotation, Section):
                yield from sections(annotation, f"{place}.{here}".lstrip("."))
            ending = "[]" * (typing.get_origin(annotation) is list)
            pending += [(part, here + ending) for part in typing.get_args(annotation)]


NAMES = {str: "text", int: "integer", float: "number", bool: "true or false", type(None): "null"}


def kind(annotation: object) -> str:
    """Return the type of a value in words: ``list of text``, ``integer or null``."""
    if hasattr(annotation, "__metadata__"):
        return kind(typing.get_args(annotation)[0])
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(kind, parts)))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "section"
    named = {
        typing.Literal: ", ".join(f"`{part}`" for part in parts),
        list: f"list of {kind(parts[0])}".replace("section", "sections") if parts else "list",
        tuple: f"list of {kind(parts[0])}" if parts else "list",
        dict: "mapping",
    }
    return named.get(origin) or NAMES.get(typing.cast(type, annotation), "any")


def default(field: FieldInfo) -> str:
    """Return a key's default as it is written in YAML."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, BaseModel):
        return "its own"
    return f"`{json.dumps(value, ensure_ascii=False)}`"


def keys(model: type[BaseModel], place: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield the keys of a model: name, type, default, meaning.

    Raises:
        SystemExit: one has no description.
    """
    for name, field in model.model_fields.items():
        if not field.description:
            raise SystemExit(f"{place}.{name}: no description")
        yield f"`{field.alias or name}`", kind(field.annotation), default(field), field.description


def configuration() -> str:
    """Return the page of all keys."""
    text = HEAD.format(source="descriptions of fields in src/poshgrid")
    text += (
        "# Every key\n\n[Configuration](../configuration.md) says how the parts go together. `a.b` "
        "is the key `b` of section `a`, `a[].b` that of each entry of the list `a`. A key that is "
        "left out has its default, which is the paper's value where the paper gives one.\n"
    )
    for place, model in sections():
        about = (model.__doc__ or "").strip().splitlines()[0]
        text += f"\n## {f'`{place}`' if place else 'Top level'}\n\n{cell(about)}\n\n"
        text += header("key", "type", "default", "meaning")
        text += "".join(row(*key) for key in keys(model, place))
    for title, (place, package) in PLUGINS.items():
        text += f"\n## {title}: `{place}`\n\n"
        text += header("word", "option", "type", "default", "meaning")
        for word in plugins.names(package):
            options = getattr(plugins.load(package, word), "Options", plugins.Options)
            for key in list(keys(options, word)) or [("–", "", "", "no options")]:
                text += row(f"`{word}`", *key)
    return text


def tables() -> str:
    """Return the page of all columns."""
    text = HEAD.format(source="comments in the schemas, src/poshgrid/*/schema.py")
    text += (
        "# Every column\n\nTables lie in the folder of results (`results/`). Each is held to its "
        "schema when it is written and when it is read. *null*: no value. "
        "[Files of results](../data.md) says what else the folders hold.\n"
    )
    for room, title in ROOMS.items():
        module = importlib.import_module(f"poshgrid.{room}.schema")
        text += f"\n## {title}\n"
        for name, about in columns.tables(module).items():
            text += f"\n### {name}\n\n{cell(about.replace('``', '`'))}\n\n"
            text += header("column", "type", "meaning")
            meanings = columns.columns(module, name)
            for column, kind in getattr(module, name).items():
                written = str(kind() if isinstance(kind, type) else kind)
                text += row(f"`{column}`", written, meanings[column])
    return text


def pages() -> dict[Path, str]:
    """Return the generated pages and what they hold."""
    return {PAGES / "configuration.md": configuration(), PAGES / "tables.md": tables()}


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
