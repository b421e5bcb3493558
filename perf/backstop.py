r"""What a filter's backstop finds and costs.

    python perf/backstop.py GOLD ... [--filter question-formation] [--text NAME=READER:PATH ...]

Each GOLD is a CoNLL-U file or a folder of them. Files share the column of their folder. Other text
is only counted: how many words would go. So:

    python perf/backstop.py treebanks/childes/*.conllu treebanks/ewt treebanks/gum \
        --text childes-db=childes-db:corpora/childes-db --text phone=switchboard:corpora/switchboard

Printed are, for each backstop, recall of each reading and the words removed.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys

import numpy as np

from poshgrid.core import plugins
from poshgrid.corpora.clean import clean
from poshgrid.corpora.read import READERS
from poshgrid.corpora.report import Report
from poshgrid.corpora.split import split
from poshgrid.evidence.label import Backstop, rules_of
from poshgrid.parsing import treebank
from poshgrid.parsing.tokenize import tokenize
from poshgrid.parsing.tree import Tree

LIMIT = 150_000  # sentences of a text that are looked at
Fold = tuple[str, list[Tree]]
Sentences = Sequence[Sequence[str]]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gold", nargs="+", type=Path)
    parser.add_argument("--filter", default="question-formation")
    parser.add_argument("--text", action="append", default=[], metavar="NAME=READER:PATH")
    given = parser.parse_args()
    folds = [_fold(path) for path in given.gold]
    texts = {}
    for text in given.text:
        name, _, rest = text.partition("=")
        reader, _, path = rest.partition(":")
        texts[name] = _read(reader, Path(path))
    columns = list(dict.fromkeys(column for column, _ in folds))
    _curve(given.filter, folds, columns, texts)


def _fold(path: Path) -> Fold:
    """Return the column of a gold file or folder, and its trees."""
    files = sorted(path.glob("*.conllu")) if path.is_dir() else [path]
    column = path.name if path.is_dir() else path.parent.name
    return column, [tree for file in files for tree in treebank.trees(file)]


def _read(reader: str, path: Path) -> list[list[str]]:
    """Return the words of a text's sentences; of very many, every so-manieth."""
    module = plugins.load(READERS, reader)
    found = []
    for _, raw in module.read(path, plugins.options(READERS, reader, {}), Report()):
        text = clean(raw)
        found += split(text, "en") if module.SPLIT and text else [text]
    kept = [text for text in found if text]
    return [tokenize(text, "en") for text in kept[:: 1 + len(kept) // LIMIT]]


def _curve(word: str, folds: list[Fold], columns: list[str], texts: dict[str, Sentences]) -> None:
    rules = rules_of(word)
    forms = [[tree.form for tree in trees] for _, trees in folds]
    names = [*columns, *texts]
    _print("", [f"{r} {c}" for r in rules.readings for c in columns], [f"% {n}" for n in names])

    def line(title: str, marks: list[np.ndarray], others: list[np.ndarray]) -> None:
        """Print what a decision on each sentence finds and costs."""
        recall = []
        for rule in rules.readings.values():
            for column in columns:
                truth = [
                    (mark, rule(tree) is not None)
                    for (name, trees), marked in zip(folds, marks, strict=True)
                    if name == column
                    for mark, tree in zip(marked, trees, strict=True)
                ]
                found = sum(bool(mark) and is_one for mark, is_one in truth)
                recall.append(f"{found}/{sum(is_one for _, is_one in truth)}")
        by_name: dict[str, list[tuple[np.ndarray, Sentences]]] = {name: [] for name in names}
        for (name, _), marked, sentences in zip(folds, marks, forms, strict=True):
            by_name[name].append((marked, sentences))
        for name, marked in zip(texts, others, strict=True):
            by_name[name].append((marked, texts[name]))
        _print(title, recall, [f"{_cost(by_name[name]):.2%}" for name in names])

    for reading, looks in rules.backstops.items():
        line(f"backstop of {reading}", [_marked(looks, each) for each in forms],
             [_marked(looks, each) for each in texts.values()])  # fmt: skip


def _marked(looks: Backstop, sentences: Sentences) -> np.ndarray:
    return np.array([looks(words) is not None for words in sentences])


def _cost(parts: list[tuple[np.ndarray, Sentences]]) -> float:
    """Return the share of words in the marked sentences."""
    gone = sum(len(f) for marked, each in parts for m, f in zip(marked, each, strict=True) if m)
    return gone / sum(len(f) for _, each in parts for f in each)


def _print(title: str, *parts: Sequence[str]) -> None:
    cells = [cell for part in parts for cell in part]
    sys.stdout.write(f"{title:32}" + "".join(f"{cell:>16}" for cell in cells) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
