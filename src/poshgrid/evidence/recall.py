"""How much of the evidence a filter finds with a parser, compared with gold trees.

A filter's rule on the gold tree defines the evidence in a sentence. The same rule on the parser's
tree of the same words, and the backstop, decide what a condition would remove. Sentences that the
parser was trained on are left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from poshgrid import logs
from poshgrid.config import specs
from poshgrid.evidence.label import rules_of
from poshgrid.evidence.schema import RECALL
from poshgrid.files import write_json, write_table
from poshgrid.parsing import treebank
from poshgrid.parsing.evaluate import evaluate
from poshgrid.parsing.parse import parse_words
from poshgrid.parsing.tree import Tree

log = logs.get(__name__)

ALL = ""
TOY_SEED = 7  # differs from the seeds of toy treebanks and toy corpora
TOY_SENTENCES = 2_000
_SEEN = ("train", "dev")  # splits of its treebank that train or select a parser
_DECISIONS = {
    "gold": pl.String, "rule": pl.String, "parsed": pl.Boolean, "looks": pl.Boolean,
    "words": pl.UInt32,
}  # fmt: skip
_ACCURACY = ("sentences", "words", "upos", "uas", "las", "relations")


def recall(
    spec: specs.RecallSpec, data: Path, model: Path, trained: Path | None, output: Path
) -> dict[str, object]:
    """Compare each filter's matches, in each reading, in a parser's trees and in gold trees.

    Counts are written next to the table (``{parser}.parquet``) as ``{parser}.json``. Sentences are
    those of the gold trees, with the same words; each distinct one is parsed once.

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
    gold = {
        name: list(map(treebank.tree, treebank.part(name, data, toy, "evidence.gold")))
        for name in sorted(spec.gold)
    }
    kept = {
        name: [tree for tree in trees if _key(tree.form) not in known]
        for name, trees in gold.items()
    }
    skipped = {name: len(trees) - len(kept[name]) for name, trees in gold.items()}
    parses = parse_words(spec.parser, model, (tree.form for t in kept.values() for tree in t))
    counts: dict[str, object] = {}
    for name, trees in kept.items():
        accuracy = evaluate(trees, [parses[tuple(tree.form)] for tree in trees])
        counts[name] = {"skipped": skipped[name], **{key: accuracy[key] for key in _ACCURACY}}
    rows: list[dict[str, object]] = []
    for word in sorted(spec.filters):
        for reading, decisions in _decisions(word, kept, parses).items():
            parts = {name: decisions.filter(gold=name) for name in kept}
            if len(kept) > 1:
                parts[ALL] = decisions
            backstops = [False, True] if reading in rules_of(word).backstops else [False]
            for (name, part), backstop in itertools.product(parts.items(), backstops):
                head = {
                    "parser": spec.parser.name, "filter": word, "reading": reading,
                    "backstop": backstop, "gold": name,
                    "skipped": skipped.get(name, sum(skipped.values())),
                }  # fmt: skip
                rows += ({**head, **row} for row in _rows(part, backstop=backstop))
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
) -> dict[str, pl.DataFrame]:
    """Return reading -> a table of the filter's decisions about each sentence.

    ``rule``: the rule that matches its gold tree; ``parsed``: whether a rule matches its parse;
    ``looks``: whether the backstop removes it.
    """
    rules = rules_of(word)
    decisions = {}
    for reading, fires in rules.readings.items():
        looks = rules.backstops.get(reading)
        rows = [
            {
                "gold": name,
                "rule": match.rule if (match := fires(tree)) else None,
                "parsed": fires(parses[tuple(tree.form)]) is not None,
                "looks": looks is not None and looks(tree.form) is not None,
                "words": len(tree),
            }
            for name, trees in gold.items()
            for tree in trees
        ]
        decisions[reading] = pl.DataFrame(rows, schema=_DECISIONS)
    return decisions


def _rows(decisions: pl.DataFrame, *, backstop: bool) -> list[dict[str, object]]:
    """Return a reading's rows of the table: one for all constructions, and one for each."""
    removed = pl.col("parsed") | pl.col("looks") if backstop else pl.col("parsed")
    gone, evidence = decisions.filter(removed), decisions.filter(pl.col("rule").is_not_null())
    rows: list[dict[str, object]] = []
    for construction in (ALL, *evidence["rule"].unique().sort()):
        mine = evidence if construction == ALL else evidence.filter(rule=construction)
        right = mine.filter(removed).height
        rows.append(
            {
                "construction": construction,
                "sentences": decisions.height,
                "evidence": mine.height,
                "right": right,
                **_rate("recall", right, mine.height),
            }
        )
    rows[0] |= {
        "removed": gone.height,
        **_rate("precision", evidence.filter(removed).height, gone.height),
        "words": decisions["words"].sum(),
        "words_evidence": evidence["words"].sum(),
        "words_removed": gone["words"].sum(),
    }
    return rows


def _rate(name: str, part: int, whole: int) -> dict[str, float | None]:
    from scipy.stats import binomtest

    interval = binomtest(part, whole).proportion_ci(method="wilson") if whole else (None, None)
    share = (part / whole if whole else None, *interval)
    return dict(zip((name, f"{name}_low", f"{name}_high"), share, strict=True))
