"""Scoring every suite with one model: each distinct sentence once."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import files, logs, specs
from poshgrid.benchmark.schema import ITEMS
from poshgrid.errors import PoshgridError
from poshgrid.evaluation.schema import SCORES
from poshgrid.evaluation.scorer import Scorer

log = logs.get(__name__)


def score(
    spec: specs.ScoreSpec, model: Path, items: dict[str, Path], outputs: dict[str, Path]
) -> dict[str, Any]:
    """Write one table of scores for each suite.

    Args:
        spec: how sentences are scored, the size of batches, and the number of threads.
        model: Hugging Face folder of the model, with the tokenizer's files.
        items: suite -> its minimal pairs (``ITEMS``).
        outputs: suite -> the table to write (``SCORES``).

    Returns:
        Facts for the manifest: pairs of each suite, sentences and tokens scored, tokens a second,
        device.

    Raises:
        PoshgridError: the model cannot be loaded, a table is missing or empty, or a sentence
            cannot be scored.
    """
    import torch

    torch.set_num_threads(spec.scoring.threads)
    pairs = {suite: files.read_table(path, ITEMS) for suite, path in sorted(items.items())}
    for suite, table in pairs.items():
        if table.is_empty():
            raise PoshgridError(f"{items[suite]}: no items; make the suite again")
    names: dict[str, str] = {}  # sentence -> the first item that has it
    for suite, table in pairs.items():
        for member in ("good", "bad"):
            for item, text in table.select("item_id", member).iter_rows():
                names.setdefault(text, f"{suite}: item {item} ({member})")
    scorer = Scorer(model, bos=spec.scoring.bos)
    started = time.perf_counter()
    scores = scorer.score(list(names), spec.scoring.batch_tokens, list(names.values()))
    seconds = time.perf_counter() - started
    known = dict(zip(names, scores, strict=True))
    for suite, table in pairs.items():
        columns: dict[str, Any] = {"item_id": table["item_id"]}
        for member in ("good", "bad"):
            columns[f"{member}_logprob"] = [known[text].logprob for text in table[member]]
            columns[f"{member}_tokens"] = [known[text].tokens for text in table[member]]
        files.write_table(pl.DataFrame(columns, schema_overrides=SCORES), outputs[suite], SCORES)
    tokens = sum(found.tokens for found in scores)
    log.info("%s sentences in %.1f s", f"{len(scores):,}", seconds)
    return {
        "pairs": {suite: table.height for suite, table in pairs.items()},
        "sentences": len(scores),
        "tokens": tokens,
        "tokens_per_second": round(tokens / seconds, 1),
        "device": str(scorer.device),
    }
