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

import polars as pl

from poshgrid import config, logs, plugins, specs
from poshgrid.parsing import treebank
from poshgrid.parsing.train import ENGINES, train


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
    for held in files:
        if given.action == "parse" and (given.only or "") in held.name:
            _parse(held, files, given.work / given.engine / held.stem, given.engine)


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
    columns = ("form", "upos", "feats", "head", "deprel")
    frame = pl.DataFrame({c: [list(getattr(t, c)) for t in parsed] for c in columns})
    frame.write_parquet(output)


if __name__ == "__main__":
    main()
