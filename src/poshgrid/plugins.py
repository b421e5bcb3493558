"""Finding the one module that a config word names: a reader, a filter, a bias, a suite ..."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import Any

from pydantic import BaseModel, ConfigDict

from poshgrid.errors import PoshgridError, did_you_mean

# Folder of plug-ins -> what one of them is called, where that is more than an s less
_KINDS = {"biases": "bias", "rivals": "rule", "suites": "reader"}


class UnknownPluginError(PoshgridError, ValueError):
    """No module has that name. A ``ValueError``, so that pydantic reports it with its place."""


class Options(BaseModel):
    """Base of every plug-in's ``Options``: the keys that it takes, with types and defaults."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


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
