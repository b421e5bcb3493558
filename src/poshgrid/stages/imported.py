"""Models on minimal pairs without a study, and published judgements, as a results folder.

Models become the pretrained models of a configuration, so that their files are made by the jobs of
a grid. Published runs have a place in the grid, and their scores are imported.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import polars as pl

from poshgrid.benchmark import schema as benchmark
from poshgrid.config import Config, Pretrained, Scoring, Suite, specs
from poshgrid.config import runs as naming
from poshgrid.config.base import path_name
from poshgrid.config.paths import Paths
from poshgrid.config.runs import AXES, COUNTED, GIVEN, PRETRAINED, Run
from poshgrid.core import files, formats, logs
from poshgrid.core.errors import PoshgridError
from poshgrid.core.manifest import recorded
from poshgrid.evaluation import judgements, schema, tasks
from poshgrid.evaluation.engines import ngram as counts
from poshgrid.evaluation.published import Published
from poshgrid.grid.grid import Grid
from poshgrid.models import ngram
from poshgrid.quality.checks import check_suite
from poshgrid.stages import Stages
from poshgrid.stages.stage import Stage, run

TARGET = "all"
READERS = {"pairs": "pairs", "paradigms": "paradigm-csv"}
"""Task whose judgements can be imported -> a reader of its items."""
log = logs.get(__name__)


def judge(
    suites: Sequence[Suite], models: Mapping[str, str], scoring: Scoring, text: Path | None,
    output: Path,
) -> Paths:  # fmt: skip
    """Judge minimal pairs with models, and with baselines that count the words of a text.

    Args:
        suites: suites of pairs that are read from files; their paths are seen from here.
        models: name -> folder, or id on a hub, ``id@revision`` with a commit, tag or branch.
        scoring: how sentences are scored and compared.
        text: a text with a sentence on each line, or a table with a column ``text``: baselines are
            counted on it, and it is searched for members of pairs; None: neither.
        output: the results folder; ``pairs.csv`` in it has a row for each model and pair, with
            log-probabilities (sums over tokens, nats).

    Returns:
        Paths of the results folder. Without models and text there are no judgements.

    Raises:
        PoshgridError: a file cannot be read or is damaged, or a pair cannot be scored.
    """
    pretrained = []
    for name, model in models.items():
        folder = Path(model).is_dir()
        path, _, revision = (model, "", "") if folder else model.partition("@")
        pretrained.append(Pretrained(name=name, path=path, revision=revision or None))
    # The parts are checked; a whole configuration would need a model
    grid = Grid(Config.model_construct(
        data=".", results=str(output), suites=list(suites), pretrained=pretrained, scoring=scoring,
        regressions=[],
    ))  # fmt: skip
    stages, paths = Stages(grid), grid.paths
    if (output / "pairs.csv").exists():
        log.warning("%s: replacing what was judged there before; --output names another", output)
    for suite in grid.pairs:
        _run(stages.items, suite=suite)
    for scored in grid.pretrained_runs:
        _run(stages.score, **{axis: getattr(scored, axis) for axis in AXES})
    items = {suite: files.read_table(paths.items(suite), benchmark.PAIRS) for suite in grid.pairs}
    texts = {} if text is None else {path_name(text.stem): text}
    for suite in grid.pairs:
        # No word of a text is too rare
        spec = specs.QualitySpec(suite=suite, generated=False, top_k=sys.maxsize)
        check_suite(
            spec, Path(paths.items(suite)), texts, texts, Path(paths.quality(TARGET, suite))
        )
    counted = _baselines(Published(items, {}, {}), texts, paths, dict.fromkeys(items, "pairs"))
    if names := [*(scored.name for scored in grid.pretrained_runs), *counted]:
        _finish(grid, counted, sums=True)
        rows = [_judged_pairs(name, suite, items[suite], paths, scoring)
                for name in names for suite in items]  # fmt: skip
        files.write_text(output / "pairs.csv", formats.csv(pl.concat(rows)))
    else:  # what was judged here before is of other pairs
        for old in (output / "pairs.csv", paths.statistics(TARGET), paths.report(TARGET)):
            files.discard(Path(old))
    return paths


def _run(stage: Stage, **wildcards: str | int) -> None:
    """Run a job of a stage."""
    run(type(stage), json.dumps(stage.describe(Wildcards(**wildcards))))


def _judged_pairs(
    name: str, suite: str, items: pl.DataFrame, paths: Paths, scoring: Scoring
) -> pl.DataFrame:
    """Return the pairs of a suite with a model's log-probabilities and judgements."""
    path, model = Path(paths.scores(name, suite)), Run.parse(name).model
    correct = judgements.judged(path, items, Scoring(reduction=scoring.reduction))
    sums = files.read_table(path, schema.SCORES).filter(pl.col("step").is_null()).drop("step")
    return (
        items.select("item_id", "category", "phenomenon", "good", "bad")
        .join(sums, on="item_id", maintain_order="left")
        .join(correct.select("item_id", "correct"), on="item_id", maintain_order="left")
        .select(pl.lit(model).alias("model"), pl.lit(suite).alias("suite"), pl.all())
    )


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
    _finish(grid, counted, sums=False, threads=threads)
    return Path(paths.report(TARGET), "index.html")


def _finish(grid: Grid, counted: list[str], *, sums: bool, threads: int = 1) -> None:
    """Run the stages from the scores to the page.

    Args:
        grid: of the models.
        counted: runs of baselines that no configuration has.
        sums: whether scores are sums over tokens; published ones are means.
        threads: chains that are drawn at the same time.
    """
    stages, target = Stages(grid), Wildcards(target=TARGET)
    jobs: list[tuple[Stage, Wildcards]] = []
    if grid.pairs:
        jobs += [(stage, target) for stage in (stages.heuristic_choices, stages.accuracy)]
        fits = grid.fitted(TARGET)
        jobs += [(stages.fit, Wildcards(target=TARGET, regression=name)) for name in fits]
    jobs += [(stages.measures, Wildcards(target=TARGET, suite=suite)) for suite in grid.measured]
    for stage, wildcards in (*jobs, (stages.report, target)):
        job = stage.describe(wildcards)
        if "runs" in job["spec"]:
            job["spec"]["runs"] += counted
        if stage.name == "accuracy":  # the cells of the baselines have no condition
            unplaced = specs.Cell(words=0, source=PRETRAINED, filtered=False).written()
            cells = dict.fromkeys(("/".join(run.split("/")[:2]) for run in counted), unplaced)
            job["spec"]["cells"] = cells | job["spec"].get("cells", {})
            job["arguments"] = {"sums": sums}
        run(type(stage), json.dumps(job), threads=threads)


class Wildcards(SimpleNamespace):
    """The wildcards of a job, as Snakemake has them."""

    def items(self) -> Iterable[tuple[str, str]]:
        """Return the wildcards and their values."""
        return vars(self).items()


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
        PoshgridError: no condition has the source of a text, or a text cannot be read or has no
            words.
    """
    names = []
    for source, text in texts.items():
        cells = [name for name, cell in judged.cells.items() if cell.source == source]
        if not judged.cells:  # models without a place in the grid; one text is their baseline
            cells = [f"{PRETRAINED if len(texts) == 1 else path_name(source)}/{GIVEN}"]
        if not cells:
            known = sorted({cell.source for cell in judged.cells.values()})
            raise PoshgridError(
                f"--text {source}={text}: no condition has the source {source!r}; known: "
                f"{', '.join(known)}"
            )
        for counted in naming.WORD_BASELINES:
            log.info("%s: counting the baseline %s", text, counted)
            lines = (line for batch in ngram.texts(text) for line in batch)
            model = ngram.fit(lines, **naming.counting(counted, naming.WORD_ORDER))
            engine = counts.Engine(model)
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
