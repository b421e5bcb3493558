"""Pairs a second of our scorer, beside three other ways to the same scores, in one run.

    python perf/scoring_speed.py MODEL ITEMS [--pairs 400 --threads 2 --batch-tokens 8192]

MODEL is the folder of a causal model, ITEMS a table of minimal pairs (items.parquet). The others:
minicons pair by pair (what a loop over a suite does), minicons in batches of 32 in file order, and
our engine without the trie (batches of whole sentences, sorted by length). All give the sum over a
sentence after <bos>; the largest difference from minicons' pairwise sums is printed. Rounds are
interleaved, as machines are seldom quiet; the best round of each way counts.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import polars as pl
import torch

from poshgrid.config import Scoring
from poshgrid.evaluation.engine import Request
from poshgrid.evaluation.engines.load import load

BATCH = 32


def main() -> None:
    """Measure the four ways on the same pairs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("items", type=Path)
    parser.add_argument("--pairs", type=int, default=400, help="drawn at random, kept in order")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch-tokens", type=int, default=8_192)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)

    from minicons.scorer import IncrementalLMScorer

    items = pl.read_parquet(given.items, columns=["good", "bad"])
    drawn = items.with_row_index().sample(min(given.pairs, items.height), seed=1).sort("index")
    texts = [text for pair in drawn.select("good", "bad").iter_rows() for text in pair]
    requests = [Request(text, text) for text in texts]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    ours = load(str(given.model), Scoring(batch_tokens=given.batch_tokens))
    theirs = IncrementalLMScorer(str(given.model), device)
    theirs.model.eval()

    def minicons(size: int) -> list[float]:
        found: list[float] = []
        for first in range(0, len(texts), size):
            found += theirs.sequence_score(
                texts[first : first + size], reduction=_sum, bos_token=True
            )
        return found

    def engine(shares: bool) -> list[float]:
        ours.shares = shares
        return [score.logprob for score in ours.score(requests)]

    ways: dict[str, Callable[[], list[float]]] = {
        "minicons, pair by pair": lambda: minicons(2),
        f"minicons, batches of {BATCH} in file order": lambda: minicons(BATCH),
        "ours without the trie, sorted by length": lambda: engine(False),
        "ours": lambda: engine(True),
    }
    if not ours.shares:
        print("this model does not take a trie")
        del ways["ours"]
    best = dict.fromkeys(ways, float("inf"))
    found: dict[str, list[float]] = {}
    for _ in range(given.rounds):
        for name, way in ways.items():
            seconds, found[name] = _timed(way)
            best[name] = min(best[name], seconds)
    first = next(iter(ways))
    print(
        f"{len(texts) // 2} pairs, {device}, {given.threads} threads, load {os.getloadavg()[0]:.1f}"
    )
    for name, seconds in best.items():
        apart = max(abs(a - b) for a, b in zip(found[name], found[first], strict=True))
        print(
            f"{name:42} {len(texts) / 2 / seconds:8.1f} pairs/s  x{best[first] / seconds:5.2f}"
            f"  difference {apart:.1e} nats"
        )


def _sum(logprobs: torch.Tensor) -> float:
    return logprobs.sum(0).item()


def _timed(way: Callable[[], Sequence[float]]) -> tuple[float, list[float]]:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    started = time.perf_counter()
    found = list(way())
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - started, found


if __name__ == "__main__":
    main()
