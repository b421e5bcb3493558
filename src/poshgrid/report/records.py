"""The manifests that a report rests on, found in the order of the pipeline."""

from __future__ import annotations

import os
from collections.abc import Iterator
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
    for stage, name, where in (*_of_texts(spec, paths), *_of_models(spec, paths, runs)):
        path = Path(where)
        path = path if path.name.endswith(_BESIDE) else path / "manifest.json"
        if path not in seen and (content := read_json(path)):
            yield Record(stage, name, place(path, paths), content)
        seen.add(path)


_BESIDE = ".manifest.json"
_Place = tuple[str, str, str | Path]
"""Stage, name, and the folder of a manifest, or its file where that has a name of its own."""


def _beside(file: str) -> Path:
    """Return where the manifest of a single file lies."""
    return Path(file).with_name(f"{Path(file).stem}{_BESIDE}")


def _of_texts(spec: specs.ReportSpec, paths: Paths) -> Iterator[_Place]:
    """Yield those of bases and parsers, then of conditions at sizes, up to their tokens."""
    for base in spec.bases:
        folder = Path(paths.sentences(base)).parent
        manifest = read_json(folder / "manifest.json")
        for portion in ((manifest.get("settings") or {}).get("base") or {}).get("sources", []):
            yield "read", portion["source"], Path(paths.source(portion["source"])).parent
        yield "mix", base, folder
    for parser in spec.parsers:
        yield "treebank", parser, paths.treebank(parser)
        yield "train-parser", parser, paths.parser(parser)
        if spec.gold:
            yield "recall", parser, _beside(paths.recall(parser))
    for base in spec.bases:
        for parser in spec.parsers:
            shards = Path(paths.parses(base, parser, 0)).parent.glob(f"*{_BESIDE}")
            for path in sorted(shards, key=lambda p: (len(p.name), p.name)):
                yield "parse", f"{base}/{parser}/{path.name.removesuffix(_BESIDE)}", path
            yield "evidence", f"{base}/{parser}", _beside(paths.evidence(base, parser))
    for base in spec.bases:
        for size in spec.sizes:
            yield "ngrams", f"{base}/{size}", paths.ngrams(base, size)
    cells = {cell: cell.split("/") for cell in spec.cells}
    tokenizers = [_tokenizer(paths, *cell) for cell in cells.values()]
    for stage, folders in (
        ("condition", [paths.condition(*cell) for cell in cells.values()]),
        ("collateral", [paths.collateral(*cell) for cell in cells.values()]),
        ("audit", [paths.audit(*cell) for cell in cells.values()]),
        ("tokenizer", tokenizers),
        ("sweep", [Path(paths.tokenizer(*cell), f"sweep{_BESIDE}") for cell in cells.values()]),
        ("tokens", [paths.tokens(*cell) for cell in cells.values()]),
    ):
        for name, folder in zip(cells, map(Path, folders), strict=True):
            yield stage, "/".join(folder.parts[-2:]) if stage == "tokenizer" else name, folder


def _tokenizer(paths: Paths, condition: str, size: str) -> Path:
    """Return the tokenizer that a cell's tokens were cut by: its own, or one that cells share."""
    shared = Path(paths.tokenizer(*paths.shared_tokenizer()))
    manifest = read_json(Path(paths.tokens(condition, size), "manifest.json"))
    cut_by = {Path(file).parts[-3:-1] for file in manifest.get("inputs") or {}}
    return shared if shared.parts[-2:] in cut_by else Path(paths.tokenizer(condition, size))


def _trees(run: str, paths: Paths) -> Iterator[_Place]:
    """Yield those of the trees' distances that a run was trained with."""
    condition, size, _, _, bias, _ = run.split("/")
    inputs = read_json(Path(paths.model(run), "manifest.json")).get("inputs") or {}
    for path in inputs if bias != "none" else ():
        *folder, parser, _ = ("", *Path(path).parts)
        if folder[-3:] == ["distances", condition, size]:
            name = f"{condition}/{size}/{parser}"
            yield "distances", name, paths.distances(condition, size, parser)


def _of_models(spec: specs.ReportSpec, paths: Paths, runs: list[str]) -> Iterator[_Place]:
    """Yield those from what models are trained with on."""
    for name in runs:
        yield from _trees(name, paths)
    for name in runs:
        yield "count" if f"/{COUNTED}/" in name else "train", name, paths.model(name)
    for suite in (*spec.suites, *spec.measured):
        yield "items", suite, Path(paths.items(suite)).parent
    yield "rules", "rules", Path(paths.rules("")).parent
    yield from (("score", name, paths.score_folder(name)) for name in runs)
    yield from (("perplexity", name, _beside(paths.perplexity(name))) for name in runs)
    target = spec.target
    yield "accuracy", target, paths.statistics(target)
    yield "rule-shares", target, paths.rule_shares(target)
    yield "curves", target, paths.curves(target)
    yield "deltas", target, paths.deltas(target)
    yield from (("quality", suite, paths.quality(target, suite)) for suite in spec.suites)
    yield from (("measures", suite, paths.measures(target, suite)) for suite in spec.measured)
    yield from (("fit", model, paths.fit(target, model)) for model in spec.models)


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
    content = files.read_json(path)
    if not isinstance(content, dict):
        raise PoshgridError(f"{path}: not a JSON object; delete it and run again")
    return content
