"""Command: a Bayesian mixed model of a person's own counts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import Output, app
from poshgrid.errors import PoshgridError


@app.command(rich_help_panel="Your own suites, models and counts")
def fit(
    table: Annotated[Path, typer.Argument(help="CSV with a count on each row")],
    output: Output = Path("fit"),
    formula: Annotated[str | None, typer.Option(help="Of the model; default: the paper's")] = None,
    threads: Annotated[int, typer.Option(help="Chains at once; does not change the draws")] = 1,
) -> None:
    """Fit a Bayesian mixed model to your own counts of correct judgements."""
    from pydantic import ValidationError

    from poshgrid import files
    from poshgrid.config import BayesianModel, specs
    from poshgrid.provenance.manifest import recorded
    from poshgrid.statistics import countfile
    from poshgrid.statistics.fit import fit as fit_model
    from poshgrid.statistics.schema import COUNTS

    try:
        options = {"name": "given"} | ({"formula": formula} if formula else {})
        spec = specs.ModelSpec(model=BayesianModel.model_validate(options))
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise PoshgridError(f"--formula: {reason}") from error
    counts = output / "counts.parquet"
    files.write_table(countfile.read(table), counts, COUNTS)
    with recorded(output / "manifest.json", spec=spec.written(), inputs=[counts]) as facts:
        facts.update(fit_model(spec, counts, output, threads))
    typer.echo((output / "summary.csv").read_text(encoding="utf-8"), nl=False)
    typer.echo(f"{output / 'summary.csv'}")
