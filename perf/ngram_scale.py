"""N-gram models at growing sizes: words per CPU second, memory, and the time to score sentences.

    python perf/ngram_scale.py WORK [--sizes 1M 10M] [--order 5] [--text toy zipf] [--more 100M]

Two texts: `toy`, sentences of the toy grammar, which repeat themselves; and `zipf`, words drawn
alone from 100,000 types by Zipf's law, of which nearly every long n-gram is new: more than natural
text ever asks of memory. Each model is counted, and loaded to score 40,000 sentences, in a process
of its own, whose CPU time and peak memory are shown. Linear cost shows as equal words per second.
Toy text of 100M words takes half an hour to make; it is kept in WORK.
"""

from __future__ import annotations

import argparse
import itertools
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from poshgrid.config.sizes import words
from poshgrid.core import files
from poshgrid.corpora import toy
from poshgrid.evidence.schema import CONDITION

COUNT = """
from pathlib import Path
from poshgrid.models.ngram import count
facts = count(Path({table!r}), Path({model!r}), order={order}, classes={classes})
"""
SCORE = """
from itertools import islice
from pathlib import Path
from poshgrid.core import files
from poshgrid.evidence.schema import CONDITION
from poshgrid.models.ngram import NGram
texts = next(files.table_batches({table!r}, CONDITION, ["text"]))["text"].to_list()[:40_000]
model = NGram.load(Path({model!r}))
loaded = time.process_time() - start
model.score(texts)
facts = {{"load": loaded, "sentences": len(texts)}}
"""
MEASURED = """
import json, resource, time
start = time.process_time()
{code}
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(facts | {{"cpu": time.process_time() - start, "peak": peak}}))
"""


def main() -> None:
    """Run every size and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("--sizes", nargs="+", default=["1M", "10M"])
    parser.add_argument("--more", nargs="*", default=[], help="further sizes, e.g. 100M")
    parser.add_argument("--order", type=int, default=5)
    parser.add_argument("--classes", action="store_true", help="n-grams of classes")
    parser.add_argument("--text", nargs="+", choices=["toy", "zipf"], default=["toy", "zipf"])
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    for kind, size in itertools.product(given.text, [*given.sizes, *given.more]):
        table, model = given.work / f"{kind}-{size}.parquet", given.work / "model"
        if not table.exists():
            write(table, kind, words(size))
        names = {"table": str(table), "model": str(model), "order": given.order,
                 "classes": given.classes}  # fmt: skip
        counted = _run(COUNT.format(**names))
        disk = (model / "model.safetensors").stat().st_size / 2**20
        scored = _run(SCORE.format(**names))
        shutil.rmtree(model)
        print(
            f"{kind} {size}, order {given.order}: {counted['words']:,} words, "
            f"{sum(counted['ngrams'].values()):,} n-grams; count {counted['cpu']:.1f} CPU s "
            f"({counted['words'] / counted['cpu']:,.0f} words/s), peak {counted['peak']:,.0f} MB; "
            f"model {disk:,.0f} MB; load {scored['load']:.1f} CPU s; score "
            f"{scored['sentences']:,} sentences in {scored['cpu'] - scored['load']:.1f} CPU s",
            flush=True,
        )


def _run(code: str) -> dict[str, float]:
    command = [sys.executable, "-c", MEASURED.format(code=code)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(found.stdout)


def write(table: Path, kind: str, words: int) -> None:
    """Write sentences of the toy grammar, or words drawn by Zipf's law, as those of a condition."""
    texts = _toy(words) if kind == "toy" else _zipf(words)
    number = 0
    with files.table_writer(table, CONDITION) as append:
        while batch := list(itertools.islice(texts, files.BATCH)):
            ids = pl.arange(number, number + len(batch), eager=True)
            number += len(batch)
            columns = {"sent_id": ids, "position": ids, "text": batch}
            frame = pl.DataFrame(columns).with_columns(
                source=pl.lit("toy"),
                document=pl.lit(""),
                n_words=pl.col("text").str.count_matches(" ") + 1,
                replaced=None,
            )
            append(frame.select(list(CONDITION)).cast(CONDITION))


def _toy(words: int) -> Iterator[str]:
    for text in (sentence.text for sentence in toy.sentences("baby", 1)):
        if words <= 0:
            return
        words -= text.count(" ") + 1
        yield text


def _zipf(words: int, types: int = 100_000, length: int = 10) -> Iterator[str]:
    shares = 1 / np.arange(1, types + 1)
    steps = np.cumsum(shares / shares.sum())
    rng = np.random.default_rng(1)
    for _ in range(0, words, length * files.BATCH):
        drawn = np.searchsorted(steps, rng.random((files.BATCH, length)))
        left = min(files.BATCH, words // length)
        words -= left * length
        for row in drawn[:left].tolist():
            yield " ".join(f"w{number}" for number in row)


if __name__ == "__main__":
    main()
