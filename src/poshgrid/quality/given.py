"""Files of minimal pairs without a grid: the gate, and a model, beside baselines of given texts."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import ValidationError

from poshgrid import files, logs, plugins, verification
from poshgrid.benchmark import frequencies
from poshgrid.benchmark import items as suites
from poshgrid.benchmark.schema import ITEMS
from poshgrid.config import Scoring, runs, specs
from poshgrid.config.base import path_name
from poshgrid.errors import PoshgridError, check_known
from poshgrid.evaluation.engine import Engine
from poshgrid.evaluation.schema import SCORES
from poshgrid.models.ngram import NGram, fit
from poshgrid.plugins import SUITES
from poshgrid.quality.gate import gate

ENDINGS = {
    ".jsonl": "blimp", ".parquet": "blimp", ".txt": "lines", ".tsv": "scamp",
    ".csv": "acceptability",
}  # fmt: skip
"""Ending of a file of pairs -> the reader that is meant, where none is named."""
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


def read(paths: Sequence[Path], reader: str | None, options: Mapping[str, Any]) -> pl.DataFrame:
    """Return the pairs of files or folders as one suite (``ITEMS``).

    Args:
        paths: what the reader reads; a phenomenon may be in one of them only.
        reader: see :func:`readers`; default: each path's, by its ending.
        options: of the reader.

    Raises:
        PoshgridError: no such reader; a file that it cannot read; an id that occurs twice.
    """
    loaded = []
    for path in paths:
        if not path.exists():
            raise PoshgridError(f"{path}: no such file or folder; name minimal pairs")
        word = reader or reader_of(path)
        check_known("--reader: no reader of minimal pairs", word, readers())
        try:
            chosen = plugins.options(SUITES, word, dict(options))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise PoshgridError(f"--option {place}: {first['msg']} (reader {word})") from error
        loaded.append(plugins.load(SUITES, word).load(path, chosen, None))
    return suites.pairs(", ".join(map(str, paths)), pl.concat(each.items for each in loaded))


def check(
    items: pl.DataFrame,
    *,
    suite: str,
    texts: Mapping[str, Path],
    order: int,
    tolerance: float,
    output: Path,
) -> dict[str, Any]:
    """Make every check of pairs, and write its page; see :func:`poshgrid.quality.gate.gate`.

    Args:
        items: ``ITEMS``.
        suite: its name, any text.
        texts: name -> a text, a sentence in a line, or a table with a column ``text``: unigram and
            n-gram baselines are counted on each, and members are looked for in it.
        order: of the n-gram baseline.
        tolerance: distance from 50%.
        output: the folder to write to.

    Returns:
        What ``quality.json`` holds.

    Raises:
        PoshgridError: a text cannot be read or has no word.
    """
    for name, path in texts.items():
        if not path.is_file():
            raise PoshgridError(f"{path}: no such file; give a text (--text)")
        if "/" in name:
            raise PoshgridError(f"{name!r}: a name with a slash; write NAME={path} without one")
    table = output / "items.parquet"
    files.write_table(items, table, ITEMS)
    with tempfile.TemporaryDirectory() as folder:
        scores: dict[str, Path] = {}
        for name, path in texts.items():
            scores |= counted(items, path, order, (name, SIZE), Path(folder), "scores")
        spec = specs.QualitySpec(
            suite=path_name(suite),
            generated=False,
            top_k=sys.maxsize,  # no word is too rare
            scoring=Scoring(),
            tolerance=tolerance,
        )
        train = {f"{name}/{SIZE}": path for name, path in texts.items()}
        gate(spec, table, texts, train, scores, output)
    quality: dict[str, Any] = files.read_json(output / "quality.json")
    return quality


def reader_of(path: Path) -> str:
    """Return the reader of a file or folder of pairs, by the first ending that is known.

    Raises:
        PoshgridError: no reader is known by this ending.
    """
    inside = sorted(p for p in path.rglob("*") if p.suffix) if path.is_dir() else [path]
    endings = [each.suffix for each in inside]
    ending = next((each for each in endings if each in ENDINGS), "".join(endings[:1]))
    if ending not in ENDINGS:
        raise PoshgridError(
            f"{path}: which reader? {ending or 'no ending'} is not known; give --reader: "
            f"{', '.join(readers())} (docs/benchmark.md says what each reads)"
        )
    return ENDINGS[ending]


def judge(
    items: pl.DataFrame,
    *,
    suite: str,
    model: str,
    revision: str | None,
    scoring: Scoring,
    text: Path | None,
    order: int,
    output: Path,
) -> str:
    """Score pairs with a model, and with what counts the words of a text; write accuracies.

    Args:
        items: ``ITEMS``.
        suite: its name, any text.
        model: a folder, or an id on a hub.
        revision: of the id.
        scoring: how sentences are scored and compared.
        text: a sentence in a line, or a table with a column ``text``: unigram and n-gram baselines
            are counted on it; default: no baselines.
        order: of the n-gram baseline.
        output: folder for items.parquet, the scores, and what ``accuracy`` writes.

    Returns:
        The suite's name in paths and tables.

    Raises:
        PoshgridError: a model or text cannot be read or is damaged, or a pair cannot be scored.
    """
    from poshgrid.evaluation.score import score
    from poshgrid.statistics.accuracy import accuracy

    if text is not None and not text.is_file():
        raise PoshgridError(f"{text}: no such file; give a text (--text)")
    if Path(model).is_dir():
        verification.check(Path(model).iterdir())  # ours has a manifest
    if (output / "accuracy.csv").exists():
        log.warning("%s: replacing what was judged there before; --output names another", output)
    title, suite = suite, path_name(suite)
    table = output / "items.parquet"
    files.write_table(items, table, ITEMS)
    label = path_name(Path(model).resolve().name if Path(model).is_dir() else Path(model).name)
    if (title, Path(model).name) != (suite, label):
        log.info("%s on %s: in paths and tables %s on %s", model, title, label, suite)
    run = runs.Run(runs.PRETRAINED, runs.GIVEN, label, runs.PRETRAINED, "none", 0)
    scores = output / "scores"
    path = scores / run.name / f"{suite}.parquet"
    score(
        specs.ScoreSpec(scoring=scoring, tasks={suite: "pairs"}, revision=revision),
        model,
        {suite: table},
        {suite: path},
    )
    names = [run.name]
    if text is not None:
        names += counted(items, text, order, (run.condition, run.size), scores, suite)
    cell = specs.Cell(words=0, source=runs.PRETRAINED, filtered=False)
    accuracy(
        specs.JudgementSpec(
            scoring=Scoring(reduction=scoring.reduction),
            runs=names,
            cells={f"{run.condition}/{run.size}": cell},
        ),
        scores, {suite: table}, None, output,
    )  # fmt: skip
    return suite


def counted(
    items: pl.DataFrame, text: Path, order: int, cell: tuple[str, str], folder: Path, suite: str
) -> dict[str, Path]:
    """Write the scores of the baselines that count the words of a text; return run -> its file.

    Args:
        items: ``ITEMS``.
        text: see :func:`baselines`.
        order: of the n-gram baseline.
        cell: condition and size of the runs.
        folder: where ``{run}/{suite}.parquet`` goes.
        suite: its name.
    """
    from poshgrid.evaluation import tasks

    paths = {}
    for model, _, engine in baselines(text, order):
        run = runs.Run(*cell, model, runs.COUNTED, "none", 0).name
        paths[run] = folder / run / f"{suite}.parquet"
        files.write_table(tasks.pairs(suite, items, engine, step=None), paths[run], SCORES)
    return paths


def baselines(text: Path, order: int = runs.WORD_ORDER) -> Iterator[tuple[str, NGram, Engine]]:
    """Yield the baselines that count the words of a text: name, model, and what scores with it.

    Args:
        text: a sentence in a line, or a table with a column ``text``.
        order: of the n-gram baseline.

    Raises:
        PoshgridError: the text cannot be read, or has no words.
    """
    from poshgrid.evaluation.engines import ngram

    for name in runs.WORD_BASELINES:
        log.info("%s: counting the baseline %s", text, name)
        lines = (line for batch in frequencies.texts(text, spare=False) for line in batch)
        model = fit(lines, **runs.counting(name, order))
        yield name, model, ngram.Engine(model, text)
