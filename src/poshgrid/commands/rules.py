"""Commands: what rules make of a suite's pairs."""

from __future__ import annotations

from poshgrid.commands.base import Code, Models, Output, Pairs, Scores, Spec, app, named, run
from poshgrid.config import specs
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
