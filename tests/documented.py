"""What rows of docs/data.md stand for."""

from __future__ import annotations

import re


def spelled(key):
    """Return the keys that a row stands for: `a.{b,c}` for `a.b` and `a.c`."""
    found = re.fullmatch(r"(.*?)\{((?:[^{}]|\{\w+\})*,(?:[^{}]|\{\w+\})*)\}", key)
    return [found[1] + each for each in found[2].split(",")] if found else [key]
