"""Minimal pairs without a study: ``judge`` and ``import-judgements``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from pydantic import ValidationError

from poshgrid.commands.base import Output, command
from poshgrid.config import Scoring, Suite
from poshgrid.config.base import Section, path_name
from poshgrid.config.paths import Paths
from poshgrid.config.runs import WORD_BASELINES
from poshgrid.core import files
from poshgrid.core.errors import PoshgridError, invalid, similar_file

T = TypeVar("T")
S = TypeVar("S", bound=Section)


@command("poshgrid judge gpt2 distilgpt2 --suite islands.csv --suite wanna.txt --text child.txt")
def judge(
    suite: Annotated[list[Path], typer.Option(help="File or folder of pairs; may be repeated")],
    models: Annotated[
        list[str] | None,
        typer.Argument(help="Folders of models, or ids on a hub: gpt2, owner/name@v1"),
    ] = None,
    reader: Annotated[
        str, typer.Option(help="Of the pairs: this one, or a plug-in of your own")
    ] = "pairs",
    option: Annotated[
        list[str],
        typer.Option(help="Option of the reader: key=value, as detokenise=true; may be repeated"),
    ] = [],  # noqa: B006 - typer copies it
    text: Annotated[
        Path | None,
        typer.Option(help="Text for baselines; without it there are no baselines"),
    ] = None,
    bos: Annotated[bool, typer.Option(help="Also score the first token")] = True,
    total: Annotated[bool, typer.Option("--sum", help="Compare sums of log-probabilities")] = False,
    masked: Annotated[
        str, typer.Option(help="Score of a masked model: pseudo-log-likelihood or holistic")
    ] = "pseudo-log-likelihood",
    output: Output = Path("judged"),
) -> None:
    """Check files of minimal pairs, and score models on them, with baselines that count words."""
    from poshgrid.core import lock
    from poshgrid.stages import imported

    if text is not None and not text.is_file():
        raise PoshgridError(f"--text: {text}: no such file{similar_file(text)}")
    reduction = "sum" if total else "mean"
    scoring = _valid("--masked", Scoring, {"bos": bos, "reduction": reduction, "masked": masked})
    own = {"categories": "own"} if reader == "pairs" else {}
    options = own | options_of(option)
    paths = unique_names(
        suite, lambda path: path.stem, lambda path: f"{path.resolve().parent.name}-{path.stem}"
    )
    suites = [
        _valid("--reader, --option", Suite,
               {"name": name, "reader": reader, "path": str(path), "options": options})
        for name, path in paths.items()
    ]  # fmt: skip
    if suites[0].task != "pairs" or suites[0].generated:
        raise PoshgridError(f"--reader: {reader!r} reads no files of minimal pairs")
    if missing := [path for path in suite if not path.exists()]:
        raise PoshgridError(f"{missing[0]}: no such file or folder{similar_file(missing[0])}")
    named_models = unique_names(models or [], lambda model: Path(model).resolve().name, str)
    if text and (same := sorted({*named_models} & {*WORD_BASELINES})):
        raise PoshgridError(f"{named_models[same[0]]}: a baseline has that name; rename the folder")
    if (output / "corpora").exists():
        raise PoshgridError(f"{output}: results of a study; name another folder with --output")
    judging = output / ".judging"
    with lock.held(judging, "writing there"):  # so that it only reads files that it has written
        try:
            made = imported.judge(suites, named_models, scoring, text, output)
            _faults(made, list(paths))
            if models or text:
                _compare(made, [*named_models, *WORD_BASELINES])
        finally:
            files.discard(judging)
    if models and text is None:
        typer.echo(
            "no baselines: an untrained model, or word counts, may be as accurate here, "
            "and also get stars; --text FILE adds baselines counted on FILE",
            err=True,
        )


def _valid(option: str, kind: type[S], values: dict[str, Any]) -> S:
    """Return a section of a configuration; raise if an option has a wrong value."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise PoshgridError(f"{option}: {invalid(error)}") from error


def _faults(paths: Paths, suites: list[str]) -> None:
    """Print a pair of each suite, and the first fault of each kind in its pairs."""
    import polars as pl

    from poshgrid.stages.imported import TARGET

    for suite in suites:
        folder = Path(paths.quality(TARGET, suite))
        quality = files.read_json(folder / "quality.json")
        good, bad = pl.read_parquet(paths.items(suite)).select("good", "bad").row(0)
        typer.echo(f"{suite}: {quality['pairs']:,} pairs; the first: good {good!r}, bad {bad!r}")
        for check in quality["checks"]:
            if check["items"]:
                first = check["first"][0]
                reason = f"{first['item']}: {first['reason']}"
                typer.echo(f"  {check['items']:,} {check['name']} ({reason})")
        typer.echo(f"  {quality['verdict']}: {folder / 'faults.csv'}")


def _compare(paths: Paths, names: list[str]) -> None:
    """Print a row for each model and baseline: by phenomenon for one suite, else by suite."""
    import polars as pl

    from poshgrid.commands.results import accuracies
    from poshgrid.core.table import varying
    from poshgrid.stages.imported import TARGET
    from poshgrid.statistics.schema import ACCURACY

    table = Path(paths.statistics(TARGET), "accuracy.parquet")
    frame = files.read_table(table, ACCURACY)
    frame = frame.sort(
        pl.col("model").replace_strict(names, range(len(names))), maintain_order=True
    )
    average = frame.filter(level="average")
    if average["suite"].n_unique() > 1:
        rows = average.with_columns(phenomenon="suite")
        means = "Of each suite: mean over its phenomena."
    else:
        means = "Overall: mean over categories. Average: mean over phenomena."
        rows = frame.filter(pl.col("level").is_in(["phenomenon", "overall", "average"]))
    note = (
        f"Percent of pairs right, a tie counts half. {means} Stars: chi-square against 50%: "
        "* p < .05, ** p < .01, *** p < .001. ‡ A baseline is itself far from 50%."
    )
    accuracies("accuracy", rows, varying(rows, ("model",), always=("model",)), note)
    typer.echo(f"{table.with_suffix('.csv')}: all numbers")
    typer.echo(f"{paths.report(TARGET)}/index.html")


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


@command("poshgrid import-judgements posh-bench/results --output imported", rare=True)
def import_judgements(
    folder: Annotated[
        Path, typer.Argument(help="Judgements in the format of POSH-BENCH, Zorro or parasitic gaps")
    ],
    output: Output = Path("imported"),
    suite: Annotated[str, typer.Option(help="Name of a suite of pairs")] = "posh",
    model: Annotated[
        str | None, typer.Option(help="Name of the model, if files lack it; default: FOLDER's")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="Fit its regressions, and show its study on the page; default: no fit"),
    ] = None,
    text: Annotated[
        list[str],
        typer.Option(help="Text for baselines on the page: SOURCE=FILE; may be repeated"),
    ] = [],  # noqa: B006 - typer copies it
    threads: Annotated[int, typer.Option(help="Chains at a time; does not change the draws")] = 1,
) -> None:
    """Make a results folder from published judgements: accuracies, heuristics, fits, report."""
    from poshgrid.commands.results import LEVELS, accuracies
    from poshgrid.evaluation.published import read
    from poshgrid.grid import configfile
    from poshgrid.stages import imported
    from poshgrid.statistics.schema import ACCURACY

    judged = read(folder, suite, model)
    own = configfile.load(config) if config is not None else None
    page = imported.make(judged, own, output, named(text), threads)
    if suite in judged.items:
        accuracy = Path(Paths(str(output)).statistics(imported.TARGET), "accuracy.parquet")
        frame = files.read_table(accuracy, ACCURACY)
        frame = frame.filter(frame["level"].is_in(LEVELS["phenomenon"]), suite=suite)
        accuracies(suite, frame)
    typer.echo(str(page))


def options_of(pairs: list[str]) -> dict[str, Any]:
    """Return a reader's options; values are YAML, as in a configuration.

    Raises:
        PoshgridError: an argument has no equals sign, or its value is not YAML.
    """
    import yaml

    options: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise PoshgridError(f"--option {pair!r}: write key=value")
        try:
            options[key] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise PoshgridError(f"--option {pair!r}: the value is not YAML") from error
    return options


def named(values: list[str]) -> dict[str, Path]:
    """Parse arguments ``NAME=path``: name -> path; a path alone gets the name of its file."""
    pairs = [value if "=" in value else f"{Path(value).stem}={value}" for value in values]
    paths = {name: Path(path) for name, _, path in (pair.partition("=") for pair in pairs)}
    if len(paths) < len(pairs):
        raise PoshgridError(f"{', '.join(values)}: two have the same name; write NAME=path")
    return paths
