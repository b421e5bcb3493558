"""A made-up corpus and its labels, and conditions of it."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from poshgrid.config import Condition, Filter, specs
from poshgrid.config.runs import SPLITS
from poshgrid.core.database import opened
from poshgrid.core.files import read_table, write_json, write_table
from poshgrid.corpora.schema import SENTENCES
from poshgrid.evidence.condition import build
from poshgrid.evidence.constructions import BY_TREE
from poshgrid.evidence.schema import CONDITION, Labels, column
from poshgrid.evidence.sentences import Corpus

FILTERS = ["binding", "question-formation"]
TEXTS = ("text {}", "Myself {}", "Is it {} ?", "What is {} ?")
DIRECT = [f"{word}.direct" for word in FILTERS]
LABELS = Labels(dict.fromkeys(FILTERS, ("paper", "direct")), dict.fromkeys(FILTERS, ("paper",)))


@dataclass(frozen=True)
class Made:
    """A corpus and its labels, as files and as one table."""

    sentences: Path
    labels: Path
    table: pl.DataFrame

    def build(self, wanted, folder, labels=None, allow=()):
        """Build a condition; return its training sentences and facts."""
        facts = build(wanted, self.sentences, labels or self.labels, folder, allow)
        return read(folder)["train"], facts

    def at(self, size):
        """Return the training sentences of a size."""
        sizes = ("1K", "2K") if size == "2K" else ("1K",)
        return self.table.filter(pl.col("size").is_in(sizes))


def tabled(rows, labels):
    """Return sentences and labels: of each sentence the columns that are not the usual ones."""
    usual = {
        name: [] if kind == pl.List else False if kind == pl.Boolean else None
        for name, kind in labels.schema.items()
    } | {"source": "s", "document": "d", "text": ""}  # fmt: skip
    whole = [usual | {"sent_id": i, "position": i, "rank": i} | row for i, row in enumerate(rows)]
    counted = [{"n_words": len(row["text"].split())} | row for row in whole]
    return pl.DataFrame(counted, schema=SENTENCES | labels.schema)


def write(folder, rows, labels=LABELS):
    """Write a corpus and its labels, as :func:`tabled` makes them."""
    folder.mkdir(exist_ok=True)
    table = tabled(rows, labels)
    made = Made(folder / "sentences.parquet", folder / "labels.parquet", table)
    write_table(table.select(list(SENTENCES)), made.sentences, SENTENCES)
    write_labels(table, made.labels, labels=labels)
    return made


def make(folder, seed=0, rows=1_600, removed=0.08, looks=0.0):
    """Write a corpus of two sources, two sizes and spare sentences, and its labels.

    Args:
        folder: to write to.
        seed: of the sentences and labels.
        rows: number of sentences.
        removed: share of them that each filter removes.
        looks: share that the backstop of each filter removes.
    """
    rng = random.Random(seed)
    trained = round(0.8 * rows)
    ranks = rng.sample(range(trained), trained)
    corpus = []
    for i in range(rows):
        split = "train" if i < trained else rng.choice(["dev", "test"])
        rank = ranks[i] if split == "train" else i
        row = {
            "source": rng.choice(["childes", "books"]),
            "text": rng.choices(TEXTS, [60, 10, 15, 15])[0].format(i),
            "n_words": rng.randint(1, 30),
            "split": split,
            "rank": rank,
            "size": "1K" if rank < 0.4 * trained else "2K" if rank < 0.8 * trained else "",
            **{construction: rng.random() < 0.25 for construction in BY_TREE},
        }
        for word in FILTERS:
            evidence = rng.random() < removed
            row[column(word, "paper")] = evidence
            row[column(word, "direct")] = evidence and rng.random() < 0.5
            row[column(word, "paper", "backstop")] = rng.random() < looks
        corpus.append(row)
    return write(folder, corpus)


def write_labels(table, path, never=None, labels=LABELS, parsed=None):
    """Write labels and their counts; ``never``: (filter, reading) -> what no tree bears."""
    write_table(table.select(list(labels.schema)), path, labels.schema)
    facts = {
        word: {reading: {"never": (never or {}).get((word, reading), [])} for reading in readings}
        for word, readings in labels.readings.items()
    }
    write_json(path.with_suffix(".json"), {"sentences": parsed or table.height, "filters": facts})
    return path


def spec(size="1K", name="baby", rates=None, of=(), heldout=True, **settings):
    """Return a condition's spec; ``of``: what the condition removes that it is a control of."""
    reinsert = [
        {"filter": word, "tolerance": 0.01, **(rate if isinstance(rate, dict) else {"rate": rate})}
        for word, rate in (rates or {}).items()
    ]
    condition = Condition(name=name, corpus="baby", reinsert=reinsert, **settings)
    control = [Filter.model_validate(word) for word in of]
    return specs.ConditionSpec(
        condition=condition, control_filters=control, size=size, heldout_filtered=heldout
    )


def removes(row, word, *, backstop=True):
    """Return whether a filter in a reading, or the reading's backstop, removes a sentence."""
    name, _, reading = word.partition(".")
    stem = f"{name.replace('-', '_')}_{reading or 'paper'}"
    return row[stem] or (backstop and row.get(f"{stem}_backstop", False))


def read(folder):
    """Return split -> its table."""
    return {split: read_table(folder / f"{split}.parquet", CONDITION) for split in SPLITS}


def words_of(rows):
    """Return source -> words."""
    return dict(rows.group_by("source").agg(pl.col("n_words").sum()).iter_rows())


HAND = Labels({"binding": ("paper", "direct")}, {})


@contextmanager
def planned(*rows: tuple[str, int, str, bool]) -> Iterator[Corpus]:
    """Yield a corpus of training sentences: source, words, size, whether they are evidence."""
    names = ("source", "n_words", "size", "binding_paper")
    train = [dict(zip(names, row, strict=True)) | {"split": "train"} for row in rows]
    table = tabled(train, HAND).with_columns(binding_direct="binding_paper", question=False)
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as database:
        corpus = Corpus(database, HAND)
        corpus.load([table], 42)
        yield corpus


def held(corpus: Corpus, test: str) -> list[int]:
    """Return the training sentences that a test of ``Chosen`` holds of, ascending."""
    rows = corpus.database.rows(f"select sent_id from train where {test} order by sent_id")
    return [sent_id for (sent_id,) in rows]
