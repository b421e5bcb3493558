"""What every heuristic says of every pair of a suite."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl

from poshgrid import files, plugins
from poshgrid.errors import PoshgridError
from poshgrid.evaluation.judgements import read_items
from poshgrid.heuristics.pair import Pair
from poshgrid.heuristics.schema import HEURISTICS
from poshgrid.plugins import RIVALS

EQUAL = " = "
"""Between the names of heuristics that the items cannot tell apart."""


def rivals() -> dict[str, ModuleType]:
    """Return all heuristics: name -> module, sorted by name.

    Raises:
        PoshgridError: a module declares none of what a heuristic does, or does not say what it is.
    """
    found = {name: plugins.load(RIVALS, name) for name in plugins.names(RIVALS)}
    for name, module in found.items():
        kinds = [kind for kind in ("prefers", "compares", "BASELINE") if hasattr(module, kind)]
        if len(kinds) != 1 or not hasattr(module, "SAYS"):
            raise PoshgridError(
                f"{module.__file__}: a heuristic has SAYS and one of prefers, compares, BASELINE; "
                f"{name} has {', '.join(kinds) or 'none of these three'}"
            )
    return found


def hierarchical(group: str) -> bool:
    """Say whether all heuristics of a group ("a = b") stand for the hierarchical hypothesis."""
    known = {
        name for name, heuristic in rivals().items() if getattr(heuristic, "HIERARCHICAL", False)
    }
    return known.issuperset(group.split(EQUAL))


def preferences(items: pl.DataFrame, language: str = "en") -> pl.DataFrame:
    """Return what the heuristics that need nothing but the words say of pairs.

    A heuristic is asked with the members in the order of their texts: it cannot know which is good.

    Args:
        items: item_id, good, bad.
        language: of the items; of another than English only heuristics for any language are asked.

    Returns:
        ``HEURISTICS``: a row for each pair and heuristic, sorted by both.

    Raises:
        PoshgridError: a heuristic is no heuristic.
    """
    heuristics = {
        name: heuristic
        for name, heuristic in rivals().items()
        if hasattr(heuristic, "prefers")
        and (language == "en" or getattr(heuristic, "ANY_LANGUAGE", False))
    }
    stands = {name: hierarchical(name) for name in heuristics}
    rows: list[tuple[str, str, bool, float | None]] = []
    for item, good, bad in items.select("item_id", "good", "bad").sort("item_id").iter_rows():
        turned = bad < good
        pair = Pair(*((bad, good) if turned else (good, bad)))
        for name, heuristic in heuristics.items():
            preference = heuristic.prefers(pair)
            preference = 1 - preference if turned and preference is not None else preference
            rows.append((item, name, stands[name], preference))
    return pl.DataFrame(rows, schema=HEURISTICS, orient="row")


def read(path: str | Path, items: pl.DataFrame) -> pl.DataFrame:
    """Return what the heuristics say of a suite's pairs (``HEURISTICS``).

    Args:
        path: a table that :func:`write` wrote.
        items: the suite's pairs, from :func:`read_items`.

    Raises:
        PoshgridError: the table is missing or broken, or is of other items.
    """
    found = files.read_table(path, HEURISTICS)
    if set(found["item_id"]) != set(items["item_id"]):
        raise PoshgridError(
            f"{path}: the items have changed; run `poshgrid run -R heuristic_choices`"
        )
    return found


def write(items: dict[str, Path], output: Path, language: str = "en") -> dict[str, Any]:
    """Write what the heuristics say of the pairs of suites.

    Args:
        items: suite -> its table of pairs.
        output: folder for ``{suite}.parquet`` (``HEURISTICS``).
        language: of the items.

    Returns:
        Suite -> pairs, and heuristic -> pairs that it has a say on.

    Raises:
        PoshgridError: see :func:`preferences` and :func:`read_items`.
    """
    facts = {}
    for suite, path in sorted(items.items()):
        rows = preferences(read_items(path), language)
        files.write_table(rows, output / f"{suite}.parquet", HEURISTICS)
        say = dict(rows.drop_nulls().group_by("heuristic").len().sort("heuristic").iter_rows())
        facts[suite] = {"pairs": rows["item_id"].n_unique(), "say": say}
    return {"suites": facts}
