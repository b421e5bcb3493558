"""Commands: scores, perplexities; judgements of others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import Output, app
from poshgrid.errors import PoshgridError


@app.command(rich_help_panel="Your own suites, models and counts")
def import_judgements(
    folder: Annotated[Path, typer.Argument(help="Judgements in POSH-BENCH's published form")],
    output: Output = Path("imported"),
    suite: Annotated[str, typer.Option(help="Name of the suite")] = "posh",
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
    from poshgrid.commands.quality import named
    from poshgrid.config.paths import Paths
    from poshgrid.evaluation.published import read
    from poshgrid.grid import configfile
    from poshgrid.stages import imported

    own = configfile.load(config) if config is not None else None
    models, study = (own.regressions, own.study) if own else ([], None)
    page = imported.make(read(folder), suite, models, output, named(text), study, threads)
    _shown(Path(Paths(str(output)).statistics(imported.TARGET)), suite)
    typer.echo(str(page))


@app.command(rich_help_panel="Your own suites, models and counts")
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

    from poshgrid.commands.quality import options_of
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


def _shown(output: Path, suite: str) -> None:
    """Print accuracies by phenomenon, with baselines if there are any."""
    from poshgrid import files
    from poshgrid.commands.results import LEVELS, accuracies
    from poshgrid.statistics.schema import ACCURACY

    frame = files.read_table(output / "accuracy.parquet", ACCURACY)
    accuracies(suite, frame.filter(frame["level"].is_in(LEVELS["phenomenon"]), suite=suite))
    typer.echo(f"{output / 'accuracy.csv'}")
