"""Reading a configuration: every error at once, each with its file, line, path and remedy."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from poshgrid import plugins
from poshgrid.config import Config, yamltext
from poshgrid.errors import PoshgridError, plain
from poshgrid.files import write_text
from poshgrid.grid import coherence, conditions
from poshgrid.grid.grid import Grid

Place = tuple[str | int, ...]
_Tree = tuple[str | Path, yaml.Node | None]  # a file and its nodes
SHOULD = "Input should be "  # how pydantic begins
_TEMPLATE = "__use_yte__"  # the key that has Snakemake run a file as a program of YTE's language
MAX_LINES = 50  # of errors: more of them are one error, made again and again


def load(*paths: str | Path) -> Config:
    """Read configuration files and hold them to the model.

    Args:
        paths: the later change the earlier, as ``snakemake --configfile A B`` does: sections that
            are lists are replaced, others merged.

    Raises:
        PoshgridError: unreadable, not YAML, or wrong; one line for each error.
    """
    from snakemake.utils import update_config

    merged: dict[str, Any] = {}
    for path in paths:
        update_config(merged, read(path))
    return _held(merged, paths).config


def read(path: str | Path) -> dict[str, Any]:
    """Read a configuration file with the safe YAML loader, and run nothing.

    Raises:
        PoshgridError: unreadable, not a mapping in YAML, a key that is there twice, or a program
            for Snakemake's template engine.
    """
    try:
        data = yamltext.read(path)
    except OSError as error:
        raise PoshgridError(
            f"{path}: cannot read: {error.strerror}; name a configuration, as seen from here "
            "(targets stand after --)"
        ) from error
    except UnicodeDecodeError as error:
        raise PoshgridError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or plain(str(error).split("\n")[0], 200)
        raise PoshgridError(f"{path}{line}: not YAML: {problem}; fix that line") from error
    # What the library's constructors let through: 9,999 digits, the 40th of May, !!bool maybe
    except Exception as error:
        reason = plain(f"{type(error).__name__}: {error}", 200)
        raise PoshgridError(f"{path}: a value cannot be read ({reason}); fix it") from error
    if not isinstance(data, dict):
        raise PoshgridError(f"{path}: empty or not a mapping; see config/tiny.yaml for an example")
    if _TEMPLATE in data:
        where = _where((_TEMPLATE,), [(path, _composed(path))])
        raise PoshgridError(
            f"{where}: {_TEMPLATE}: unknown key: with it, the file is a program that Snakemake "
            "runs; write out the values"
        )
    return data


def validate(data: Mapping[str, Any], files: Sequence[str | Path] = ()) -> Grid:
    """Hold a merged configuration to the model; return its grid, which hangs together.

    Args:
        data: the configuration, e.g. Snakemake's ``config``.
        files: the files that it came from, to name file and line in messages; the last wins. They
            are read once more: Snakemake drops keys that are there twice, and runs templates.

    Raises:
        PoshgridError: one line for each error.
    """
    for path in files:
        read(path)
    return _held(data, files)


def _held(data: Mapping[str, Any], files: Sequence[str | Path]) -> Grid:
    where = str(files[-1]) if files else "config"
    plugins.check()
    try:
        config = Config.model_validate(data)
    except ValidationError as error:
        trees = [(path, _composed(path)) for path in files]
        lines = list(dict.fromkeys(_lines(error, data, trees)))
        more = len(lines) - MAX_LINES
        raise PoshgridError(
            *lines[:MAX_LINES], *([f"{where}: and {more:,} more; fix these first"] * (more > 0))
        ) from error
    except RecursionError as error:
        raise PoshgridError(f"{where}: nested too deep; write out what is meant") from error
    try:
        grid = Grid(config)
        _ = grid.planted, grid.given_models
        for target in grid.targets:
            grid.fitted(target)
            if grid.parsed_corpora(target):
                grid.evidence_parsers()
        conditions.check(grid)
        coherence.check(grid)
    except PoshgridError as error:
        told = dict.fromkeys(f"{where}: {line}" for line in error.args)
        raise PoshgridError(*told) from error
    return grid


def schema() -> str:
    """Return the JSON Schema of the configuration, as ``workflow/schemas`` holds it."""
    document = Config.model_json_schema()
    document["$schema"] = "http://json-schema.org/draft-07/schema#"
    document["title"] = "poshgrid configuration"
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def write_schema(path: str | Path) -> None:
    """Write :func:`schema` to a file."""
    write_text(path, schema())


def _lines(
    error: ValidationError, data: Mapping[str, Any], trees: Sequence[_Tree]
) -> Iterator[str]:
    """Yield a line for each error, with the place in its file.

    Of the alternatives of a union, the one is told whose form a value has, or all in one line.
    """
    found: dict[Any, tuple[Place, ErrorDetails, list[str]]] = {}
    inside: set[Place] = set()  # what holds an error of an alternative
    for number, detail in enumerate(error.errors()):
        place = _place(detail, data)
        union = len(place) < len(detail["loc"]) and "[key]" not in detail["loc"]
        key = ("union", place) if union else number
        found.setdefault(key, (place, detail, []))[2].append(detail["msg"])
        inside |= {place[:end] for end in range(len(place)) if union}
    for key, (place, detail, messages) in found.items():
        if not (isinstance(key, tuple) and place in inside):
            where, name = _where(place, trees), plain(_spell(place), 200)
            yield f"{where}: {name or 'config'}: {_message(detail, messages)}"


def _place(detail: ErrorDetails, data: Mapping[str, Any]) -> Place:
    """Return the place of an error, without the names of a union's alternatives."""
    here: Any = data
    place: list[str | int] = []
    for part in detail["loc"]:
        absent = isinstance(here, Mapping) and detail["type"] in ("missing", "value_error")
        if _holds(here, part):
            place.append(part)
            here = here[part]
        elif absent and part == detail["loc"][-1]:  # a key that has its default, or is required
            place.append(part)
    return tuple(place)


def _holds(here: object, part: str | int) -> bool:
    if isinstance(here, Mapping):
        return part in here
    return isinstance(here, list) and isinstance(part, int) and part < len(here)


def _message(detail: ErrorDetails, messages: Sequence[str]) -> str:
    """Return what is wrong with a value, and what may be meant."""
    if detail["type"] == "missing":
        return "missing; add it"
    if detail["type"] in ("model_type", "dict_type"):
        messages = [f"{SHOULD}a mapping"]
    value, shown = detail["input"], _shown(detail["input"])
    message = messages[0].removeprefix("Value error, ")
    if len(messages) > 1:
        words = [each.removeprefix(SHOULD).split(",")[0] for each in messages]
        message = SHOULD + " or ".join(dict.fromkeys(words))
    if not isinstance(value, dict | list) and shown not in message:
        message += f" (is {shown})"
    if isinstance(value, str) and message.startswith(SHOULD):
        near = difflib.get_close_matches(value, re.findall("'([^']+)'", " ".join(messages)), n=1)
        message += f"; did you mean {near[0]!r}?" if near else ""
    return message


def _shown(value: object) -> str:
    try:
        return plain(repr(value), 200)
    except ValueError:  # Python spells no number of more than 4,300 digits
        return "a number of thousands of digits"


def _spell(place: Place) -> str:
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def _composed(path: str | Path) -> yaml.Node | None:
    """Return a file's nodes, which know their lines; none: it has none."""
    try:
        return yaml.compose(Path(path).read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except (OSError, yaml.YAMLError, UnicodeDecodeError, RecursionError):
        return None


def _where(place: Place, trees: Sequence[_Tree]) -> str:
    """Return ``file:line`` of the place or of the nearest above it, or the files' names."""
    deepest, found = 0, str(trees[-1][0]) if trees else "config"
    for path, node in reversed(trees):
        lines = _lines_of(node, place)
        if len(lines) > deepest:
            deepest, found = len(lines), f"{path}:{lines[-1]}"
            if any(isinstance(part, int) for part in place[:deepest]):
                break  # lists are replaced, so that those of earlier files say nothing
    return found


def _lines_of(node: yaml.Node | None, place: Place) -> list[int]:
    """Return the line of each part of a place, as far as the file has it."""
    lines: list[int] = []
    for part in place:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == str(part)), None)
            if pair is None:
                break
            node = pair[1]
            lines.append(pair[0].start_mark.line + 1)
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            if part >= len(node.value):
                break
            node = node.value[part]
            lines.append(node.start_mark.line + 1)
        else:
            break
    return lines
