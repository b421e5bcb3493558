"""Minimal pairs from files, without a study: check them, and judge models on them."""

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
from poshgrid.evaluation import judgements
from poshgrid.evaluation.engine import Engine
from poshgrid.evaluation.schema import SCORES
from poshgrid.models.ngram import NGram, fit
from poshgrid.plugins import SUITES
from poshgrid.quality.gate import gate
from poshgrid.tables import formats

ENDINGS = {
    ".jsonl": "blimp", ".parquet": "blimp", ".txt": "lines", ".tsv": "blimp", ".csv": "blimp",
}  # fmt: skip
"""Ending of a file of pairs -> its default reader."""
SIZE = "all"  # name of the size of a text, which is used as a whole
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
        paths: files or folders; each phenomenon may be in one of them only.
        reader: see :func:`readers`; default: by the ending and the first line of each path.
        options: of the reader.

    Raises:
        PoshgridError: the reader is unknown or cannot read a file, or an id occurs twice.
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
            key = ".".join(map(str, first["loc"]))
            raise PoshgridError(f"--option {key}: {first['msg']} (reader {word})") from error
        loaded.append(plugins.load(SUITES, word).load(path, chosen, None))
    items = suites.pairs(", ".join(map(str, paths)), pl.concat(suite.items for suite in loaded))
    if same := items.filter(pl.col("good") == pl.col("bad")).height:
        log.warning(
            "%s: %d of %d pairs have identical members, and count half", paths[0], same,
            items.height,
        )  # fmt: skip
    return items


def reader_of(path: Path) -> str:
    """Return the reader of a file or folder of pairs, by the first known ending.

    Raises:
        PoshgridError: no file has a known ending.
    """
    inside = sorted(p for p in path.rglob("*") if p.suffix) if path.is_dir() else [path]
    file = next((file for file in inside if file.suffix in ENDINGS), None)
    if file is None:
        ending = next((file.suffix for file in inside), "") or "no ending"
        raise PoshgridError(
            f"{path}: which reader? {ending} is not known; give --reader: "
            f"{', '.join(readers())} (docs/benchmark.md says what each reads)"
        )
    if file.suffix == ".tsv":
        from poshgrid.benchmark.suites import blimp
        from poshgrid.corpora import textfile

        first = next(textfile.lines(file), "").rstrip("\r\n")
        if not blimp.is_table([name.strip(' "') for name in first.split("\t")]):
            return "scamp"
    return ENDINGS[file.suffix]


def check(
    items: pl.DataFrame,
    *,
    suite: str,
    texts: Mapping[str, Path],
    order: int,
    tolerance: float,
    output: Path,
) -> dict[str, Any]:
    """Run every check of pairs, and write its page; see :func:`poshgrid.quality.gate.gate`.

    Args:
        items: ``ITEMS``.
        suite: its name, any text.
        texts: name -> a text with a sentence on each line, or a table with a column ``text``.
            Baselines are counted on each text, and it is searched for members of pairs.
        order: of the n-gram baseline.
        tolerance: distance from 50%.
        output: the folder to write to.

    Returns:
        The content of ``quality.json``.

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
            scores |= _score_baselines({"scores": items}, path, order, (name, SIZE), Path(folder))
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


def judge(
    items: Mapping[str, pl.DataFrame],
    models: Sequence[str],
    *,
    scoring: Scoring,
    text: Path | None,
    order: int,
    output: Path,
) -> list[str]:
    """Judge pairs with models, and with baselines that count the words of a text.

    Args:
        items: name of each suite -> ``ITEMS``.
        models: folders, or ids on a hub, ``id@revision`` with a commit, tag or branch.
        scoring: how sentences are scored and compared.
        text: for baselines: a text with a sentence on each line, or a table with a column ``text``;
            None: no baselines.
        order: of the n-gram baseline.
        output: folder for the items, the scores, the tables of ``accuracy``, and ``pairs.csv``: a
            row for each model and pair, with log-probabilities (sums over tokens, nats).

    Returns:
        The names of the models in tables, then those of the baselines.

    Raises:
        PoshgridError: a model or text cannot be read or is damaged, two models have one name, or a
            pair cannot be scored.
    """
    from poshgrid.evaluation.score import score
    from poshgrid.statistics.accuracy import accuracy

    if text is not None and not text.is_file():
        raise PoshgridError(f"{text}: no such file; give a text (--text)")
    named = _names(models)
    for path in filter(Path.is_dir, map(Path, models)):
        verification.check(path.iterdir())  # a model of a grid has a manifest
    if (output / "accuracy.csv").exists():
        log.warning("%s: replacing what was judged there before; --output names another", output)
    tables = {suite: output / "items" / f"{suite}.parquet" for suite in items}
    for suite, table in tables.items():
        files.write_table(items[suite], table, ITEMS)
    scores = output / "scores"
    judged = []
    for name, model in named.items():
        run = runs.Run(runs.PRETRAINED, runs.GIVEN, name, runs.PRETRAINED, "none", 0)
        address, _, revision = (model, "", "") if Path(model).is_dir() else model.partition("@")
        spec = specs.ScoreSpec(
            scoring=scoring, tasks=dict.fromkeys(items, "pairs"), revision=revision or None
        )
        written = {suite: scores / run.name / f"{suite}.parquet" for suite in items}
        score(spec, address, tables, written)
        judged.append(run.name)
    if text is not None:
        judged += _score_baselines(items, text, order, (runs.PRETRAINED, runs.GIVEN), scores)
    cell = specs.Cell(words=0, source=runs.PRETRAINED, filtered=False)
    compared = Scoring(reduction=scoring.reduction)
    spec_of_accuracy = specs.JudgementSpec(
        scoring=compared, runs=judged, cells={f"{runs.PRETRAINED}/{runs.GIVEN}": cell}
    )
    accuracy(spec_of_accuracy, scores, tables, None, output)
    rows = [
        _judged_pairs(runs.Run.parse(run).model, suite, items[suite], scores / run, compared)
        for run in judged
        for suite in items
    ]
    files.write_text(output / "pairs.csv", formats.csv(pl.concat(rows)))
    return [runs.Run.parse(run).model for run in judged]


def _names(models: Sequence[str]) -> dict[str, str]:
    """Return name -> model; the name is the last part of the model's path or id, if unique."""
    whole = [str(Path(model).resolve()) if Path(model).is_dir() else model for model in models]
    short = [path_name(Path(model).name) for model in whole]
    names = {
        name if short.count(name) == 1 else path_name(model): model
        for name, model in zip(short, models, strict=True)
    }
    if len(names) < len(models):
        raise PoshgridError(f"{', '.join(models)}: one model twice; name each once")
    return names


def _judged_pairs(
    model: str, suite: str, items: pl.DataFrame, scores: Path, scoring: Scoring
) -> pl.DataFrame:
    """Return the pairs of a suite with a model's log-probabilities and judgements."""
    path = scores / f"{suite}.parquet"
    correct = judgements.judged(path, items, scoring).select("item_id", "correct")
    sums = files.read_table(path, SCORES).filter(pl.col("step").is_null()).drop("step")
    return (
        items.select("item_id", "category", "phenomenon", "good", "bad")
        .join(sums, on="item_id", maintain_order="left")
        .join(correct, on="item_id", maintain_order="left")
        .select(pl.lit(model).alias("model"), pl.lit(suite).alias("suite"), pl.all())
    )


def _score_baselines(
    items: Mapping[str, pl.DataFrame], text: Path, order: int, cell: tuple[str, str], folder: Path
) -> dict[str, Path]:
    """Write the scores of the baselines that count the words of a text.

    Args:
        items: suite -> ``ITEMS``.
        text: see :func:`counts`.
        order: of the n-gram baseline.
        cell: condition and size of the runs.
        folder: for ``{run}/{suite}.parquet``.

    Returns:
        Run -> its file of the last suite.
    """
    from poshgrid.evaluation import tasks

    paths = {}
    for model, _, engine in baselines(text, order):
        run = runs.Run(*cell, model, runs.COUNTED, "none", 0).name
        for suite, pairs in items.items():
            paths[run] = folder / run / f"{suite}.parquet"
            files.write_table(tasks.pairs(suite, pairs, engine, step=None), paths[run], SCORES)
    return paths


def baselines(text: Path, order: int = runs.WORD_ORDER) -> Iterator[tuple[str, NGram, Engine]]:
    """Yield the baselines that count the words of a text: name, model, and engine.

    Args:
        text: a text with a sentence on each line, or a table with a column ``text``.
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
