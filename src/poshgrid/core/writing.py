"""How numbers, shares and lists are written in tables and sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

NOT_RUN = "not run"
ABSENT = "–"


def count(value: float) -> str:
    """Write a whole number with commas: ``12,345``."""
    return f"{value:,.0f}"


def counted(number: int, one: str, many: str = "") -> str:
    """Write a number of things: ``1 model``, ``12 models``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def decimals(places: int, unit: float = 1) -> Callable[[float], str]:
    """Return a function that writes numbers as multiples of ``unit`` with ``places`` decimals."""
    return lambda value: f"{value / unit:,.{places}f}".replace("-", "−")


def percent(value: float) -> str:
    """Write a share as a percentage with one decimal."""
    text = f"{100 * value:.1f}"
    return "0.0" if text == "-0.0" else text.replace("-", "−")


def signed(value: float, places: int = 2) -> str:
    """Write a number with its sign, without one if it rounds to zero: ``+0.09``, ``0.00``."""
    text = f"{value:+.{places}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")


def points(share: float) -> str:
    """Write a difference of shares in percentage points, without a unit: ``−1.2``."""
    return signed(100 * share, 1)


def probability(value: float) -> str:
    """Write a probability without its leading zero: ``.973``, ``< .001``, ``> .999``."""
    if value < 0.001:
        return "< .001"
    return "> .999" if value > 0.999 else f"{value:.3f}"[1:]


def span(low: float | None, high: float | None, show: Callable[[float], str]) -> str | None:
    """Write a range as ``low–high``; ``None`` if an end is unknown."""
    return None if low is None or high is None else f"{show(low)}–{show(high)}"


def listed(parts: Sequence[str]) -> str:
    """Join parts as a sentence does: ``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def duration(seconds: float) -> str:
    """Write seconds as ``42 s``, ``3 min 10 s`` or ``2 h 05 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


WRITERS: dict[str, Callable[[Any], str]] = {
    "text": str, "count": count, "percent": percent, "percent2": decimals(2, 0.01),
    "points": points, "signed": signed, "change": lambda share: signed(100 * share, 3),
    "probability": probability, "millions": decimals(2, 1_000_000),
    **{str(places): decimals(places) for places in range(1, 6)},
}  # fmt: skip
"""Name in a table's description -> function that writes a value."""
