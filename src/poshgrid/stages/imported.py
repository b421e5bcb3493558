"""Published judgements as a results folder: accuracies, heuristics, regressions, and the page.

Published runs become pretrained models with a place in the grid, so that their files are made in
the same way as those of a grid's jobs; only the scores are imported.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace

import polars as pl

from poshgrid.benchmark import schema as benchmark
from poshgrid.config import Config, Pretrained, Suite, specs
from poshgrid.config.base import path_name
from poshgrid.config.paths import Paths
from poshgrid.config.runs import COUNTED, GIVEN, PRETRAINED, Run
from poshgrid.core import files
from poshgrid.core.errors import PoshgridError
from poshgrid.core.manifest import recorded
from poshgrid.evaluation import schema, tasks
from poshgrid.evaluation.published import Published
from poshgrid.grid.grid import Grid
from poshgrid.models import ngram
from poshgrid.quality.given import baselines
from poshgrid.stages import Stages
from poshgrid.stages.stage import Stage, run

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
    paths = grid.paths
    for suite, table in judged.items.items():
        path = Path(paths.items(suite))
        with recorded(path.with_name("manifest.json")):
            files.write_table(table, path, benchmark.TASKS[schemas[suite]])
    for name, scores in judged.runs.items():
        _write_scores(paths, name, scores, schemas)
    counted = _baselines(judged, texts, paths, schemas)
    stages, target = Stages(grid), Wildcards(target=TARGET)
    jobs: list[tuple[Stage, Wildcards]] = []
    if grid.pairs:
        pairs = (stages.heuristic_choices, stages.accuracy, stages.heuristic_shares)
        jobs += [(stage, target) for stage in pairs]
        fits = grid.fitted(TARGET)
        jobs += [(stages.fit, Wildcards(target=TARGET, regression=name)) for name in fits]
    jobs += [(stages.measures, Wildcards(target=TARGET, suite=suite)) for suite in grid.measured]
    for stage, wildcards in (*jobs, (stages.report, target)):
        _run(stage, wildcards, counted, threads)
    return Path(paths.report(TARGET), "index.html")


class Wildcards(SimpleNamespace):
    """The wildcards of a job, as Snakemake has them."""

    def items(self) -> Iterable[tuple[str, str]]:
        """Return the wildcards and their values."""
        return vars(self).items()


def _run(stage: Stage, wildcards: Wildcards, counted: list[str], threads: int) -> None:
    """Run a job of a stage, with baselines that no configuration has.

    Their cells have no condition, and published scores are means over tokens.
    """
    job = stage.describe(wildcards)
    if "runs" in job["spec"]:
        job["spec"]["runs"] += counted
    if stage.name == "accuracy":
        unplaced = specs.Cell(words=0, source=PRETRAINED, filtered=False).written()
        cells = dict.fromkeys(("/".join(run.split("/")[:2]) for run in counted), unplaced)
        job["spec"]["cells"] = cells | job["spec"]["cells"]
        job["arguments"] = {"sums": False}
    run(type(stage), json.dumps(job), threads=threads)


def _task(items: pl.DataFrame) -> str:
    """Return the task whose items have these columns."""
    return next(task for task in READERS if set(items.columns) == set(benchmark.TASKS[task]))


def _write_scores(
    paths: Paths, run: str, scores: Mapping[str, pl.DataFrame], schemas: Mapping[str, str]
) -> None:
    with recorded(Path(paths.score_folder(run)) / "manifest.json"):
        for suite, table in scores.items():
            files.write_table(table, paths.scores(run, suite), schema.TASKS[schemas[suite]])


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
                baseline = Run(condition, size, counted, COUNTED, "none", 0).name
                ngram.write(Path(paths.model(baseline)), model.tables, {"text": text.name})
                _write_scores(paths, baseline, scores, schemas)
                names.append(baseline)
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
