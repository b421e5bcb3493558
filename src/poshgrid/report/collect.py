"""Reading what the other stages wrote: all that a report shows, and what is missing of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import files, logs, specs
from poshgrid.benchmark.schema import ITEMS
from poshgrid.errors import PoshgridError
from poshgrid.grid import UNTRAINED, Run
from poshgrid.paths import Paths
from poshgrid.statistics.schema import ACCURACY, SUMMARY

log = logs.get(__name__)


@dataclass(frozen=True)
class Fit:
    """A Bayesian model of the counts."""

    name: str
    summary: pl.DataFrame  # SUMMARY
    diagnostics: dict[str, Any]
    spec: dict[str, Any]  # poshgrid.config.BayesianModel, as the manifest has it


@dataclass(frozen=True)
class Trained:
    """A run of the grid, as far as it got."""

    run: Run
    statistics: dict[str, Any]  # empty: not run
    curve: list[dict[str, Any]]  # poshgrid.training.schema.TRAINING
    manifest: dict[str, Any]

    @property
    def done(self) -> bool:
        """Whether the model is there."""
        return bool(self.statistics or self.manifest)


@dataclass(frozen=True)
class Record:
    """A manifest, and where it lies relative to the page."""

    stage: str
    name: str
    link: str
    content: dict[str, Any]


@dataclass(frozen=True)
class Collected:
    """Everything that the page shows; what has not been made is empty."""

    spec: specs.ReportSpec
    trained: list[Trained]  # runs and nulls that were asked for, in the spec's order
    accuracy: pl.DataFrame  # ACCURACY
    items: dict[str, pl.DataFrame]  # suite -> ITEMS
    fits: dict[str, Fit]
    bases: dict[str, dict[str, Any]]
    conditions: dict[tuple[str, str], dict[str, Any]]  # (condition, size) -> statistics.json
    tokens: dict[tuple[str, str], dict[str, Any]]
    sweeps: dict[tuple[str, str], dict[str, Any]]  # sweep.json
    parsers: dict[str, dict[str, Any]]  # parser -> evaluation.json
    agreement: list[dict[str, Any]]  # base, first, second, and the answer of evidence.agreement
    records: list[Record]

    @property
    def asked(self) -> list[Trained]:
        """The runs of the grid without the nulls."""
        return [t for t in self.trained if t.run.regimen != UNTRAINED]

    @property
    def packages(self) -> dict[str, list[str]]:
        """Package -> its versions in the manifests, sorted; more than one deserves a look."""
        found: dict[str, set[str]] = {}
        for record in self.records:
            for name, version in record.content.get("packages", {}).items():
                found.setdefault(name, set()).add(version)
        return {name: sorted(found[name]) for name in sorted(found)}


def run_of(name: str) -> Run:
    """Return the run that :attr:`poshgrid.grid.Run.name` names."""
    *axes, seed = name.split("/")
    return Run(*axes, seed=int(seed.removeprefix("seed")))


def gather(spec: specs.ReportSpec, results: Path, output: Path) -> Collected:
    """Read the results of a target.

    Args:
        spec: what the page is about.
        results: the results folder.
        output: the page's folder; links are relative to it.

    Raises:
        PoshgridError: a file is there but broken. A file that is not there is passed over.
    """
    paths = Paths(str(results))
    cells = [tuple(cell.split("/")) for cell in spec.cells]
    statistics = Path(paths.statistics(spec.target))
    trained = [_trained(run_of(name), Path(paths.model(name))) for name in spec.runs]
    return Collected(
        spec=spec,
        trained=trained,
        accuracy=_table(statistics / "accuracy.parquet", ACCURACY),
        items={suite: _table(Path(paths.items(suite)), ITEMS) for suite in spec.suites},
        fits={m: f for m in spec.models if (f := _fit(m, Path(paths.fit(spec.target, m))))},
        bases={b: _json(Path(paths.sentences(b)).parent / "statistics.json") for b in spec.bases},
        conditions={
            (c, s): _json(Path(paths.condition(c, s)) / "statistics.json") for c, s in cells
        },
        tokens={(c, s): _json(Path(paths.tokens(c, s)) / "statistics.json") for c, s in cells},
        sweeps={(c, s): _json(Path(paths.sweep(c, s))) for c, s in cells},
        parsers={p: _json(Path(paths.parser(p)) / "evaluation.json") for p in spec.parsers},
        agreement=list(_agreement(spec, paths)),
        records=list(_records(spec, paths, output, trained)),
    )  # fmt: skip


def _trained(run: Run, folder: Path) -> Trained:
    curve = []
    path = folder / "training.jsonl"
    if path.is_file():
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
            curve = [json.loads(line) for line in lines if line.strip()]
        except (ValueError, UnicodeDecodeError) as error:
            raise PoshgridError(
                f"{path}: not JSON lines ({error}); delete the model folder and train again"
            ) from error
    return Trained(run, _json(folder / "statistics.json"), curve, _json(folder / "manifest.json"))


def _fit(name: str, folder: Path) -> Fit | None:
    if not (folder / "summary.parquet").is_file():
        return None
    manifest = _json(folder / "manifest.json")
    return Fit(
        name,
        _table(folder / "summary.parquet", SUMMARY),
        _json(folder / "diagnostics.json"),
        (manifest.get("spec") or {}).get("model", {}),
    )


def _agreement(spec: specs.ReportSpec, paths: Paths) -> Iterator[dict[str, Any]]:
    """Compare the deciding parser's labels with every other's, base by base."""
    if spec.evidence_parser is None or len(spec.parsers) < 2:
        return
    from poshgrid.evidence.agreement import agreement

    for base in spec.bases:
        first = Path(paths.evidence(base, spec.evidence_parser))
        for parser in spec.parsers:
            second = Path(paths.evidence(base, parser))
            if parser != spec.evidence_parser and first.is_file() and second.is_file():
                yield {
                    "base": base,
                    "first": spec.evidence_parser,
                    "second": parser,
                    "answer": agreement(first, second),
                }


def _records(
    spec: specs.ReportSpec, paths: Paths, output: Path, trained: list[Trained]
) -> Iterator[Record]:
    """Find the manifests of all that the page rests on, in the order of the pipeline."""

    def record(stage: str, name: str, path: Path) -> Iterator[Record]:
        content = _json(path)
        if content:
            yield Record(stage, name, link(path, output), content)

    for base in spec.bases:
        folder = Path(paths.sentences(base)).parent
        manifest = _json(folder / "manifest.json")
        for portion in ((manifest.get("spec") or {}).get("base") or {}).get("sources", []):
            source = portion["source"]
            yield from record("read", source, Path(paths.source(source)).parent / "manifest.json")
        yield from record("mix", base, folder / "manifest.json")
    for parser in spec.parsers:
        yield from record("treebank", parser, Path(paths.treebank(parser)) / "manifest.json")
        yield from record("train-parser", parser, Path(paths.parser(parser)) / "manifest.json")
    for base in spec.bases:
        for parser in spec.parsers:
            shards = Path(paths.parses(base, parser, 0)).parent
            found = sorted(shards.glob("*.manifest.json"), key=lambda p: (len(p.name), p.name))
            for path in found:
                shard = path.name.removesuffix(".manifest.json")
                yield from record("parse", f"{base}/{parser}/{shard}", path)
            labels = Path(paths.evidence(base, parser))
            yield from record(
                "evidence", f"{base}/{parser}", labels.with_name(f"{labels.stem}.manifest.json")
            )
    for stage, folder_of, name in (
        ("condition", paths.condition, "manifest.json"),
        ("tokenizer", paths.tokenizer, "manifest.json"),
        ("sweep", paths.tokenizer, "sweep.manifest.json"),
        ("tokens", paths.tokens, "manifest.json"),
    ):
        for cell in spec.cells:
            yield from record(stage, cell, Path(folder_of(*cell.split("/"))) / name)
    for item in trained:
        yield from record(
            "train", item.run.name, Path(paths.model(item.run.name)) / "manifest.json"
        )
    for suite in spec.suites:
        yield from record("items", suite, Path(paths.items(suite)).parent / "manifest.json")
    for item in trained:
        folder = Path(paths.scores(item.run.name, "suite")).parent
        yield from record("score", item.run.name, folder / "manifest.json")
    statistics = Path(paths.statistics(spec.target))
    yield from record("accuracy", spec.target, statistics / "manifest.json")
    for model in spec.models:
        yield from record("fit", model, Path(paths.fit(spec.target, model)) / "manifest.json")


def link(path: Path, output: Path) -> str:
    """Return the relative link from the page to a file."""
    from urllib.parse import quote

    return quote(Path(os.path.relpath(path, output)).as_posix(), safe="/+~")


def _json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        log.debug("%s: not there; the report leaves it out", path)
        return {}
    found = files.read_json(path)
    if not isinstance(found, dict):
        raise PoshgridError(f"{path}: not a JSON object; delete it and run again")
    return found


def _table(path: Path, schema: files.Schema) -> pl.DataFrame:
    return files.read_table(path, schema) if path.is_file() else pl.DataFrame(schema=schema)
