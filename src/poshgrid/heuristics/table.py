"""What every heuristic says of every pair of a suite, and of joint pairs that are judged as one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl

from poshgrid import files, plugins
from poshgrid.errors import PoshgridError
from poshgrid.evaluation.judgements import JOINED, read_items
from poshgrid.files import Schema
from poshgrid.heuristics.pair import Pair
from poshgrid.heuristics.schema import HEURISTICS
from poshgrid.heuristics.words import Sentence, difference
from poshgrid.models.kneser_ney import SPECIALS, UNKNOWN
from poshgrid.models.ngram import NGram
from poshgrid.plugins import RIVALS

PREDICTIONS = {"item_id": pl.String, "heuristic": pl.String, "prefers": pl.Float64}
_COMPARED: Schema = {
    "item_id": pl.String, "heuristic": pl.String,
    "of_good": pl.List(pl.String), "of_bad": pl.List(pl.String),
}  # fmt: skip
EQUAL = " = "
"""Between the names of heuristics that the items cannot tell apart."""


def rivals() -> dict[str, ModuleType]:
    """Return all heuristics: name -> module, sorted by name.

    Raises:
        PoshgridError: a module declares none of what a heuristic does, or does not say what it is.
    """
    heuristics = {name: plugins.load(RIVALS, name) for name in plugins.names(RIVALS)}
    for name, module in heuristics.items():
        kinds = [kind for kind in ("prefers", "compares", "BASELINE") if hasattr(module, kind)]
        if len(kinds) != 1 or not hasattr(module, "SAYS"):
            raise PoshgridError(
                f"{module.__file__}: a heuristic has SAYS and one of prefers, compares, BASELINE; "
                f"{name} has {', '.join(kinds) or 'none of these three'}"
            )
    return heuristics


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
    table = files.read_table(path, HEURISTICS)
    if set(table["item_id"]) != set(items["item_id"]):
        raise PoshgridError(
            f"{path}: the items have changed; run `poshgrid run -R heuristic_choices`"
        )
    return table


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


# ---- what they say of what was judged ------------------------------------------------------------


def of_words(table: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Return preferences by what was judged.

    Joint pairs of a lexical set and template are judged as one, their margins added. A heuristic
    has no margins but preferences: where they cancel out it has no say, else the sign of their sum
    counts.

    Args:
        table: ``HEURISTICS``, of all pairs of a suite.
        items: the suite's pairs.

    Returns:
        item_id (of the first of joint pairs), heuristic, prefers; a row where a heuristic has a
        say.
    """
    preferences = table.drop_nulls("prefers").join(
        items.select("item_id", *JOINED, "joint"), on="item_id"
    )
    joint = items.filter("joint")
    first = joint.group_by(JOINED).agg(pl.col("item_id").min())
    sums = (
        preferences.filter("joint")
        .drop("item_id")
        .group_by(*JOINED, "heuristic")
        .agg(net=(pl.col("prefers") - 0.5).sum())
        .filter(pl.col("net") != 0)
        .join(first, on=JOINED)
        .select("item_id", "heuristic", prefers=(pl.col("net") > 0).cast(pl.Float64))
    )
    single = preferences.filter(~pl.col("joint")).select(list(PREDICTIONS))
    return pl.concat([single, sums]).sort("item_id", "heuristic")


def of_counts(compared: pl.DataFrame, counted: NGram | None) -> pl.DataFrame:
    """Return preferences of heuristics that ask which of two words, or pairs, is more frequent.

    Of two lists of words it is the one whose words' frequencies have the larger sum. A word that
    was never heard has the frequency 0. A pair is written as :meth:`NGram.times` reads it.

    Args:
        compared: from :func:`comparisons`.
        counted: a unigram model of what was heard; ``None``: no heuristic has a say.

    Returns:
        item_id, heuristic, prefers; pair by pair.
    """
    if counted is None or compared.is_empty():
        return pl.DataFrame(schema=PREDICTIONS)
    words = {word for _, _, *members in compared.iter_rows() for part in members for word in part}
    sequences = sorted(word for word in words if " " in word)
    known = sorted(word for word in words if word in counted)
    # To a unigram model an unknown word is as probable as one that was heard once: the probability
    # of every other is as many times that one's as it was heard.
    (once, _), *others = counted.each([[SPECIALS[UNKNOWN]], *([word] for word in known)])
    times = {w: round(math.exp(p - once)) for w, (p, _) in zip(known, others, strict=True)}
    times |= zip(sequences, counted.times(sequences), strict=True)
    rows = []
    for item, heuristic, *members in compared.iter_rows():
        good, bad = (sum(times.get(word, 0) for word in part) for part in members)
        rows.append((item, heuristic, 0.5 if good == bad else float(good > bad)))
    return pl.DataFrame(rows, schema=PREDICTIONS, orient="row")


def comparisons(items: pl.DataFrame) -> pl.DataFrame:
    """Return item_id, heuristic, of_good, of_bad: the words that heuristics compare, where they do.

    Both are lists: of one word each where a heuristic compares two words.
    """
    heuristics = {
        name: heuristic for name, heuristic in rivals().items() if hasattr(heuristic, "compares")
    }
    rows = []
    for item, good, bad in items.select("item_id", "good", "bad").sort("item_id").iter_rows():
        pair = Pair(good, bad)
        rows += [
            (item, name, *([words] if isinstance(words, str) else words for words in compared))
            for name, heuristic in heuristics.items()
            if (compared := heuristic.compares(pair))
        ]
    return pl.DataFrame(rows, schema=_COMPARED, orient="row")


def of_baselines(judged: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return preferences of the heuristics that choose as a baseline does.

    Args:
        judged: null -> what it judged (item_id, correct).
    """
    parts = [
        judged[heuristic.BASELINE].select(
            "item_id", pl.lit(name).alias("heuristic"), prefers="correct"
        )
        for name, heuristic in rivals().items()
        if getattr(heuristic, "BASELINE", None) in judged
    ]
    return pl.concat([pl.DataFrame(schema=PREDICTIONS), *parts])


def edits(items: pl.DataFrame) -> pl.DataFrame:
    """Return item_id, good_word, bad_word: what stands where the members begin to differ.

    Args:
        items: item_id, good, bad. Where one member is the beginning of the other, both words are
            empty.
    """
    rows = []
    for item, *members in items.select("item_id", "good", "bad").iter_rows():
        good, bad = (Sentence(member).words for member in members)
        index = difference(good, bad)
        rows.append((item, "", "") if index is None else (item, good[index], bad[index]))
    return pl.DataFrame(rows, ["item_id", "good_word", "bad_word"], orient="row")


def wide(predictions: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    """Return what was judged, with a column for each heuristic that is decided on some pair of it.

    Args:
        predictions: item_id, heuristic, prefers.
        judged: item_id, category, phenomenon, lexical_set, in any order.

    Returns:
        The four columns, sorted by item, and a column for each heuristic: null: no say.
    """
    columns = predictions.pivot("heuristic", index="item_id", values="prefers", sort_columns=True)
    names = sorted(set(columns.columns) - {"item_id"})
    corpus = judged.select("item_id", "category", "phenomenon", "lexical_set")
    return (
        corpus.join(columns, on="item_id", how="left")
        .sort("item_id")
        .select(*corpus.columns, *names)
    )
