"""What models without structure get right of our own pairs and sets (docs/lab/benchmark.md).

    python perf/local_cues.py CHILDES_DB_FOLDER

They are counted on speech to children: words, 5-grams, n-grams of word classes
(:mod:`poshgrid.models.classes`), and skip-grams: how often a word comes anywhere after another in a
sentence. Items are filled from the words that the text has, and not chosen.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import polars as pl

from poshgrid.benchmark import lexicon
from poshgrid.benchmark.schema import Context
from poshgrid.benchmark.suites import factorial, templates
from poshgrid.config.runs import counting
from poshgrid.corpora.readers import childes_db
from poshgrid.corpora.report import Report
from poshgrid.corpora.words import words
from poshgrid.evaluation.judgements import JOINED
from poshgrid.models import ngram

CROSSED = [
    "island-adjunct-crossed", "island-complex-np-crossed", "island-wh-crossed",
    "question-formation-finite-object", "question-formation-finite-subject",
]  # fmt: skip
PHENOMENA = ("island", "question-formation")
Scores = Callable[[list[str]], list[float]]


def main(folder: Path) -> None:
    """Print a table: phenomena by models, percent of pairs or joint sets that are right."""
    read = childes_db.read(folder, childes_db.Options(), Report())
    text = [sentence for _, sentence in read]
    counts = Counter(word for sentence in text for word in lexicon.tokens(sentence))
    context = Context(lexicon.usable({"child": counts}, 3000))
    suites = {
        "templates": templates.load(None, templates.Options(pool=1), context),
        "factorial": factorial.load(None, factorial.Options(pool=1), context),
        "crossed": factorial.load(None, factorial.Options(pool=1, phenomena=CROSSED), context),
    }
    unigram, fivegram = (ngram.fit(text, order) for order in (1, 5))
    of_classes = ngram.fit(text, **counting("class_ngram", 5))
    items = {name: suite.items for name, suite in suites.items()}
    forms = {
        w for made in items.values() for m in ("good", "bad") for t in made[m] for w in words(t)
    }
    models: dict[str, Scores] = {
        "unigram": unigram.score,
        "5-gram": fivegram.score,
        "class n-gram": of_classes.score,
        "skip-gram of the first word": _skipgrams(text, forms, first=True),
        "skip-gram": _skipgrams(text, forms, first=False),
    }
    print(f"{sum(map(len, map(words, text))):,} words and marks")
    print("| suite | phenomenon | judged", *models, "", sep=" | ")
    for suite, made in items.items():
        for (name,), rows in made.group_by("phenomenon", maintain_order=True):
            if str(name).startswith(PHENOMENA):
                right = (f"{100 * _right(rows, scores):.1f}" for scores in models.values())
                judged = rows.select(JOINED).unique().height if rows["joint"][0] else rows.height
                print(f"| {suite} | `{name}` | {judged}", *right, "", sep=" | ")


def _right(rows: pl.DataFrame, scores: Scores) -> float:
    """Return the share of pairs, or of joint sets, whose good members have the larger sum."""
    texts = [*rows["good"], *rows["bad"]]
    values = scores(texts)
    margin = [a - b for a, b in zip(values[: rows.height], values[rows.height :], strict=True)]
    judged = rows.with_columns(margin=pl.Series(margin))
    if rows["joint"][0]:
        judged = judged.group_by(JOINED).agg(pl.col("margin").sum())
    return sum(0.5 if abs(m) < 1e-6 else float(m > 0) for m in judged["margin"]) / judged.height


def _skipgrams(text: list[str], forms: set[str], *, first: bool) -> Scores:
    """Return scores: the sum of log((pairs + 1) / (first word + types)) over pairs of words.

    Args:
        text: what is counted.
        forms: the words that are asked for.
        first: only pairs with the first word of a sentence, such as filler and verb.
    """
    together: Counter[tuple[str, str]] = Counter()
    alone: Counter[str] = Counter()

    def pairs(sentence: str) -> list[tuple[str, str]]:
        own = words(sentence)
        return [(own[0], w) for w in own[1:]] if first else list(itertools.combinations(own, 2))

    for sentence in filter(words, text):
        known = [pair for pair in pairs(sentence) if forms.issuperset(pair)]
        together.update(known)
        alone.update(before for before, _ in known)
    return lambda texts: [
        math.fsum(math.log((together[p] + 1) / (alone[p[0]] + len(forms))) for p in pairs(t))
        for t in texts
    ]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
