"""A plan in the terminal: it reads well at 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from poshgrid.planning.plan import Plan

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

CHANGES_SHOWN = 3
"""Changes of the configuration that are named, of each group of jobs."""


def page(plan: Plan, examples: int) -> Iterator[RenderableType]:
    """Yield what is printed of a plan.

    Args:
        plan: what to show.
        examples: cells to name for each rule and reason.
    """
    facts = plan.to_dict(examples)
    jobs = facts["jobs"]
    yield (
        f"[bold]{plan.target}[/]: {facts['runs']:,} runs, {facts['nulls']:,} nulls. "
        f"{jobs['run']:,} jobs would run, {jobs['up_to_date']:,} are up to date."
    )
    if plan.missing:
        yield (
            f"Sources missing: {', '.join(plan.missing)}. Their jobs would fail; "
            "`poshgrid ready` says what to do."
        )
    if not jobs["run"]:
        return
    table = _table("rule", "run", "cached")
    for rule in facts["rules"]:
        table.add_row(rule["rule"], f"{rule['run']:,}", f"{rule['up_to_date']:,}")
    yield table
    table = _table("rule", "jobs", "why (docs/planning.md)", "for instance")
    for group in facts["reasons"]:
        why = ", ".join(group["reasons"])
        table.add_row(group["rule"], f"{group['jobs']:,}", why, _instances(group))
    yield table
    yield (
        f"Training takes at most {facts['training']['hours_at_most']:,.2f} hours of one "
        f"{plan.costs.device}; training that stops early takes less. Models take "
        f"{facts['gigabytes_of_models']:,.2f} GB."
    )


def _table(*columns: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for name in columns:
        numbers = name in ("run", "cached", "jobs")
        table.add_column(name, justify="right" if numbers else "left", overflow="fold")
    return table


def _instances(group: dict[str, Any]) -> str:
    changes, cells = group["changes"], [cell or group["rule"] for cell in group["cells"]]
    lines = [f"[bold]{escape(change)}[/]" for change in changes[:CHANGES_SHOWN]]
    lines += [f"and {len(changes) - CHANGES_SHOWN} more changes"] * (len(changes) > CHANGES_SHOWN)
    lines += map(escape, cells)
    left = group["jobs"] - len(cells)
    return "\n".join([*lines, *[f"and {left:,} more"] * bool(left and cells)])
