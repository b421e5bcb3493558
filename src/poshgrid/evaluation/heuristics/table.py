"""The choices of every heuristic on every pair of a suite, and on joint pairs judged together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl

from poshgrid.core import files, plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.core.plugins import HEURISTICS as PACKAGE
from poshgrid.evaluation.heuristics.pair import Pair
from poshgrid.evaluation.heuristics.schema import HEURISTICS
from poshgrid.evaluation.judgements import JOINED, read_items
from poshgrid.models.kneser_ney import SPECIALS, UNKNOWN
from poshgrid.models.ngram import NGram

PREDICTIONS = {"item_id": pl.String, "heuristic": pl.String, "prefers": pl.Float64}
Compared = tuple[str, str, list[str], list[str]]
"""Item, heuristic, and the words of the good and the bad member whose frequencies are compared."""


def loaded() -> dict[str, ModuleType]:
    """Return all heuristics: name -> module, sorted by name.

    Raises:
        PoshgridError: a module does not say what it prefers, so that it would count for nothing.
    """
    heuristics = {name: plugins.load(PACKAGE, name) for name in plugins.names(PACKAGE)}
    for module in heuristics.values():
        kinds = [kind for kind in ("prefers", "compares", "BASELINE") if hasattr(module, kind)]
        if len(kinds) != 1:
            raise PoshgridError(
                f"{module.__file__}: a heuristic has one of prefers, compares and BASELINE, and "
                f"this one has {' and '.join(kinds) or 'none'}; fix the file"
            )
    return heuristics


def hierarchical() -> set[str]:
    """Return the heuristics that stand for the hierarchical hypothesis."""
    return {
        name for name, heuristic in loaded().items() if getattr(heuristic, "HIERARCHICAL", False)
    }


def preferences(items: pl.DataFrame, language: str = "en") -> pl.DataFrame:
    """Return the choices of the heuristics that need only the words of a pair.

    A heuristic gets the members in alphabetical order, so that it cannot know which one is good.

    Args:
        items: item_id, good, bad.
        language: of the items. If it is not English, only heuristics for any language are used.

    Returns:
        ``HEURISTICS``: a row for each pair and heuristic, sorted by both.
    """
    heuristics = {
        name: heuristic
        for name, heuristic in loaded().items()
        if hasattr(heuristic, "prefers")
        and (language == "en" or getattr(heuristic, "ANY_LANGUAGE", False))
    }
    structural = hierarchical()
    rows: list[tuple[str, str, bool, float | None]] = []
    for item, good, bad in items.select("item_id", "good", "bad").sort("item_id").iter_rows():
        swapped = bad < good
        pair = Pair(*((bad, good) if swapped else (good, bad)))
        for name, heuristic in heuristics.items():
            preference = heuristic.prefers(pair)
            preference = 1 - preference if swapped and preference is not None else preference
            rows.append((item, name, name in structural, preference))
    return pl.DataFrame(rows, schema=HEURISTICS, orient="row")


def read(path: str | Path, items: pl.DataFrame) -> pl.DataFrame:
    """Read the choices of the heuristics on a suite's pairs (``HEURISTICS``).

    Args:
        path: a table that :func:`write` wrote.
        items: the suite's pairs, from :func:`read_items`.

    Raises:
        PoshgridError: the table is missing or broken, or has other items.
    """
    table = files.read_table(path, HEURISTICS)
    if set(table["item_id"]) != set(items["item_id"]):
        raise PoshgridError(
            f"{path}: the items have changed; run `poshgrid run -R heuristic_choices`"
        )
    return table


def write(items: dict[str, Path], output: Path, language: str = "en") -> dict[str, Any]:
    """Write the choices of the heuristics on the pairs of suites.

    Args:
        items: suite -> its table of pairs.
        output: folder for ``{suite}.parquet`` (``HEURISTICS``).
        language: of the items.

    Returns:
        Suite -> number of pairs, and heuristic -> number of pairs on which it decides.

    Raises:
        PoshgridError: see :func:`read_items`.
    """
    facts = {}
    for suite, path in sorted(items.items()):
        rows = preferences(read_items(path), language)
        files.write_table(rows, output / f"{suite}.parquet", HEURISTICS)
        say = dict(rows.drop_nulls().group_by("heuristic").len().sort("heuristic").iter_rows())
        facts[suite] = {"pairs": rows["item_id"].n_unique(), "say": say}
    return {"suites": facts}


# ---- choices on judged units ---------------------------------------------------------------------


def of_words(table: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Return choices of heuristics on judged units: pairs, and joint pairs as one unit.

    A model judges the joint pairs of a lexical set and template by the sum of their margins. A
    heuristic has no margins: it chooses the member that it prefers in more of the joint pairs, and
    does not decide if these are equally many.

    Args:
        table: ``HEURISTICS``, of all pairs of a suite.
        items: the suite's pairs.

    Returns:
        item_id (of the first of joint pairs), heuristic, prefers; only rows with a decision.
    """
    first = pl.col("item_id").min().over(*JOINED, "joint")
    units = items.select("item_id", "joint", unit=pl.when("joint").then(first).otherwise("item_id"))
    return (
        table.drop_nulls("prefers")
        .join(units, on="item_id")
        .group_by("unit", "heuristic", "joint")
        .agg(net=(pl.col("prefers") - 0.5).sum())
        .filter(~pl.col("joint") | (pl.col("net") != 0))
        .select("heuristic", item_id="unit", prefers=(pl.col("net").sign() + 1) / 2)
        .select(list(PREDICTIONS))
        .sort("item_id", "heuristic")
    )


def of_counts(compared: Sequence[Compared], counted: NGram | None) -> pl.DataFrame:
    """Return choices of the heuristics that compare frequencies in the training text.

    They prefer the member whose words (or pairs of words) have the larger sum of frequencies. A
    word that is not in the text has the frequency 0. Pairs of words have the form that
    :meth:`NGram.times` reads.

    Args:
        compared: from :func:`comparisons`.
        counted: a unigram model of the text; None: no heuristic decides.

    Returns:
        item_id, heuristic, prefers; pair by pair.
    """
    if counted is None:
        return pl.DataFrame(schema=PREDICTIONS)
    words = {word for _, _, good, bad in compared for word in (*good, *bad)}
    sequences = sorted(word for word in words if " " in word)
    known = sorted(word for word in words if word in counted)
    # A unigram model gives an unknown word the probability of a word with the frequency 1: the
    # frequency of a word is its probability divided by that of an unknown word.
    (once, _), *others = counted.each([[SPECIALS[UNKNOWN]], *([word] for word in known)])
    times = {w: round(math.exp(p - once)) for w, (p, _) in zip(known, others, strict=True)}
    times |= zip(sequences, counted.times(sequences), strict=True)
    rows = []
    for item, heuristic, *members in compared:
        good, bad = (sum(times.get(word, 0) for word in part) for part in members)
        rows.append((item, heuristic, 0.5 if good == bad else float(good > bad)))
    return pl.DataFrame(rows, schema=PREDICTIONS, orient="row")


def comparisons(items: pl.DataFrame) -> list[Compared]:
    """Return the words whose frequencies heuristics compare, often one of each member."""
    heuristics = {
        name: heuristic for name, heuristic in loaded().items() if hasattr(heuristic, "compares")
    }
    rows = []
    for item, good, bad in items.select("item_id", "good", "bad").sort("item_id").iter_rows():
        pair = Pair(good, bad)
        for name, heuristic in heuristics.items():
            if compared := heuristic.compares(pair):
                one, other = ([part] if isinstance(part, str) else part for part in compared)
                rows.append((item, name, one, other))
    return rows


def of_baselines(judged: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return choices of the heuristics that choose like a baseline.

    Args:
        judged: baseline -> its judgements (item_id, correct).
    """
    parts = [
        judged[heuristic.BASELINE].select(
            "item_id", pl.lit(name).alias("heuristic"), prefers="correct"
        )
        for name, heuristic in loaded().items()
        if getattr(heuristic, "BASELINE", None) in judged
    ]
    return pl.concat([pl.DataFrame(schema=PREDICTIONS), *parts])


def wide(predictions: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    """Return judged units with a column of choices for each heuristic that decides on some unit.

    Args:
        predictions: item_id, heuristic, prefers.
        judged: item_id, category, phenomenon, lexical_set, in any order.

    Returns:
        The four columns of ``judged``, sorted by item, and a column for each heuristic (null: no
        decision).
    """
    columns = predictions.pivot("heuristic", index="item_id", values="prefers", sort_columns=True)
    corpus = judged.select("item_id", "category", "phenomenon", "lexical_set")
    return corpus.join(columns, on="item_id", how="left").sort("item_id")
