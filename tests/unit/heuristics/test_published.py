"""Heuristics on the published items, and which of them the published judgements follow."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import polars as pl
import pytest

from poshgrid import files
from poshgrid.benchmark.items import generate
from poshgrid.benchmark.reading import table10
from poshgrid.config import Scoring, Suite, specs
from poshgrid.config.paths import Paths
from poshgrid.evaluation.schema import SCORES
from poshgrid.files import read_table
from poshgrid.heuristics import table
from poshgrid.heuristics.mixture import GUESSING
from poshgrid.heuristics.schema import HEURISTICS, MIXTURE, NONE, UNCLEAR, VERDICTS
from poshgrid.statistics import shares

CHILD = {"condition": "baby", "size": "100M"}


MODEL = re.compile(r"gpt2_(mini|small)_(baby|wiki)_(\d+M)(f?)_32768_(\d+)")


def write_published(published: Path, results: Path, suite: str = "posh") -> list[str]:
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
        model, corpus, size, filtered, seed = MODEL.match(path.name).groups()
        condition = f"{corpus}-f" if filtered else corpus
        run = f"{condition}/{size}/gpt2-{model}/packed/none/seed{seed}"
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


@pytest.fixture(scope="module")
def results(shared, tmp_path_factory):
    published = shared / "published" / "posh"
    if not published.is_dir():
        pytest.skip(f"{published} is not there")
    folder = tmp_path_factory.mktemp("published")
    runs, paths = write_published(published, folder), Paths(str(folder))
    items, heuristics = (
        {"posh": Path(paths.items("posh"))},
        {"posh": Path(paths.heuristics("posh"))},
    )
    table.write(items, heuristics["posh"].parent)
    shares.write(
        specs.HeuristicSharesSpec(scoring=Scoring(), runs=[r for r in runs if "/100M/" in r]),
        Path(paths.all_scores()), Path(paths.all_models()), items, heuristics,
        Path(paths.heuristic_shares("all")),
    )  # fmt: skip
    return paths


def found(paths, name, schema):
    return read_table(Path(paths.heuristic_shares("all")) / f"{name}.parquet", schema)


def test_hierarchical_rules_prefer_every_good_member(results):
    """They have a say on all pairs but some of islands, and on those that contrast antecedents."""
    said = read_table(results.heuristics("posh"), HEURISTICS).with_columns(
        phenomenon=pl.col("item_id").str.replace(r"-\d+$", "")
    )
    hierarchical = ["main-auxiliary", "command", "island", "contraction"]
    rows = said.filter(pl.col("heuristic").is_in(hierarchical)).drop_nulls("prefers")
    assert rows.filter(pl.col("prefers") != 1).is_empty()
    say = dict(rows.group_by("phenomenon").len().iter_rows())
    assert say == {
        "question-formation-or": 500, "question-formation-rr": 500, "question-formation-sr": 500,
        "wanna": 500, "island-wh": 500, "island-complex-np": 500, "island-adjunct": 489,
        "principle-a-command": 500, "principle-a-locality": 227,
    }  # fmt: skip


def test_weights_tell_a_learner_of_structure_from_one_of_words(results):
    """Of one seed. In adjuncts the early gap is the good one: few sets tell the two apart."""
    rows = found(results, "mixture", MIXTURE).filter(**CHILD)
    largest = (
        rows.filter(pl.col("heuristic") != GUESSING)
        .sort("weight")
        .unique("phenomenon", keep="last", maintain_order=True)
    )
    best = dict(largest.select("phenomenon", "heuristic").iter_rows())
    assert best["principle-a-command"] == "nearest-noun"
    assert best["question-formation-or"] == "front-do"
    assert best["island-complex-np"] == "island"
    assert best["wanna"] == "contraction"
    assert best["island-adjunct"] == "first-gap = island"
    verdicts = found(results, "verdicts", VERDICTS).filter(**CHILD)
    said = dict(verdicts.select("phenomenon", "verdict").iter_rows())
    # It fronts "do" where there is one: in most pairs there is none
    assert said["question-formation-or"] == NONE
    assert set(said.values()) == {NONE, UNCLEAR}  # one seed names no heuristic
