"""How much of people's reading a model's surprisal explains, by the rule of BabyLM 2025.

    python perf/reading_times.py TABLE MODEL [MODEL ...]

`TABLE` is the `reading_data.csv` of BabyLM's evaluation data, a row for each word of 205 sentences
(de Varda, Marelli and Amenta 2023). `MODEL` is a folder or a name on the hub. Of the variance that
frequency, length and position leave unexplained, surprisal explains so many percent: the mean of
four measures of eye tracking; and self-paced reading, where length and surprisal of the word before
are known, too. A word is scored as in running text, with the space before it and all its tokens.
"""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from poshgrid.config import Scoring
from poshgrid.evaluation.engine import Engine, Request
from poshgrid.evaluation.engines.load import load

EYES = ("RTfirstfix", "RTfirstpass", "RTgopast", "RTrightbound")
SELF_PACED = "self_paced_reading_time"
KNOWN = ["Subtlex_log10", "length", "context_length"]
BEFORE = ["prev_length", "prev_surprisal"]


def main(table: Path, models: list[str]) -> None:
    """Print a row for each model."""
    words = read(table)
    print("| model | words | eye tracking | self-paced reading |\n|---|---:|---:|---:|")
    for model in models:
        eyes, self_paced = explained(words, load(model, Scoring()))
        print(f"| {model} | {words.height:,} | {eyes:.2f} | {self_paced:.2f} |", flush=True)


def read(table: Path) -> pl.DataFrame:
    """Return the table; the word *None*, alone before another, is nothing, as pandas reads it."""
    words = pl.read_csv(table, infer_schema_length=None, null_values=["None"])
    return words.with_columns(pl.col("item").fill_null("None"))


def explained(words: pl.DataFrame, engine: Engine) -> tuple[float, float]:
    """Return the percentages of eye tracking and self-paced reading that surprisal explains."""
    rows = words.with_columns(
        surprisal=surprisals(words["item"], words["word"], engine),
        prev_surprisal=surprisals(words["prev_item"], words["prev_word"], engine),
    )
    eyes = [share(rows, measure, KNOWN) for measure in EYES]
    return float(np.mean(eyes)), share(rows, SELF_PACED, KNOWN + BEFORE)


def surprisals(contexts: pl.Series, words: pl.Series, engine: Engine) -> pl.Series:
    """Return the surprisal of words in nats; null where nothing is before them."""
    texts = [
        (context, f"{context} {word}") if context else None
        for context, word in zip(contexts, words, strict=True)
    ]
    asked = [Request(text, text, (len(start), len(text))) for start, text in filter(None, texts)]
    scores = iter(engine.score(asked))
    return pl.Series([-next(scores).region_logprob if text else None for text in texts])


def share(rows: pl.DataFrame, measure: str, known: list[str]) -> float:
    """Return the percentage of a regression's residual variance that surprisal explains.

    The regression has the known properties of a word and their pairwise products.
    """
    whole = rows.select(measure, "surprisal", *known).drop_nulls().to_numpy().astype(float)
    times, surprisal, *columns = ((whole - whole.mean(0)) / whole.std(0)).T
    both = [one * other for one, other in combinations(columns, 2)]
    baseline = np.column_stack([np.ones_like(times), *columns, *both])
    left, less = (
        np.sum((times - design @ np.linalg.lstsq(design, times)[0]) ** 2)
        for design in (baseline, np.column_stack([baseline, surprisal]))
    )
    return 100 * float(1 - less / left)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
