"""A condition from ready files: for people who hold the corpora of a published study."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import polars as pl

from poshgrid import logs
from poshgrid.config import specs
from poshgrid.config.runs import SPLITS
from poshgrid.corpora import listing
from poshgrid.corpora.textfile import lines
from poshgrid.errors import PoshgridError
from poshgrid.evidence.schema import CONDITION
from poshgrid.files import BATCH, table_writer, write_json


def build(spec: specs.ConditionSpec, folder: Path, output: Path) -> dict[str, object]:
    """Write the tables of a condition from its texts, see ``corpora.listing.ready_files``.

    One sentence a line, taken as it is; empty lines are passed over. The source of every sentence
    is the condition's own name.

    Args:
        spec: the condition and the size.
        folder: holds the three texts.
        output: folder to write to.

    Returns:
        The content of ``statistics.json``.

    Raises:
        PoshgridError: a file is missing, empty, or not UTF-8 text.
    """
    name = spec.condition.name
    splits: dict[str, object] = {}
    held = hashlib.blake2b(digest_size=16)
    first = 0
    for split in SPLITS:
        path = listing.ready_files(folder).get(split)
        if path is None:
            raise PoshgridError(
                f"{folder / split}.txt: not found; conditions: {name}: prebuilt needs train.txt, "
                "dev.txt and test.txt in a folder for each size, or folders train, dev and test "
                "with one .txt each"
            )
        sentences = words = 0
        texts = _sentences(path)
        with table_writer(output / f"{split}.parquet", CONDITION) as append:
            while chunk := list(islice(texts, BATCH)):
                frame = _frame(name, split, chunk, first + sentences, sentences)
                append(frame)
                if split == "train":
                    held.update("\n".join([*chunk, ""]).encode())
                sentences += frame.height
                words += int(frame["n_words"].sum())
            if not sentences:
                raise PoshgridError(f"{path}: no sentence; give one sentence a line")
        first += sentences
        facts = {
            "sentences": sentences,
            "words": words,
            "words_per_sentence": round(words / sentences, 4),
        }
        splits[split] = {**facts, "sources": {name: facts}}
    statistics: dict[str, object] = {
        "condition": name,
        "base": spec.condition.base,
        "size": spec.size,
        "prebuilt": folder.name,
        "splits": splits,
        "removed": {},
        "downsample": 1.0,
        "reinserted": {},
        "digest": held.hexdigest(),
    }
    write_json(output / "statistics.json", statistics)
    logs.get(__name__).info("%s at %s: ready files of %s", name, spec.size, folder)
    return statistics


def _sentences(path: Path) -> Iterator[str]:
    for line in lines(path):
        if text := line.strip():
            yield text


def _frame(name: str, split: str, texts: list[str], first: int, position: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "sent_id": range(first, first + len(texts)),
            "source": [name] * len(texts),
            "document": [split] * len(texts),
            "position": range(position, position + len(texts)),
            "text": texts,
            "n_words": [len(text.split()) for text in texts],
            "replaced": [None] * len(texts),
        },
        schema=CONDITION,
    )
