"""Minimal pairs without a study: ``judge``, ``check-pairs`` and ``import-judgements``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from poshgrid.commands.base import Output, command
from poshgrid.core.errors import PoshgridError

Reader = Annotated[str, typer.Option(help="Of the pairs: this one, or a plug-in of your own")]
ReaderOptions = Annotated[
    list[str],
    typer.Option(help="Option of the reader: key=value, as detokenise=true; may be repeated"),
]
Order = Annotated[int, typer.Option(min=2, help="Order of the n-gram baseline")]


@command("poshgrid judge gpt2 distilgpt2 --suite islands.csv --suite wanna.txt --text child.txt")
def judge(
    models: Annotated[
        list[str], typer.Argument(help="Folders of models, or ids on a hub: gpt2, owner/name@v1")
    ],
    suite: Annotated[list[Path], typer.Option(help="File or folder of pairs; may be repeated")],
    reader: Reader = "pairs",
    option: ReaderOptions = [],  # noqa: B006 - typer copies it
    text: Annotated[
        Path | None,
        typer.Option(help="Text for baselines; without it there are no baselines"),
    ] = None,
    order: Order = 5,
    bos: Annotated[bool, typer.Option(help="Also score the first token")] = True,
    total: Annotated[bool, typer.Option("--sum", help="Compare sums of log-probabilities")] = False,
    masked: Annotated[
        str, typer.Option(help="Score of a masked model: pseudo-log-likelihood or holistic")
    ] = "pseudo-log-likelihood",
    output: Output = Path("judged"),
) -> None:
    """Score models on files of minimal pairs, compared with baselines that count words."""
    from pydantic import ValidationError

    from poshgrid.config import Scoring
    from poshgrid.core import lock
    from poshgrid.core.files import discard
    from poshgrid.quality import given

    reduction = "sum" if total else "mean"
    try:
        scoring = Scoring.model_validate({"bos": bos, "reduction": reduction, "masked": masked})
    except ValidationError as error:
        raise PoshgridError(f"--masked: {error.errors()[0]['msg']} (is {masked!r})") from error
    options = options_of(option)
    paths = given.unique_names(
        suite, lambda path: path.stem, lambda path: f"{path.resolve().parent.name}-{path.stem}"
    )
    items = {name: given.read([path], reader, options) for name, path in paths.items()}
    for name, pairs in items.items():
        good, bad = pairs.select("good", "bad").row(0)
        typer.echo(f"{name}: {pairs.height:,} pairs; the first: good {good!r}, bad {bad!r}")
    judging = output / ".judging"
    with lock.held(judging, "writing there"):  # so that it only reads files that it has written
        try:
            names = given.judge(
                items, models, scoring=scoring, text=text, order=order, output=output
            )
            _compare(output, names)
        finally:
            discard(judging)
    if text is None:
        typer.echo(
            "no baselines: an untrained model, or word counts, may be as accurate here, "
            "and also get stars; --text FILE adds baselines counted on FILE",
            err=True,
        )


def _compare(output: Path, names: list[str]) -> None:
    """Print a row for each model and baseline: by phenomenon for one suite, else by suite."""
    import polars as pl

    from poshgrid.commands.results import accuracies
    from poshgrid.core import files
    from poshgrid.core.table import varying
    from poshgrid.statistics.schema import ACCURACY

    frame = files.read_table(output / "accuracy.parquet", ACCURACY)
    frame = frame.sort(
        pl.col("model").replace_strict(names, range(len(names))), maintain_order=True
    )
    average = frame.filter(level="average")
    if average["suite"].n_unique() > 1:
        rows = average.with_columns(phenomenon="suite")
    else:
        rows = frame.filter(pl.col("level").is_in(["phenomenon", "average"]))
    note = (
        "Percent of pairs right, a tie counts half. Stars: chi-square against 50%: * p < .05, "
        "** p < .01, *** p < .001. ‡ A baseline is itself far from 50%."
    )
    accuracies("accuracy", rows, varying(rows, ("condition", "model"), always=("model",)), note)
    typer.echo(f"{output / 'accuracy.csv'}: all numbers")


@command("poshgrid check-pairs pairs.txt --text child.txt", rare=True)
def check_pairs(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders of minimal pairs")],
    reader: Reader = "pairs",
    output: Output = Path("checked"),
    option: ReaderOptions = [],  # noqa: B006
    text: Annotated[
        list[str], typer.Option(help="Text to count baselines on: [name=]path; may be repeated")
    ] = [],  # noqa: B006
    order: Order = 5,
    name: Annotated[
        str | None, typer.Option(help="Name of the suite; default: the first path's")
    ] = None,
) -> None:
    """Check minimal pairs of any suite: faults, and the accuracy of baselines that count words."""
    from poshgrid.config.runs import WORD_BASELINES
    from poshgrid.quality import given

    items = given.read(paths, reader, options_of(option))
    quality = given.check(
        items,
        suite=name or paths[0].stem,
        texts=named(text),
        order=order,
        output=output,
    )
    if text:
        _compare(output, list(WORD_BASELINES))
    for check in quality["checks"]:
        if check["items"]:
            first = check["first"][0]
            typer.echo(f"{check['items']:,} {check['name']} ({first['item']}: {first['reason']})")
    typer.echo(f"{quality['suite']}: {quality['verdict']}, {quality['pairs']:,} pairs")
    typer.echo(f"{output / 'faults.csv'}, {output / 'differences.csv'}")


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
    from poshgrid.config.paths import Paths
    from poshgrid.core import files
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
    """Return name -> path; a path without a name is named after its file."""
    pairs = [value if "=" in value else f"{Path(value).stem}={value}" for value in values]
    paths = {name: Path(path) for name, _, path in (pair.partition("=") for pair in pairs)}
    if len(paths) < len(pairs):
        raise PoshgridError(f"{', '.join(values)}: two have the same name; write NAME=path")
    return paths
