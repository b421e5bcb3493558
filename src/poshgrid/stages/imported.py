"""Published judgements as a results folder: accuracies, heuristics, regressions, and the page.

Published runs become pretrained models with a place in the grid, so that their files are made in
the same way as those of a grid's jobs; only the scores are imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl

from poshgrid import files
from poshgrid.benchmark import schema as benchmark
from poshgrid.config import Config, Pretrained, Suite, specs
from poshgrid.config.base import path_name
from poshgrid.config.paths import Paths
from poshgrid.config.runs import COUNTED, GIVEN, PRETRAINED, Run
from poshgrid.errors import PoshgridError
from poshgrid.evaluation import schema, tasks
from poshgrid.evaluation.published import Published
from poshgrid.grid.grid import Grid
from poshgrid.heuristics import table as heuristics
from poshgrid.models import ngram
from poshgrid.provenance.manifest import recorded
from poshgrid.quality.given import baselines
from poshgrid.report import page
from poshgrid.stages import statistics as stages
from poshgrid.statistics import shares
from poshgrid.statistics.accuracy import accuracy
from poshgrid.statistics.fit import fit
from poshgrid.statistics.measures import paradigms

TARGET = "all"
READERS = {"pairs": "pairs", "paradigms": "paradigm-csv"}
"""Task whose judgements can be imported -> a reader of its items."""


def make(
    judged: Published, config: Config | None, output: Path, texts: Mapping[str, Path],
    threads: int = 1,
) -> Path:  # fmt: skip
    """Write a results folder from published judgements.

    Args:
        judged: output of :func:`poshgrid.evaluation.published.read`.
        config: its study is shown on the page, and its regressions are fitted if the runs have at
            least two levels of the contrasted factor; None: neither.
        output: the results folder.
        texts: source of conditions -> text for the baselines of these conditions.
        threads: chains that are drawn at the same time.

    Returns:
        The report's page.

    Raises:
        PoshgridError: a fit fails.
    """
    schemas = {suite: _task(items) for suite, items in judged.items.items()}
    grid = Grid(Config(
        results=str(output), pretrained=[_given(Run.parse(name), judged) for name in judged.runs],
        regressions=config.regressions if config else [], study=config.study if config else None,
        suites=[Suite(name=suite, reader=READERS[task], path=suite)
                for suite, task in schemas.items()],
    ))  # fmt: skip
    paths, cell = grid.paths, SimpleNamespace(target=TARGET)
    items = {suite: Path(paths.items(suite)) for suite in judged.items}
    for suite, path in items.items():
        with recorded(path.with_name("manifest.json")):
            files.write_table(judged.items[suite], path, benchmark.TASKS[schemas[suite]])
    for name, scores in judged.runs.items():
        _write_scores(paths, name, scores, schemas)
    counted = _baselines(judged, texts, paths, schemas)

    def with_baselines(spec: Any) -> Any:  # noqa: ANN401 - a spec of any stage with runs
        return spec.model_copy(update={"runs": [*spec.runs, *counted]})

    scored = Path(paths.all_scores())
    if pairs := {suite: items[suite] for suite in grid.pairs}:
        _judge_pairs(grid, with_baselines, pairs, scored, threads)
    for suite in grid.measured:
        folder = Path(paths.measures(TARGET, suite))
        spec = with_baselines(
            stages.Measures(grid).spec(SimpleNamespace(target=TARGET, suite=suite))
        )
        with recorded(folder / "manifest.json") as facts:
            facts.update(paradigms.write(spec, scored, items[suite], folder))
    report = Path(paths.report(TARGET))
    page.write(with_baselines(stages.Report(grid).spec(cell)), output, report)
    return report / "index.html"


def _task(items: pl.DataFrame) -> str:
    """Return the task whose items have these columns."""
    return next(task for task in READERS if set(items.columns) == set(benchmark.TASKS[task]))


def _write_scores(
    paths: Paths, run: str, scores: Mapping[str, pl.DataFrame], schemas: Mapping[str, str]
) -> None:
    with recorded(Path(paths.score_folder(run)) / "manifest.json"):
        for suite, table in scores.items():
            files.write_table(table, paths.scores(run, suite), schema.TASKS[schemas[suite]])


def _judge_pairs(
    grid: Grid, with_baselines: Callable[[Any], Any], items: dict[str, Path], scored: Path,
    threads: int,
) -> None:  # fmt: skip
    """Write accuracies, heuristics and regressions for suites of pairs."""
    paths, cell = grid.paths, SimpleNamespace(target=TARGET)
    with recorded(Path(paths.all_heuristics()) / "manifest.json"):
        heuristics.write(items, Path(paths.all_heuristics()))
    by_heuristic = {suite: Path(paths.heuristics(suite)) for suite in items}
    statistics = Path(paths.statistics(TARGET))
    judged = with_baselines(stages.Accuracy(grid).spec(cell))
    counted = [run for run in judged.runs if Run.parse(run).recipe == COUNTED]
    facts_of = {"/".join(run.split("/")[:2]) for run in counted} - judged.cells.keys()
    unplaced = specs.Cell(words=0, source=PRETRAINED, filtered=False)
    judged = judged.model_copy(update={"cells": judged.cells | dict.fromkeys(facts_of, unplaced)})
    with recorded(statistics / "manifest.json", spec=judged.written()) as facts:
        facts["settings"] = judged.model_dump(mode="json")
        facts.update(accuracy(judged, scored, items, None, statistics, by_heuristic, sums=False))
    explained = with_baselines(stages.HeuristicShares(grid).spec(cell))
    folder = Path(paths.heuristic_shares(TARGET))
    with recorded(folder / "manifest.json") as facts:
        facts.update(
            shares.write(explained, scored, Path(paths.all_models()), items, by_heuristic, folder)
        )
    for name in grid.fitted(TARGET):
        folder = Path(paths.fit(TARGET, name))
        spec = specs.RegressionSpec(model=grid.regressions[name])
        with recorded(folder / "manifest.json", spec=spec.written()) as facts:
            facts["settings"] = spec.model_dump(mode="json")
            facts.update(fit(spec, statistics / "counts.parquet", folder, threads))


def _baselines(
    judged: Published, texts: Mapping[str, Path], paths: Paths, schemas: Mapping[str, str]
) -> list[str]:
    """Write the baselines that count words, for each cell of a text's source; return their runs.

    Raises:
        PoshgridError: no condition has the source of a text.
    """
    names = []
    for source, text in texts.items():
        cells = [name for name, cell in judged.cells.items() if cell.source == source]
        if not judged.cells:  # models without a place in the grid are compared with any text
            cells = [f"{path_name(source)}/{GIVEN}"]
        if not cells:
            known = sorted({cell.source for cell in judged.cells.values()})
            raise PoshgridError(
                f"--text {source}={text}: no condition has the source {source!r}; known: "
                f"{', '.join(known)}"
            )
        for counted, model, engine in baselines(text):
            scores = {
                suite: tasks.BY_NAME[schemas[suite]](suite, items, engine, step=None)
                for suite, items in judged.items.items()
            }
            for condition, size in (name.split("/") for name in cells):
                run = Run(condition, size, counted, COUNTED, "none", 0).name
                ngram.write(Path(paths.model(run)), model.tables, {"text": text.name})
                _write_scores(paths, run, scores, schemas)
                names.append(run)
    return names


def _given(run: Run, judged: Published) -> Pretrained:
    """Return a published run as a pretrained model of a configuration."""
    if run.recipe == PRETRAINED:
        return Pretrained(name=run.model, path="published")
    cell = judged.cells[f"{run.condition}/{run.size}"]
    return Pretrained(
        name=f"{run.model}-{run.condition}-{run.size}-{run.seed}", path="published",
        condition=run.condition, size=run.size, model=run.model, seed=run.seed,
        source=cell.source, filtered=cell.filtered,
    )  # fmt: skip
