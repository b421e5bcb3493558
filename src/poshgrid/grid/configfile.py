"""Read a configuration: report all errors at once, each with its file, line, key and remedy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from poshgrid.config import Config, known, yamltext
from poshgrid.core import errors, plugins
from poshgrid.core.errors import ConfigError, Place, PoshgridError, Problem, did_you_mean, plain
from poshgrid.grid import coherence
from poshgrid.grid.grid import Grid

_Tree = tuple[str | Path, yaml.Node | None]  # a file and its YAML nodes
MUST, QUOTES = "must be ", "'\""
_EXPECTED = {
    "int_from_float": "a whole number", "int_": "a whole number", "float_": "a number",
    "bool_": "true or false", "list_type": "a list", "string_type": "text",
    "dict_type": "keys with values", "model_type": "keys with values",
}  # fmt: skip
"""Beginning of pydantic's error type -> what it expects; the first that matches."""
_TEMPLATE = "__use_yte__"  # key that makes Snakemake run a file as a YTE template
_YAML = "fix that line or the one above (`key: value`, indented by spaces like its neighbours)"
MAX_LINES = 50  # largest number of errors shown; more are usually one repeated error


def load(*paths: str | Path) -> Config:
    """Read configuration files and check them.

    Args:
        paths: later files change earlier ones, as in ``snakemake --configfile A B``: sections that
            are lists are replaced, others merged.

    Raises:
        PoshgridError: unreadable, not YAML, or wrong; one line for each error.
    """
    from snakemake.utils import update_config

    merged: dict[str, Any] = {}
    for path in paths:
        update_config(merged, read(path))
    return _checked(merged, paths).config


def read(path: str | Path) -> dict[str, Any]:
    """Read a configuration file with the safe YAML loader, which runs no code.

    Raises:
        PoshgridError: unreadable, not a mapping in YAML, a repeated key, or a program for
            Snakemake's template engine.
    """
    try:
        data = yamltext.read(path)
    except OSError as error:
        raise PoshgridError(
            f"{path}: cannot read: {error.strerror}{errors.similar_file(Path(path))}; name a "
            "configuration, as seen from here (targets: after --target, or -- of `poshgrid run`)"
        ) from error
    except UnicodeDecodeError as error:
        raise PoshgridError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or plain(str(error).split("\n")[0], 200)
        raise PoshgridError(f"{path}{line}: not YAML: {problem}; {_YAML}") from error
    # Other errors in the library's constructors: 9,999 digits, the 40th of May, !!bool maybe
    except Exception as error:
        reason = plain(f"{type(error).__name__}: {error}", 200)
        raise PoshgridError(f"{path}: a value cannot be read ({reason}); fix it") from error
    if not isinstance(data, dict):
        raise PoshgridError(f"{path}: no keys with values; docs/configuration.md has an example")
    if _TEMPLATE in data:
        where = _where((_TEMPLATE,), [(path, _composed(path))])
        raise PoshgridError(
            f"{where}: {_TEMPLATE}: unknown key: with it, the file is a program that Snakemake "
            "runs; write out the values"
        )
    return data


def validate(data: Mapping[str, Any], files: Sequence[str | Path] = ()) -> Grid:
    """Check a merged configuration, and return its grid.

    Args:
        data: the configuration, e.g. Snakemake's ``config``.
        files: the files that it came from, for messages; the last one takes precedence. They are
            read again, because Snakemake drops repeated keys and runs templates.

    Raises:
        PoshgridError: one line for each error.
    """
    for path in files:
        read(path)
    return _checked(data, files)


def _checked(data: Mapping[str, Any], files: Sequence[str | Path]) -> Grid:
    where = str(files[-1]) if files else "config"
    plugins.check()
    try:
        grid = Grid(Config.model_validate(data, context=known.defined(data)))
        coherence.check(grid)
        return grid
    except ValidationError as error:
        problems = list(_problems(error, data))
    except ConfigError as error:
        problems = error.problems
    except RecursionError as error:
        raise PoshgridError(f"{where}: nested too deep; write out what is meant") from error
    trees = [(path, _composed(path)) for path in files]
    lines = [f"{_where(key, trees)}: {_spell(key)}: {problem}" for key, problem in problems]
    lines = list(dict.fromkeys(lines))
    if (more := len(lines) - MAX_LINES) > 0:
        lines[MAX_LINES:] = [f"{where}: and {more:,} more; fix these first"]
    raise PoshgridError(*lines)


def schema() -> str:
    """Return the JSON Schema of the configuration, as in ``workflow/schemas``."""
    document = Config.model_json_schema()
    document["$schema"] = "http://json-schema.org/draft-07/schema#"
    document["title"] = "poshgrid configuration"
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def _problems(error: ValidationError, data: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield pydantic's errors, each at its place.

    Of the alternatives of a union, only the one whose form the value has is reported, or all in one
    line.
    """
    problems: dict[Any, tuple[Place, ErrorDetails, list[str]]] = {}
    inside: set[Place] = set()  # places above an error of an alternative
    for number, detail in enumerate(error.errors()):
        keys = _place(detail, data)
        union = len(keys) < len(detail["loc"]) and "[key]" not in detail["loc"]
        same = ("union", keys) if union else number
        problems.setdefault(same, (keys, detail, []))[2].append(_expected(detail))
        inside |= {keys[:end] for end in range(len(keys)) if union}
    for same, (keys, detail, messages) in problems.items():
        if not (isinstance(same, tuple) and keys in inside):
            yield keys, _message(detail, messages)


def _place(detail: ErrorDetails, data: Mapping[str, Any]) -> Place:
    """Return the place of an error, without the names of a union's alternatives."""
    here: Any = data
    keys: list[str | int] = []
    for part in detail["loc"]:
        absent = isinstance(here, Mapping) and detail["type"] in ("missing", "value_error")
        if _holds(here, part):
            keys.append(part)
            here = here[part]
        elif absent and part == detail["loc"][-1]:  # a key that has its default, or is required
            keys.append(part)
    return tuple(keys)


def _holds(here: object, part: str | int) -> bool:
    if isinstance(here, Mapping):
        return part in here
    return isinstance(here, list) and isinstance(part, int) and part < len(here)


def _expected(detail: ErrorDetails) -> str:
    """Return what a value must be, in terms of YAML."""
    for kind, words in _EXPECTED.items():
        if detail["type"].startswith(kind):
            return f"{MUST}{words}"
    message = detail["msg"].removeprefix("Value error, ")
    return message.replace("Input should be ", MUST).replace("Input should have", "must have")


def _message(detail: ErrorDetails, messages: Sequence[str]) -> str:
    """Return what is wrong with a value, and what to write."""
    value, message = detail["input"], messages[0]
    if detail["type"] == "missing":
        return "missing; add it"
    if value in ("", []) or (value is None and message.startswith(MUST)):
        return "is empty; write a value after the colon, or remove the key if it has a default"
    if other := [text for text in messages if not text.startswith(MUST)]:
        message = other[0]
    elif len(messages) > 1:
        words = [text.removeprefix(MUST).split(",")[0] for text in messages]
        message = MUST + " or ".join(dict.fromkeys(words))
    shown = _shown(value)
    quoted = re.findall("'([^']+)'", " ".join(messages))
    near = did_you_mean(value, quoted) if isinstance(value, str) else ""
    if detail["type"] == "list_type" and not near.endswith("?"):
        message += (
            "; begin each entry with `- `"
            if isinstance(value, dict)
            else f"; write [{shown.strip(QUOTES)}]"
        )
    elif detail["type"] == "string_type" and isinstance(value, list):
        message += "; write one, without brackets or `- `"
    elif detail["type"] == "string_type" and not isinstance(value, dict):
        message += f"; write it in quotes: '{shown.strip(QUOTES)}'"
    elif isinstance(value, str | int | float) and shown not in message:
        message += f" (is {shown})"
    if message.startswith(MUST) and "known" not in near:  # the message has the known words
        message += near
    return message


def _shown(value: object) -> str:
    try:
        return plain(repr(value), 200)
    except ValueError:  # Python cannot write numbers of more than 4,300 digits
        return "a number of thousands of digits"


def _spell(key: Place) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key)
    return plain(text.removeprefix("."), 200) or "config"


def _composed(path: str | Path) -> yaml.Node | None:
    """Return a file's YAML nodes, which have line numbers; None if it cannot be read."""
    try:
        return yaml.compose(Path(path).read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except (OSError, yaml.YAMLError, UnicodeDecodeError, RecursionError):
        return None


def _where(key: Place, trees: Sequence[_Tree]) -> str:
    """Return ``file:line`` of a place or of the nearest one above it, or the files' names."""
    deepest, line = 0, str(trees[-1][0]) if trees else "config"
    for path, node in reversed(trees):
        lines = _lines_of(node, key)
        if len(lines) > deepest:
            deepest, line = len(lines), f"{path}:{lines[-1]}"
            if any(isinstance(part, int) for part in key[:deepest]):
                break  # lists are replaced, so those in earlier files do not matter
    return line


def _lines_of(node: yaml.Node | None, key: Place) -> list[int]:
    """Return the line of each part of a place, as far as the file has it."""
    lines: list[int] = []
    for part in key:
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
