"""Sources to a base: nested sizes for training; dev and test sets that share no text with them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from poshgrid import config, files, logs
from poshgrid.config import specs
from poshgrid.config.runs import SPLITS
from poshgrid.corpora.schema import SENTENCES, SOURCE
from poshgrid.errors import PoshgridError, did_you_mean

HELDOUT = ("dev", "test")

log = logs.get(__name__)


@dataclass(frozen=True)
class _Pool:
    """What is kept of a source in memory: numbers, one for each sentence, in the chosen order.

    Attributes:
        row: row of the source's table.
        words: words of the sentence.
        key: digest of its text, which also orders the held-out sentences.
        document: number of its document.
        position: place in its document.
        documents: names of the documents.
    """

    row: np.ndarray
    words: np.ndarray
    key: np.ndarray
    document: np.ndarray
    position: np.ndarray
    documents: list[str]


@dataclass(frozen=True)
class _Part:
    """Sentences of one source in one split, in the order in which they are written.

    Attributes:
        places: in the source's pool.
        sizes: of each, by number.
        ranks: order of choice.
    """

    split: str
    source: str
    places: np.ndarray
    sizes: np.ndarray
    ranks: np.ndarray


def mix(spec: specs.BaseSpec, sources: dict[str, Path], output: Path) -> dict[str, Any]:
    """Write a base's sentences (``schema.SENTENCES``) and ``statistics.json`` beside them.

    Documents of a source are put in a seeded order; size *s* takes sentences in that order until
    the source's words at *s* are reached (paper, Table 2), so that a smaller size lies inside a
    larger. They are written in that order, or in the source's (``bases[].order``). Dev and test are
    drawn, sentence by sentence, from texts that occur once in all the base's sources: train, dev
    and test share no text. They are the same for all sizes. Spare training sentences belong to no
    size: conditions are refilled from them, as far as a source has them.

    The plan is made with numbers alone (28 bytes a sentence); then the text of one source at a time
    is read and written, so that memory holds the text of the largest source, not of the base.

    Args:
        spec: the mixture and the grid's sizes.
        sources: source -> its table (``schema.SOURCE``).
        output: ``.../sentences.parquet``.

    Returns:
        Words and sentences by split, size and source.

    Raises:
        PoshgridError: a source is not given, is too small, or gets fewer words at a larger size.
    """
    budgets = spec.base.budgets(spec.sizes)
    heldout = spec.base.heldout(spec.sizes)
    pools = {name: _pool(name, sources, spec.base.seed) for name in budgets}
    once = _once(pools)
    parts = [
        part
        for name, pool in pools.items()
        for part in _choose(spec, name, pool, once[name], budgets[name], heldout[name])
    ]
    parts.sort(key=lambda part: SPLITS.index(part.split))
    labels = [*sorted(spec.sizes, key=config.words), ""]
    with files.table_writer(output, SENTENCES) as append:
        first = 0
        for frame in _rows(parts, pools, sources, labels):
            ids = pl.int_range(first, first + frame.height, dtype=pl.UInt32, eager=True)
            append(frame.with_columns(sent_id=ids))
            first += frame.height
    statistics = _statistics(spec, parts, pools, budgets)
    files.write_json(output.with_name("statistics.json"), statistics)
    log.info("%s: %s sentences", spec.base.name, f"{first:,}")
    return statistics


def _pool(name: str, sources: dict[str, Path], seed: int) -> _Pool:
    """Read a source's numbers and put its documents in a seeded order."""
    if name not in sources:
        raise PoshgridError(f"source {name!r} is not among the inputs{did_you_mean(name, sources)}")
    numbers: dict[str, int] = {}
    columns: dict[str, list[np.ndarray]] = {"words": [], "key": [], "document": [], "position": []}
    for batch in files.table_batches(sources[name], SOURCE):
        if any(batch[column].has_nulls() for column in SOURCE):
            raise PoshgridError(f"{sources[name]}: an empty cell; read source {name!r} again")
        places = [numbers.setdefault(d, len(numbers)) for d in batch["document"]]
        keys = [int(_digest(seed, "heldout", text), 16) for text in batch["text"]]
        columns["words"].append(batch["n_words"].to_numpy())
        columns["position"].append(batch["position"].to_numpy())
        columns["document"].append(np.array(places, np.uint32))
        columns["key"].append(np.array(keys, np.uint64))
    if not numbers:
        raise PoshgridError(f"{sources[name]}: source {name!r} has no sentence; add text")
    found = {column: np.concatenate(parts) for column, parts in columns.items()}
    documents = list(numbers)
    rank = np.empty(len(documents), np.uint32)
    order = sorted(range(len(documents)), key=lambda n: (_digest(seed, name, documents[n]), n))
    rank[order] = np.arange(len(documents))
    row = np.lexsort((found["position"], rank[found["document"]])).astype(np.uint32)
    return _Pool(row, documents=documents, **{c: column[row] for c, column in found.items()})


def _digest(seed: int, *words: str) -> str:
    return hashlib.blake2b("\0".join((str(seed), *words)).encode(), digest_size=8).hexdigest()


def _once(pools: dict[str, _Pool]) -> dict[str, np.ndarray]:
    """Return source -> whether each sentence's text occurs once in all sources."""
    keys = np.sort(np.concatenate([pool.key for pool in pools.values()]))
    repeated = np.unique(keys[1:][keys[1:] == keys[:-1]])
    return {name: ~np.isin(pool.key, repeated) for name, pool in pools.items()}


def _choose(
    spec: specs.BaseSpec,
    name: str,
    pool: _Pool,
    once: np.ndarray,
    budget: dict[str, int],
    asked: dict[str, int],
) -> list[_Part]:
    """Return the train, dev and test parts of a source."""
    largest = max(budget.values())
    size = next(size for size, words in budget.items() if words == largest)
    remedy = "lower its words or add text"
    what = f"{largest:,} at {size} after {asked['dev']:,} for dev and {asked['test']:,} for test"
    needed = largest + sum(asked.values())
    _require(spec, name, needed, int(pool.words.sum()), what=what, remedy=remedy)
    heldout = _heldout(spec, name, pool, once, asked)
    free = np.ones(len(pool.row), bool)
    for places in heldout.values():
        free[places] = False
    rest = np.flatnonzero(free).astype(np.uint32)
    before = _words_before(pool.words[rest])
    # Dev and test may have run over by less than a sentence each: count what they have left.
    left = int(pool.words[rest].sum())
    _require(spec, name, largest, left, what=f"{what} are taken", remedy=remedy)
    # A sentence belongs to a size if the words before it have not yet reached the size's budget.
    sizes = np.searchsorted(list(budget.values()), before, side="right").astype(np.uint8)
    none = len(budget)  # the number of no size: of spare sentences, too
    taken = before < largest * (1 + spec.base.spare)
    chosen, sizes = rest[taken], sizes[taken]
    order = _arranged(spec.base.order, pool, chosen)
    parts = [_Part("train", name, chosen[order], sizes[order], order.astype(np.uint32))]
    for split, places in heldout.items():
        of_none = np.full(len(places), none, np.uint8)
        parts.append(_Part(split, name, places, of_none, np.arange(len(places), dtype=np.uint32)))
    return parts


def _arranged(order: str, pool: _Pool, chosen: np.ndarray) -> np.ndarray:
    """Return the order in which the chosen sentences are written; documents stay whole."""
    if order == "shuffled":
        return np.arange(len(chosen))
    document = pool.document[chosen].astype(np.int64)  # numbered as the source has them
    return np.lexsort((pool.position[chosen], -document if order == "reversed" else document))


def _words_before(words: np.ndarray) -> np.ndarray:
    before: np.ndarray = np.cumsum(words, dtype=np.int64) - words
    return before


def _heldout(
    spec: specs.BaseSpec, name: str, pool: _Pool, once: np.ndarray, asked: dict[str, int]
) -> dict[str, np.ndarray]:
    """Return split -> places in the pool, in their order of choice."""
    candidates = np.flatnonzero(once).astype(np.uint32)
    candidates = candidates[np.argsort(pool.key[candidates], kind="stable")]
    found: dict[str, np.ndarray] = {}
    for split, words in asked.items():
        found[split] = candidates[_words_before(pool.words[candidates]) < words]
        taken = int(pool.words[found[split]].sum())
        what = f"for {split}, in sentences that occur only once"
        remedy = f"lower {split}_words or add text"
        _require(spec, name, words, taken, what=what, remedy=remedy)
        candidates = candidates[len(found[split]) :]
    return found


def _require(
    spec: specs.BaseSpec, name: str, needed: int, available: int, *, what: str, remedy: str
) -> None:
    """Raise :class:`PoshgridError` if a source has fewer words than are needed of it."""
    if available < needed:
        raise PoshgridError(
            f"bases: {spec.base.name}: source {name!r} is too small: needs {needed:,} words "
            f"({what}), has {available:,}, short by {needed - available:,}; {remedy}"
        )


def _rows(
    parts: list[_Part], pools: dict[str, _Pool], sources: dict[str, Path], labels: list[str]
) -> Iterator[pl.DataFrame]:
    """Yield the base's rows but for ``sent_id``, piece by piece, part by part.

    Parts of one source follow each other in train; dev and test, which are small, wait.
    """
    waiting: dict[int, list[pl.DataFrame]] = {}
    for name in dict.fromkeys(part.source for part in parts):
        texts = files.read_table(sources[name], SOURCE, ["text"])["text"]
        for number, part in enumerate(parts):
            if part.source == name:
                pieces = _pieces(part, pools[name], texts, labels)
                if part.split == "train":
                    yield from pieces
                else:
                    waiting[number] = list(pieces)
    for _, held in sorted(waiting.items()):
        yield from held


def _pieces(
    part: _Part, pool: _Pool, texts: pl.Series, labels: list[str]
) -> Iterator[pl.DataFrame]:
    names, sizes = pl.Series(pool.documents, dtype=pl.String), pl.Series(labels, dtype=pl.String)
    for start in range(0, len(part.places), files.BATCH):
        places = part.places[start : start + files.BATCH]
        yield pl.DataFrame(
            {
                "source": pl.repeat(part.source, len(places), eager=True),
                "document": names.gather(pool.document[places]),
                "position": pool.position[places],
                "text": texts.gather(pool.row[places]),
                "n_words": pool.words[places],
                "split": pl.repeat(part.split, len(places), eager=True),
                "rank": part.ranks[start : start + len(places)],
                "size": sizes.gather(part.sizes[start : start + len(places)]),
            }
        )


def _statistics(
    spec: specs.BaseSpec,
    parts: list[_Part],
    pools: dict[str, _Pool],
    budgets: dict[str, dict[str, int]],
) -> dict[str, Any]:
    """Return words and sentences by source, of the pool, each size, dev and test (Tables 2, 4)."""
    sizes = sorted(spec.sizes, key=config.words)
    places = {(part.split, part.source): part for part in parts}

    def counts(split: str, size: int | None = None) -> dict[str, Any]:
        """Count a split, of train the sentences up to a size."""
        found = {}
        for name, pool in pools.items():
            part = places[split, name]
            inside = part.places if size is None else part.places[part.sizes <= size]
            found[name] = _facts(pool, inside)
        return _sums(found)

    spare = {}
    for name, pool in pools.items():
        train = places["train", name]
        spare[name] = _facts(pool, train.places[train.sizes == len(sizes)])
    whole = {name: _facts(pool, np.arange(len(pool.row))) for name, pool in pools.items()}
    return {
        "base": spec.base.name,
        "pool": _sums(whole),
        "train": {size: counts("train", number) for number, size in enumerate(sizes)},
        "spare": _sums(spare),
        **{split: counts(split) for split in HELDOUT},
        "budget": {size: {name: budgets[name][size] for name in budgets} for size in sizes},
    }


def _facts(pool: _Pool, places: np.ndarray) -> dict[str, int]:
    return {
        "words": int(pool.words[places].sum()),
        "sentences": len(places),
        "documents": len(np.unique(pool.document[places])),
    }


def _sums(by_source: dict[str, dict[str, int]]) -> dict[str, Any]:
    words = sum(facts["words"] for facts in by_source.values())
    sentences = sum(facts["sentences"] for facts in by_source.values())
    return {
        "words": words,
        "sentences": sentences,
        "words_per_sentence": round(words / sentences, 3) if sentences else 0.0,
        "sources": by_source,
    }
