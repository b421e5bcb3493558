"""What every rule says of what was judged: joint pairs as one, and rules that count words, too."""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl

from poshgrid.evaluation.judgements import JOINED
from poshgrid.files import Schema
from poshgrid.models.kneser_ney import SPECIALS, UNKNOWN
from poshgrid.models.ngram import NGram
from poshgrid.rules.pair import Pair
from poshgrid.rules.table import rivals
from poshgrid.rules.words import Sentence, difference

PREDICTIONS = {"item_id": pl.String, "rule": pl.String, "prefers": pl.Float64}
_COMPARED: Schema = {
    "item_id": pl.String, "rule": pl.String,
    "of_good": pl.List(pl.String), "of_bad": pl.List(pl.String),
}  # fmt: skip


def of_words(table: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Return preferences by what was judged.

    Joint pairs of a lexical set and template are judged as one, their margins added. A rule has no
    margins but preferences: where they cancel out it has no say, else the sign of their sum counts.

    Args:
        table: ``RULES``, of all pairs of a suite.
        items: the suite's pairs.

    Returns:
        item_id (of the first of joint pairs), rule, prefers; a row where a rule has a say.
    """
    found = table.drop_nulls("prefers").join(
        items.select("item_id", *JOINED, "joint"), on="item_id"
    )
    joint = items.filter("joint")
    first = joint.group_by(JOINED).agg(pl.col("item_id").min())
    sums = (
        found.filter("joint")
        .drop("item_id")
        .group_by(*JOINED, "rule")
        .agg(net=(pl.col("prefers") - 0.5).sum())
        .filter(pl.col("net") != 0)
        .join(first, on=JOINED)
        .select("item_id", "rule", prefers=(pl.col("net") > 0).cast(pl.Float64))
    )
    single = found.filter(~pl.col("joint")).select(list(PREDICTIONS))
    return pl.concat([single, sums]).sort("item_id", "rule")


def of_counts(compared: pl.DataFrame, counted: NGram | None) -> pl.DataFrame:
    """Return preferences of the rules that ask which of two words, or pairs, was heard more often.

    Of two lists of words it is the one whose words' frequencies have the larger sum. A word that
    was never heard has the frequency 0. A pair is written as :meth:`NGram.times` reads it.

    Args:
        compared: from :func:`comparisons`.
        counted: a unigram model of what was heard; ``None``: no rule has a say.

    Returns:
        item_id, rule, prefers; pair by pair.
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
    for item, rule, *members in compared.iter_rows():
        good, bad = (sum(times.get(word, 0) for word in part) for part in members)
        rows.append((item, rule, 0.5 if good == bad else float(good > bad)))
    return pl.DataFrame(rows, schema=PREDICTIONS, orient="row")


def comparisons(items: pl.DataFrame) -> pl.DataFrame:
    """Return item_id, rule, of_good, of_bad: the words that rules compare, where they do.

    Both are lists: of one word each where a rule compares two words.
    """
    rules = {name: rule for name, rule in rivals().items() if hasattr(rule, "compares")}
    rows = []
    for item, good, bad in items.select("item_id", "good", "bad").sort("item_id").iter_rows():
        pair = Pair(good, bad)
        rows += [
            (item, name, *([words] if isinstance(words, str) else words for words in found))
            for name, rule in rules.items()
            if (found := rule.compares(pair))
        ]
    return pl.DataFrame(rows, schema=_COMPARED, orient="row")


def of_nulls(judged: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return preferences of the rules that choose as a null does.

    Args:
        judged: null -> what it judged (item_id, correct).
    """
    parts = [
        judged[rule.NULL].select("item_id", pl.lit(name).alias("rule"), prefers="correct")
        for name, rule in rivals().items()
        if getattr(rule, "NULL", None) in judged
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
        place = difference(good, bad)
        rows.append((item, "", "") if place is None else (item, good[place], bad[place]))
    return pl.DataFrame(rows, ["item_id", "good_word", "bad_word"], orient="row")


def wide(predictions: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    """Return what was judged, with a column for each rule that is decided on some pair of it.

    Args:
        predictions: item_id, rule, prefers.
        judged: item_id, category, phenomenon, lexical_set, in any order.

    Returns:
        The four columns, sorted by item, and a column for each rule: null: no say.
    """
    columns = predictions.pivot("rule", index="item_id", values="prefers", sort_columns=True)
    names = sorted(set(columns.columns) - {"item_id"})
    base = judged.select("item_id", "category", "phenomenon", "lexical_set")
    return (
        base.join(columns, on="item_id", how="left").sort("item_id").select(*base.columns, *names)
    )
