"""The manifests of all results that a report shows: settings, times and versions of their jobs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from poshgrid.config import specs
from poshgrid.config.paths import Paths
from poshgrid.core import files
from poshgrid.core.errors import PoshgridError


class Record(NamedTuple):
    """A manifest."""

    kind: str  # the folder of the results that it is in: conditions, models ...
    name: str  # its folder (or the name of its file) below that
    content: dict[str, Any]


def manifests(spec: specs.ReportSpec, paths: Paths) -> Iterator[Record]:
    """Yield the manifests of all results on the page, from texts to statistics, each once.

    Args:
        spec: the part of the configuration that the page shows.
        paths: of the results folder.

    Raises:
        PoshgridError: a manifest is broken.
    """
    results = Path(paths.results)
    seen: set[Path] = set()
    for result in map(Path, _results(spec, paths)):
        for path in _manifests_of(result):
            if path not in seen and (content := read_json(path)):
                kind, *name = path.relative_to(results).parts
                name[-1] = name[-1].removesuffix("manifest.json").rstrip(".")
                yield Record(kind, "/".join(filter(None, name)), content)
            seen.add(path)


def _manifests_of(result: Path) -> list[Path]:
    """Return where the manifests of a file, or of all results in a folder, may be."""
    if result.suffix in (".parquet", ".json"):
        return [result.with_name(f"{result.stem}.manifest.json"), result.with_name("manifest.json")]
    return sorted(result.rglob("*manifest.json"))


def _results(spec: specs.ReportSpec, paths: Paths) -> Iterator[str | Path]:
    """Yield the files and folders of the results on the page."""
    cells = [(c, s) for c, s in (cell.split("/") for cell in spec.cells)]
    for corpus in spec.corpora:
        manifest = read_json(Path(paths.sentences(corpus)).with_name("manifest.json"))
        mixed = (manifest.get("settings") or {}).get("corpus") or {}
        yield from (paths.source(portion["source"]) for portion in mixed.get("sources", []))
        yield paths.sentences(corpus)
    for parser in spec.parsers:
        yield from (of(parser) for of in (paths.treebank, paths.parser, paths.recall))
        for corpus in spec.corpora:
            yield from (
                Path(paths.parses(corpus, parser, 0)).parent,
                paths.evidence(corpus, parser),
            )
    for of in (paths.condition, paths.side_effects, paths.audit):
        yield from (of(*cell) for cell in cells)
    yield from (_tokenizer(paths, *cell) for cell in cells)
    yield from (paths.tokens(*cell) for cell in cells)
    yield from (Path(paths.distances(c, s, "any")).parent for c, s in cells)
    yield from (paths.ngrams(corpus, size) for corpus in spec.corpora for size in spec.sizes)
    yield from (Path(paths.items(suite)).parent for suite in (*spec.suites, *spec.measured))
    yield paths.all_heuristics()
    for of_run in (paths.model, paths.score_folder, paths.perplexity):
        yield from (of_run(run) for run in spec.runs)
    yield paths.statistics(spec.target)
    yield from (paths.quality(spec.target, suite) for suite in spec.suites)


def _tokenizer(paths: Paths, condition: str, size: str) -> Path:
    """Return the tokenizer of a cell's tokens: its own, or the one that all cells share."""
    shared = Path(paths.tokenizer(*paths.shared_tokenizer()))
    manifest = read_json(Path(paths.tokens(condition, size), "manifest.json"))
    inputs = {Path(file).parts[-3:-1] for file in manifest.get("inputs") or {}}
    return shared if shared.parts[-2:] in inputs else Path(paths.tokenizer(condition, size))


def read_json(path: Path) -> dict[str, Any]:
    """Return a JSON object; an empty one if the file does not exist."""
    if not path.is_file():
        return {}
    content = files.read_json(path)
    if not isinstance(content, dict):
        raise PoshgridError(f"{path}: not a JSON object; delete it and run again")
    return content
