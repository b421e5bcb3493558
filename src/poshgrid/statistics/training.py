"""How the training of every run of a target went: one table, from the folders of the models."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import files, verification
from poshgrid.config.runs import REFERENCE
from poshgrid.config.sizes import words
from poshgrid.errors import PoshgridError
from poshgrid.statistics import levels
from poshgrid.statistics.schema import RUN_AXES, TRAINED
from poshgrid.tables import formats

_MEASURED = [name for name in TRAINED if name not in (*RUN_AXES, "seed")]


def training(names: Iterable[str], models: Path, output: Path) -> pl.DataFrame:
    """Write ``training.parquet`` and ``.csv``.

    Args:
        names: of runs; baselines and given models are left out, as we did not train them.
        models: folder of the models: ``{run}/statistics.json`` below it.
        output: folder.

    Returns:
        Columns of ``TRAINED``, sorted by condition, words, the other axes and seed.

    Raises:
        PoshgridError: see :func:`statistics`.
    """
    rows = [
        {**levels.axes(name), **{key: facts[key] for key in _MEASURED}}
        for name in trained(names)
        for facts in [statistics(Path(models) / name)]
    ]
    # strict=False: JSON reads a loss such as 3.0 as an integer.
    table = pl.DataFrame(rows, schema=TRAINED, strict=False)
    formats.write(table, Path(output), "training", TRAINED)
    return table


def trained(names: Iterable[str]) -> list[str]:
    """Return the trained runs, without baselines and given models; smaller sizes come first."""

    def order(name: str) -> tuple[Any, ...]:
        condition, size, *others = levels.axes(name).values()
        return condition, words(size), *others

    return sorted((n for n in names if levels.axes(n)["recipe"] not in REFERENCE), key=order)


def statistics(folder: Path) -> dict[str, Any]:
    """Return the content of ``statistics.json`` in a model's folder.

    Raises:
        PoshgridError: the file is missing or broken, or lacks a key.
    """
    path = Path(folder) / "statistics.json"
    facts = files.read_json(path)
    lacking = [key for key in _MEASURED if not isinstance(facts, dict) or facts.get(key) is None]
    if lacking:
        raise PoshgridError(
            f"{path}: no {', '.join(map(repr, lacking))}: an earlier version wrote it, or it is "
            "not a model's; train the run again: `poshgrid run -R train`"
        )
    return facts


def evaluations(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a ``training.jsonl``.

    Raises:
        PoshgridError: the file is missing, or a line is not JSON.
    """
    verification.check([path])
    try:
        return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines() if line]
    except (OSError, ValueError) as error:
        raise PoshgridError(
            f"{path}: not JSON lines ({error}); delete the model folder and train again"
        ) from error
