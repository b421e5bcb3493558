"""Draw the sentences that people judge to test a filter (paper, appendix C, "Sanity Check").

There are two sheets for each filter of a condition:

* *leakage*: a uniform sample of the training sentences that the filter left in. It is drawn from
  all of them, or from the *candidates*: sentences with words that evidence needs (``candidates`` of
  the filter's module in :mod:`poshgrid.evidence.filters`), as the paper drew 1,000 of
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
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from poshgrid.config.specs import AuditSpec
from poshgrid.core import logs, plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import read_schema, read_table, write_json
from poshgrid.core.plugins import FILTERS
from poshgrid.corpora.schema import SENTENCES, trains
from poshgrid.evidence.schema import CONDITION, TOKENS, Labels, column
from poshgrid.parsing.tokenize import tokenize
from poshgrid.quality.audit import sheet

STATISTICS = "statistics.json"
REWRITE = "rewrite"
"""Name of the sheets of a condition's rewriters, which are taken together."""
SEED = 42


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


def draw(
    spec: AuditSpec, condition: Path, sentences: Path, evidence: Path, output: Path
) -> dict[str, Any]:
    """Write the sheets of a condition as CSV, and ``statistics.json``.

    A sheet of the same sentences that a person has begun to fill in is not changed.

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
    columns = ["sent_id", "source", "document", "text", "split", "size"]
    corpus = read_table(sentences, SENTENCES, columns)
    train = read_table(condition / "train.parquet", CONDITION, ["sent_id", "text", "replaced"])
    at_size = trains(corpus, spec.size)
    possible = _of_filters(spec, condition, corpus.with_columns(at_size=at_size), train, evidence)
    if spec.rewrite:
        new = dict(train.select("sent_id", "text").iter_rows())
        changed = {n: text for n, text in new.items() if text != corpus["text"][n]}
        same = dict.fromkeys(new.keys() - changed.keys(), "")
        whole = {"whole": True}
        possible[REWRITE] = {"leakage": (same, whole), "precision": (changed, whole)}
    facts: dict[str, dict[str, Any]] = {}
    sheets: dict[Path, pl.DataFrame] = {}
    for word, kinds in possible.items():
        facts[word] = {}
        for kind, (words, counts) in kinds.items():
            name = f"{word}.{kind}"
            chosen = sample(words, spec.sample, SEED, name)
            shown = pl.Series("words", [words[sent_id] for sent_id in chosen], pl.String)
            rows = corpus[chosen].with_columns(shown).select(list(sheet.ROWS))
            sheets[output / f"{name}.csv"] = rows
            facts[word][kind] = {
                "candidates": len(words), "sampled": rows.height,
                "digest": sheet.digest(_numbered(rows)), **counts,
            }  # fmt: skip
    statistics = {
        **spec.model_dump(mode="json", include={"condition", "size", "sample"}),
        "sentences": train.height,
        "corpus_sentences": int(at_size.sum()),
        "filters": facts,
    }
    for path, rows in [item for item in sheets.items() if not _filled_in(*item)]:
        sheet.write(path.stem, rows, path)
    write_json(output / STATISTICS, statistics)
    logs.get(__name__).info("%s at %s: %d sheets", spec.condition, spec.size, len(sheets))
    return statistics


def _of_filters(
    spec: AuditSpec, condition: Path, corpus: pl.DataFrame, train: pl.DataFrame, evidence: Path
) -> dict[str, dict[str, tuple[dict[int, str], dict[str, Any]]]]:
    """Return what each sheet of a filter is drawn from: filter -> kind -> sentences and facts.

    Sentences are a dictionary: ``sent_id`` -> the words that evidence needs (leakage), or that made
    the filter match (precision).

    Raises:
        PoshgridError: a filter has no labels, or the condition was not made from them.
    """
    labels = Labels.of(read_schema(evidence))
    labels.check(spec.filters, evidence)
    table = read_table(evidence, labels.schema)
    texts = corpus["text"].to_list()
    ids, own = train["sent_id"].to_numpy(), train["replaced"].is_null().to_numpy()

    def marked(sent_id: int, numbers: Iterable[int]) -> str:
        words = tokenize(texts[sent_id], spec.language)
        return " | ".join(words[number - 1] for number in sorted(set(numbers)))

    possible = {}
    for word in sorted({rule.name for rule in spec.filters}):
        readings = [rule for rule in spec.filters if rule.name == word]
        rules = [column(rule.name, rule.reading) for rule in readings]
        by_rule, removed = (
            table.select(pl.any_horizontal(names)).to_series().to_numpy()
            for names in (rules, labels.columns(readings))
        )
        # A sentence that has no label counts as removed
        gone = np.append(removed, True)[np.minimum(ids, len(removed))]
        if len(wrong := ids[gone & own]):
            raise PoshgridError(
                f"{condition}: sent_id {wrong[0]} is a sentence that filter {word!r} removes, or "
                f"that is not in {evidence}: the one was not made from the other; "
                "run `poshgrid run -R condition`"
            )
        left = dict.fromkeys(ids[~gone].tolist(), "")
        test = getattr(plugins.load(FILTERS, word), "candidates", None)
        whole = spec.whole or test is None
        if test and not whole:
            needed = ((n, test(tokenize(texts[n], spec.language))) for n in left)
            left = {n: marked(n, numbers) for n, numbers in needed if numbers is not None}
        out = corpus["at_size"].to_numpy() & removed
        tokens = [column(rule.name, rule.reading, TOKENS) for rule in readings]
        matched = table.select(pl.concat_list(tokens)).to_series()
        possible[word] = {
            "leakage": (left, {"reinserted": int(gone.sum()), "whole": whole}),
            "precision": (
                {n: marked(n, matched[n]) for n in np.flatnonzero(out).tolist()},
                {"backstop": int((out & ~by_rule).sum())},
            ),
        }
    return possible


def _numbered(rows: pl.DataFrame) -> list[tuple[int, int, str]]:
    return list(rows.with_row_index("number", 1).select("number", "sent_id", "text").iter_rows())


def _filled_in(path: Path, rows: pl.DataFrame) -> bool:
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
