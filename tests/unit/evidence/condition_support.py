"""A made-up base and its labels, and conditions of it."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from poshgrid.config import Condition, Filter, specs
from poshgrid.config.runs import SPLITS
from poshgrid.corpora.schema import SENTENCES
from poshgrid.database import opened
from poshgrid.evidence.schema import CONDITION, Labels
from poshgrid.evidence.sentences import Base
from poshgrid.files import read_table, write_json, write_table

FILTERS = ["binding", "question-formation"]
READINGS = dict.fromkeys(FILTERS, ("paper", "direct"))
SCHEMA = Labels(READINGS, dict.fromkeys(FILTERS, ("paper",))).schema


def make(folder, seed=0, rows=1_500, removed=0.1, strict=0.5, spare=0.0):
    """Write a base of two sources and two sizes, and its labels.

    With a share of spare sentences the sizes stand in their order, as in a real base.
    """
    rng = random.Random(seed)
    base, labels = [], []
    for sent_id in range(rows):
        split = "train" if sent_id < rows * 0.8 else rng.choice(["dev", "test"])
        size = "" if split != "train" else ("1K" if rng.random() < 0.5 else "2K")
        if spare and split == "train":
            place = sent_id / rows / 0.8 + spare
            size = "1K" if place < 0.5 else "2K" if place < 1 else ""
        length = rng.randint(1, 30)
        source = rng.choice(["childes", "books"])
        asks = rng.random() < 0.3
        text = f"text {sent_id}{' ?' if asks else ''}"
        base.append((sent_id, source, "d", sent_id, text, length, split, sent_id, size))
        row = [sent_id]
        for _ in FILTERS:
            out = rng.random() < removed
            looks = rng.random() < 0.03
            direct = out and rng.random() < strict
            row += [out, looks, [1] if out else [], direct, [1] if direct else []]
        labels.append((*row, False, rng.random() < 0.1, False))
    sentences, evidence = folder / "sentences.parquet", folder / "evidence.parquet"
    write_table(pl.DataFrame(base, schema=SENTENCES, orient="row"), sentences, SENTENCES)
    write_labels(pl.DataFrame(labels, schema=SCHEMA, orient="row"), evidence)
    return sentences, evidence


def write_labels(table, path, never=None):
    """Write labels and their counts; ``never``: (filter, reading) -> what no tree bears."""
    write_table(table, path, SCHEMA)
    facts = {
        word: {each: {"never": (never or {}).get((word, each), [])} for each in READINGS[word]}
        for word in FILTERS
    }
    write_json(path.with_suffix(".json"), {"parsed": table.height, "filters": facts})
    return path


def spec(size="1K", name="baby", rates=None, backstop=False, of=(), **settings):
    """Return a condition's spec; ``of``: what the condition removes that it is a control of."""
    reinsert = [
        {"filter": f, **(rate if isinstance(rate, dict) else {"rate": rate, "tolerance": 0.01})}
        for f, rate in (rates or {}).items()
    ]
    condition = Condition(name=name, base="baby", reinsert=reinsert, **settings)
    return specs.ConditionSpec(
        condition=condition,
        control=[Filter.model_validate(each) for each in of],
        size=size,
        backstop=backstop,
    )


def read(folder):
    """Return split -> its table."""
    return {split: read_table(folder / f"{split}.parquet", CONDITION) for split in SPLITS}


@contextmanager
def planned(rows: pl.DataFrame, labels: Labels, seeds: tuple[int, ...] = (42,)) -> Iterator[Base]:
    """Yield a base of sentences and their labels."""
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as database:
        base = Base(database, labels)
        base.load([rows], seeds)
        yield base


def held(base: Base, test: str) -> list[int]:
    """Return the training sentences that a test of ``Chosen`` holds of, ascending."""
    found = base.database.rows(f"select sent_id from train where {test} order by sent_id")
    return [each for (each,) in found]
