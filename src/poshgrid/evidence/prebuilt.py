"""A condition from prebuilt files, such as the corpora of a published study."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

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
from poshgrid.evidence.sentences import summary
from poshgrid.files import write_json, write_table


def build(
    spec: specs.ConditionSpec,
    folder: Path,
    output: Path,
    allow: Sequence[str] = (),
    *,
    whole: int | None = None,
    fewer: bool = False,
) -> dict[str, object]:
    """Write the tables of a condition from its texts, see ``corpora.listing.ready_files``.

    Each line is a sentence and is not changed; empty lines are skipped. The source of every
    sentence is the name of the condition.

    Args:
        spec: the condition and the size.
        folder: folder with the three texts.
        output: folder to write to.
        allow: checks that may fail, see ``conditions[].allow``.
        whole: words of its corpus at the size; None if the corpus has no such size.
        fewer: whether evidence was removed, so that it may have fewer words than the corpus.

    Returns:
        The content of ``statistics.json``.

    Raises:
        PoshgridError: a file is missing, empty, or not UTF-8 text; or the text fails a check, see
            :mod:`poshgrid.corpora.conservation`.
    """
    name = spec.condition.name
    tables: dict[str, pl.DataFrame] = {}
    first = 0
    for split in SPLITS:
        path = listing.ready_files(folder).get(split)
        if path is None:
            raise PoshgridError(
                f"{folder / split}.txt: not found; conditions: {name}: prebuilt needs train.txt, "
                "dev.txt and test.txt in a folder for each size, or folders train, dev and test "
                "with one .txt each"
            )
        texts = [text for line in lines(path) if (text := line.strip())]
        if not texts:
            raise PoshgridError(f"{path}: no sentence; write one sentence per line")
        tables[split] = pl.DataFrame(
            {
                "sent_id": range(first, first + len(texts)),
                "source": name,
                "document": split,
                "position": range(len(texts)),
                "text": texts,
                "n_words": [len(text.split()) for text in texts],
                "replaced": None,
            },
            schema=CONDITION,
        )
        write_table(tables[split], output / f"{split}.parquet", CONDITION)
        first += len(texts)
    faults = _faults(spec, tables, whole, fewer=fewer)
    digest = hashlib.blake2b(digest_size=16)
    for text in tables["train"]["text"]:
        digest.update(f"{text}\n".encode())
    statistics: dict[str, object] = {
        "condition": name,
        "corpus": spec.condition.corpus,
        "size": spec.size,
        "prebuilt": folder.name,
        "splits": {
            split: summary({name: (table.height, int(table["n_words"].sum()))})
            for split, table in tables.items()
        },
        "removed": {},
        "downsample": 1.0,
        "reinserted": {},
        "digest": digest.hexdigest(),
        **conservation.settle(faults, allow),
    }
    write_json(output / "statistics.json", statistics)
    logs.get(__name__).info("%s at %s: prebuilt files of %s", name, spec.size, folder)
    return statistics


def _faults(
    spec: specs.ConditionSpec, tables: dict[str, pl.DataFrame], whole: int | None, *, fewer: bool
) -> conservation.Faults:
    """Return the failed checks of the texts.

    Args:
        spec: the condition and the size.
        tables: split -> its sentences.
        whole: words of its corpus at the size; None if unknown.
        fewer: whether it may have fewer words.
    """
    where = f"conditions: {spec.condition.name} at {spec.size}"
    number = int(tables["train"]["n_words"].sum())
    faults: conservation.Faults = []
    misnamed = conservation.misnamed(where, spec.size, number)
    if misnamed and not (fewer and number < size_words(spec.size)):
        faults.append(("size", misnamed))
    if whole:
        faults += conservation.uneven_with_corpus(where, number, whole, fewer=fewer)
    long = {
        split: normal(table.filter(pl.col("n_words") >= conservation.LONG)["text"])
        for split, table in tables.items()
    }
    for split in SPLITS[1:]:
        shared = int(long[split].is_in(long["train"].implode()).sum())
        remedy = "remove them from its train.txt"
        faults += conservation.leak(where, split, len(long[split]), shared, remedy)
    again = len(long["train"]) - long["train"].n_unique()
    if again > conservation.REPEATED * len(long["train"]):
        what = f"{again:,} of {len(long['train']):,} long training sentences repeat an earlier one"
        faults.append(("copies", f"{where}: {what}; keep one copy"))
    return faults
