"""Find the module that a config word names: a reader, a filter, a bias, a suite ...

A study may have its own plug-ins in the folder ``plugins/`` of its working folder, which has the
same layout as the package: ``plugins/evidence/filters/wanna.py`` is the module
``poshgrid.evidence.filters.wanna``.
"""

from __future__ import annotations

import importlib.util
import os
import pkgutil
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Self, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from poshgrid.core.errors import PoshgridError, did_you_mean, reason

OWN = Path("plugins")
"""The folder of a study's own plug-ins."""
READERS = "poshgrid.corpora.readers"
ENGINES = "poshgrid.parsing.engines"
FILTERS = "poshgrid.evidence.filters"
REWRITERS = "poshgrid.evidence.rewriters"
ARCHITECTURES = "poshgrid.models.architectures"
BIASES = "poshgrid.models.biases"
SUITES = "poshgrid.benchmark.suites"
HEURISTICS = "poshgrid.evaluation.heuristics.choices"
SECTIONS = "poshgrid.report.sections"
KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    READERS: ("reader", ("SPLIT", "files", "read")),
    ENGINES: ("engine", ("load",)),
    FILTERS: ("filter", ("READINGS",)),
    REWRITERS: ("rewriter", ("rewrite",)),
    ARCHITECTURES: ("architecture", ("build",)),
    BIASES: ("bias", ("build",)),
    SUITES: ("reader", ("files", "load")),
    HEURISTICS: ("heuristic", ("SAYS",)),
    SECTIONS: ("section", ("TITLE", "ORDER", "AUDIENCE", "write")),
}
"""Package of plug-ins -> what a plug-in is called, and the names that its module must define."""


class UnknownPluginError(PoshgridError, ValueError):
    """No module has that name. A ``ValueError``, so that pydantic reports it with its key."""


def refusal(wrong: Iterable[InitErrorDetails]) -> ValidationError:
    """Return the exception for errors below a validator's own key, which pydantic prepends."""
    return ValidationError.from_exception_data("configuration", list(wrong))


def mistake(keys: tuple[str | int, ...], message: str, value: object) -> InitErrorDetails:
    """Return an error with poshgrid's message for a key below that of its validator."""
    return InitErrorDetails(
        type=PydanticCustomError("value_error", "{message}", {"message": message}),
        loc=keys,
        input=value,
    )


def details(error: ValidationError, keys: tuple[str | int, ...] = ()) -> list[InitErrorDetails]:
    """Return the errors of a section that was validated separately, with ``keys`` prepended."""
    errors = []
    for detail in error.errors():
        kind: Any = detail["type"]
        if kind == "value_error":
            kind = PydanticCustomError("value_error", "{message}", {"message": detail["msg"]})
        context = detail.get("ctx", {})
        loc = (*keys, *detail["loc"])
        errors.append(InitErrorDetails(type=kind, loc=loc, input=detail["input"], ctx=context))
    return errors


def _leaves(annotation: object) -> Iterator[object]:
    """Yield the types that an annotation consists of."""
    inner = get_args(annotation)
    if not inner:
        yield annotation
    for part in inner:
        yield from _leaves(part)


class Options(BaseModel):
    """Base class of every plug-in's ``Options``: its keys, with types and defaults."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth(cls, value: object, info: ValidationInfo) -> object:
        """Reject a truth value where a number is expected: ``seed: true`` would be seed 1."""
        kinds = set(_leaves(cls.model_fields[info.field_name or ""].annotation))
        if kinds & {int, float} and not kinds & {bool, Any, object}:
            inner = value.values() if isinstance(value, dict) else value
            for part in inner if isinstance(inner, Iterable) else [inner]:
                if isinstance(part, bool):
                    raise ValueError(f"{str(part).lower()} is not a number: write one")
        return value

    @model_validator(mode="wrap")
    @classmethod
    def _unknown_keys(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:  # noqa: ANN401
        """Report unknown keys, with a similar known one, together with all other errors."""
        known = [field.alias or name for name, field in cls.model_fields.items()]
        unknown = [key for key in data if key not in known] if isinstance(data, dict) else []
        if not unknown:
            return handler(data)
        wrong = [
            mistake(
                (key,),
                f"unknown key{did_you_mean(str(key), known)}",
                data[key],
            )
            for key in unknown
        ]
        try:
            handler({key: value for key, value in data.items() if key not in unknown})
        except ValidationError as error:
            wrong += details(error)
        raise refusal(wrong)


def check() -> None:
    """Raise if a study's own plug-in would be ignored.

    Raises:
        PoshgridError: a file is in no folder of plug-ins, poshgrid has a module of its name, or the
            name is not a module's.
    """
    for path in sorted(OWN.rglob("[!_.]*.py")):
        if any(part.startswith(".") for part in path.parts):
            continue  # of an editor
        package = ".".join(("poshgrid", *path.relative_to(OWN).parent.parts))
        if package not in KINDS:
            folders = ", ".join(str(own(kind)) for kind in KINDS)
            raise PoshgridError(f"{path}: not a folder of plug-ins; move it to one of {folders}")
        folder = importlib.import_module(package).__path__[0]
        if any(Path(folder, name).exists() for name in (path.name, path.stem)):
            raise PoshgridError(f"{path}: poshgrid has a module of that name; rename the file")
        if not path.stem.isidentifier():
            raise PoshgridError(f"{path}: not a module's name; rename the file, with _ for -")


def names(package: str) -> list[str]:
    """Return the config words of a package's plug-ins, including a study's own, sorted."""
    module, folder = importlib.import_module(package), own(package).absolute()
    if str(folder) not in module.__path__ and folder.is_dir():
        module.__path__.append(str(folder))
    folders = [path for path in module.__path__ if os.path.isdir(path)]  # noqa: PTH112
    return list(_words(tuple((path, *os.listdir(path)) for path in folders)))  # noqa: PTH208


@cache
def _words(listed: tuple[tuple[str, ...], ...]) -> list[str]:
    """Return the config words in folders, given their files; cached, as it is called very often."""
    return sorted(
        module.name.replace("_", "-")
        for module in pkgutil.iter_modules([path for path, *_ in listed])
        if not module.name.startswith("_")
    )


def module_name(package: str, word: str) -> str:
    """Return the dotted name of a config word's module.

    Raises:
        UnknownPluginError: no module of the package has that name.
    """
    if word not in names(package):
        kind, _ = KINDS[package]
        raise UnknownPluginError(f"unknown {kind} {word!r}{did_you_mean(word, names(package))}")
    return f"{package}.{word.replace('-', '_')}"


def load(package: str, word: str) -> ModuleType:
    """Import the module of a config word; see :func:`module_name`.

    Raises:
        UnknownPluginError: no module of the package has that name.
        PoshgridError: the module cannot be imported, or lacks a name that its kind must define.
    """
    name = module_name(package, word)
    try:
        module = importlib.import_module(name)
    except Exception as error:
        spec = importlib.util.find_spec(name)
        file = str(spec and spec.origin)
        stack = traceback.extract_tb(error.__traceback__)
        lines = [part.lineno for part in stack if part.filename == file]
        line = error.lineno if isinstance(error, SyntaxError) else next(reversed(lines), "")
        shown = os.path.relpath(file) if own(package).is_dir() else file
        what = f"{type(error).__name__}: {reason(error)}"
        raise PoshgridError(f"{shown}:{line}: {what}; fix the file") from error
    kind, needed = KINDS[package]
    lacking = [part for part in needed if not hasattr(module, part)]
    if lacking:
        raise PoshgridError(f"{module.__file__}: a {kind} has {lacking[0]}; define it")
    return module


def fault(error: BaseException) -> str:
    """Return the line of a study's own plug-in in which an error arose; "" if in none."""
    with suppress(FileNotFoundError):  # the working folder may have been deleted
        top = OWN.absolute()
        for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
            path = Path(frame.f_code.co_filename).absolute()
            if path.is_relative_to(top):
                return f"{OWN / path.relative_to(top)}: line {line}"
    return ""


def own(name: str) -> Path:
    """Return the path of a package or module among a study's own plug-ins, without suffix."""
    return OWN.joinpath(*name.split(".")[1:])


def options(
    package: str,
    word: str,
    values: dict[str, Any],
    context: Any = None,  # noqa: ANN401 - pydantic's
) -> Options:
    """Validate a plug-in's options with its own model; without ``Options`` a plug-in has none.

    Raises:
        UnknownPluginError: unknown plug-in.
        pydantic.ValidationError: an option is unknown or has a wrong value.
    """
    model: type[Options] = getattr(load(package, word), "Options", Options)
    return model.model_validate(values, context=context)
