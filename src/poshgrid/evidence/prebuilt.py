"""A condition from ready files: for people who hold the corpora of a published study."""

from __future__ import annotations

import hashlib
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import logs
from poshgrid.config import specs
from poshgrid.config.runs import SPLITS
from poshgrid.config.sizes import words as size_words
from poshgrid.corpora import conservation, listing
from poshgrid.corpora.schema import normal
from poshgrid.corpora.textfile import lines
from poshgrid.errors import PoshgridError
from poshgrid.evidence.schema import CONDITION
from poshgrid.files import BATCH, table_writer, write_json


def build(
    spec: specs.ConditionSpec,
    folder: Path,
    output: Path,
    beside: specs.BesideSpec | None = None,
) -> dict[str, object]:
    """Write the tables of a condition from its texts, see ``corpora.listing.ready_files``.

    One sentence a line, taken as it is; empty lines are passed over. The source of every sentence
    is the condition's own name.

    Args:
        spec: the condition and the size.
        folder: holds the three texts.
        output: folder to write to.
        beside: the words of its base, and the checks that do not stop it.

    Returns:
        The content of ``statistics.json``.

    Raises:
        PoshgridError: a file is missing, empty, or not UTF-8 text; or the text is not what it is
            called, see :mod:`poshgrid.corpora.conservation`.
    """
    name, beside = spec.condition.name, beside or specs.BesideSpec()
    long: dict[str, list[pl.Series]] = {split: [] for split in SPLITS}
    splits: dict[str, dict[str, Any]] = {}
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
        texts = (text for line in lines(path) if (text := line.strip()))
        with table_writer(output / f"{split}.parquet", CONDITION) as append:
            while chunk := list(islice(texts, BATCH)):
                frame = (
                    pl.DataFrame({"text": chunk, "n_words": [len(text.split()) for text in chunk]})
                    .with_row_index("position", sentences)
                    .with_columns(
                        sent_id=pl.col("position") + first,
                        source=pl.lit(name),
                        document=pl.lit(split),
                        replaced=pl.lit(None),
                    )
                    .select(pl.col(column).cast(kind) for column, kind in CONDITION.items())
                )
                append(frame)
                is_long = frame["n_words"] >= conservation.LONG
                long[split].append(normal(frame["text"].filter(is_long)))
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
    digests = {split: pl.concat(pieces) for split, pieces in long.items()}
    faults = _faults(spec, splits["train"]["words"], digests, beside)
    allowed = conservation.settle(faults, beside.allow)
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
        **allowed,
    }
    write_json(output / "statistics.json", statistics)
    logs.get(__name__).info("%s at %s: ready files of %s", name, spec.size, folder)
    return statistics


def _faults(
    spec: specs.ConditionSpec, words: int, long: dict[str, pl.Series], beside: specs.BesideSpec
) -> conservation.Faults:
    """Return the checks that the texts fail.

    Args:
        spec: the condition and the size.
        words: of the training text.
        long: split -> digests of its long sentences.
        beside: the words of its base.
    """
    where, train = f"conditions: {spec.condition.name} at {spec.size}", long["train"]
    faults: conservation.Faults = []
    if not (beside.fewer and words < size_words(spec.size)) and (
        misnamed := conservation.misnamed(where, spec.size, words)
    ):
        faults.append(("size", misnamed))
    if beside.words:
        faults += conservation.uneven_with_base(where, words, beside.words, fewer=beside.fewer)
    for split in SPLITS[1:]:
        shared = int(long[split].is_in(train.implode()).sum())
        remedy = "take them out of its train.txt"
        faults += conservation.leak(where, split, len(long[split]), shared, remedy)
    again = len(train) - train.n_unique()
    if again > conservation.REPEATED * len(train):
        what = f"{again:,} of {len(train):,} long training sentences repeat an earlier one"
        faults.append(("copies", f"{where}: {what}; keep one copy"))
    return faults
