"""Children's ages, written years;months (*4;7*), the convention of developmental studies."""

from __future__ import annotations

import math
import re

_AGE = re.compile(r"([0-9]{1,3});([0-9]{1,2})")
_SLACK = 1e-9  # 59.999... months are 60


def months(text: str) -> int:
    """Return an age in months.

    Args:
        text: years;months, e.g. ``4;7``.

    Raises:
        ValueError: not an age; says why.
    """
    found = _AGE.fullmatch(text.strip())
    if not found:
        raise ValueError(f"{text!r} is no age; write years;months, e.g. 4;7")
    years, rest = int(found[1]), int(found[2])
    if rest > 11:
        raise ValueError(f"{text!r} is no age: a year has months 0 to 11; write {age(years * 12)}")
    return years * 12 + rest


def age(value: float) -> str:
    """Return an age as years;months, in completed months: 55.9 months are *4;7*."""
    whole = math.floor(value + _SLACK)
    return f"{whole // 12};{whole % 12}"
