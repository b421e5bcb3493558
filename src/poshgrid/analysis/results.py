"""``poshgrid.open``: the tables of a results folder as polars frames.

Every table is a ``polars.LazyFrame``. Its columns are checked at once (docs/reference/tables.md),
and it is read when it is collected: ``results.accuracy().filter(level="overall").collect()``.
Tables of runs begin with the axes of the grid: ``condition, size, model, recipe, bias, seed``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import polars as pl
import polars.selectors as cs

from poshgrid import files
from poshgrid.benchmark import schema as benchmark
from poshgrid.benchmark.schema import ITEMS
from poshgrid.config import specs
from poshgrid.config.formula import SUITE
from poshgrid.config.paths import Paths
from poshgrid.config.runs import AXES, Run, words_of
from poshgrid.errors import PoshgridError, check_known
from poshgrid.evaluation import judgements
from poshgrid.evaluation import schema as evaluation
from poshgrid.heuristics import schema as heuristics
from poshgrid.statistics import schema as statistics
from poshgrid.statistics.measures import schema as measures
from poshgrid.statistics.schema import TRAINED
from poshgrid.tables import formats

if TYPE_CHECKING:
    import arviz

    from poshgrid.config import Scoring

ALL = "all"
_AXES: files.Schema = {axis: pl.UInt32 if axis == "seed" else pl.String for axis in AXES}
RUNS: files.Schema = {
    **_AXES,
    "run": pl.String,  # its name: the axes joined by "/", the path of its model
    **TRAINED,
}
"""Columns of :meth:`Results.runs`: the axes, the run's name, and the numbers of its training."""
JUDGEMENTS: files.Schema = {
    **_AXES,
    **{name: ITEMS[name] for name in ("item_id", "category", "phenomenon", "template")},
    "lexical_set": pl.String,  # pairs that share their content words
    "cell": pl.String,  # of a factorial design; "" without a design, and for joint pairs
    "good_tokens": pl.UInt32,  # scored tokens of the good sentence
    "bad_tokens": pl.UInt32,  # scored tokens of the bad sentence
    "margin": pl.Float64,  # log P(good) - log P(bad), sums over tokens, nats
    "correct": pl.Float64,  # 1 right, 0 wrong, .5 a tie, by the configured reduction
    "by_mean": pl.Float64,  # the same if means over tokens are compared
    "by_sum": pl.Float64,  # the same if sums over tokens are compared
}
"""Columns of :meth:`Results.judgements`."""
_MEASURES = {"paradigms": measures.PARADIGM_MEASURES, "choices": measures.CHOICE_MEASURES}
TARGETS: dict[str, tuple[Callable[..., str], ModuleType, str]] = {
    "accuracy": (Paths.statistics, statistics, "ACCURACY"),
    "counts": (Paths.statistics, statistics, "COUNTS"),
    "training": (Paths.curves, statistics, "TRAINED"),
    "curves": (Paths.curves, statistics, "CURVES"),
    "deltas": (Paths.deltas, statistics, "DELTAS"),
    "delta_tests": (Paths.deltas, statistics, "DELTA_TESTS"),
    "perplexity": (Paths.deltas, statistics, "PERPLEXITY"),
    "exposure": (Paths.report, statistics, "EXPOSURE"),
    "development": (Paths.report, statistics, "DEVELOPMENT"),
    "ratios": (Paths.report, statistics, "RATIOS"),
    "mixture": (Paths.heuristic_shares, heuristics, "MIXTURE"),
    "verdicts": (Paths.heuristic_shares, heuristics, "VERDICTS"),
}
"""Table of a target -> its folder in a results folder, and the module and name of its schema."""
MODELS = {"summary": "SUMMARY", "contrasts": "CONTRASTS", "predictive": "PREDICTIVE"}
"""Table of a fitted model of a target -> the name of its schema in ``statistics.schema``."""


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

    # ---- runs, items, scores ---------------------------------------------------------------

    def runs(self) -> pl.LazyFrame:
        """Return a row for each run (:data:`RUNS`): sizes, steps, losses; null without training."""
        return pl.defer(self._runs, schema=RUNS)

    def items(self, suite: str = SUITE) -> pl.LazyFrame:
        """Return a suite's items, with the columns of its task."""
        return _scan(self.paths.items(suite), benchmark.TASKS[self.task(suite)])

    def scores(self, suite: str = SUITE) -> pl.LazyFrame:
        """Return log-probabilities: a row for each run, step and item.

        ``step`` is null for the kept model.

        Raises:
            PoshgridError: no run has scores on the suite.
        """
        schema = evaluation.TASKS[self.task(suite)]
        return pl.concat(
            _scan(path, schema).select(*_axes(run), *schema) for run, path in self._scored(suite)
        )

    def judgements(self, suite: str = SUITE, target: str | None = None) -> pl.LazyFrame:
        """Return the judgement of each run on each pair (:data:`JUDGEMENTS`).

        Joint pairs are one row, as in the accuracies.

        Args:
            suite: of minimal pairs.
            target: its scoring decides whether means or sums over tokens are compared.
        """
        if (task := self.task(suite)) != "pairs":
            raise PoshgridError(f"suite {suite} has {task}, not pairs; see scores({suite!r})")
        scored = self._scored(suite)
        judge = partial(self._judged, suite, scored, self.scoring(target))
        return pl.defer(judge, schema=JUDGEMENTS)

    def heuristics(self, suite: str = SUITE) -> pl.LazyFrame:
        """Return which member simple heuristics prefer: a row for each pair and heuristic."""
        return _scan(self.paths.heuristics(suite), heuristics.HEURISTICS)

    # ---- statistics ------------------------------------------------------------------------

    def accuracy(self, target: str | None = None) -> pl.LazyFrame:
        """Return accuracies over seeds, with intervals, tests and baselines."""
        return self.table("accuracy", target)

    def table(self, name: str, target: str | None = None) -> pl.LazyFrame:
        """Return a table of a target.

        Args:
            name: of :data:`TARGETS`: accuracy, counts, training, curves, deltas,
                delta_tests, perplexity, mixture, verdicts, exposure,
                development, ratios; or a table of the report's page (:meth:`page`).
            target: an experiment; default: ``all``, or the only one that has results.

        Raises:
            PoshgridError: the name or target is unknown, or the table does not exist yet.
        """
        path = self.file(name, target)
        if name not in TARGETS:
            check_known("unknown table", name, [*TARGETS, *self.page(target)])
            return pl.scan_csv(path).with_columns(cs.string().map_batches(_plain))
        return _scan(path, getattr(*TARGETS[name][1:]))

    def page(self, target: str | None = None) -> list[str]:
        """Return the names of the tables on the page of a target."""
        folder = Path(self.paths.report(self.target(target)), "tables")
        return sorted(path.stem for path in folder.glob("*.csv"))

    def file(self, name: str, target: str | None = None) -> Path:
        """Return the path of a table of a target."""
        if name not in TARGETS:
            return Path(self.paths.report(self.target(target)), "tables", f"{name}.csv")
        return Path(TARGETS[name][0](self.paths, self.target(target)), f"{name}.parquet")

    def measures(self, suite: str, target: str | None = None) -> pl.LazyFrame:
        """Return the results on a suite of paradigms or choices."""
        schema = _MEASURES.get(self.task(suite))
        if schema is None:
            raise PoshgridError(f"suite {suite} has {self.task(suite)}; see accuracy()")
        return _scan(self.measured(suite, target), schema)

    def measured(self, suite: str, target: str | None = None) -> Path:
        """Return the path of the results on a suite of paradigms or choices."""
        return Path(self.paths.measures(self.target(target), suite), "measures.parquet")

    def summary(self, model: str, target: str | None = None) -> pl.LazyFrame:
        """Return the coefficients of a Bayesian model."""
        return self._of_model("summary", model, target)

    def contrasts(self, model: str, target: str | None = None) -> pl.LazyFrame:
        """Return the contrasts of a Bayesian model."""
        return self._of_model("contrasts", model, target)

    def predictive(self, model: str, target: str | None = None) -> pl.LazyFrame:
        """Return the posterior predictive checks of a Bayesian model."""
        return self._of_model("predictive", model, target)

    def posterior(self, model: str, target: str | None = None) -> arviz.InferenceData:
        """Return the draws of a Bayesian model: posterior, sample_stats, observed_data.

        Raises:
            PoshgridError: the model or target is unknown.
        """
        import arviz

        path = self._fit(model, target) / "posterior.nc"
        if not path.is_file():
            raise PoshgridError(f"{path}: not found; run the rule that makes it first")
        posterior: arviz.InferenceData = arviz.from_netcdf(str(path), engine="h5netcdf")  # type: ignore[no-untyped-call]
        return posterior

    def scoring(self, target: str | None = None) -> Scoring:
        """Return the scoring of a target, as in the configuration of its accuracies."""
        path = Path(self.paths.statistics(self.target(target)), "manifest.json")
        return specs.JudgementSpec.model_validate(files.read_json(path)["spec"]).scoring

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

    def _fit(self, model: str, target: str | None) -> Path:
        check_known("unknown regression", model, self.regressions(target))
        return Path(self.paths.fit(self.target(target), model))

    def _of_model(self, name: str, model: str, target: str | None) -> pl.LazyFrame:
        return _scan(
            self._fit(model, target) / f"{name}.parquet", getattr(statistics, MODELS[name])
        )

    def _scored(self, suite: str) -> list[tuple[Run, str]]:
        paths = [(run, self.paths.scores(run.name, suite)) for run in self.scored(suite)]
        if not paths:
            raise PoshgridError(
                f"{self.paths.all_scores()}: no run has scores on suite {suite}; score one first"
            )
        return paths

    def _runs(self) -> pl.DataFrame:
        rows = []
        for run in self.names:
            path = self.model(run) / "statistics.json"
            facts = files.read_json(path) if path.is_file() else {}
            facts = {key: facts.get(key) for key in TRAINED}
            rows.append({**facts, **asdict(run), "run": run.name})
        # strict=False: JSON reads a loss such as 3.0 as an integer
        return pl.DataFrame(rows, schema=RUNS, strict=False)

    def _judged(
        self, suite: str, scored: Iterable[tuple[Run, str]], scoring: Scoring
    ) -> pl.DataFrame:
        items = judgements.read_items(self.paths.items(suite))
        return pl.concat(
            judgements.judged(path, items, scoring).select(
                *_axes(run), *(name for name in JUDGEMENTS if name not in _AXES)
            )
            for run, path in scored
        )


def _plain(texts: pl.Series) -> pl.Series:
    """Return texts without the apostrophes that keep spreadsheets from computing them."""
    return texts.map_elements(formats.unguarded, pl.String)


def _axes(run: Run) -> Iterator[pl.Expr]:
    for axis, value in asdict(run).items():
        yield pl.lit(value, dtype=_AXES[axis]).alias(axis)


def _scan(path: str | Path, schema: files.Schema) -> pl.LazyFrame:
    """Return a table lazily, after a check of its columns.

    Raises:
        PoshgridError: the file is missing, is not parquet, or has other columns.
    """
    files.check_schema(files.read_schema(path), schema, path)
    return pl.scan_parquet(Path(path), glob=False).select(list(schema))
