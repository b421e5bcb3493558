"""How much of the evidence a filter finds with a parser, compared with gold trees.

A filter's rule on the gold tree defines the evidence in a sentence. The same rule on the parser's
tree of the same words, and the backstop, decide what a condition would remove. Sentences that the
parser was trained on are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

from poshgrid.config import specs
from poshgrid.core import logs
from poshgrid.core.files import write_json, write_table
from poshgrid.evidence.label import Backstop, rules_of
from poshgrid.evidence.schema import RECALL
from poshgrid.parsing import treebank
from poshgrid.parsing.evaluate import evaluate
from poshgrid.parsing.parse import parse_words
from poshgrid.parsing.tree import Tree

log = logs.get(__name__)

ALL = ""
TOY_SEED = 7  # differs from the seeds of toy treebanks and toy corpora
TOY_SENTENCES = 2_000
_SEEN = ("train", "dev")  # splits of its treebank that train or select a parser


def recall(
    spec: specs.RecallSpec, data: Path, model: Path, trained: Path | None, output: Path
) -> dict[str, object]:
    """Compare each filter's matches, in each reading, in a parser's trees and in gold trees.

    Counts are written next to the table, as ``recall.json``. Sentences are those of the gold trees,
    with the same words; each distinct one is parsed once.

    Args:
        spec: the parser, the filters and the gold trees.
        data: folder that the gold trees are relative to.
        model: folder of the parser.
        trained: folder of the treebank that the parser was trained from: its sentences are left
            out; None if the parser was not trained here.
        output: table to write.

    Returns:
        The counts, and how many sentences were parsed.

    Raises:
        PoshgridError: a file of gold trees is missing or broken.
    """
    known = _known(trained)
    toy = (TOY_SENTENCES, TOY_SEED)
    kept: dict[str, list[Tree]] = {}
    skipped: dict[str, int] = {}
    for name in sorted(spec.gold):
        gold = list(map(treebank.tree, treebank.part(name, data, toy, "evidence.gold")))
        kept[name] = [tree for tree in gold if _key(tree.form) not in known]
        skipped[name] = len(gold) - len(kept[name])
    parses = parse_words(spec.parser, model, (tree.form for t in kept.values() for tree in t))
    counts: dict[str, object] = {}
    for name, trees in kept.items():
        accuracy = evaluate(trees, [parses[tuple(tree.form)] for tree in trees])
        counts[name] = {"skipped": skipped[name], **accuracy}
    rows = [
        {
            "parser": spec.parser.name, "filter": word, "reading": reading, "backstop": backstop,
            "gold": name, "skipped": skipped.get(name, sum(skipped.values())),
            **_counts(decisions, backstop=backstop),
        }
        for word in sorted(spec.filters)
        for reading, backstops, by_gold in _decisions(word, kept, parses)
        for name, decisions in by_gold.items()
        for backstop in backstops
    ]  # fmt: skip
    table = pl.DataFrame(rows, schema=RECALL)
    write_table(table, output, RECALL)
    facts: dict[str, object] = {"parser": spec.parser.name, "gold": counts}
    write_json(output.with_suffix(".json"), facts)
    log.info("%s: %s sentences parsed for %s", spec.parser.name, f"{len(parses):,}", output)
    return {**facts, "parsed": len(parses)}


def _known(trained: Path | None) -> set[tuple[str, ...]]:
    """Return the sentences that the parser was trained or selected on."""
    if trained is None:
        return set()
    return {
        _key(word[1] for word in words)
        for split in _SEEN
        for words in treebank.read(trained / f"{split}.conllu")
    }


def _key(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(word.lower() for word in words)


def _decisions(
    word: str, gold: dict[str, list[Tree]], parses: dict[tuple[str, ...], Tree]
) -> Iterator[tuple[str, list[bool], dict[str, np.ndarray]]]:
    """Yield each reading of a filter, with and without backstop if it has one, and decisions.

    Decisions are those about each sentence, by the name of its gold trees: whether its gold tree
    matches, whether its parse does, whether the backstop removes it, and its number of words.
    """
    rules = rules_of(word)
    for reading, fires in rules.readings.items():
        looks: Backstop = rules.backstops.get(reading, lambda words: None)
        by_gold = {
            name: np.array(
                [
                    (
                        fires(tree) is not None,
                        fires(parses[tuple(tree.form)]) is not None,
                        looks(tree.form) is not None,
                        len(tree),
                    )
                    for tree in trees
                ],
                dtype=np.int64,
            ).reshape(-1, 4)
            for name, trees in gold.items()
        }
        if len(gold) > 1:
            by_gold[ALL] = np.concatenate(list(by_gold.values()))
        yield reading, [False, True] if reading in rules.backstops else [False], by_gold


def _counts(decisions: np.ndarray, *, backstop: bool) -> dict[str, float | None]:
    """Return the counts and rates of decisions, [sentences, 4]."""
    evidence, matched, looks, words = decisions.T
    removed = matched | looks if backstop else matched
    right = int((evidence & removed).sum())
    return {
        "sentences": len(words),
        "evidence": int(evidence.sum()),
        "right": right,
        **_rate("recall", right, int(evidence.sum())),
        "removed": int(removed.sum()),
        **_rate("precision", right, int(removed.sum())),
        "words": int(words.sum()),
        "words_evidence": int(words @ evidence),
        "words_removed": int(words @ removed),
    }


def _rate(name: str, part: int, whole: int) -> dict[str, float | None]:
    from scipy.stats import binomtest

    interval = binomtest(part, whole).proportion_ci(method="wilson") if whole else (None, None)
    share = (part / whole if whole else None, *interval)
    return dict(zip((name, f"{name}_low", f"{name}_high"), share, strict=True))
