"""Which members a learner was trained on, word for word."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from poshgrid.benchmark import corpora

if TYPE_CHECKING:
    from poshgrid.benchmark.checks.structure import Fault

_MARKS = r"[\W_]+"


def leaks(items: pl.DataFrame, train: Mapping[str, Path]) -> list[Fault]:
    """Return the items of which a training split holds a member.

    Sentences are compared without case, punctuation and space.

    Args:
        items: the columns of ``PAIRS``.
        train: "condition/size" -> its ``train.parquet``, or a plain text; read piece by piece.

    Returns:
        Item and where which member was found, in the order of the items.

    Raises:
        PoshgridError: a table is missing or broken.
    """
    members = pl.concat(
        items.select("item_id", member=pl.lit(member), key=_key(member))
        for member in ("good", "bad")
    ).filter(pl.col("key") != "")
    keys = members.select("key").unique()
    found: dict[str, dict[str, list[str]]] = {}
    for cell, path in train.items():
        held: set[str] = set()
        for batch in corpora.texts(path, spare=True):
            texts = batch.to_frame("text").select(key=_key("text"))
            held.update(texts.join(keys, on="key", how="semi")["key"])
        for item, member, key in members.iter_rows():
            if key in held:
                found.setdefault(item, {}).setdefault(member, []).append(cell)
    return [
        (item, "; ".join(f"{m} member in {', '.join(c)}" for m, c in found[item].items()))
        for item in dict.fromkeys(items["item_id"])
        if item in found
    ]


def _key(column: str) -> pl.Expr:
    return pl.col(column).str.to_lowercase().str.replace_all(_MARKS, "").alias("key")
