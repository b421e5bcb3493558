"""The published items and judgements as a suite and score files, for tests."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import polars as pl

from poshgrid import files
from poshgrid.benchmark.items import generate
from poshgrid.benchmark.reading import table10
from poshgrid.config import Suite, specs
from poshgrid.config.paths import Paths
from poshgrid.evaluation.schema import SCORES

_MODEL = re.compile(r"gpt2_(mini|small)_(baby|wiki)_(\d+M)(f?)_32768_(\d+)")


def write(published: Path, results: Path, suite: str = "posh") -> list[str]:
    """Write items and score files below a results folder.

    Args:
        published: folder with ``items-v2`` and ``judgements-seed42``.
        results: the results folder.
        suite: its name.

    Returns:
        The names of the runs. Scores are means over tokens, as published, of one token.
    """
    paths = Paths(str(results))
    table = Path(paths.items(suite))
    read = Suite(name=suite, reader="lines", path="items-v2")
    generate(specs.ItemsSpec(suite=read, top_k=None), published, {}, {}, table)
    pairs = pl.read_parquet(table)
    ids: dict[tuple[str, str, str], list[str]] = {}
    for item, phenomenon, good, bad in pairs.select(
        "item_id", "phenomenon", "good", "bad"
    ).iter_rows():
        ids.setdefault((phenomenon, good, bad), []).append(item)
    found: dict[str, list[tuple[str, float, float]]] = {}
    for path in sorted((published / "judgements-seed42").glob("*.tsv")):
        learner, base, size, filtered, seed = _MODEL.match(path.name).groups()
        condition = f"{base}-f" if filtered else base
        run = f"{condition}/{size}/gpt2-{learner}/packed/none/seed{seed}"
        phenomenon = table10.spelled(path.stem.partition(f"_{seed}_")[2])
        left = {key: list(items) for key, items in ids.items()}
        with path.open(encoding="utf-8") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                item = left[phenomenon, row["Sentence2"], row["sentence1"]].pop()
                found.setdefault(run, []).append((item, -float(row["PPL2"]), -float(row["PPL1"])))
    for run, rows in found.items():
        frame = pl.DataFrame(rows, ("item_id", "good_logprob", "bad_logprob"), orient="row")
        scores = frame.with_columns(step=None, good_tokens=1, bad_tokens=1)
        files.write_table(
            scores.select(list(SCORES)).cast(SCORES), paths.scores(run, suite), SCORES
        )
    return sorted(found)
