"""The manifests of all results that a report shows: settings, times and versions of their jobs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from poshgrid.config import specs
from poshgrid.config.paths import Paths
from poshgrid.core import files, verification
from poshgrid.core.errors import PoshgridError
from poshgrid.core.verification import MANIFEST


class Record(NamedTuple):
    """A manifest."""

    kind: str  # the folder of the results that it is in: conditions, models ...
    name: str  # its folder below that
    content: dict[str, Any]


def manifests(spec: specs.ReportSpec, paths: Paths) -> Iterator[Record]:
    """Yield the manifests of the results on the page and of all that these were made of, each once.

    Args:
        spec: the part of the configuration that the page shows.
        paths: of the results folder.

    Raises:
        PoshgridError: a manifest is broken.
    """
    results = Path(paths.results)
    waiting = list(_shown(spec, paths))
    seen = set(waiting)
    for path in waiting:  # it grows
        if content := read_json(path):
            kind, *name = path.parent.relative_to(results).parts
            yield Record(kind, "/".join(name), content)
        inputs = (verification.located(path, file) for file in content.get("inputs") or {})
        owners = (verification.nearest(file) for file in inputs if file.is_relative_to(results))
        made_of = {owner for owner in owners if owner} - seen
        waiting += sorted(made_of)
        seen |= made_of


def _shown(spec: specs.ReportSpec, paths: Paths) -> Iterator[Path]:
    """Yield the manifests of the results on the page, and of files that may not exist."""
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
        yield from sorted(Path(folder).rglob(MANIFEST))


def read_json(path: Path) -> dict[str, Any]:
    """Return a JSON object; an empty one if the file does not exist."""
    if not path.is_file():
        return {}
    content = files.read_json(path)
    if not isinstance(content, dict):
        raise PoshgridError(f"{path}: not a JSON object; delete it and run again")
    return content
