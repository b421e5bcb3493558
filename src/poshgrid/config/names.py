"""Reserved names, and checks for repeated names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable
from functools import cache
from pathlib import Path

from poshgrid.core import resources

STUDY = Path("study.yaml")
"""The configuration of a folder that `poshgrid init --minimal` made."""
PAPER = Path("config/config.yaml")
"""The configuration that is read if no other is named and there is no :data:`STUDY`."""


@cache
def rules() -> frozenset[str]:
    """Return the names of the workflow's rules; each experiment becomes another rule."""
    files = resources.shipped("workflow", "rules").glob("*.smk")
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    return frozenset(re.findall(r"^rule (\w+):", text, re.MULTILINE))


def once(values: Iterable[Hashable], remedy: str, key: str = "") -> None:
    """Raise if values of a key occur more than once.

    Raises:
        ValueError: names the values, and the remedy.
    """
    if twice := [value for value, number in Counter(values).items() if number > 1]:
        raise ValueError(f"{key and f'{key}: '}{', '.join(map(str, twice))} twice: {remedy}")
