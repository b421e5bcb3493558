"""The manifests of all results that a report shows, in the order of the pipeline."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poshgrid import files
from poshgrid.config import specs
from poshgrid.config.paths import Paths
from poshgrid.config.runs import COUNTED
from poshgrid.errors import PoshgridError

_MANIFEST_ENDING = ".manifest.json"
"""Ending of the manifest of a single file. The manifest of a folder is ``manifest.json`` in it."""


@dataclass(frozen=True)
class Record:
    """A manifest, and its path within the results folder."""

    stage: str
    name: str
    where: str
    content: dict[str, Any]


def manifests(spec: specs.ReportSpec, paths: Paths) -> Iterator[Record]:
    """Yield the manifests of all results on the page, in the order of the pipeline.

    Each manifest is yielded once, even if two corpora share a source, because the page sums the
    times of jobs. Manifests that do not exist are left out.

    Args:
        spec: the part of the configuration that the page shows.
        paths: of the results folder.

    Raises:
        PoshgridError: a manifest is broken.
    """
    seen: set[Path] = set()
    for stage, name, where in (*_of_texts(spec, paths), *_of_models(spec, paths)):
        path = Path(where)
        if not path.name.endswith(_MANIFEST_ENDING):
            is_file = path.suffix in (".parquet", ".json")
            own_name = path.with_name(f"{path.stem}{_MANIFEST_ENDING}")
            path = own_name if is_file else path / "manifest.json"
        if path not in seen and (content := read_json(path)):
            yield Record(stage, name, within_results(path, paths), content)
        seen.add(path)


_Locations = Iterator[tuple[str, str, str | Path]]
"""Stage, name, and the path of a result (folder or file) or of its manifest."""


def _of_texts(spec: specs.ReportSpec, paths: Paths) -> _Locations:
    """Yield the results on corpora and parsers, then those on conditions, up to their tokens."""
    for corpus in spec.corpora:
        folder = Path(paths.sentences(corpus)).parent
        settings = read_json(folder / "manifest.json").get("settings") or {}
        for portion in (settings.get("corpus") or {}).get("sources", []):
            yield "read", portion["source"], Path(paths.source(portion["source"])).parent
        yield "mix", corpus, folder
    for parser in spec.parsers:
        yield "treebank", parser, paths.treebank(parser)
        yield "train-parser", parser, paths.parser(parser)
        if spec.gold:
            yield "recall", parser, paths.recall(parser)
    for corpus in spec.corpora:
        for parser in spec.parsers:
            shards = Path(paths.parses(corpus, parser, 0)).parent.glob(f"*{_MANIFEST_ENDING}")
            for path in sorted(shards, key=lambda p: (len(p.name), p.name)):
                shard = path.name.removesuffix(_MANIFEST_ENDING)
                yield "parse", f"{corpus}/{parser}/{shard}", path
            yield "evidence", f"{corpus}/{parser}", paths.evidence(corpus, parser)
        yield from (
            ("ngrams", f"{corpus}/{size}", paths.ngrams(corpus, size)) for size in spec.sizes
        )
    for stage, folder_of in (
        ("condition", paths.condition), ("side_effects", paths.side_effects),
        ("audit", paths.audit),
        ("tokenizer", lambda *cell: _tokenizer(paths, *cell)),
        ("sweep", lambda *cell: Path(paths.tokenizer(*cell), f"sweep{_MANIFEST_ENDING}")),
        ("tokens", paths.tokens),
    ):  # fmt: skip
        for cell in spec.cells:
            folder = Path(folder_of(*cell.split("/")))
            yield stage, "/".join(folder.parts[-2:]) if stage == "tokenizer" else cell, folder


def _tokenizer(paths: Paths, condition: str, size: str) -> Path:
    """Return the tokenizer of a cell's tokens: its own, or the one that all cells share."""
    shared = Path(paths.tokenizer(*paths.shared_tokenizer()))
    manifest = read_json(Path(paths.tokens(condition, size), "manifest.json"))
    inputs = {Path(file).parts[-3:-1] for file in manifest.get("inputs") or {}}
    return shared if shared.parts[-2:] in inputs else Path(paths.tokenizer(condition, size))


def _of_models(spec: specs.ReportSpec, paths: Paths) -> _Locations:
    """Yield the results from the training of models to the statistics."""
    for run in spec.runs:
        condition, size, _, _, bias, _ = run.split("/")
        inputs = read_json(Path(paths.model(run), "manifest.json")).get("inputs") or {}
        for path in inputs if bias != "none" else ():
            *folder, parser, _ = ("", *Path(path).parts)
            if folder[-3:] == ["distances", condition, size]:
                trees = paths.distances(condition, size, parser)
                yield "distances", f"{condition}/{size}/{parser}", trees
    for run in spec.runs:
        yield "count" if f"/{COUNTED}/" in run else "train", run, paths.model(run)
    for suite in (*spec.suites, *spec.measured):
        yield "items", suite, Path(paths.items(suite)).parent
    yield "rules", "rules", paths.all_heuristics()
    yield from (("score", run, paths.score_folder(run)) for run in spec.runs)
    yield from (("perplexity", run, paths.perplexity(run)) for run in spec.runs)
    target = spec.target
    yield "accuracy", target, paths.statistics(target)
    yield "rule-shares", target, paths.heuristic_shares(target)
    yield "curves", target, paths.curves(target)
    yield "deltas", target, paths.deltas(target)
    yield from (("quality", suite, paths.quality(target, suite)) for suite in spec.suites)
    yield from (("measures", suite, paths.measures(target, suite)) for suite in spec.measured)
    yield from (("fit", model, paths.fit(target, model)) for model in spec.regressions)


def within_results(path: Path, paths: Paths) -> str:
    """Return a path relative to the results folder.

    The page names files outside its own folder this way, without a link: readers may have the page
    alone.
    """
    return Path(os.path.relpath(path, paths.results)).as_posix()


def read_json(path: Path) -> dict[str, Any]:
    """Return a JSON object; an empty one if the file does not exist."""
    if not path.is_file():
        return {}
    content = files.read_json(path)
    if not isinstance(content, dict):
        raise PoshgridError(f"{path}: not a JSON object; delete it and run again")
    return content
