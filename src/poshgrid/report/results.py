"""``poshgrid.open``: the tables of a results folder as polars frames.

Every table is a ``polars.LazyFrame``. Its columns are checked at once (docs/reference/tables.md),
and it is read when it is collected: ``results.table("runs").filter(seed=42).collect()``.
Tables of runs begin with the axes of the grid: ``condition, size, model, recipe, bias, seed``.
Names are those of the files that ``poshgrid export tables`` writes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import polars as pl
import polars.selectors as cs

from poshgrid.benchmark import schema as benchmark
from poshgrid.benchmark.schema import PAIRS
from poshgrid.config import specs
from poshgrid.config.formula import SUITE
from poshgrid.config.paths import Paths
from poshgrid.config.runs import AXES, Run, words_of
from poshgrid.core import files, formats
from poshgrid.core.errors import PoshgridError, check_known
from poshgrid.evaluation import judgements
from poshgrid.evaluation import schema as evaluation
from poshgrid.evaluation.heuristics import schema as heuristics
from poshgrid.statistics import schema as statistics
from poshgrid.statistics.measures import schema as measures
from poshgrid.statistics.schema import TRAINED

ALL = "all"
_AXES: files.Schema = {axis: pl.UInt32 if axis == "seed" else pl.String for axis in AXES}
RUNS: files.Schema = {
    **_AXES,
    "run": pl.String,  # its name: the axes joined by "/", the path of its model
    **TRAINED,
}
"""Table ``runs``: the axes, the run's name, and the numbers of its training."""
JUDGEMENTS: files.Schema = {
    **_AXES,
    **{name: PAIRS[name] for name in ("item_id", "category", "phenomenon", "template")},
    "lexical_set": pl.String,  # pairs that share their content words
    "cell": pl.String,  # of a factorial design; "" without a design, and for joint pairs
    "good_tokens": pl.UInt32,  # scored tokens of the good sentence
    "bad_tokens": pl.UInt32,  # scored tokens of the bad sentence
    "margin": pl.Float64,  # log P(good) - log P(bad), sums over tokens, nats
    "correct": pl.Float64,  # 1 right, 0 wrong, .5 a tie, by the configured reduction
    "by_mean": pl.Float64,  # the same if means over tokens are compared
    "by_sum": pl.Float64,  # the same if sums over tokens are compared
}
"""Table ``judgements-SUITE``: the judgement of each run on each pair; joint pairs are one row."""
_OF_TASKS = {
    "pairs": ("PAIRS", "SCORES", ""),
    "paradigms": ("PARADIGMS", "PARADIGM_SCORES", "PARADIGM_MEASURES"),
    "choices": ("CHOICES", "CHOICE_SCORES", "CHOICE_MEASURES"),
    "completions": ("COMPLETIONS", "COMPLETION_SCORES", "CHOICE_MEASURES"),
}
"""Task of a suite -> names of the schemas of its items, scores and measures."""
TARGETS: dict[str, tuple[Callable[..., str], str]] = {
    "accuracy": (Paths.statistics, "ACCURACY"),
    "counts": (Paths.statistics, "COUNTS"),
    "training": (Paths.curves, "TRAINED"),
    "curves": (Paths.curves, "CURVES"),
    "deltas": (Paths.deltas, "DELTAS"),
    "delta_tests": (Paths.deltas, "DELTA_TESTS"),
    "perplexity": (Paths.deltas, "PERPLEXITY"),
    "exposure": (Paths.report, "EXPOSURE"),
    "heuristic_agreement": (Paths.statistics, "HEURISTIC_AGREEMENT"),
}
"""Table of a target -> its folder in a results folder, and its schema in ``statistics.schema``."""
MODELS = {"summary": "SUMMARY", "contrasts": "CONTRASTS", "predictive": "PREDICTIVE"}
"""Table of a fitted model of a target -> the name of its schema in ``statistics.schema``."""


class Entry(NamedTuple):
    """A table of a results folder."""

    read: Callable[[], pl.LazyFrame]
    path: Path | None  # its file; None: it is computed
    module: ModuleType  # that has its schema
    contract: str  # name of the schema


class Results:
    """The tables of a results folder, which may be unfinished.

    Args:
        folder: e.g. ``results/tiny``.

    Raises:
        PoshgridError: the folder does not exist, or has no models, scores or items.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.paths = Paths(os.fspath(folder))
        if not any(Path(folder, part).is_dir() for part in ("models", "scores", "benchmark")):
            raise PoshgridError(
                f"{os.fspath(folder)}: no results (neither models nor scores nor benchmark); "
                "name a folder that `poshgrid run` wrote, such as results/tiny"
            )

    def __repr__(self) -> str:
        return (
            f"<poshgrid results {self.paths.results}: {len(self.names)} runs; "
            f"suites {', '.join(self.suites) or 'none'}; "
            f"targets {', '.join(self.targets) or 'none'}>"
        )

    # ---- what there is ---------------------------------------------------------------------

    @cached_property
    def names(self) -> list[Run]:
        """The runs that have a model or scores, with baselines and given models, sorted by size."""
        runs = {
            Run.parse(path.parent.relative_to(top).as_posix())
            for top in map(Path, (self.paths.all_models(), self.paths.all_scores()))
            for path in top.glob("*/*/*/*/*/seed*/manifest.json")
        }
        return sorted(runs, key=lambda run: (words_of(run.size), run))

    @property
    def suites(self) -> list[str]:
        """The suites that have items."""
        top = Path(self.paths.items(SUITE)).parents[1]
        return sorted(path.parent.name for path in top.glob("*/items.parquet"))

    @property
    def targets(self) -> list[str]:
        """The targets that have accuracies."""
        top = Path(self.paths.statistics(ALL)).parent
        return sorted(path.parent.name for path in top.glob("*/accuracy.parquet"))

    def regressions(self, target: str | None = None) -> list[str]:
        """Return the Bayesian models that are fitted for a target."""
        top = Path(self.paths.fit(self.target(target), "any")).parent
        return sorted(path.parent.name for path in top.glob("*/summary.parquet"))

    def task(self, suite: str) -> str:
        """Return the task of a suite: pairs, paradigms, choices or completions."""
        check_known("unknown suite", suite, self.suites)
        columns = set(files.read_schema(self.paths.items(suite)))
        fitting = (task for task, known in benchmark.TASKS.items() if columns == set(known))
        return next(fitting, "pairs")  # if no task fits, reading as pairs reports missing columns

    def model(self, run: Run | str) -> Path:
        """Return the folder of a run's model, for ``AutoModelForCausalLM.from_pretrained``."""
        return Path(self.paths.model(run if isinstance(run, str) else run.name))

    def scored(self, suite: str) -> list[Run]:
        """Return the runs that have scores on a suite."""
        return [run for run in self.names if Path(self.paths.scores(run.name, suite)).is_file()]

    def page(self, target: str | None = None) -> dict[str, Path]:
        """Return the tables on the page of a target: name -> file."""
        folder = Path(self.paths.report(self.target(target)), "tables")
        return {path.stem: path for path in sorted(folder.glob("*.csv"))}

    # ---- tables ----------------------------------------------------------------------------

    def table(self, name: str, target: str | None = None) -> pl.LazyFrame:
        """Return a table.

        Args:
            name: of the table:

                - ``runs``: a row for each run; null without training
                - ``items-SUITE``, ``scores-SUITE`` (log-probabilities by run, step and item; step
                  is null for the kept model), ``judgements-SUITE`` (of minimal pairs),
                  ``heuristics-SUITE`` (which member a heuristic prefers), ``measures-SUITE`` (of
                  other tasks)
                - of :data:`TARGETS`: ``accuracy``, ``counts``, ``deltas`` ...
                - ``summary-MODEL``, ``contrasts-MODEL``, ``predictive-MODEL`` of a Bayesian model
                - a table on the report's page (:meth:`page`)
            target: an experiment; default: ``all``, or the only one that has results.

        Raises:
            PoshgridError: the name or target is unknown, or the table does not exist yet.
        """
        entries = self.catalogue(target)
        if name in entries:
            return entries[name].read()
        page = self.page(target)  # raises if a target must be named
        check_known("unknown table", name, [*entries, *page])
        # Without the apostrophes that keep spreadsheets from computing a text
        plain = cs.string().map_elements(formats.unguarded, pl.String)
        return pl.scan_csv(page[name]).with_columns(plain)

    def catalogue(self, target: str | None = None) -> dict[str, Entry]:
        """Return all tables except those of the page: name -> how it is read.

        Tables of a target are included if it is named, or if there is a default.
        """
        several = target is None and ALL not in self.targets and len(self.targets) != 1
        target = None if several else self.target(target)
        runs = partial(pl.defer, self._runs, schema=RUNS)
        entries = {"runs": Entry(runs, None, sys.modules[__name__], "RUNS")}
        for suite in self.suites:
            entries |= self._of_suite(suite, target)
        if target is None:
            return entries
        for name, (folder, contract) in TARGETS.items():
            path = Path(folder(self.paths, target), f"{name}.parquet")
            entries[name] = _file(path, statistics, contract)
        for model in self.regressions(target):
            for name, contract in MODELS.items():
                path = Path(self.paths.fit(target, model), f"{name}.parquet")
                entries[f"{name}-{model}"] = _file(path, statistics, contract)
        return entries

    def _of_suite(self, suite: str, target: str | None) -> Iterator[tuple[str, Entry]]:
        """Yield the names and tables of a suite."""
        task, paths = self.task(suite), self.paths
        items, scores, measured = _OF_TASKS[task]
        yield f"items-{suite}", _file(Path(paths.items(suite)), benchmark, items)
        if self.scored(suite):
            read = partial(self._scores, suite, evaluation.TASKS[task])
            yield f"scores-{suite}", Entry(read, None, evaluation, scores)
        if task == "pairs":
            if self.scored(suite) and target:
                read = partial(self._judgements, suite, target)
                yield f"judgements-{suite}", Entry(read, None, sys.modules[__name__], "JUDGEMENTS")
            rules = Path(paths.heuristics(suite))
            yield f"heuristics-{suite}", _file(rules, heuristics, "HEURISTICS")
        elif target:
            path = Path(paths.measures(target, suite), "measures.parquet")
            yield f"measures-{suite}", _file(path, measures, measured)

    # ---- inside ----------------------------------------------------------------------------

    def target(self, named: str | None) -> str:
        """Return the name of a target with results; default: ``all``, or the only one.

        Raises:
            PoshgridError: the target has no results, or none is named and there are several.
        """
        known = self.targets
        if named is None and len(known) == 1:
            return known[0]
        if named is None and ALL not in known:
            have = f"name one: {', '.join(known)}" if known else "run `poshgrid run` first"
            raise PoshgridError(f"{self.paths.statistics(ALL)}: no results of all; {have}")
        check_known("unknown target", named, known)
        return named or ALL

    def _scores(self, suite: str, schema: files.Schema) -> pl.LazyFrame:
        return pl.concat(
            _scan(self.paths.scores(run.name, suite), schema).select(*_axes(run), *schema)
            for run in self.scored(suite)
        )

    def _runs(self) -> pl.DataFrame:
        rows = []
        for run in self.names:
            path = self.model(run) / "statistics.json"
            facts = files.read_json(path) if path.is_file() else {}
            facts = {key: facts.get(key) for key in TRAINED}
            rows.append({**facts, **asdict(run), "run": run.name})
        # strict=False: JSON reads a loss such as 3.0 as an integer
        return pl.DataFrame(rows, schema=RUNS, strict=False)

    def _judgements(self, suite: str, target: str) -> pl.LazyFrame:
        """Return judgements; the target's scoring says if means or sums over tokens decide."""
        path = Path(self.paths.statistics(target), "manifest.json")
        spec = specs.JudgementSpec.model_validate(files.read_json(path)["spec"])

        def judged() -> pl.DataFrame:
            items = judgements.read_items(self.paths.items(suite))
            return pl.concat(
                judgements.judged(self.paths.scores(run.name, suite), items, spec.scoring).select(
                    *_axes(run), *(name for name in JUDGEMENTS if name not in _AXES)
                )
                for run in self.scored(suite)
            )

        return pl.defer(judged, schema=JUDGEMENTS)


def _axes(run: Run) -> Iterator[pl.Expr]:
    for axis, value in asdict(run).items():
        yield pl.lit(value, dtype=_AXES[axis]).alias(axis)


def _file(path: Path, module: ModuleType, contract: str) -> Entry:
    """Return the entry of a Parquet file."""
    return Entry(partial(_scan, path, getattr(module, contract)), path, module, contract)


def _scan(path: str | Path, schema: files.Schema) -> pl.LazyFrame:
    """Return a table lazily, after a check of its columns.

    Raises:
        PoshgridError: the file is missing, is not parquet, or has other columns.
    """
    files.check_schema(files.read_schema(path), schema, path)
    return pl.scan_parquet(Path(path), glob=False).select(list(schema))
