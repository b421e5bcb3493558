"""A plan in the terminal: it reads well at 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.markup import escape

from poshgrid.planning.jobs import REASONS
from poshgrid.planning.plan import Group, Plan

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_SHOWN = 3  # changes of the configuration, of each group


def page(plan: Plan, examples: int) -> Iterator[RenderableType]:
    """Yield what is printed of a plan.

    Args:
        plan: what to show.
        examples: cells to name for each rule and reason.
    """
    waiting, there = len(plan.pending), len(plan.jobs) - len(plan.pending)
    nulls = len(plan.grid.nulls(plan.runs))
    yield (
        f"[bold]{plan.target}[/]: {len(plan.runs):,} runs, {nulls:,} nulls. "
        f"{waiting:,} jobs would run, {there:,} are up to date."
    )
    if plan.missing:
        yield (
            f"Sources missing: {', '.join(plan.missing)}. Their jobs would fail; "
            "`poshgrid ready` says what to do."
        )
    if not plan.pending:
        return
    yield _by_rule(plan)
    yield _why(plan, examples)
    used = {word for group in plan.groups for word in group.reasons}
    yield "; ".join(f"{word}: {text}" for word, text in REASONS.items() if word in used) + "."
    yield (
        f"\nTraining takes at most {plan.hours:,.2f} hours of one {plan.costs.device}; training "
        f"that stops early takes less. Models take {plan.gigabytes:,.2f} GB."
    )


def _table(*columns: str, right: tuple[str, ...] = ()) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    return table


def _by_rule(plan: Plan) -> Table:
    table = _table("rule", "run", "cached", right=("run", "cached"))
    for rule, waiting, there in plan.counts:
        table.add_row(rule, f"{waiting:,}", f"{there:,}")
    return table


def _why(plan: Plan, examples: int) -> Table:
    table = _table("rule", "jobs", "why", "for instance", right=("jobs",))
    for group in plan.groups:
        why = ", ".join(group.reasons)
        table.add_row(group.rule, f"{len(group.jobs):,}", why, _instances(group, examples))
    return table


def _instances(group: Group, examples: int) -> str:
    changes = group.changes[:_SHOWN]
    if len(group.changes) > _SHOWN:
        changes.append(f"and {len(group.changes) - _SHOWN} more changes")
    cells = [job.cell or job.rule for job in group.jobs[:examples]]
    left = len(group.jobs) - len(cells)
    cells += [f"and {left:,} more"] * bool(left and cells)
    return "\n".join([*(f"[bold]{escape(c)}[/]" for c in changes), *map(escape, cells)])
