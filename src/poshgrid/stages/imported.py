"""Judgements of others as a results folder: accuracies, heuristics, regressions, and the page.

Runs of others are given models with a place in the grid, so that what a grid's jobs read is made as
theirs is; only the scores are not ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from poshgrid import files, logs
from poshgrid.benchmark.schema import ITEMS
from poshgrid.config import Config, Pretrained, Regression, Study, Suite, specs
from poshgrid.config.paths import Paths
from poshgrid.config.runs import COUNTED, Run
from poshgrid.errors import PoshgridError
from poshgrid.evaluation.published import Published
from poshgrid.evaluation.schema import SCORES
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

log = logs.get(__name__)
TARGET = "all"


def make(
    found: Published,
    suite: str,
    models: Sequence[Regression],
    output: Path,
    texts: Mapping[str, Path],
    study: Study | None = None,
    threads: int = 1,
) -> Path:
    """Write a results folder from judgements of others.

    Args:
        found: what :func:`poshgrid.evaluation.published.read` made of them.
        suite: what their pairs are called.
        models: of the counts; those are fitted that have such runs, and two levels of what they
            contrast.
        output: the results folder.
        texts: source of conditions -> text that the baselines of these conditions are counted on.
        study: what the page says of the study.
        threads: chains that are drawn at once.

    Returns:
        The report's page.

    Raises:
        PoshgridError: a fit fails.
    """
    given = [_given(Run.parse(name), found) for name in found.runs]
    grid = Grid(Config(
        results=str(output), pretrained=given, regressions=list(models), study=study,
        suites=[Suite(name=suite, reader="lines", path=suite)],
    ))  # fmt: skip
    paths, cell = grid.paths, SimpleNamespace(target=TARGET)
    items = {suite: Path(paths.items(suite))}
    with recorded(items[suite].with_name("manifest.json")):
        files.write_table(found.items, items[suite], ITEMS)
    for name, scores in found.runs.items():
        with recorded(Path(paths.score_folder(name)) / "manifest.json"):
            files.write_table(scores, paths.scores(name, suite), SCORES)
    counted = _baselines(found, suite, texts, paths)

    def with_baselines(spec: Any) -> Any:  # noqa: ANN401 - a spec of any stage with runs
        return spec.model_copy(update={"runs": [*spec.runs, *counted]})

    with recorded(Path(paths.all_heuristics()) / "manifest.json"):
        heuristics.write(items, Path(paths.all_heuristics()))
    by_heuristic, scored = {suite: Path(paths.heuristics(suite))}, Path(paths.all_scores())
    statistics = Path(paths.statistics(TARGET))
    judged = with_baselines(stages.Accuracy(grid).spec(cell))
    with recorded(statistics / "manifest.json", spec=judged.written()) as facts:
        facts["settings"] = judged.model_dump(mode="json")
        facts.update(accuracy(judged, scored, items, None, statistics, by_heuristic, sums=False))
    explained = with_baselines(stages.HeuristicShares(grid).spec(cell))
    place = Path(paths.heuristic_shares(TARGET))
    with recorded(place / "manifest.json") as facts:
        facts.update(
            shares.write(explained, scored, Path(paths.all_models()), items, by_heuristic, place)
        )
    for name in grid.fitted(TARGET):
        folder = Path(paths.fit(TARGET, name))
        spec = specs.RegressionSpec(model=grid.regressions[name])
        with recorded(folder / "manifest.json", spec=spec.written()) as facts:
            facts["settings"] = spec.model_dump(mode="json")
            facts.update(fit(spec, statistics / "counts.parquet", folder, threads))
    report = Path(paths.report(TARGET))
    page.write(with_baselines(stages.Report(grid).spec(cell)), output, report)
    return report / "index.html"


def _baselines(found: Published, suite: str, texts: Mapping[str, Path], paths: Paths) -> list[str]:
    """Write the baselines that count words, for each cell of a text's source; return their runs.

    Raises:
        PoshgridError: no condition has the source of a text.
    """
    names = []
    for source, text in texts.items():
        cells = [name for name, cell in found.cells.items() if cell.source == source]
        if not cells:
            known = sorted({cell.source for cell in found.cells.values()})
            raise PoshgridError(
                f"--text {source}={text}: no condition has the source {source!r}; known: "
                f"{', '.join(known)}"
            )
        for counted, model, scores in baselines(found.items, text):
            for condition, size in (name.split("/") for name in cells):
                run = Run(condition, size, counted, COUNTED, "none", 0).name
                ngram.write(Path(paths.model(run)), model.tables, {"text": text.name})
                with recorded(Path(paths.score_folder(run)) / "manifest.json"):
                    files.write_table(scores, paths.scores(run, suite), SCORES)
                names.append(run)
    return names


def _given(run: Run, found: Published) -> Pretrained:
    """Return a run of others as a configuration has it."""
    cell = found.cells[f"{run.condition}/{run.size}"]
    return Pretrained(
        name=f"{run.model}-{run.condition}-{run.size}-{run.seed}", path="published",
        condition=run.condition, size=run.size, model=run.model, seed=run.seed,
        source=cell.source, filtered=cell.filtered,
    )  # fmt: skip
