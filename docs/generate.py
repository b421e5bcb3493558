"""Write the pages of the reference (keys, columns, filters ...) and the JSON Schema.

    python docs/generate.py            # docs/reference/*.md, workflow/schemas

A test compares the pages with what this writes.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
import re
import types
import typing
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from poshgrid.config import Config, Section
from poshgrid.core import columns, plugins, resources
from poshgrid.corpora.catalogue import manifest
from poshgrid.evidence import patterns
from poshgrid.grid import configfile
from poshgrid.stages import STAGES

PAGES = Path(__file__).parent / "reference"
SCHEMA = Path(__file__).parents[1] / "workflow/schemas/config.schema.json"
HEAD = "<!-- Made by docs/generate.py: change the {source}, then run it. -->\n\n"
MAX_FILES_LISTED = 3
ROOMS = {
    "corpora": "Text",
    "parsing": "Parses",
    "evidence": "Evidence and conditions",
    "models.training": "Models",
    "benchmark": "Items",
    "evaluation": "Scores",
    "evaluation.heuristics": "Heuristics",
    "statistics": "Statistics",
    "statistics.measures": "Results of other tasks",
}
PLUGINS = {
    "Readers of corpora": ("sources[].options", "poshgrid.corpora.readers"),
    "Engines of parsers": ("parsers[].options", "poshgrid.parsing.engines"),
    "Architectures": ("models[].options", "poshgrid.models.architectures"),
    "Readers and generators of suites": ("suites[].options", "poshgrid.benchmark.suites"),
    "Biases": ("biases", "poshgrid.models.biases"),
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


def as_markdown(docstring: str) -> str:
    """Return a docstring as Markdown: code in single backquotes, tables and code as they are."""
    text = re.sub(r"::\n", ":\n", docstring.strip())
    text = re.sub(r"(?sm)^(==[= ]+\n.*?\n==[= ]+\n.*?\n==[= ]+)$", r"```text\n\1\n```", text)
    text = re.sub(r":(?:class|func|data|mod|meth):`([^`]+)`", r"`\1`", text)
    return linked(re.sub(r"(?<!`)``(?!`)", "`", text))


def filters() -> str:
    """Return the page of all filters: what each removes, in every reading."""
    text = HEAD.format(source="docstrings and patterns in src/poshgrid/evidence/filters")
    text += (
        "# Every filter\n\n[Filters](../filters.md) says what readings and backstops are. "
        "A rule is a pattern or several patterns, of which one is enough; all lines of a pattern "
        "must hold.\n\n## The notation\n\n"
    )
    text += as_markdown((patterns.__doc__ or "").partition("\n\n")[2])
    contract = importlib.import_module(plugins.FILTERS).__doc__ or ""
    text += f"\n\n## A filter of your own\n\n{as_markdown(contract)}\n"
    for word in plugins.names(plugins.FILTERS):
        module = plugins.load(plugins.FILTERS, word)
        text += f"\n## {word}\n\n{as_markdown(module.__doc__ or '')}\n\n"
        text += f"- readings: {', '.join(f'`{reading}`' for reading in module.READINGS)}\n"
        if targets := getattr(module, "TARGETS", ()):
            text += f"- targets: {', '.join(f'`{target}`' for target in targets)}\n"
        for reading, rules in getattr(module, "PATTERNS", {}).items():
            written = "\n".join(f"{rule.rule}:\n{indented(rule.text)}" for rule in rules)
            text += f"\n`{reading}`:\n\n```\n{written}\n```\n"
    return text


def indented(text: str) -> str:
    """Return a text with four spaces before each line."""
    return "\n".join(f"    {line.strip()}" for line in text.splitlines())


def parts() -> str:
    """Return the page of plug-ins that a configuration names: what each is, reads and needs."""
    text = HEAD.format(source="docstrings of the modules")
    text += (
        "# Every reader, engine, model and bias\n\nWhat each plug-in is. Their options are in "
        "[every key](configuration.md), filters and heuristics on pages of their own.\n"
    )
    for title, (_, package) in PLUGINS.items():
        contract = importlib.import_module(package).__doc__ or ""
        text += f"\n## {title}\n\n{as_markdown(contract)}\n"
        for word in plugins.names(package):
            text += f"\n### {word}\n\n{as_markdown(plugins.load(package, word).__doc__ or '')}\n"
    return text


METHODS = {
    "Tests against 50%": ("statistics.tests", ("chi_square", "combine_seeds", "holm")),
    "Intervals of an accuracy": ("statistics.intervals", ()),
    "Agreement with heuristics": ("statistics.agreement", ()),
    "Formulas of regressions": ("config.formula", ()),
    "Before a run": ("statistics.power", ()),
    "Paradigms": ("statistics.measures.paradigms", ()),
    "Choices and completions": ("statistics.measures.choices", ()),
    "Norms": ("statistics.measures.norms", ()),
    "Audits": ("quality.audit.draw", ()),
    "Scoring left to right": ("evaluation.engines.causal", ()),
    "Scoring of masked models": ("evaluation.engines.masked", ()),
    "Probes of a model": ("evaluation.engines.probe", ()),
}
"""Title -> a module, and functions of it whose docstrings say how something is computed."""


def methods() -> str:
    """Return the page of methods: what modules say of how they compute, with their sources."""
    text = HEAD.format(source="docstrings of the modules")
    text += (
        "# Every method\n\nHow numbers are computed, as the code says it, with sources. "
        "[Statistics](../statistics.md) says what they mean.\n"
    )
    for title, (name, functions) in METHODS.items():
        module = importlib.import_module(f"poshgrid.{name}")
        text += f"\n## {title}\n\n{as_markdown(module.__doc__ or '')}\n"
        for function in functions:
            words = inspect.getdoc(getattr(module, function)) or ""
            text += f"\n`{function}`: {as_markdown(re.split('(?m)^Args:', words)[0])}\n"
    return text


def stages() -> str:
    """Return the page of all stages: what each does, and the files that it writes."""
    text = HEAD.format(source="declarations in src/poshgrid/stages")
    text += (
        "# Every stage\n\nEach is a rule of Snakemake, in this order. Below `results/`; a manifest "
        "lies beside each result. [Files of results](../data.md) says more of some.\n\n"
    )
    for name, stage in STAGES.items():
        output = str(stage.output).removeprefix("{results}/")
        declared = stage.outputs if isinstance(stage.outputs, Sequence) else ()
        written = ", ".join(f"`{file}`" for file in declared)
        place = f"`{output}{'/' * bool(written)}`" + f": {written}" * bool(written)
        about = (stage.__doc__ or "").splitlines()[0]
        text += f"- **{name}**: {about} {place}\n"
    return text


DESIGNS = {"templates": "Pairs", "factorial": "Factorial sets"}


def items() -> str:
    """Return the page of all phenomena that are generated: what their members look like."""
    text = HEAD.format(source="comments at the top of resources/{templates,factorial}")
    text += (
        "# Every design of items\n\n[Items](../benchmark.md) says how pairs are made of these "
        "designs. (yes) and (no): both members are grammatical, or neither is.\n"
    )
    for folder, title in DESIGNS.items():
        text += f"\n## {title}\n"
        for path in sorted(resources.path(folder).glob("*.yaml")):
            text += f"\n### {path.stem}\n\n{comment(path.read_text(encoding='utf-8'))}\n"
    return text


def comment(source: str) -> str:
    """Return the comment that a YAML file begins with: indented lines are examples."""
    lines = list(itertools.takewhile(lambda line: line.startswith("#"), source.splitlines()))
    text = ""
    for is_example, group in itertools.groupby(lines, lambda line: line.startswith("#   ")):
        if is_example:
            text += "\n```text\n" + "\n".join(line[4:] for line in group) + "\n```\n\n"
        else:
            words = " ".join(line.removeprefix("#").strip() or "\n\n" for line in group)
            text += re.sub(r" *\n\n *", "\n\n", words) + "\n"
    return text.strip()


def heuristics() -> str:
    """Return the page of all heuristics."""
    text = HEAD.format(source="`SAYS` of the modules in src/poshgrid/evaluation/heuristics/choices")
    text += (
        "# Every heuristic\n\n[Heuristics](../statistics.md#heuristics) says how a model is "
        "compared with them. *Hierarchical*: it stands for the generalisation itself.\n\n"
    )
    text += as_markdown(importlib.import_module(plugins.HEURISTICS).__doc__ or "") + "\n\n"
    for word in plugins.names(plugins.HEURISTICS):
        module = plugins.load(plugins.HEURISTICS, word)
        kind = ", hierarchical" if getattr(module, "HIERARCHICAL", False) else ""
        more = " ".join((module.__doc__ or "").partition("\n\n")[2].split())
        text += f"- `{word}`{kind}: {module.SAYS}{'. ' * bool(more)}{more}\n"
    return text


def sources() -> str:
    """Return the page of all sources: licence, access, reader and download of each."""
    text = HEAD.format(source="file resources/sources.yaml")
    text += (
        "# Every source and suite\n\nNone is part of this repository; each has its own licence. "
        "[Sources](../sources.md) says how to use them.\n"
    )
    for entry in (*manifest().sources, *manifest().suites):
        formats = ", ".join(f"reader `{f.reader}` for `{f.path}`" for f in entry.formats)
        text += f"\n## {entry.name}\n\n{entry.title}. <{entry.homepage}>\n\n"
        text += f"- licence: {entry.licence} (<{entry.licence_url}>)\n"
        text += f"- access: {entry.access}\n- get: {' '.join(entry.get.split())}\n"
        text += f"- files below `data`: {formats}\n"
        names = [f"`{d.file}`{'' if d.default else ' (with `--file`)'}" for d in entry.downloads]
        if len(names) > MAX_FILES_LISTED:
            names = [f"{len(names)} files such as {names[0]}"]
        if names:
            text += f"- `poshgrid fetch {entry.name}` downloads {', '.join(names)}\n"
    return text


def pages() -> dict[Path, str]:
    """Return the generated pages and what they hold."""
    made = (configuration, tables, filters, heuristics, items, parts, methods, sources, stages)
    return {PAGES / f"{page.__name__}.md": page() for page in made} | {SCHEMA: configfile.schema()}


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
