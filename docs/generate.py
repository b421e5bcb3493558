"""Write the generated pages of the reference (every key, every column) and the JSON Schema.

    python docs/generate.py   # docs/reference/configuration.md, tables.md; the JSON Schema

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
from poshgrid.grid import configfile
from poshgrid.tables import columns

PAGES = Path(__file__).parent / "reference"
SCHEMA = Path(__file__).parents[1] / "workflow/schemas/config.schema.json"
HEAD = "<!-- Made by docs/generate.py: change the {source}, then run it. -->\n\n"
ROOMS = {
    "corpora": "Text",
    "parsing": "Parses",
    "evidence": "Evidence and conditions",
    "training": "Models",
    "benchmark": "Items",
    "evaluation": "Scores",
    "heuristics": "Heuristics",
    "statistics": "Statistics",
    "statistics.measures": "Results of other tasks",
}
PLUGINS = {
    "Readers of corpora": ("sources[].options", "poshgrid.corpora.readers"),
    "Engines of parsers": ("parsers[].options", "poshgrid.parsing.engines"),
    "Architectures": ("models[].options", "poshgrid.models.architectures"),
    "Readers and generators of suites": ("suites[].options", "poshgrid.benchmark.suites"),
    "Biases": ("biases", "poshgrid.training.biases"),
}


def linked(text: str) -> str:
    """Make links of the pages that a text names."""
    return re.sub(r"docs/([a-z-]+)\.md", r"[\1](../\1.md)", text)


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


NAMES = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "true or false",
    type(None): "null",
}


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


def value(field: FieldInfo) -> str:
    """Return what stands in brackets after a key: its type, its default, or ``required``."""
    if field.is_required():
        return f"{kind(field.annotation)}, required"
    default = field.get_default(call_default_factory=True)
    first = default[0] if isinstance(default, list) and default else default
    if default in (None, [], {}) or isinstance(first, BaseModel):
        return kind(field.annotation)
    written = f"`{json.dumps(default, ensure_ascii=False)}`"
    if typing.get_origin(field.annotation) is typing.Literal:
        words = [f"`{word}`" for word in typing.get_args(field.annotation) if word != default]
        return ", ".join([f"`{default}`", *words])
    plain = isinstance(default, bool | str) or kind(field.annotation) in ("integer", "number")
    return written if plain else f"{kind(field.annotation)}; {written}"


def keys(model: type[BaseModel], place: str) -> Iterator[str]:
    """Yield a line for each key of a model: name, type and default, meaning.

    Raises:
        SystemExit: one has no description.
    """
    for name, field in model.model_fields.items():
        if not field.description:
            raise SystemExit(f"{place}.{name}: no description")
        meaning = " ".join(field.description.split()).removesuffix(".")
        about = linked(f"({value(field)}): {meaning}")
        yield f"`{field.alias or name}` {about}"


def configuration() -> str:
    """Return the page of all keys."""
    text = HEAD.format(source="descriptions of fields in src/poshgrid")
    text += (
        "# Every key\n\n[Configuration](../configuration.md) says how the parts go together. `a.b` "
        "is the key `b` of section `a`, `a[].b` that of each entry of the list `a`. In brackets: "
        "the default, or the type of what is null or empty by default; of several words the first "
        "is the default. Defaults are the paper's values where it gives one.\n"
    )
    known: dict[type[BaseModel], str] = {}
    for place, model in sections():
        about = linked((model.__doc__ or "").strip().splitlines()[0])
        text += f"\n## {f'`{place}`' if place else 'Top level'}\n\n{about}\n\n"
        if model in known:
            text += f"Keys: those of `{known[model]}`.\n"
            continue
        known[model] = place
        text += "".join(f"- {key}\n" for key in keys(model, place))
    for title, (place, package) in PLUGINS.items():
        text += f"\n## {title}: `{place}`\n\n"
        options: dict[str, list[str]] = {}
        for word in plugins.names(package):
            model = getattr(plugins.load(package, word), "Options", plugins.Options)
            for key in list(keys(model, word)) or ["no options"]:
                options.setdefault(key, []).append(f"`{word}`")
        groups: dict[str, list[str]] = {}
        for key, words in options.items():
            groups.setdefault(", ".join(words), []).append(key)
        for words, lines in groups.items():
            text += f"\n{words}:\n\n" if lines != ["no options"] else f"\n{words}: no options\n"
            text += "".join(f"- {line}\n" for line in lines if line != "no options")
    return text.replace("\n\n\n", "\n\n")


def tables() -> str:
    """Return the page of all columns."""
    text = HEAD.format(source="comments in the schemas, src/poshgrid/*/schema.py")
    text += (
        "# Every column\n\nTables lie in the folder of results (`results/`). Each is compared with "
        "its schema when it is written and when it is read. *null*: no value. "
        "[Files of results](../data.md) says what else the folders hold.\n"
    )
    for room, title in ROOMS.items():
        module = importlib.import_module(f"poshgrid.{room}.schema")
        text += f"\n## {title}\n"
        for name, about in columns.tables(module).items():
            text += f"\n### {name}\n\n{linked(about.replace('``', '`'))}\n\n"
            meanings = columns.columns(module, name)
            for column, kind in getattr(module, name).items():
                written = str(kind() if isinstance(kind, type) else kind)
                text += f"- `{column}` ({written}): {linked(meanings[column])}\n"
    return text


def pages() -> dict[Path, str]:
    """Return the generated pages and what they hold."""
    return {
        PAGES / "configuration.md": configuration(),
        PAGES / "tables.md": tables(),
        SCHEMA: configfile.schema(),
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
