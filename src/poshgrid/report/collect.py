"""Read the results of the other stages that a report shows, and the manifests of their jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from poshgrid.benchmark.schema import PAIRS
from poshgrid.config import specs
from poshgrid.config.paths import Paths
from poshgrid.config.runs import BASELINE_RECIPES, SCORED, UNTRAINED, Run
from poshgrid.core import files, resources, verification
from poshgrid.core.errors import PoshgridError
from poshgrid.evidence.schema import RECALL
from poshgrid.report.results import TARGETS
from poshgrid.statistics import schema as statistics
from poshgrid.statistics.curves import over_seeds
from poshgrid.statistics.exposure import ledger
from poshgrid.statistics.measures.schema import ANSWERS, NORMS, TAGS

CHILDREN: files.Schema = {
    "name": pl.String, "age": pl.String, "accuracy": pl.Float64, "source": pl.String,
}  # fmt: skip
"""``studies/STUDY/children.csv``, after comment lines (``#``) that name the sources of its numbers.
"""

_Cell = tuple[str, str]  # condition, size
_Json = dict[str, Any]


@dataclass(frozen=True)
class Fit:
    """A Bayesian model of the counts."""

    name: str
    summary: pl.DataFrame  # SUMMARY
    contrasts: pl.DataFrame  # CONTRASTS
    predictive: pl.DataFrame  # PREDICTIVE
    diagnostics: dict[str, Any]
    spec: dict[str, Any]  # poshgrid.config.Regression, as the manifest has it

    @property
    def converged(self) -> bool:
        """Whether its numbers may be quoted."""
        return bool(self.diagnostics.get("converged"))


@dataclass(frozen=True)
class Trained:
    """A run of the grid or a given model, and the files that it has so far."""

    run: Run
    statistics: dict[str, Any]  # empty: not run
    manifest: dict[str, Any]  # empty: not run

    @property
    def done(self) -> bool:
        """Whether the model exists."""
        return bool(self.statistics or self.manifest)


class Record(NamedTuple):
    """A manifest: settings, times and versions of a job."""

    kind: str  # the folder of the results that it is in: conditions, models ...
    name: str  # its folder below that
    content: dict[str, Any]


def _of_target(name: str) -> cached_property[pl.DataFrame]:
    """Return a property that reads a table of the target once."""
    return cached_property(lambda collected: collected.table(name))


def _of_suites(name: str, schema: files.Schema) -> cached_property[dict[str, pl.DataFrame]]:
    """Return a property that reads a table of each suite of other tasks, without empty tables."""

    def read(collected: Collected) -> dict[str, pl.DataFrame]:
        paths = {s: collected.measured(s) / f"{name}.parquet" for s in collected.spec.measured}
        tables = {suite: _table(path, schema) for suite, path in paths.items()}
        return {suite: table for suite, table in tables.items() if not table.is_empty()}

    return cached_property(read)


def _of_cells(folder: Callable[..., str], name: str) -> cached_property[dict[_Cell, _Json]]:
    """Return a property that reads a JSON file of each condition and size."""

    def read(collected: Collected) -> dict[_Cell, _Json]:
        cells = (cell.split("/") for cell in collected.spec.cells)
        return {(c, s): read_json(Path(folder(collected.paths, c, s), name)) for c, s in cells}

    return cached_property(read)


class Collected:
    """All results that the page shows. Results that do not exist yet are empty.

    Each property reads its files once.

    Args:
        spec: the part of the configuration that the page shows.
        results: the results folder.

    Raises:
        PoshgridError: a property raises it if a file is broken.
    """

    def __init__(self, spec: specs.ReportSpec, results: Path | str) -> None:
        self.spec = spec
        self.paths = Paths(str(results))

    # ---- tables of statistics --------------------------------------------------------------------

    def table(self, name: str) -> pl.DataFrame:
        """Return a table of the target (:data:`poshgrid.report.results.TARGETS`)."""
        folder, contract = TARGETS[name]
        path = Path(folder(self.paths, self.spec.target), f"{name}.parquet")
        return _table(path, getattr(statistics, contract))

    accuracy = _of_target("accuracy")
    """Accuracies: ``ACCURACY``."""
    deltas = _of_target("deltas")
    """Effects of filtering: ``DELTAS``."""
    delta_tests = _of_target("delta_tests")
    """Tests of these effects: ``DELTA_TESTS``."""
    perplexity = _of_target("perplexity")
    """Perplexities: ``PERPLEXITY``."""

    @cached_property
    def curves(self) -> pl.DataFrame:
        """Accuracies in the course of training, averaged over seeds."""
        return over_seeds(self.table("curves"))

    @cached_property
    def exposure(self) -> pl.DataFrame:
        """The text that models see: ``EXPOSURE``."""
        trained = ((model.run, model.statistics) for model in self.without_baselines)
        return ledger(self.conditions, self.tokens, trained)

    @cached_property
    def fits(self) -> dict[str, Fit]:
        """The fitted Bayesian models by name."""
        folders = {
            model: Path(self.paths.fit(self.spec.target, model)) for model in self.spec.regressions
        }
        return {
            model: Fit(
                model,
                _table(folder / "summary.parquet", statistics.SUMMARY),
                _table(folder / "contrasts.parquet", statistics.CONTRASTS),
                _table(folder / "predictive.parquet", statistics.PREDICTIVE),
                read_json(folder / "diagnostics.json"),
                (read_json(folder / "manifest.json").get("settings") or {}).get("model", {}),
            )
            for model, folder in folders.items()
            if (folder / "summary.parquet").is_file()
        }

    # ---- suites ----------------------------------------------------------------------------------

    @cached_property
    def items(self) -> dict[str, pl.DataFrame]:
        """Suite of minimal pairs -> ``PAIRS``."""
        return {suite: _table(Path(self.paths.items(suite)), PAIRS) for suite in self.spec.suites}

    @cached_property
    def measures(self) -> dict[str, pl.DataFrame]:
        """Suite of another task -> its measures, if they exist."""
        paths = {suite: self.measured(suite) / "measures.parquet" for suite in self.spec.measured}
        return {s: files.read_table(path, files.read_schema(path))
                for s, path in paths.items() if path.is_file()}  # fmt: skip

    answers = _of_suites("answers", ANSWERS)
    """Suite of choices or completions -> ``ANSWERS``."""
    norms = _of_suites("norms", NORMS)
    """Suite of choices or completions -> ``NORMS``."""
    tags = _of_suites("tags", TAGS)
    """Suite of choices or completions -> ``TAGS``."""

    def measured(self, suite: str) -> Path:
        """Return the folder of a suite's measures."""
        return Path(self.paths.measures(self.spec.target, suite))

    # ---- texts and parses ------------------------------------------------------------------------

    @cached_property
    def corpora(self) -> dict[str, dict[str, Any]]:
        """Corpus -> its statistics."""
        return {
            corpus: read_json(Path(self.paths.sentences(corpus)).with_name("statistics.json"))
            for corpus in self.spec.corpora
        }

    conditions = _of_cells(Paths.condition, "statistics.json")
    """Condition and size -> its statistics."""
    tokens = _of_cells(Paths.tokens, "statistics.json")
    """Condition and size -> the statistics of its tokens."""
    sweeps = _of_cells(Paths.sweep, "")
    """Condition and size -> tokens by size of the vocabulary."""

    @cached_property
    def parsers(self) -> dict[str, dict[str, Any]]:
        """Parser -> its scores on held-out trees."""
        return {
            parser: read_json(Path(self.paths.parser(parser)) / "evaluation.json")
            for parser in self.spec.parsers
        }

    @cached_property
    def recall(self) -> pl.DataFrame:
        """Recall of the filters with each parser: ``RECALL``."""
        parsers = self.spec.parsers if self.spec.gold else []
        tables = (_table(Path(self.paths.recall(parser)), RECALL) for parser in parsers)
        return pl.concat([pl.DataFrame(schema=RECALL), *tables])

    @cached_property
    def children(self) -> pl.DataFrame:
        """Accuracies of children; empty if the study has none."""
        study = self.spec.study
        return children_of(study.name if study else None)

    # ---- models and manifests --------------------------------------------------------------------

    @cached_property
    def trained(self) -> list[Trained]:
        """The runs and baselines of the target, in the spec's order."""
        return [self._trained(run) for run in map(Run.parse, self.spec.runs)]

    def _trained(self, run: Run) -> Trained:
        if run.recipe in (*SCORED, UNTRAINED):  # no model folder: its scores are its only result
            scored = Path(self.paths.score_folder(run.name))
            return Trained(run, {}, read_json(scored / "manifest.json"))
        folder = Path(self.paths.model(run.name))
        manifest = read_json(folder / "manifest.json")
        return Trained(run, read_json(folder / "statistics.json"), manifest)

    @cached_property
    def records(self) -> list[Record]:
        """The manifests of the results on the page and of all that these were made of."""
        results = Path(self.paths.results)
        records = []
        waiting = list(self._manifests())
        seen = set(waiting)
        for path in waiting:  # it grows
            if content := read_json(path):
                kind, *name = path.parent.relative_to(results).parts
                records.append(Record(kind, "/".join(name), content))
            inputs = (verification.located(path, file) for file in content.get("inputs") or {})
            owners = (verification.nearest(file) for file in inputs if file.is_relative_to(results))
            made_of = {owner for owner in owners if owner} - seen
            waiting += sorted(made_of)
            seen |= made_of
        return records

    def _manifests(self) -> Iterator[Path]:
        """Yield the manifests of the results on the page, and of files that may not exist."""
        spec, paths = self.spec, self.paths
        cells = [(c, s) for c, s in (cell.split("/") for cell in spec.cells)]
        folders = [
            *(of(*cell) for cell in cells
              for of in (paths.condition, paths.tokens, paths.side_effects, paths.audit)),
            *(paths.parser(parser) for parser in spec.parsers),
            *(str(Path(paths.recall(parser)).parent) for parser in spec.parsers),
            *(str(Path(paths.sweep(*cell)).parent) for cell in cells),
            *(of(run) for run in spec.runs for of in (paths.model, paths.score_folder)),
            paths.statistics(spec.target),
            *(paths.quality(spec.target, suite) for suite in spec.suites),
        ]  # fmt: skip
        for folder in folders:
            yield from sorted(Path(folder).rglob(verification.MANIFEST))

    @property
    def without_baselines(self) -> list[Trained]:
        """The models of the target without the baselines."""
        return [t for t in self.trained if t.run.recipe not in BASELINE_RECIPES]

    @property
    def suites(self) -> list[str]:
        """The suites of minimal pairs that have accuracies, in the order of the configuration."""
        judged = set(self.accuracy["suite"])
        return [suite for suite in self.spec.suites if suite in judged]

    @property
    def packages(self) -> dict[str, list[str]]:
        """Package -> its versions in the manifests, sorted; several versions give a warning."""
        versions: dict[str, set[str]] = {}
        for record in self.records:
            for name, version in record.content.get("packages", {}).items():
                versions.setdefault(name, set()).add(version)
        return {name: sorted(versions[name]) for name in sorted(versions)}


def children_of(study: str | None) -> pl.DataFrame:
    """Return accuracies of children, without rows that have none; empty if the study has none.

    Returns:
        ``name`` of a phenomenon or category; ``age`` as written; ``accuracy`` of children of this
        age (share); ``source``.

    Raises:
        PoshgridError: a column is missing, or a number cannot be read.
    """
    frames = [pl.DataFrame(schema=CHILDREN)]
    for path in resources.study(study, "children.csv") if study else ():
        try:
            frame = pl.read_csv(path, comment_prefix="#", schema_overrides=CHILDREN)
            frame = frame.select(*CHILDREN).drop_nulls("accuracy")
            frames.append(frame.with_columns(pl.col("accuracy") / 100))
        except pl.exceptions.PolarsError as error:
            line = str(error).partition("\n")[0]
            raise PoshgridError(f"{path}: {line}; columns: {', '.join(CHILDREN)}") from error
    return pl.concat(frames)


def read_json(path: Path) -> dict[str, Any]:
    """Return a JSON object; an empty one if the file does not exist."""
    if not path.is_file():
        return {}
    content = files.read_json(path)
    if not isinstance(content, dict):
        raise PoshgridError(f"{path}: not a JSON object; delete it and run again")
    return content


def _table(path: Path, schema: files.Schema) -> pl.DataFrame:
    return files.read_table(path, schema) if path.is_file() else pl.DataFrame(schema=schema)
