"""What every rule says of every pair of a suite."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl

from poshgrid import files, plugins
from poshgrid.errors import PoshgridError
from poshgrid.evaluation.judgements import read_items
from poshgrid.plugins import RIVALS
from poshgrid.rules.pair import Pair
from poshgrid.rules.schema import RULES

EQUAL = " = "
"""Between the names of heuristics that the items cannot tell apart."""


def rivals() -> dict[str, ModuleType]:
    """Return all rules: name -> module, sorted by name.

    Raises:
        PoshgridError: a module declares none of what a rule does, or does not say what it is.
    """
    found = {name: plugins.load(RIVALS, name) for name in plugins.names(RIVALS)}
    for name, module in found.items():
        kinds = [kind for kind in ("prefers", "compares", "NULL") if hasattr(module, kind)]
        if len(kinds) != 1 or not hasattr(module, "SAYS"):
            raise PoshgridError(
                f"{module.__file__}: a rule declares SAYS and one of prefers, compares and NULL; "
                f"{name} has {', '.join(kinds) or 'none of these three'}"
            )
    return found


def hierarchical(group: str) -> bool:
    """Say whether all heuristics of a group ("a = b") stand for the hierarchical hypothesis."""
    known = {name for name, rule in rivals().items() if getattr(rule, "HIERARCHICAL", False)}
    return known.issuperset(group.split(EQUAL))


def preferences(items: pl.DataFrame) -> pl.DataFrame:
    """Return what the rules that need nothing but the words say of pairs.

    A rule is asked with the members in the order of their texts: it cannot know which is good.

    Args:
        items: item_id, good, bad.

    Returns:
        ``RULES``: a row for each pair and rule, sorted by both.

    Raises:
        PoshgridError: a rule is no rule.
    """
    rules = {name: rule for name, rule in rivals().items() if hasattr(rule, "prefers")}
    stands = {name: hierarchical(name) for name in rules}
    rows: list[tuple[str, str, bool, float | None]] = []
    for item, good, bad in items.select("item_id", "good", "bad").sort("item_id").iter_rows():
        turned = bad < good
        pair = Pair(*((bad, good) if turned else (good, bad)))
        for name, rule in rules.items():
            preference = rule.prefers(pair)
            preference = 1 - preference if turned and preference is not None else preference
            rows.append((item, name, stands[name], preference))
    return pl.DataFrame(rows, schema=RULES, orient="row")


def read(path: str | Path, items: pl.DataFrame) -> pl.DataFrame:
    """Return what the rules say of a suite's pairs (``RULES``).

    Args:
        path: a table that :func:`write` wrote.
        items: the suite's pairs, from :func:`read_items`.

    Raises:
        PoshgridError: the table is missing or broken, or is of other items.
    """
    found = files.read_table(path, RULES)
    if set(found["item_id"]) != set(items["item_id"]):
        raise PoshgridError(
            f"{path}: the items have changed; run `poshgrid run -R rule_preferences`"
        )
    return found


def write(items: dict[str, Path], output: Path) -> dict[str, Any]:
    """Write what the rules say of the pairs of suites.

    Args:
        items: suite -> its table of pairs.
        output: folder for ``{suite}.parquet`` (``RULES``).

    Returns:
        Suite -> pairs, and rule -> pairs that it has a say on.

    Raises:
        PoshgridError: see :func:`preferences` and :func:`read_items`.
    """
    facts = {}
    for suite, path in sorted(items.items()):
        rows = preferences(read_items(path))
        files.write_table(rows, output / f"{suite}.parquet", RULES)
        say = dict(rows.drop_nulls().group_by("rule").len().sort("rule").iter_rows())
        facts[suite] = {"pairs": rows["item_id"].n_unique(), "say": say}
    return {"suites": facts}
