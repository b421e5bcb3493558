"""The gate without a grid: files of minimal pairs, and nulls that are counted on given texts."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import ValidationError

from poshgrid import files, logs, plugins
from poshgrid.benchmark import corpora
from poshgrid.benchmark import items as suites
from poshgrid.benchmark.schema import ITEMS
from poshgrid.config import Scoring, runs
from poshgrid.config.evaluation import SUITES
from poshgrid.errors import PoshgridError
from poshgrid.evaluation.schema import SCORES
from poshgrid.quality.gate import gate

SIZE = "all"  # of a text: what is given is counted
log = logs.get(__name__)


def readers() -> list[str]:
    """Return the readers of files of minimal pairs."""
    loaded = {word: plugins.load(SUITES, word) for word in plugins.names(SUITES)}
    return [
        word
        for word, module in loaded.items()
        if getattr(module, "TASK", "pairs") == "pairs" and not getattr(module, "CORPORA", False)
    ]


def read(paths: Sequence[Path], reader: str, options: Mapping[str, Any]) -> pl.DataFrame:
    """Return the pairs of files or folders as one suite (``ITEMS``).

    Args:
        paths: what the reader reads; a phenomenon may be in one of them only.
        reader: see :func:`readers`.
        options: of the reader.

    Raises:
        PoshgridError: no such reader; a file that it cannot read; an id that occurs twice.
    """
    if reader not in readers():
        raise PoshgridError(
            f"--reader: {reader!r} reads no minimal pairs; readers: {', '.join(readers())} "
            "(docs/benchmark.md says what each reads)"
        )
    try:
        given = plugins.options(SUITES, reader, dict(options))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise PoshgridError(f"--option {place}: {first['msg']} (reader {reader})") from error
    for path in paths:
        if not path.exists():
            raise PoshgridError(f"{path}: no such file or folder; name minimal pairs")
    module = plugins.load(SUITES, reader)
    frames = [module.load(path, given, None).items for path in paths]
    return suites.pairs(", ".join(map(str, paths)), pl.concat(frames))


def judge(
    items: pl.DataFrame,
    *,
    suite: str,
    texts: Mapping[str, Path],
    lists: Mapping[str, Path],
    order: int,
    tolerance: float,
    output: Path,
) -> dict[str, Any]:
    """Hold pairs to the gate, and write its page; see :func:`poshgrid.quality.gate.gate`.

    Args:
        items: ``ITEMS``.
        suite: its name.
        texts: name -> a text, a sentence in a line, or a table with a column ``text``: unigram and
            n-gram nulls are counted on each, and members are looked for in it.
        lists: name -> words that members may have.
        order: of the n-gram null.
        tolerance: distance from 50%.
        output: the folder to write to.

    Returns:
        What ``quality.json`` holds.

    Raises:
        PoshgridError: a text cannot be read or has no word.
    """
    for name, path in (*texts.items(), *lists.items()):
        if not path.is_file():
            raise PoshgridError(f"{path}: no such file; give a text (--text, --words)")
        if "/" in name:
            raise PoshgridError(f"{name!r}: a name with a slash; write NAME={path} without one")
    with tempfile.TemporaryDirectory() as folder:
        table = output / "items.parquet"  # for what reads items: a sheet of pairs, scoring
        files.write_table(items, table, ITEMS)
        scores: dict[str, Path] = {}
        for number, (name, path) in enumerate(texts.items()):
            for learner, n in zip(runs.WORD_NULLS, (1, order), strict=True):
                run = runs.Run(name, SIZE, learner, runs.COUNTED, "none", 0).name
                scores[run] = Path(folder) / f"{number}.{learner}.parquet"
                files.write_table(_scored(items, path, n), scores[run], SCORES)
        gate(
            table,
            suite=suite,
            generated=False,
            top_k=None,
            bases=dict(texts),
            train={f"{name}/{SIZE}": path for name, path in texts.items()},
            scores=scores,
            scoring=Scoring(),
            tolerance=tolerance,
            output=output,
            lists=lists,
        )
    found: dict[str, Any] = files.read_json(output / "quality.json")
    return found


def _scored(items: pl.DataFrame, text: Path, order: int) -> pl.DataFrame:
    """Return what an n-gram model of a text makes of pairs (``SCORES``)."""
    from poshgrid.evaluation.engines.ngram import Engine
    from poshgrid.evaluation.tasks import pairs
    from poshgrid.models.ngram import fit

    log.info("%s: counting an n-gram model of order %d", text, order)
    model = fit((line for batch in corpora.texts(text, spare=False) for line in batch), order)
    return pairs.score(str(text), items, Engine(model, text), step=None)
