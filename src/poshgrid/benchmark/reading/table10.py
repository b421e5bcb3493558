"""Which phenomenon of an outside suite belongs to which category of the paper.

Source: POSH-BENCH, Table 10, transcribed in ``resources/suites/table10.yaml``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

from poshgrid import resources


def file() -> Path:
    """Return the transcription."""
    return resources.path("suites", "table10.yaml")


@cache
def suites() -> dict[str, dict[str, list[str]]]:
    """Return suite -> category -> phenomena, spelled as in the table."""
    listed: dict[str, dict[str, list[str]]] = yaml.safe_load(file().read_text(encoding="utf-8"))
    return listed


def category(phenomenon: str) -> str | None:
    """Return a phenomenon's category, or ``None`` if the table does not name it.

    All suites are searched: no name stands for two categories. Case, ``-`` and ``_`` are
    passed over, since the table and the suites' files do not agree in them.

    Args:
        phenomenon: as the suite's file calls it.
    """
    return _categories().get(key(phenomenon))


def spelled(phenomenon: str) -> str:
    """Return a phenomenon of POSH-BENCH as this project spells it, any other as it is.

    Its files say ``principle_a_command``, its templates here ``principle-a-command``: the same.
    """
    ours = phenomenon.casefold().replace("_", "-")
    return ours if key(phenomenon) in _ours() else phenomenon


def key(name: str) -> str:
    """Return a name in the one spelling in which names are compared."""
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
