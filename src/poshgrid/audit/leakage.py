"""The sheet of what a filter left in (paper, appendix C, "Sanity Check").

With a detector every training sentence of the condition may be drawn, in strata of its score
(:mod:`poshgrid.evidence.screening.strata`). Without one only the *candidates* are, those with the
words that evidence needs (``candidates`` of the filter's module in
:mod:`poshgrid.evidence.screening.lexical`), as the paper drew 1,000 of 5.7k sentences with a
reflexive; what has none of the words is never looked at.

Evidence that the condition put back is no leakage: it is left out, and counted. A sentence that a
dose repeats counts once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np

from poshgrid import logs
from poshgrid.audit.labels import Removed, put_back, words
from poshgrid.audit.rows import Drawn, Sample, placed, row_of
from poshgrid.audit.sheet import Row, sheet_name
from poshgrid.config.specs import AuditSpec
from poshgrid.evidence.schema import CONDITION
from poshgrid.evidence.screening import strata
from poshgrid.files import table_batches
from poshgrid.parsing.words import tokenize

Candidates = Callable[[Sequence[str]], tuple[int, ...] | None]
Scores = Callable[[str, Sequence[Sequence[str]]], np.ndarray]
"""How much the words of sentences look like evidence of a filter to a detector: from 0 to 1."""


def draw(
    spec: AuditSpec,
    train: Path,
    removed: Removed,
    modules: dict[str, ModuleType],
    scores: Scores | None,
) -> tuple[dict[str, Drawn], int]:
    """Return filter -> its sample of what it left in, and the number of training sentences.

    A filter without ``candidates`` has no sample if there is no detector. The text is read twice,
    piece by piece: to look at it, and to copy what was drawn.

    Args:
        spec: the condition, its filters, and how many sentences to draw.
        train: the condition's training sentences.
        removed: what its filters remove.
        modules: filter -> its lexical tests.
        scores: a detector's; ``None``: candidates alone are drawn.

    Raises:
        PoshgridError: the tables are not of one base, or a rule or the detector is broken.
    """
    rules: dict[str, Candidates] = {
        word: module.candidates for word, module in modules.items() if hasattr(module, "candidates")
    }
    levels, back, n_train = _populations(train, removed, words(spec), rules, scores)
    drawn = {}
    for word in words(spec) if scores else sorted(rules):
        where = f"{modules[word].__name__}: {word!r}"
        sample = _sample(spec, word, levels[word], train, rules.get(word), where)
        drawn[word] = Drawn.of(*sample, {"reinserted": back[word]})
    return drawn, n_train


def _populations(
    train: Path,
    removed: Removed,
    filters: list[str],
    rules: dict[str, Candidates],
    scores: Scores | None,
) -> tuple[dict[str, np.ndarray], Counter[str], int]:
    """Read the text, and return what may be drawn for each filter, what was put back, and the text.

    Returns:
        Filter -> by sent_id, the level of the sentence's score (without a detector: 1; 0: it is not
        to be drawn); filter -> sentences of evidence that were put back; number of sentences.
    """
    found = {word: np.zeros(len(removed.out[word]), np.uint8) for word in filters}
    reinserted: Counter[str] = Counter()
    n_train = 0
    batches = table_batches(train, CONDITION, ("sent_id", "text", "replaced"))
    for batch in logs.progress(batches, "looking at sentences, parts"):
        ids = batch["sent_id"].to_numpy()
        n_train += len(ids)
        back = {word: put_back(train, removed, word, batch) for word in filters}
        texts: dict[str, int] = {}  # one that recurs is looked at once
        places = [texts.setdefault(text, len(texts)) for text in batch["text"]]
        tokens = [tokenize(text) for text in texts]
        for word, gone in back.items():
            reinserted[word] += int(gone.sum())
            if scores is not None:
                levels = strata.levels(scores(word, tokens))
            elif word in rules:
                rule = rules[word]
                levels = np.array([rule(each) is not None for each in tokens], np.uint8)
            else:
                continue
            found[word][ids[~gone]] = levels[places][~gone]
    return found, reinserted, n_train


def _sample(
    spec: AuditSpec,
    word: str,
    levels: np.ndarray,
    train: Path,
    rule: Candidates | None,
    where: str,
) -> tuple[list[tuple[Row, int]], dict[int, int]]:
    """Draw from each stratum; return what was drawn, copied from the table, and strata's sizes."""
    name = sheet_name(word, "leakage")
    stratum_of = strata.strata(levels)
    ids = np.flatnonzero(levels)
    mine = stratum_of[levels[ids]]
    sizes = {number: int((mine == number).sum()) for number in np.unique(mine).tolist()}
    lines = strata.order(sizes, spec.sample, spec.seed, name)
    queues = {}
    for number in sizes:
        sample = Sample[int](lines.count(number), spec.seed, name)
        for sent_id in ids[mine == number].tolist():
            sample.offer(sent_id, partial(int, sent_id))
        queues[number] = iter(sample.result())
    chosen = [(next(queues[number]), number) for number in lines]
    rows = {}
    columns = ("sent_id", "source", "document", "text")
    for batch in table_batches(train, CONDITION, columns):
        for i in np.flatnonzero(batch["sent_id"].is_in([each for each, _ in chosen])).tolist():
            row = row_of(batch, i)
            places = rule(row.words) if rule else None
            remedy = "mend its function candidates: places are from 1"
            rows[row.sent_id] = placed(row, places or (), where, remedy)
    return [(rows[sent_id], number) for sent_id, number in chosen], sizes
