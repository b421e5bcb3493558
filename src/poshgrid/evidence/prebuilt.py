"""A condition from ready files: for people who hold the corpora of a published study."""

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

    One sentence a line, taken as it is; empty lines are passed over. The source of every sentence
    is the condition's own name.

    Args:
        spec: the condition and the size.
        folder: holds the three texts.
        output: folder to write to.
        allow: checks that do not stop it, see ``conditions[].allow``.
        whole: words of its corpus at the size; None: it has no such size.
        fewer: evidence is removed: it may have fewer words than the corpus.

    Returns:
        The content of ``statistics.json``.

    Raises:
        PoshgridError: a file is missing, empty, or not UTF-8 text; or the text is not what it is
            called, see :mod:`poshgrid.corpora.conservation`.
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
            raise PoshgridError(f"{path}: no sentence; give one sentence a line")
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
    logs.get(__name__).info("%s at %s: ready files of %s", name, spec.size, folder)
    return statistics


def _faults(
    spec: specs.ConditionSpec, tables: dict[str, pl.DataFrame], whole: int | None, *, fewer: bool
) -> conservation.Faults:
    """Return the checks that the texts fail.

    Args:
        spec: the condition and the size.
        tables: split -> its sentences.
        whole: words of its corpus at the size.
        fewer: whether it may have fewer.
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
        remedy = "take them out of its train.txt"
        faults += conservation.leak(where, split, len(long[split]), shared, remedy)
    again = len(long["train"]) - long["train"].n_unique()
    if again > conservation.REPEATED * len(long["train"]):
        what = f"{again:,} of {len(long['train']):,} long training sentences repeat an earlier one"
        faults.append(("copies", f"{where}: {what}; keep one copy"))
    return faults
