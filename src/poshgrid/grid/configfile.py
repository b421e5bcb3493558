"""Reading a configuration: every error at once, each with its file, line, path and remedy."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from poshgrid import plugins
from poshgrid.config import Config, yamltext
from poshgrid.config.base import known_keys
from poshgrid.errors import PoshgridError, plain
from poshgrid.files import write_text
from poshgrid.grid import coherence, conditions
from poshgrid.grid.grid import Grid

Place = tuple[str | int, ...]
_Tree = tuple[str | Path, yaml.Node | None]  # a file and its nodes
SHOULD = "Input should be "  # how pydantic begins
_TEMPLATE = "__use_yte__"  # the key that has Snakemake run a file as a program of YTE's language
_TOLD = 50  # mistakes: who has made more has made one of them again and again


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
        data = yamltext.parse(yamltext.read(path))
    except OSError as error:
        raise PoshgridError(
            f"{path}: cannot read: {error.strerror}; name a configuration, as seen from here"
        ) from error
    except UnicodeDecodeError as error:
        raise PoshgridError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or plain(str(error).split("\n")[0], 200)
        raise PoshgridError(f"{path}{line}: not YAML: {problem}; mend that line") from error
    except yamltext.UnboundedError as error:
        raise PoshgridError(f"{path}{error}; write out what is meant") from error
    except RecursionError as error:
        raise PoshgridError(f"{path}: nested too deep; mend its brackets") from error
    # What the library's constructors let through: 9,999 digits, the 40th of May, !!bool maybe
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        reason = plain(f"{type(error).__name__}: {error}", 200)
        raise PoshgridError(f"{path}: a value is not of its type ({reason}); mend it") from error
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
        mistakes = list(_chosen(_located(detail, data) for detail in error.errors()))
        trees = [(path, _composed(path)) for path in files]
        lines = dict.fromkeys(_line(mistake, trees) for mistake in mistakes[:_TOLD])
        if len(mistakes) > _TOLD:
            lines[f"{where}: and {len(mistakes) - _TOLD:,} more; mend these first"] = None
        raise PoshgridError(*lines) from error
    except RecursionError as error:
        raise PoshgridError(f"{where}: nested too deep; write out what is meant") from error
    try:
        grid = Grid(config)
        _ = grid.planted, grid.given_models
        for target in grid.targets:
            grid.fitted(target)
            if grid.parsed_bases(target):
                grid.evidence_parsers()
        conditions.check(grid)
        coherence.check(grid)
    except PoshgridError as error:
        told = dict.fromkeys(f"{where}: {line}" for line in error.args)
        raise PoshgridError(*told) from error
    return grid


def check_results(results: str) -> None:
    """Refuse a results folder that cannot be written, before any job is started.

    Raises:
        PoshgridError: it, or the folder that it would be made in, is no folder or is read-only.
    """
    folder = Path(results).absolute()
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    where = results if nearest == folder else f"{results}: {nearest}"
    choose = "choose another folder with --config results=FOLDER"
    if not nearest.is_dir():
        raise PoshgridError(f"results: {where} is not a folder; {choose}")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise PoshgridError(
            f"results: {where} cannot be written; change its permissions or {choose}"
        )


def schema() -> str:
    """Return the JSON Schema of the configuration, as ``workflow/schemas`` holds it."""
    document = Config.model_json_schema()
    document["$schema"] = "http://json-schema.org/draft-07/schema#"
    document["title"] = "poshgrid configuration"
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def write_schema(path: str | Path) -> None:
    """Write :func:`schema` to a file."""
    write_text(path, schema())


@dataclass(frozen=True)
class _Mistake:
    """What pydantic found wrong, at its place in the file."""

    kind: str
    """Pydantic's word for it."""
    message: str
    value: Any
    place: Place
    union: Place | None
    """Where alternatives are, one of which refuses the value with this message; none: nowhere."""
    model: type[BaseModel] | None
    """What the last part of the place should be a key of."""


def _located(detail: ErrorDetails, data: Mapping[str, Any]) -> _Mistake:
    """Return an error at its place in the file.

    Pydantic's own place has the names of the alternatives of a union, which no file holds.
    """
    here: Any = data
    models: list[type[BaseModel]] = [Config]  # whose keys may be here
    place: Place = ()
    model, union = None, None
    for part in detail["loc"]:
        own = next((each for each in models if part in each.model_fields), None)
        last = part == detail["loc"][-1] and detail["type"] == "missing"  # of an option, say
        if not (own or last or _holds(here, part)):
            # A key that is wrong itself is at its own place, and no alternative
            union = place if union is None and part != "[key]" else union
            continue
        place = (*place, part)
        if isinstance(part, str):
            model = own or next(iter(models), None)
            models = list(_models(own.model_fields[part].annotation)) if own else []
        here = here[part] if _holds(here, part) else None
    message = detail["msg"].removeprefix("Value error, ")
    if detail["type"] in ("model_type", "dict_type"):
        message = "Input should be a mapping"
    return _Mistake(detail["type"], message, detail["input"], place, union, model)


def _holds(here: object, part: str | int) -> bool:
    if isinstance(here, Mapping):
        return part in here
    return isinstance(here, list) and isinstance(part, int) and part < len(here)


def _chosen(mistakes: Iterable[_Mistake]) -> Iterator[_Mistake]:
    """Yield what to tell: of the alternatives of a union, the one that was meant, or all as one."""
    found: dict[Any, list[_Mistake]] = {}
    for number, each in enumerate(mistakes):
        found.setdefault(number if each.union is None else each.union, []).append(each)
    for members in found.values():
        # What has the form of an alternative is told what that one lacks.
        if meant := [each for each in members if each.place != each.union]:
            yield from meant
            continue
        asked = [each.message.removeprefix(SHOULD).split(",")[0] for each in members]
        yield replace(members[0], message=SHOULD + " or ".join(dict.fromkeys(asked)))


def _line(mistake: _Mistake, trees: Sequence[_Tree]) -> str:
    where, name = _where(mistake.place, trees), plain(_spell(mistake.place), 200)
    if mistake.kind == "extra_forbidden":
        meant = known_keys(mistake.place[-1], mistake.model) if mistake.model else ""
        return f"{where}: {name}: unknown key{meant}"
    if mistake.kind == "missing":
        return f"{where}: {name}: missing; add it"
    message, value = mistake.message, mistake.value
    shown = _shown(value)
    told = mistake.kind == "value_error" and shown in message
    if not isinstance(value, dict | list) and not told:
        message += f" (is {shown})"
    if isinstance(value, str) and message.startswith(SHOULD):
        words = re.findall("'([^']+)'", mistake.message)
        near = difflib.get_close_matches(value, words, n=1)
        message += f"; did you mean {near[0]!r}?" if near else ""
    return f"{where}: {name or 'config'}: {message}"


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


def _models(annotation: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401 - any annotation
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _composed(path: str | Path) -> yaml.Node | None:
    """Return a file's nodes, which know their lines; none: it has none."""
    try:
        text = yamltext.read(path)
        return yaml.compose(text, Loader=yaml.SafeLoader)
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
