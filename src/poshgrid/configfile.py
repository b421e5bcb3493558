"""Reading a configuration: every error at once, each with its file, line, path and remedy."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from poshgrid import plugins, specs
from poshgrid.config import Config
from poshgrid.errors import PoshgridError
from poshgrid.files import write_text
from poshgrid.grid import Grid
from poshgrid.slices import Slices
from poshgrid.training import bias, learner

Place = tuple[str | int, ...]

# Section -> the key that names a plug-in, and where plug-ins of that kind are
_PLUGINS = {
    "sources": ("reader", "poshgrid.corpora.readers"),
    "parsers": ("engine", "poshgrid.parsing.engines"),
    "learners": ("architecture", "poshgrid.models.architectures"),
    "suites": ("reader", "poshgrid.benchmark.suites"),
}


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
        update_config(merged, _read(path))
    return validate(merged, paths).config


def _read(path: str | Path) -> dict[str, Any]:
    try:
        text = Path(path).read_text(encoding="utf-8")
        data = yaml.safe_load(text)
    except OSError as error:
        raise PoshgridError(f"{path}: cannot read: {error.strerror}; give --configfile") from error
    except UnicodeDecodeError as error:
        raise PoshgridError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "cannot be parsed"
        raise PoshgridError(f"{path}{line}: not YAML: {problem}; mend that line") from error
    if not isinstance(data, dict):
        raise PoshgridError(f"{path}: empty or not a mapping; see config/tiny.yaml for an example")
    return data


def validate(data: Mapping[str, Any], files: Sequence[str | Path] = ()) -> Grid:
    """Hold a merged configuration to the model; return its grid, which hangs together.

    Args:
        data: the configuration, e.g. Snakemake's ``config``.
        files: the files that it came from, to name file and line in messages; the last wins.

    Raises:
        PoshgridError: one line for each error.
    """
    try:
        config = Config.model_validate(data)
    except ValidationError as error:
        lines = [_line(detail, data, files) for detail in error.errors()]
        raise PoshgridError("\n".join(lines)) from error
    try:
        grid = Grid(config)
        _ = grid.planted
        for target in grid.targets:
            grid.fitted(target)
            if grid.parsed_bases(target):
                grid.evidence_parsers()
        _check_training(grid)
    except PoshgridError as error:
        where = str(files[-1]) if files else "config"
        raise PoshgridError(f"{where}: {error}") from error
    return grid


def _check_training(grid: Grid) -> None:
    """Hold every learner to the regimen and the bias that it is trained in and with."""
    slices = Slices(grid)
    kinds = {(r.learner, r.regimen, r.bias): r for found in grid.targets.values() for r in found}
    for _, run in sorted(kinds.items()):
        spec = specs.parse(specs.TrainSpec, slices.train(run))
        if spec.regimen:
            learner.check(spec.learner, spec.regimen)
        bias.check(spec)


def check_results(results: str) -> None:
    """Refuse a results folder that cannot be written, before any job is started.

    Raises:
        PoshgridError: it, or the folder that it would be made in, is no folder or is read-only.
    """
    folder = Path(results).absolute()
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        problem = "cannot be written" if nearest.is_dir() else "is not a folder"
        raise PoshgridError(
            f"results: {results}: {nearest} {problem}; change its permissions or choose another "
            "folder with --config results=FOLDER"
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


def _line(detail: ErrorDetails, data: Mapping[str, Any], files: Sequence[str | Path]) -> str:
    place = tuple(part for part in detail["loc"] if not _is_tag(part, data, detail["loc"]))
    place = _in_options(place, data)
    where = _where(place, files)
    name = _spell(place)
    if detail["type"] == "extra_forbidden":
        return f"{where}: {name}: unknown key{_near(place, data)}"
    if detail["type"] == "missing":
        return f"{where}: {name}: missing; add it"
    message = detail["msg"].removeprefix("Value error, ")
    shown = detail["input"]
    value = f" (is {shown!r})" if not isinstance(shown, dict | list) else ""
    return f"{where}: {name or 'config'}: {message}{value}"


def _is_tag(part: str | int, data: Mapping[str, Any], loc: Place) -> bool:
    """Say whether pydantic put a union member's name, which the file does not hold, in a place."""
    if not isinstance(part, str):
        return False
    here: Any = data
    for step in loc:
        if step == part:
            return not (isinstance(here, dict)) and part != loc[-1]
        try:
            here = here[step]
        except (KeyError, IndexError, TypeError):
            continue
    return False


def _spell(place: Place) -> str:
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def _in_options(place: Place, data: Mapping[str, Any]) -> Place:
    """Return the place of a plug-in's option, which pydantic reports without ``options``."""
    if len(place) == 3 and place[0] in _PLUGINS:
        section = data[place[0]][place[1]]
        if place[2] not in section and place[2] in section.get("options", {}):
            return (*place[:2], "options", place[2])
    return place


def _near(place: Place, data: Mapping[str, Any]) -> str:
    *parents, key = place
    model: Any = Config
    if len(place) == 4 and place[2] == "options":
        word, package = _PLUGINS[str(place[0])]
        section = data[place[0]][place[1]]
        default = next(_models(model.model_fields[place[0]].annotation)).model_fields[word].default
        model = getattr(plugins.load(package, section.get(word, default)), "Options", None)
        parents = []
    for part in parents:
        if isinstance(part, str) and isinstance(model, type) and issubclass(model, BaseModel):
            field = model.model_fields.get(part)
            model = next(_models(field.annotation), None) if field else None
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return ""
    known = [field.alias or name for name, field in model.model_fields.items()]
    near = difflib.get_close_matches(str(key), known, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else f"; known keys: {', '.join(known)}"


def _models(annotation: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401 - any annotation
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _where(place: Place, files: Sequence[str | Path]) -> str:
    """Return ``file:line`` of the last file that holds the place, or the files' names."""
    for path in reversed(files):
        try:
            node = yaml.compose(Path(path).read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
        except (OSError, yaml.YAMLError, UnicodeDecodeError):
            continue
        line = _line_of(node, place)
        if line:
            return f"{path}:{line}"
    return str(files[-1]) if files else "config"


def _line_of(node: yaml.Node | None, place: Place) -> int | None:
    """Return the line of a place; of its parent if the place itself is missing from the file."""
    line = None
    for part in place:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == str(part)), None)
            if pair is None:
                return line
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            if part >= len(node.value):
                return line
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            return line
    return line
