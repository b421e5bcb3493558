"""Minimal pairs from files, without a study: check them, and judge models on them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import polars as pl
from pydantic import ValidationError

from poshgrid.benchmark import items as suites
from poshgrid.benchmark.schema import PAIRS
from poshgrid.config import Scoring, runs, specs
from poshgrid.config.base import path_name
from poshgrid.core import files, formats, logs, plugins, verification
from poshgrid.core.errors import PoshgridError, check_known
from poshgrid.core.plugins import SUITES
from poshgrid.evaluation import judgements
from poshgrid.evaluation.engine import Engine
from poshgrid.evaluation.schema import SCORES
from poshgrid.models.ngram import NGram, fit
from poshgrid.models.ngram import texts as sentences_of
from poshgrid.quality.gate import gate

T = TypeVar("T")
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
    """Return the pairs of files or folders as one suite (``PAIRS``).

    Args:
        paths: files or folders; each phenomenon may be in one of them only.
        reader: see :func:`readers`.
        options: of the reader.

    Raises:
        PoshgridError: the reader is unknown or cannot read a file, or an id occurs twice.
    """
    check_known("--reader: no reader of minimal pairs", reader, readers())
    try:
        chosen = plugins.options(SUITES, reader, dict(options))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise PoshgridError(f"--option {key}: {first['msg']} (reader {reader})") from error
    loaded = []
    for path in paths:
        if not path.exists():
            raise PoshgridError(f"{path}: no such file or folder; name minimal pairs")
        loaded.append(plugins.load(SUITES, reader).load(path, chosen, None))
    items = suites.pairs(", ".join(map(str, paths)), pl.concat(suite.items for suite in loaded))
    if same := items.filter(pl.col("good") == pl.col("bad")).height:
        log.warning(
            "%s: %d of %d pairs have identical members, and count half", paths[0], same,
            items.height,
        )  # fmt: skip
    return items


def check(
    items: pl.DataFrame, *, suite: str, texts: Mapping[str, Path], order: int, output: Path
) -> dict[str, Any]:
    """Run every check of pairs, and judge them with baselines that count the words of texts.

    Args:
        items: ``PAIRS``.
        suite: its name, any text.
        texts: any name -> a text with a sentence on each line, or a table with a column ``text``.
            Baselines are counted on each text, and it is searched for members of pairs.
        order: of the n-gram baseline.
        output: folder for the items, the baselines' scores and tables of ``accuracy``, and the
            files of :func:`poshgrid.quality.gate.gate`.

    Returns:
        The content of ``quality.json``.

    Raises:
        PoshgridError: a text cannot be read or has no word, or two texts would have one name.
    """
    for path in texts.values():
        _exists(path)
    # They name runs, too
    texts = {name: texts[of] for name, of in unique_names([*texts], str, str).items()}
    name, table = path_name(suite), output / "items.parquet"
    files.write_table(items, table, PAIRS)
    scores = output / "scores"
    judged = []
    for of, path in texts.items():
        judged += _score_baselines({name: items}, path, order, (of, runs.GIVEN), scores)
    if judged:
        _accuracies(judged, {name: table}, Scoring(), scores, output)
    # No word of a text is too rare
    spec = specs.QualitySpec(suite=name, generated=False, top_k=sys.maxsize)
    return gate(spec, table, texts, texts, output)


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
        items: name of each suite -> ``PAIRS``.
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

    if text is not None:
        _exists(text)
    named = unique_names(models, lambda model: Path(model).resolve().name, str)
    for path in filter(Path.is_dir, map(Path, models)):
        verification.check(path.iterdir())  # a model of a grid has a manifest
    if (output / "accuracy.csv").exists():
        log.warning("%s: replacing what was judged there before; --output names another", output)
    tables = {suite: output / "items" / f"{suite}.parquet" for suite in items}
    for suite, table in tables.items():
        files.write_table(items[suite], table, PAIRS)
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
    compared = Scoring(reduction=scoring.reduction)
    _accuracies(judged, tables, compared, scores, output)
    rows = [
        _judged_pairs(runs.Run.parse(run).model, suite, items[suite], scores / run, compared)
        for run in judged
        for suite in items
    ]
    files.write_text(output / "pairs.csv", formats.csv(pl.concat(rows)))
    return [runs.Run.parse(run).model for run in judged]


def _exists(text: Path) -> None:
    if not text.is_file():
        raise PoshgridError(f"{text}: no such file; give a text (--text)")


def _accuracies(
    judged: list[str], items: dict[str, Path], scoring: Scoring, scores: Path, output: Path
) -> None:
    """Write the tables of ``accuracy`` of runs without a study."""
    from poshgrid.statistics.accuracy import accuracy

    cells = {"/".join(run.split("/")[:2]) for run in judged}
    cell = specs.Cell(words=0, source=runs.PRETRAINED, filtered=False)
    spec = specs.JudgementSpec(scoring=scoring, runs=judged, cells=dict.fromkeys(cells, cell))
    accuracy(spec, scores, items, None, output)


def unique_names(
    values: Sequence[T], short: Callable[[T], str], long: Callable[[T], str]
) -> dict[str, T]:
    """Return name -> value: the short name, or the long one if two values share the short one.

    Raises:
        PoshgridError: two values have the same names.
    """
    names = [path_name(short(value)) for value in values]
    unique = {
        name if names.count(name) == 1 else path_name(long(value)): value
        for name, value in zip(names, values, strict=True)
    }
    if len(unique) < len(values):
        texts = ", ".join(map(str, values))
        raise PoshgridError(f"{texts}: the same name twice; name each once, or rename one")
    return unique


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
) -> list[str]:
    """Write the scores of the baselines that count the words of a text; return their runs.

    Args:
        items: suite -> ``PAIRS``.
        text: see :func:`baselines`.
        order: of the n-gram baseline.
        cell: condition and size of the runs.
        folder: for ``{run}/{suite}.parquet``.
    """
    from poshgrid.evaluation import tasks

    judged = []
    for model, _, engine in baselines(text, order):
        judged.append(runs.Run(*cell, model, runs.COUNTED, "none", 0).name)
        for suite, pairs in items.items():
            scores = tasks.pairs(suite, pairs, engine, step=None)
            files.write_table(scores, folder / judged[-1] / f"{suite}.parquet", SCORES)
    return judged


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
        lines = (line for batch in sentences_of(text) for line in batch)
        model = fit(lines, **runs.counting(name, order))
        yield name, model, ngram.Engine(model, text)
