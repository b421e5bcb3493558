"""How much evidence a filter misses behind a parser: leave one child out, question by question.

    python perf/filter_recall.py parse TREEBANKS WORK [--engine stanza] [--only NAME]
    python perf/filter_recall.py score TREEBANKS WORK

TREEBANKS is a folder of gold trees, a CoNLL-U file for each child. `parse` trains a parser on all
files but one and parses that one, file by file (about ten minutes each on one core); what is
already in WORK is kept. `score` compares each filter's decision on these trees, with and without
the lexical backstop, with its decision on the gold trees.
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
from collections import Counter

import polars as pl

from poshgrid import config, logs, plugins, specs
from poshgrid.evidence.label import rules_of
from poshgrid.parsing import treebank
from poshgrid.parsing.train import ENGINES, train
from poshgrid.parsing.tree import Tree

FILTERS = ("question-formation", "binding")
COLUMNS = ("form", "upos", "feats", "head", "deprel")


def main() -> None:
    """Parse or score."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["parse", "score"])
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--engine", default="stanza")
    parser.add_argument("--only", help="part of one file's name")
    given = parser.parse_args()
    logs.setup(verbose=False)
    files = sorted(given.treebanks.glob("*.conllu"))
    totals: dict[str, Counter[str]] = {word: Counter() for word in FILTERS}
    for held in files:
        work = given.work / given.engine / held.stem
        if given.action == "parse" and (given.only or "") in held.name:
            _parse(held, files, work, given.engine)
        elif given.action == "score" and (work / "parses.parquet").is_file():
            for word in FILTERS:
                found = _score(word, held, work / "parses.parquet")
                totals[word] += found
                _print(held.stem, word, found)
    if given.action == "score":
        for word, found in totals.items():
            _print("all of these", word, found)


def _parse(held: Path, files: list[Path], work: Path, engine: str) -> None:
    """Train on all files but one and write that one's trees to ``work/parses.parquet``."""
    output = work / "parses.parquet"
    if output.is_file():
        return
    shutil.rmtree(work, ignore_errors=True)
    (work / "gold").mkdir(parents=True)
    for file in files:
        if file != held:
            (work / "gold" / file.name).symlink_to(file.resolve())
    gold = config.Treebank(path="gold", heldout=0.05)
    treebank.prepare(specs.TreebankSpec(treebank=gold), work, work / "treebank")
    spec = specs.ParserSpec(parser=config.Parser(name=engine, engine=engine, treebank=gold))
    train(spec, work / "treebank", work / "model")
    options = plugins.options(ENGINES, engine, {})
    sentences = [list(tree.form) for tree in treebank.trees(held)]
    parsed = plugins.load(ENGINES, engine).load(work / "model", options).parse(sentences)
    frame = pl.DataFrame({c: [list(getattr(t, c)) for t in parsed] for c in COLUMNS})
    frame.write_parquet(output)


def _score(word: str, held: Path, parses: Path) -> Counter[str]:
    """Count the sentences that a filter removes by gold trees, parses, words, and any of the two.

    ``right ...`` counts those that the gold trees remove too.
    """
    rules = rules_of(word)
    counts: Counter[str] = Counter()
    parsed = [Tree(*row) for row in pl.read_parquet(parses).iter_rows()]
    for gold, guess in zip(treebank.trees(held), parsed, strict=True):
        truth = rules.removed(gold) is not None
        strict = rules.evidence(gold) is not None
        by_parse = rules.removed(guess) is not None
        by_words = rules.backstop is not None and rules.backstop(gold.form) is not None
        counts["sentences"] += 1
        counts["gold"] += truth
        counts["strict"] += strict
        counts["strict, removed"] += strict and (by_parse or by_words)
        for name, says in (
            ("parser", by_parse), ("backstop", by_words), ("both", by_parse or by_words),
        ):  # fmt: skip
            counts[name] += says
            counts[f"right {name}"] += says and truth
    return counts


def _print(child: str, word: str, found: Counter[str]) -> None:
    parts = []
    for name in ("parser", "backstop", "both"):
        right = found[f"right {name}"]
        recall = right / found["gold"] if found["gold"] else float("nan")
        precision = right / found[name] if found[name] else float("nan")
        parts.append(f"{name}: {right} of {found['gold']}, recall {recall:.3f}, "
                     f"precision {precision:.3f}")  # fmt: skip
    share = found["both"] / found["sentences"]
    sys.stdout.write(
        f"{child:26} {word:18} {found['sentences']:6,}  {'; '.join(parts)}; removes {share:.2%}; "
        f"strict evidence {found['strict, removed']} of {found['strict']}\n"
    )


if __name__ == "__main__":
    main()
