"""Reading what the other stages wrote: all that a report shows, and what is missing of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import files, logs
from poshgrid.benchmark.schema import ITEMS
from poshgrid.config import specs
from poshgrid.config.paths import Paths
from poshgrid.config.runs import NULL_REGIMENS, SCORED, UNTRAINED, Run
from poshgrid.evidence.schema import RECALL
from poshgrid.report.records import Record, manifests, read_json
from poshgrid.statistics import schema as statistics
from poshgrid.statistics.development import onsets, points, ratios
from poshgrid.statistics.exposure import ledger
from poshgrid.statistics.measures.schema import NORMS, TAGS, WRONG_ANSWERS

log = logs.get(__name__)


@dataclass(frozen=True)
class Fit:
    """A Bayesian model of the counts."""

    name: str
    summary: pl.DataFrame  # SUMMARY
    contrasts: pl.DataFrame  # CONTRASTS
    predictive: pl.DataFrame  # PREDICTIVE
    diagnostics: dict[str, Any]
    spec: dict[str, Any]  # poshgrid.config.BayesianModel, as the manifest has it

    @property
    def converged(self) -> bool:
        """Whether its numbers may be quoted."""
        return bool(self.diagnostics.get("converged"))


@dataclass(frozen=True)
class Trained:
    """A run of the grid, or a model of somebody else's, as far as it got."""

    run: Run
    statistics: dict[str, Any]  # empty: not run
    manifest: dict[str, Any]

    @property
    def done(self) -> bool:
        """Whether the model is there."""
        return bool(self.statistics or self.manifest)


@dataclass(frozen=True)
class Collected:
    """Everything that the page shows; what has not been made is empty."""

    spec: specs.ReportSpec
    trained: list[Trained]  # runs and nulls that were asked for, in the spec's order
    accuracy: pl.DataFrame  # ACCURACY
    counts: pl.DataFrame  # COUNTS
    curves: pl.DataFrame  # CURVES_MEAN
    deltas: pl.DataFrame  # DELTAS
    delta_tests: pl.DataFrame  # DELTA_TESTS
    perplexity: pl.DataFrame  # PERPLEXITY
    items: dict[str, pl.DataFrame]  # suite -> ITEMS
    quality: dict[str, dict[str, Any]]  # suite -> quality.json
    measures: dict[str, pl.DataFrame]  # suite of another task -> measures.parquet
    wrong_answers: dict[str, pl.DataFrame]  # suite of choices or completions -> WRONG_ANSWERS
    norms: dict[str, pl.DataFrame]  # of these -> NORMS
    tags: dict[str, pl.DataFrame]  # of these -> TAGS
    fits: dict[str, Fit]
    bases: dict[str, dict[str, Any]]
    conditions: dict[tuple[str, str], dict[str, Any]]  # (condition, size) -> statistics.json
    tokens: dict[tuple[str, str], dict[str, Any]]
    sweeps: dict[tuple[str, str], dict[str, Any]]  # sweep.json
    parsers: dict[str, dict[str, Any]]  # parser -> evaluation.json
    recall: pl.DataFrame  # RECALL, of all parsers
    agreement: list[tuple[str, str, str, dict[str, Any]]]
    """Base, two parsers, and what evidence.agreement says of their labels."""
    records: list[Record]

    @cached_property
    def exposure(self) -> pl.DataFrame:
        """What the learners see: ``EXPOSURE``."""
        trained = ((each.run, each.statistics) for each in self.asked)
        return ledger(self.conditions, self.tokens, trained)

    @cached_property
    def development(self) -> pl.DataFrame:
        """After how many words phenomena are first learned: ``DEVELOPMENT``."""
        return onsets(points(self.accuracy, self.curves, self.counts))

    @cached_property
    def ratios(self) -> pl.DataFrame:
        """The same compared between conditions: ``RATIOS``."""
        return ratios(self.development, self.spec.cells)

    @property
    def asked(self) -> list[Trained]:
        """The models that the page is about: runs, models of others beside them, without nulls."""
        return [t for t in self.trained if t.run.regimen not in NULL_REGIMENS]

    @property
    def filtered(self) -> list[str]:
        """The conditions that evidence was removed from, and not put back."""
        cells = self.spec.cells.items()
        return list(dict.fromkeys(key.split("/")[0] for key, cell in cells if cell.filtered))

    @property
    def suites(self) -> list[str]:
        """The suites of minimal pairs that have accuracies, in the order of the configuration."""
        judged = set(self.accuracy["suite"])
        return [suite for suite in self.spec.suites if suite in judged]

    @property
    def packages(self) -> dict[str, list[str]]:
        """Package -> its versions in the manifests, sorted; more than one deserves a look."""
        found: dict[str, set[str]] = {}
        for record in self.records:
            for name, version in record.content.get("packages", {}).items():
                found.setdefault(name, set()).add(version)
        return {name: sorted(found[name]) for name in sorted(found)}


def gather(spec: specs.ReportSpec, results: Path) -> Collected:
    """Read the results of a target.

    Args:
        spec: what the page is about.
        results: the results folder.

    Raises:
        PoshgridError: a file is there but broken. A file that is not there is passed over.
    """
    paths = Paths(str(results))
    cells = [tuple(cell.split("/")) for cell in spec.cells]
    deltas, curves = Path(paths.deltas(spec.target)), Path(paths.curves(spec.target))
    judged = Path(paths.statistics(spec.target))
    measured = {suite: Path(paths.measures(spec.target, suite)) for suite in spec.measured}
    trained = [_trained(run, paths) for run in map(Run.parse, spec.runs)]

    def of_suites(name: str, schema: files.Schema) -> dict[str, pl.DataFrame]:
        return {s: _table(folder / f"{name}.parquet", schema) for s, folder in measured.items()}

    def of_cells(folder: Callable[[str, str], str], name: str) -> dict[tuple[str, str], Any]:
        return {(c, s): read_json(Path(folder(c, s), name)) for c, s in cells}

    return Collected(
        spec=spec,
        trained=trained,
        accuracy=_table(judged / "accuracy.parquet", statistics.ACCURACY),
        counts=_table(judged / "counts.parquet", statistics.COUNTS),
        curves=_table(curves / "curves_mean.parquet", statistics.CURVES_MEAN),
        deltas=_table(deltas / "deltas.parquet", statistics.DELTAS),
        delta_tests=_table(deltas / "delta_tests.parquet", statistics.DELTA_TESTS),
        perplexity=_table(deltas / "perplexity.parquet", statistics.PERPLEXITY),
        items={suite: _table(Path(paths.items(suite)), ITEMS) for suite in spec.suites},
        quality={
            s: read_json(Path(paths.quality(spec.target, s)) / "quality.json") for s in spec.suites
        },
        wrong_answers=of_suites("wrong_answers", WRONG_ANSWERS),
        norms=of_suites("norms", NORMS),
        tags=of_suites("tags", TAGS),
        measures={
            s: files.read_table(path, files.read_schema(path))
            for s, folder in measured.items()
            if (path := folder / "measures.parquet").is_file()
        },
        fits={m: f for m in spec.models if (f := _fit(m, Path(paths.fit(spec.target, m))))},
        bases={
            b: read_json(Path(paths.sentences(b)).parent / "statistics.json") for b in spec.bases
        },
        conditions=of_cells(paths.condition, "statistics.json"),
        tokens=of_cells(paths.tokens, "statistics.json"),
        sweeps=of_cells(paths.sweep, ""),
        parsers={p: read_json(Path(paths.parser(p)) / "evaluation.json") for p in spec.parsers},
        recall=pl.concat([
            pl.DataFrame(schema=RECALL),
            *(_table(Path(paths.recall(p)), RECALL) for p in spec.parsers if spec.gold),
        ]),
        agreement=list(_agreement(spec, paths)),
        records=list(manifests(spec, paths, [item.run.name for item in trained])),
    )  # fmt: skip


def _trained(run: Run, paths: Paths) -> Trained:
    if run.regimen in (*SCORED, UNTRAINED):  # that it was scored is all there is
        return Trained(run, {}, read_json(Path(paths.score_folder(run.name)) / "manifest.json"))
    folder = Path(paths.model(run.name))
    return Trained(run, read_json(folder / "statistics.json"), read_json(folder / "manifest.json"))


def _fit(name: str, folder: Path) -> Fit | None:
    if not (folder / "summary.parquet").is_file():
        return None
    manifest = read_json(folder / "manifest.json")
    return Fit(
        name,
        _table(folder / "summary.parquet", statistics.SUMMARY),
        _table(folder / "contrasts.parquet", statistics.CONTRASTS),
        _table(folder / "predictive.parquet", statistics.PREDICTIVE),
        read_json(folder / "diagnostics.json"),
        (manifest.get("settings") or {}).get("model", {}),
    )


def _agreement(
    spec: specs.ReportSpec, paths: Paths
) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Compare the deciding parser's labels with every other's, base by base."""
    if spec.evidence_parser is None or len(spec.parsers) < 2:
        return
    from poshgrid.evidence.agreement import agreement

    for base in spec.bases:
        first = Path(paths.evidence(base, spec.evidence_parser))
        for parser in spec.parsers:
            second = Path(paths.evidence(base, parser))
            if parser != spec.evidence_parser and first.is_file() and second.is_file():
                yield base, spec.evidence_parser, parser, agreement(first, second)


def _table(path: Path, schema: files.Schema) -> pl.DataFrame:
    return files.read_table(path, schema) if path.is_file() else pl.DataFrame(schema=schema)
