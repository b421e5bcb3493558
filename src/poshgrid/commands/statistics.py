"""Commands: what rules make of pairs; accuracy, curves, fits, deltas, measures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from poshgrid.commands.base import Code, Models, Output, Pairs, Scores, Spec, app, named, run
from poshgrid.config import specs
from poshgrid.errors import PoshgridError
from poshgrid.provenance.manifest import recorded


@app.command(rich_help_panel="Stages")
def rules(
    items: Pairs,
    output: Output,
    code: Code = "",
) -> None:
    """Write which member of each pair simple rules prefer."""
    from poshgrid.rules.table import write

    suites = named(items)
    with recorded(output / "manifest.json", code=code, inputs=suites.values()) as facts:
        facts.update(write(suites, output))


@app.command(rich_help_panel="Stages")
def rule_shares(
    spec: Spec,
    scores: Scores,
    models: Models,
    items: Pairs,
    rules: Pairs,
    output: Output,
    code: Code = "",
) -> None:
    """Say which rules explain the choices of models."""
    from poshgrid.statistics.shares import write

    suites, tables = named(items), named(rules)
    run(
        specs.RuleSharesSpec,
        spec,
        lambda given: write(given, scores, models, suites, tables, output),
        manifest=output / "manifest.json",
        code=code,
        inputs=[*suites.values(), *tables.values()],
    )


@app.command(rich_help_panel="Stages")
def accuracy(
    spec: Spec,
    scores: Scores,
    items: Pairs,
    conditions: Annotated[Path, typer.Option(help="Folder of all conditions")],
    output: Output,
    rules: Annotated[
        list[str], typer.Option(help="SUITE=TABLE of rules' choices, as rivals; may be repeated")
    ] = [],  # noqa: B006
    code: Code = "",
) -> None:
    """Count correct judgements and test them against chance and the best rival."""
    from poshgrid.statistics.accuracy import accuracy as judge

    suites, by_rule = named(items), named(rules)
    run(
        specs.JudgementSpec,
        spec,
        lambda given: judge(given, scores, suites, conditions, output, by_rule),
        manifest=output / "manifest.json",
        code=code,
        inputs=[*suites.values(), *by_rule.values()],
    )


@app.command(rich_help_panel="Stages")
def curves(
    spec: Spec,
    scores: Scores,
    models: Models,
    output: Output,
    items: Pairs = [],  # noqa: B006
    code: Code = "",
) -> None:
    """Write accuracies by step and epoch, and a table of how training went."""
    from poshgrid.statistics.curves import curves as by_step

    suites = named(items)
    run(
        specs.JudgementSpec,
        spec,
        lambda given: by_step(given, scores, models, suites, output),
        manifest=output / "manifest.json",
        code=code,
        inputs=suites.values(),
    )


@app.command(rich_help_panel="Stages")
def fit(
    table: Annotated[Path | None, typer.Argument(help="CSV of your own counts")] = None,
    spec: Spec = "",
    counts: Annotated[Path | None, typer.Option(help="Counts of correct judgements")] = None,
    output: Output = Path("fit"),
    formula: Annotated[
        str | None, typer.Option(help="Formula for a CSV; none: the paper's")
    ] = None,
    threads: Annotated[int, typer.Option(help="Chains at once; does not change the draws")] = 1,
    code: Code = "",
) -> None:
    """Fit a Bayesian mixed model to the counts: a grid's, or a CSV with a count on a row."""
    from poshgrid.statistics.fit import fit as fit_model

    if table is not None:
        counts, spec = _of_csv(table, formula, output)
    if counts is None or not spec:
        raise PoshgridError("fit: nothing to fit; give a CSV of counts, or --spec and --counts")
    run(
        specs.ModelSpec,
        spec,
        lambda given: fit_model(given, counts, output, threads),
        manifest=output / "manifest.json",
        code=code,
        inputs=[counts],
    )
    if table is not None:
        typer.echo((output / "summary.csv").read_text(encoding="utf-8"), nl=False)
        typer.echo(f"{output / 'summary.csv'}")


def _of_csv(table: Path, formula: str | None, output: Path) -> tuple[Path, str]:
    """Return the counts of a CSV as a fit reads them, and what is fitted."""
    from pydantic import ValidationError

    from poshgrid import files
    from poshgrid.config import BayesianModel
    from poshgrid.statistics import countfile
    from poshgrid.statistics.schema import COUNTS

    try:
        given = {"name": "given"} | ({"formula": formula} if formula else {})
        model = BayesianModel.model_validate(given)
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise PoshgridError(f"--formula: {reason}") from error
    counts = output / "counts.parquet"
    files.write_table(countfile.read(table), counts, COUNTS)
    return counts, specs.canonical(specs.ModelSpec(model=model))


@app.command(rich_help_panel="Stages")
def deltas(
    spec: Spec,
    scores: Scores,
    items: Pairs,
    output: Output,
    perplexities: Annotated[Path, typer.Option(help="Folder of all perplexities")] = Path(),
    code: Code = "",
) -> None:
    """Compare filtered models with full ones."""
    from poshgrid.statistics.deltas import deltas as compare

    suites = named(items)

    def stage(given: specs.DeltasSpec) -> dict[str, Any]:
        found = {name: perplexities / f"{name}.json" for name in given.perplexity}
        return compare(given, scores, suites, found, output)

    run(
        specs.DeltasSpec,
        spec,
        stage,
        manifest=output / "manifest.json",
        code=code,
        inputs=suites.values(),
    )


@app.command(rich_help_panel="Stages")
def measures(
    spec: Spec,
    scores: Scores,
    items: Annotated[Path, typer.Option(help="Items of the suite")],
    output: Output,
    norms: Annotated[Path | None, typer.Option(help="Norms of the test")] = None,
    code: Code = "",
) -> None:
    """Write the results on a suite of paradigms, choices or completions."""
    from poshgrid.statistics.measures import choices, paradigms

    def stage(given: specs.MeasuresSpec) -> dict[str, Any]:
        how, asked = given.measures, (given.runs, scores, given.suite, items, output)
        if given.task == "paradigms":
            return paradigms.write(*asked, sign=how.sign, reduction=how.reduction)
        return choices.write(*asked, norms=norms, block_pass=how.block_pass)

    run(
        specs.MeasuresSpec,
        spec,
        stage,
        manifest=output / "manifest.json",
        code=code,
        inputs=[items, *([norms] if norms else [])],
    )
