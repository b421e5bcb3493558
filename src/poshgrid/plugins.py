"""Finding the one module that a config word names: a reader, a filter, a bias, a suite ..."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

from poshgrid.errors import PoshgridError, did_you_mean

# Folder of plug-ins -> what one of them is called, where that is more than an s less
_KINDS = {"biases": "bias", "rivals": "rule", "suites": "reader"}


class UnknownPluginError(PoshgridError, ValueError):
    """No module has that name. A ``ValueError``, so that pydantic reports it with its place."""


class Options(BaseModel):
    """Base of every plug-in's ``Options``: the keys that it takes, with types and defaults."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth(cls, value: object, info: ValidationInfo) -> object:
        """Refuse a truth value where a number belongs: ``seed: true`` would be seed 1."""
        if info.field_name and _is_number(cls, info.field_name):
            inner = list(value.values()) if isinstance(value, dict) else value
            found = inner if isinstance(inner, list | tuple) else [inner]
            for each in found:
                if isinstance(each, bool):
                    raise ValueError(f"{str(each).lower()} is not a number: write one")
        return value


@cache
def _is_number(model: type[BaseModel], name: str) -> bool:
    """Say whether a field holds numbers, alone or in a list or mapping, and no truth values."""
    kinds = set(_leaves(model.model_fields[name].annotation))
    sections = any(isinstance(kind, type) and issubclass(kind, BaseModel) for kind in kinds)
    return bool(kinds & {int, float}) and not sections and not kinds & {bool, Any, object}


def _leaves(annotation: Any) -> Iterator[Any]:  # noqa: ANN401 - any annotation
    inner = get_args(annotation)
    if not inner:
        yield annotation
    for each in inner:
        yield from _leaves(each)


def names(package: str) -> list[str]:
    """Return the config words that a package of plug-ins answers to, sorted."""
    found = importlib.import_module(package)
    return sorted(
        module.name.replace("_", "-")
        for module in pkgutil.iter_modules(found.__path__)
        if not module.name.startswith("_")
    )


def module_name(package: str, word: str) -> str:
    """Return the dotted name of the module behind a config word.

    Raises:
        UnknownPluginError: no module of the package has that name.
    """
    if word not in names(package):
        folder = package.rpartition(".")[2]
        kind = _KINDS.get(folder, folder.removesuffix("s"))
        raise UnknownPluginError(f"unknown {kind} {word!r}{did_you_mean(word, names(package))}")
    return f"{package}.{word.replace('-', '_')}"


def load(package: str, word: str) -> ModuleType:
    """Import the module behind a config word; see :func:`module_name`."""
    return importlib.import_module(module_name(package, word))


def options(package: str, word: str, given: dict[str, Any]) -> Options:
    """Validate a plug-in's options with its own ``Options`` model (none declared: none taken).

    Raises:
        UnknownPluginError: unknown plug-in.
        pydantic.ValidationError: an option is unknown or has a wrong value.
    """
    return getattr(load(package, word), "Options", Options).model_validate(given)
