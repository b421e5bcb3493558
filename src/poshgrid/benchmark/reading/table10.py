"""The category of the paper to which a phenomenon of a published suite belongs.

Source: POSH-BENCH, Table 10, transcribed in ``resources/suites/table10.yaml``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

from poshgrid.core import resources


def file() -> Path:
    """Return the path of the transcribed table."""
    return resources.path("suites", "table10.yaml")


@cache
def suites() -> dict[str, dict[str, list[str]]]:
    """Return suite -> category -> phenomena, spelled as in the table."""
    listed: dict[str, dict[str, list[str]]] = yaml.safe_load(file().read_text(encoding="utf-8"))
    return listed


def category(phenomenon: str) -> str | None:
    """Return a phenomenon's category, or ``None`` if the table does not name it.

    All suites are searched: no name has two categories. Case, ``-`` and ``_`` are ignored, because
    the table and the suites' files differ in them.

    Args:
        phenomenon: its name in the suite's file.
    """
    return _categories().get(key(phenomenon))


def spelled(phenomenon: str) -> str:
    """Return a phenomenon of POSH-BENCH in this project's spelling, any other name unchanged.

    Its files have ``principle_a_command``, the templates here ``principle-a-command``.
    """
    ours = phenomenon.casefold().replace("_", "-")
    return ours if key(phenomenon) in _ours() else phenomenon


def key(name: str) -> str:
    """Return a name in the spelling that is used to compare names."""
    return name.casefold().replace("-", "_")


@cache
def _ours() -> frozenset[str]:
    return frozenset(key(name) for names in suites()["posh"].values() for name in names)


@cache
def _categories() -> dict[str, str]:
    return {
        key(name): group
        for groups in suites().values()
        for group, names in groups.items()
        for name in names
    }
