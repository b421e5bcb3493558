"""Minimal pairs without a study: ``judge``, ``check-pairs`` and ``import-judgements``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from poshgrid.commands.base import Output, command
from poshgrid.errors import PoshgridError


@command("poshgrid judge gpt2 --suite pairs.jsonl --text child.txt")
def judge(
    model: Annotated[str, typer.Argument(help="Folder of a model, or its id on a hub")],
    suite: Annotated[list[Path], typer.Option(help="File or folder of pairs; may be repeated")],
    reader: Annotated[
        str | None, typer.Option(help="Of the pairs; none: by each file's ending")
    ] = None,
    option: Annotated[
        list[str], typer.Option(help="Of the reader: key=value; may be repeated")
    ] = [],  # noqa: B006 - typer copies it
    text: Annotated[
        Path | None,
        typer.Option(help="Text that baselines are counted on; without it there are none"),
    ] = None,
    revision: Annotated[str | None, typer.Option(help="Of the id: a commit, tag or branch")] = None,
    order: Annotated[int, typer.Option(min=2, help="Of the n-gram baseline")] = 5,
    bos: Annotated[bool, typer.Option(help="Score the first token, too")] = True,
    total: Annotated[bool, typer.Option("--sum", help="Compare sums of log-probabilities")] = False,
    masked: Annotated[
        str, typer.Option(help="Score of a masked model: pseudo-log-likelihood or holistic")
    ] = "pseudo-log-likelihood",
    output: Output = Path("judged"),
) -> None:
    """Score any model on any file of minimal pairs, beside what counts words."""
    from pydantic import ValidationError

    from poshgrid.config import Scoring
    from poshgrid.files import discard
    from poshgrid.provenance import lock
    from poshgrid.quality import given

    reduction = "sum" if total else "mean"
    try:
        scoring = Scoring.model_validate({"bos": bos, "reduction": reduction, "masked": masked})
    except ValidationError as error:
        raise PoshgridError(f"--masked: {error.errors()[0]['msg']} (is {masked!r})") from error
    items = given.read(suite, reader, options_of(option))
    place = output / ".judging"
    with lock.held(place, "writing there"):  # what it reads again is its own
        try:
            name = given.judge(
                items,
                suite=suite[0].stem if len(suite) == 1 else "judged",
                model=model,
                revision=revision,
                scoring=scoring,
                text=text,
                order=order,
                output=output,
            )
            _shown(output, name)
            if text is None:
                typer.echo(
                    "no baselines: an untrained model, or counts of words, may do as well on these "
                    "pairs, and have stars, too; --text FILE counts words beside it",
                    err=True,
                )
        finally:
            discard(place)


@command("poshgrid check-pairs pairs.txt --text child.txt", rare=True)
def check_pairs(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders of minimal pairs")],
    reader: Annotated[
        str | None, typer.Option(help="blimp, lines, scamp ...; none: by each file's ending")
    ] = None,
    output: Output = Path("checked"),
    option: Annotated[
        list[str], typer.Option(help="Of the reader: key=value; may be repeated")
    ] = [],  # noqa: B006 - typer copies it
    text: Annotated[
        list[str], typer.Option(help="Text to count baselines on: [name=]path; may be repeated")
    ] = [],  # noqa: B006
    order: Annotated[int, typer.Option(min=2, help="Of the n-gram baseline")] = 5,
    tolerance: Annotated[
        float, typer.Option(min=0, max=0.5, help="Of a baseline, around 50%")
    ] = 0.05,
    name: Annotated[str | None, typer.Option(help="Of the suite; none: the first path's")] = None,
) -> None:
    """Check minimal pairs of any suite: a page of faults and of baselines that count words."""
    from poshgrid.quality import given

    items = given.read(paths, reader, options_of(option))
    found = given.check(
        items,
        suite=name or paths[0].stem,
        texts=named(text),
        order=order,
        tolerance=tolerance,
        output=output,
    )
    for check in found["checks"]:
        if check["items"]:
            first = check["first"][0]
            typer.echo(f"{check['items']:,} {check['name']} ({first['item']}: {first['reason']})")
    typer.echo(f"{found['suite']}: {found['verdict']}, {found['pairs']:,} pairs")
    typer.echo(f"{output / 'index.html'}")


@command("poshgrid import-judgements posh-bench/results --output imported", rare=True)
def import_judgements(
    folder: Annotated[
        Path, typer.Argument(help="Judgements as POSH-BENCH, Zorro or parasitic gaps have them")
    ],
    output: Output = Path("imported"),
    suite: Annotated[str, typer.Option(help="Name of a suite of pairs")] = "posh",
    model: Annotated[
        str | None, typer.Option(help="Name of the model, if files do not say it; none: FOLDER's")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="Its regressions are fitted, its study heads the page; none: no fit"),
    ] = None,
    text: Annotated[
        list[str],
        typer.Option(help="Of the page: SOURCE=FILE, to count baselines on; may be repeated"),
    ] = [],  # noqa: B006 - typer copies it
    threads: Annotated[int, typer.Option(help="Chains at once; the draws are the same")] = 1,
) -> None:
    """Make a results folder of published judgements: accuracies, heuristics, fits and a report."""
    from poshgrid.config.paths import Paths
    from poshgrid.evaluation.published import read
    from poshgrid.grid import configfile
    from poshgrid.stages import imported

    judged = read(folder, suite, model)
    own = configfile.load(config) if config is not None else None
    page = imported.make(judged, own, output, named(text), threads)
    if suite in judged.items:
        _shown(Path(Paths(str(output)).statistics(imported.TARGET)), suite)
    typer.echo(str(page))


def _shown(output: Path, suite: str) -> None:
    """Print accuracies by phenomenon, with baselines if there are any."""
    from poshgrid import files
    from poshgrid.commands.results import LEVELS, accuracies
    from poshgrid.statistics.schema import ACCURACY

    frame = files.read_table(output / "accuracy.parquet", ACCURACY)
    accuracies(suite, frame.filter(frame["level"].is_in(LEVELS["phenomenon"]), suite=suite))
    typer.echo(f"{output / 'accuracy.csv'}")


def options_of(pairs: list[str]) -> dict[str, Any]:
    """Return a reader's options; values are YAML, as in a configuration.

    Raises:
        PoshgridError: an argument has no equals sign, or its value is no YAML.
    """
    import yaml

    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise PoshgridError(f"--option {pair!r}: write key=value")
        try:
            found[key] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise PoshgridError(f"--option {pair!r}: the value is no YAML") from error
    return found


def named(values: list[str]) -> dict[str, Path]:
    """Return name -> path; a path without a name is called by its file."""
    pairs = [value if "=" in value else f"{Path(value).stem}={value}" for value in values]
    paths = {name: Path(path) for name, _, path in (pair.partition("=") for pair in pairs)}
    if len(paths) < len(pairs):
        raise PoshgridError(f"{', '.join(values)}: two have the same name; write NAME=path")
    return paths
