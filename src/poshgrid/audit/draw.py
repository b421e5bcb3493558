"""Draw the sentences that people judge to test a filter (paper, appendix C, "Sanity Check").

There are two sheets for each filter of a condition:

* *leakage*: a uniform sample of the training sentences that the filter left in. It is drawn from
  all of them, or from the *candidates*: sentences with words that evidence needs (``candidates`` of
  the filter's module in :mod:`poshgrid.evidence.screening.lexical`), as the paper drew 1,000 of
  5.7k sentences with a reflexive. The rate is then about candidates only.
* *precision*: a uniform sample of the sentences that the filter, or its backstop, removed.

A condition with rewriters has two more sheets, ``rewrite``: a sample of the sentences that they did
not change (leakage), and of those that they changed, with the new text (precision).

Evidence that the condition put back is not leakage: it is not drawn, but counted. A sentence that
is put back several times counts once.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from poshgrid import logs
from poshgrid.audit import sheet
from poshgrid.audit.sheet import Row
from poshgrid.config import Filter
from poshgrid.config.specs import AuditSpec
from poshgrid.corpora.schema import SENTENCES, trains
from poshgrid.errors import PoshgridError
from poshgrid.evidence.schema import CONDITION, TOKENS, Labels, column
from poshgrid.evidence.screening.screen import lexical
from poshgrid.files import Schema, read_json, read_schema, read_table, table_batches, write_json
from poshgrid.parsing.words import tokenize

STATISTICS = "statistics.json"
REWRITE = "rewrite"
"""Name of the sheets of a condition's rewriters, which are taken together."""
SEED = 42
Candidates = Callable[[Sequence[str]], tuple[int, ...] | None]


def sample(ids: Iterable[int], size: int, seed: int, name: str) -> list[int]:
    """Return a uniform sample of sentences without replacement, in the order of choice.

    Each sentence has a rank, a keyed hash of its number; the sample has the sentences with the
    lowest ranks. So a larger sample begins with the smaller one, and the first lines of a sheet are
    themselves a uniform sample: a person may stop at any line.

    Args:
        ids: numbers of the sentences, in any order.
        size: number of sentences to draw.
        seed: of the sample.
        name: of the sample, e.g. ``"binding.leakage"``; each name gives another sample.
    """
    key = hashlib.blake2b(f"{seed}\0{name}".encode()).digest()

    def rank(sent_id: int) -> tuple[bytes, int]:
        number = sent_id.to_bytes(8, "little")
        return hashlib.blake2b(number, key=key, digest_size=8).digest()[::-1], sent_id

    return heapq.nsmallest(size, ids, key=rank)


@dataclass
class _Filter:
    """What a filter does with a corpus; arrays have a value for each sentence.

    Attributes:
        readings: the filter with each reading that the condition uses, mostly one.
        by_rule: whether its rule removes the sentence.
        removed: whether its rule or its backstop removes the sentence.
        left: whether the sentence may be drawn for leakage.
        reinserted: number of sentences that were put back.
    """

    readings: list[Filter]
    by_rule: np.ndarray
    removed: np.ndarray
    left: np.ndarray
    reinserted: int = 0

    @property
    def candidates(self) -> Candidates | None:
        """The filter's test for words that evidence needs; None without one."""
        test: Candidates | None = getattr(lexical(self.readings[0].name), "candidates", None)
        return test


def draw(
    spec: AuditSpec, condition: Path, sentences: Path, evidence: Path, output: Path
) -> dict[str, Any]:
    """Write the sheets of a condition as CSV, and ``statistics.json``.

    A sheet of the same sentences that a person has begun to fill in is not changed. Text is read in
    batches; only a few bytes for each sentence stay in memory.

    Args:
        spec: the condition, its filters, and how many sentences to draw.
        condition: folder of the condition at this size.
        sentences: the corpus's table.
        evidence: labels of the corpus, from which the condition was made.
        output: folder to write to.

    Returns:
        The content of ``statistics.json``: ``sentences`` in the condition, ``corpus_sentences`` at
        this size, and for each filter and sheet ``candidates``, ``sampled`` and the sheet's
        ``digest``; for leakage also ``whole`` (whether it was drawn from all sentences left in) and
        ``reinserted`` (evidence put back); for precision ``backstop`` (sentences removed for their
        words alone).

    Raises:
        PoshgridError: a table is missing or does not belong to the others, a filter has no labels,
            or a sheet in the folder has a person's labels on another sample.
    """
    filters = _filters(spec, condition, evidence)
    batches = table_batches(sentences, SENTENCES, ("split", "size"))
    at_size = np.concatenate([trains(batch, spec.size).to_numpy() for batch in batches])
    looks = _looks(spec, sentences, filters)
    n_train = _find_candidates(condition / "train.parquet", evidence, filters, looks)
    chosen: dict[str, list[int]] = {}
    facts: dict[str, dict[str, Any]] = {}
    for word, rule in filters.items():
        out = at_size & rule.removed
        backstop = int((out & ~rule.by_rule).sum())
        whole = spec.whole or rule.candidates is None
        facts[word] = {}
        for kind, possible, counts in (
            ("leakage", rule.left, {"reinserted": rule.reinserted, "whole": whole}),
            ("precision", out, {"backstop": backstop}),
        ):
            name, ids = f"{word}.{kind}", np.flatnonzero(possible).tolist()
            chosen[name] = sample(ids, spec.sample, SEED, name)
            facts[word][kind] = {"candidates": len(ids), **counts}
    rows_of = _sheet_rows(spec.language, chosen, sentences, evidence, filters)
    facts |= {REWRITE: {}} if spec.rewrite else {}
    train = condition / "train.parquet"
    for kind, changed in zip(sheet.KINDS, _rewritten(train, sentences) if spec.rewrite else ()):  # noqa: B905
        name, ids = f"{REWRITE}.{kind}", changed.tolist()
        facts[REWRITE][kind] = {"candidates": len(ids), "whole": True}
        rows_of[name] = _pairs(train, sentences, sample(ids, spec.sample, SEED, name))
    for name, rows in rows_of.items():
        word, _, kind = name.rpartition(".")
        facts[word][kind] |= {"sampled": len(rows), "digest": sheet.digest(_numbered(rows))}
    statistics = {
        **spec.model_dump(mode="json", include={"condition", "size", "sample"}),
        "sentences": n_train,
        "corpus_sentences": int(at_size.sum()),
        "filters": facts,
    }
    blank = {n: rows for n, rows in rows_of.items() if not _filled_in(output / f"{n}.csv", rows)}
    for name, rows in blank.items():
        sheet.write(name, rows, output / f"{name}.csv")
    write_json(output / STATISTICS, statistics)
    logs.get(__name__).info("%s at %s: %d sheets", spec.condition, spec.size, len(rows_of))
    return statistics


def _numbered(rows: Sequence[Row]) -> list[tuple[int, int, str]]:
    return [(number, row.sent_id, row.text) for number, row in enumerate(rows, start=1)]


def _filters(spec: AuditSpec, condition: Path, evidence: Path) -> dict[str, _Filter]:
    """Return word -> which sentences the filter removes, by the labels of the corpus."""
    if not spec.filters:
        return {}
    labels = Labels.of(read_schema(evidence))
    labels.check(spec.filters, evidence)
    backstop = bool(read_json(condition / STATISTICS)["backstop"])
    table = read_table(evidence, labels.schema, labels.columns(spec.filters, backstop=True))
    filters = {}
    for word in sorted({rule.name for rule in spec.filters}):
        readings = [rule for rule in spec.filters if rule.name == word]
        by_rule, removed = (
            table.select(pl.any_horizontal(labels.columns(readings, backstop=on)))
            .to_series().to_numpy()
            for on in (False, backstop)
        )  # fmt: skip
        filters[word] = _Filter(readings, by_rule, removed, np.zeros(table.height, bool))
    return filters


def _looks(spec: AuditSpec, sentences: Path, filters: dict[str, _Filter]) -> dict[str, np.ndarray]:
    """Return word -> whether each sentence of the corpus has words that evidence needs.

    Filters without such a test are left out, all of them with ``whole``. The sentences are the
    corpus's, as people read them on the sheets: rewriters may take such words away.
    """
    tests = {w: test for w, rule in filters.items() if (test := rule.candidates) and not spec.whole}
    parts: dict[str, list[np.ndarray]] = {word: [] for word in tests}
    if not tests:
        return {}
    for batch in logs.progress(
        table_batches(sentences, SENTENCES, ["text"]), "looking at sentences, parts"
    ):
        texts: dict[str, int] = {}  # each distinct text is tokenized once
        numbers = [texts.setdefault(text, len(texts)) for text in batch["text"]]
        tokens = [tokenize(text, spec.language) for text in texts]
        for word, test in tests.items():
            looks = np.array([test(words) is not None for words in tokens], bool)
            parts[word].append(looks[numbers])
    return {word: np.concatenate(own) for word, own in parts.items()}


def _find_candidates(
    train: Path, evidence: Path, filters: dict[str, _Filter], looks: dict[str, np.ndarray]
) -> int:
    """Set ``left`` and ``reinserted`` of each filter; return the condition's number of sentences.

    Args:
        train: the condition's sentences.
        evidence: labels of the corpus.
        filters: word -> what the filter removes; changed in place.
        looks: which sentences are candidates, of filters with a test (:func:`_looks`).

    Raises:
        PoshgridError: a sentence is not in the corpus, or is evidence that was not put back.
    """
    n_train = 0
    for batch in table_batches(train, CONDITION, ("sent_id", "replaced")):
        ids = batch["sent_id"].to_numpy()
        n_train += len(ids)
        for word, rule in filters.items():
            gone = np.append(rule.removed, True)[np.minimum(ids, len(rule.removed))]
            wrong = ids[gone & batch["replaced"].is_null().to_numpy()]
            if len(wrong):
                raise PoshgridError(
                    f"{train}: sent_id {wrong[0]} is a sentence that filter {word!r} removes, or "
                    f"that is not in {evidence}: the one was not made from the other; "
                    "run `poshgrid run -R condition`"
                )
            rule.reinserted += int(gone.sum())
            possible = ids[~gone]
            rule.left[possible[looks[word][possible]] if word in looks else possible] = True
    return n_train


def _sheet_rows(
    language: str,
    chosen: dict[str, list[int]],
    sentences: Path,
    evidence: Path,
    filters: dict[str, _Filter],
) -> dict[str, list[Row]]:
    """Return the rows of each sheet, with the words that made the filter or its test match."""
    schema = Labels.of(read_schema(evidence)).schema
    every = {sent_id for numbers in chosen.values() for sent_id in numbers}
    texts = _cells(sentences, SENTENCES, ["source", "document", "text"], every)
    rows: dict[str, list[Row]] = {}
    for name, numbers in chosen.items():
        word, _, kind = name.rpartition(".")
        readings, test = filters[word].readings, filters[word].candidates
        columns = [column(reading.name, reading.reading, TOKENS) for reading in readings]
        matched = _cells(evidence, schema, columns, set(numbers)) if kind == "precision" else {}
        rows[name] = []
        for sent_id in numbers:
            source, document, text = texts[sent_id]
            words = tokenize(text, language)
            if kind == "precision":
                matches = set().union(*matched[sent_id])
            else:
                matches = set((test and test(words)) or ())
            marked = (w for n, w in enumerate(words, start=1) if n in matches)
            rows[name].append(Row(sent_id, source, document, text, " | ".join(marked)))
    return rows


def _rewritten(train: Path, sentences: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the training sentences that rewriters did not change, and those that they changed."""
    texts = table_batches(sentences, SENTENCES, ["text"])
    whole = np.concatenate([batch["text"].hash().to_numpy() for batch in texts])
    there, changed = np.zeros((2, len(whole)), bool)
    for batch in table_batches(train, CONDITION, ["sent_id", "text"]):
        ids = batch["sent_id"].to_numpy()
        there[ids], changed[ids] = True, batch["text"].hash().to_numpy() != whole[ids]
    return np.flatnonzero(there & ~changed), np.flatnonzero(changed)


def _pairs(train: Path, sentences: Path, ids: list[int]) -> list[Row]:
    """Return rows of sentences of the corpus; the column of words has the new text, if changed."""
    old = _cells(sentences, SENTENCES, ["source", "document", "text"], set(ids))
    new = _cells(train, CONDITION, ["text"], set(ids))
    rows = []
    for sent_id in ids:
        source, document, text = old[sent_id]
        (after,) = new[sent_id]
        rows.append(Row(sent_id, source, document, text, "" if after == text else after))
    return rows


def _cells(path: Path, schema: Schema, columns: list[str], ids: set[int]) -> dict[int, list[Any]]:
    """Return sent_id -> the cells of some sentences."""
    wanted = pl.Series(sorted(ids), dtype=pl.UInt32).implode()
    return {
        sent_id: cells
        for batch in table_batches(path, schema, ["sent_id", *columns])
        for sent_id, *cells in batch.filter(pl.col("sent_id").is_in(wanted)).iter_rows()
    }


def _filled_in(path: Path, rows: Sequence[Row]) -> bool:
    """Return whether a sheet has a person's labels; raise if they are on another sample."""
    entries = sheet.read(path) if path.exists() else []
    if not any(entry.label or entry.note for entry in entries):
        return False
    if [(entry.number, entry.sent_id, entry.text) for entry in entries] != _numbered(rows):
        raise PoshgridError(
            f"{path}: has labels or notes on another sample, which would be lost; move it to "
            "another folder first"
        )
    return True
