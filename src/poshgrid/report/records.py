"""The manifests that a report rests on, found in the order of the pipeline."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poshgrid import files, logs
from poshgrid.config import specs
from poshgrid.config.paths import Paths
from poshgrid.config.runs import COUNTED
from poshgrid.errors import PoshgridError

log = logs.get(__name__)


@dataclass(frozen=True)
class Record:
    """A manifest, and where it lies in the results folder."""

    stage: str
    name: str
    place: str
    content: dict[str, Any]


def manifests(spec: specs.ReportSpec, paths: Paths, runs: list[str]) -> Iterator[Record]:
    """Find the manifests of all that the page rests on, in the order of the pipeline.

    A manifest is yielded once, also where two bases share a source: times are summed over these.

    Args:
        spec: what the page is about.
        paths: of the results folder.
        runs: names of the runs and nulls.

    Raises:
        PoshgridError: a manifest is broken. One that is not there is passed over.
    """
    seen: set[Path] = set()

    def record(stage: str, name: str, path: Path) -> Iterator[Record]:
        content = {} if path in seen else read_json(path)
        seen.add(path)
        if content:
            yield Record(stage, name, place(path, paths), content)

    def of_cells(
        stage: str, folder_of: Callable[[str, str], str], name: str = "manifest.json"
    ) -> Iterator[Record]:
        for cell in spec.cells:
            yield from record(stage, cell, Path(folder_of(*cell.split("/"))) / name)

    for base in spec.bases:
        folder = Path(paths.sentences(base)).parent
        manifest = read_json(folder / "manifest.json")
        for portion in ((manifest.get("spec") or {}).get("base") or {}).get("sources", []):
            source = portion["source"]
            yield from record("read", source, Path(paths.source(source)).parent / "manifest.json")
        yield from record("mix", base, folder / "manifest.json")
    for parser in spec.parsers:
        yield from record("treebank", parser, Path(paths.treebank(parser)) / "manifest.json")
        yield from record("train-parser", parser, Path(paths.parser(parser)) / "manifest.json")
        table = Path(paths.recall(parser))
        path = table.with_name(f"{table.stem}.manifest.json")
        yield from record("recall", parser, path) if spec.gold else ()
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
    for base in spec.bases:
        for size in spec.sizes:
            counted = Path(paths.ngrams(base, size)) / "manifest.json"
            yield from record("ngrams", f"{base}/{size}", counted)
    yield from _detector(spec, paths, record)
    yield from of_cells("condition", paths.condition)
    yield from of_cells("collateral", paths.collateral)
    yield from of_cells("audit", paths.audit)
    yield from _tokenizers(spec, paths, record)
    yield from of_cells("sweep", paths.tokenizer, "sweep.manifest.json")
    yield from of_cells("tokens", paths.tokens)
    for name in runs:
        for cell, parser in _trees(name, Path(paths.model(name)) / "manifest.json"):
            condition, size = cell.split("/")
            measured = Path(paths.distances(condition, size, parser)) / "manifest.json"
            yield from record("distances", f"{cell}/{parser}", measured)
    yield from _of_evaluation(spec, paths, record, runs)


def _tokenizers(
    spec: specs.ReportSpec, paths: Paths, record: Callable[[str, str, Path], Iterator[Record]]
) -> Iterator[Record]:
    """Find those of the tokenizers that the cells' tokens were cut by: their own, or one."""
    shared = Path(paths.tokenizer(*paths.shared_tokenizer()))
    for cell in spec.cells:
        condition, size = cell.split("/")
        manifest = read_json(Path(paths.tokens(condition, size)) / "manifest.json")
        cut_by = {Path(each).parts[-3:-1] for each in manifest.get("inputs") or {}}
        own = Path(paths.tokenizer(condition, size))
        folder = shared if shared.parts[-2:] in cut_by else own
        yield from record("tokenizer", "/".join(folder.parts[-2:]), folder / "manifest.json")


def _detector(
    spec: specs.ReportSpec, paths: Paths, record: Callable[[str, str, Path], Iterator[Record]]
) -> Iterator[Record]:
    """Find that of the detector, if a sheet was drawn by it."""
    path = Path(paths.detector()) / "manifest.json"
    for cell in spec.cells:
        audit = read_json(Path(paths.audit(*cell.split("/"))) / "manifest.json")
        if (audit.get("spec") or {}).get("detector"):
            yield from record("detector", "detector", path)
            return


def _of_evaluation(
    spec: specs.ReportSpec,
    paths: Paths,
    record: Callable[[str, str, Path], Iterator[Record]],
    runs: list[str],
) -> Iterator[Record]:
    """Find those from the models on."""
    for name in runs:
        stage = "count" if f"/{COUNTED}/" in name else "train"
        yield from record(stage, name, Path(paths.model(name)) / "manifest.json")
    for suite in (*spec.suites, *spec.measured):
        yield from record("items", suite, Path(paths.items(suite)).parent / "manifest.json")
    preferences = Path(paths.rules("")).parent / "manifest.json"
    yield from record("rules", "rules", preferences)
    for name in runs:
        yield from record("score", name, Path(paths.score_folder(name)) / "manifest.json")
    for name in runs:
        read = Path(paths.perplexity(name))
        path = read.with_name(f"{read.stem}.manifest.json")
        yield from record("perplexity", name, path)
    statistics = Path(paths.statistics(spec.target))
    yield from record("accuracy", spec.target, statistics / "manifest.json")
    shares = Path(paths.rule_shares(spec.target))
    yield from record("rule-shares", spec.target, shares / "manifest.json")
    curves = Path(paths.curves(spec.target))
    yield from record("curves", spec.target, curves / "manifest.json")
    deltas = Path(paths.deltas(spec.target))
    yield from record("deltas", spec.target, deltas / "manifest.json")
    for suite in spec.suites:
        quality = Path(paths.quality(spec.target, suite))
        yield from record("quality", suite, quality / "manifest.json")
    for suite in spec.measured:
        measured = Path(paths.measures(spec.target, suite))
        yield from record("measures", suite, measured / "manifest.json")
    for model in spec.models:
        yield from record("fit", model, Path(paths.fit(spec.target, model)) / "manifest.json")


def _trees(run: str, manifest: Path) -> Iterator[tuple[str, str]]:
    """Yield (cell, parser) of the trees whose distances a run was trained with."""
    condition, size, _, _, bias, _ = run.split("/")
    if bias == "none":
        return
    folder = ("distances", condition, size)
    for path in read_json(manifest).get("inputs") or {}:
        *_, first, second, third, parser, _ = ("", "", "", *Path(path).parts)
        if (first, second, third) == folder:
            yield f"{condition}/{size}", parser


def place(path: Path, paths: Paths) -> str:
    """Return where a file lies in the results folder.

    The page names what lies outside its own folder, and does not link to it: it may have been sent.
    """
    return Path(os.path.relpath(path, paths.results)).as_posix()


def read_json(path: Path) -> dict[str, Any]:
    """Return a JSON object; an empty one where there is no file."""
    if not path.is_file():
        log.debug("%s: not there; the report leaves it out", path)
        return {}
    found = files.read_json(path)
    if not isinstance(found, dict):
        raise PoshgridError(f"{path}: not a JSON object; delete it and run again")
    return found
