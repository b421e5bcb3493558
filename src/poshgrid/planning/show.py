"""A plan in the terminal: it reads well at 80 columns."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from poshgrid.planning.budget import Selection
from poshgrid.planning.jobs import REASONS
from poshgrid.planning.plan import Amounts, Group, Plan

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
    yield _legend(plan)
    yield ""
    yield _total(plan)
    yield from _sources(plan)


def unrecorded(plan: Plan) -> Iterator[str]:
    """Yield how those jobs are run that Snakemake does not run by itself."""
    if plan.unrecorded:
        yield (
            f"[bold]{len(plan.unrecorded):,} of these jobs Snakemake does not run by itself[/]: "
            "it has no record of what manifests tell. With your --profile:"
        )
        yield _plain(f"  {plan.remedy}")


def selection(plan: Plan, chosen: Selection, hours: float, overlay: Path | None) -> Iterator[str]:
    """Yield what is printed of the part that fits a budget."""
    of_cells = Counter((run.condition, run.size, run.learner, run.bias) for run in chosen.runs)
    spent = f"{amount(chosen.gpu_hours)} of {amount(chosen.whole)} GPU-hours"
    yield (
        f"[bold]Budget of {hours:g} GPU-hours[/]: {len(chosen.runs):,} of {len(plan.runs):,} "
        f"runs fit, for {spent}."
    )
    by_kind: dict[tuple[str, str, str, int], list[str]] = {}
    for (condition, size, learner, bias), seeds in of_cells.items():
        by_kind.setdefault((size, learner, bias, seeds), []).append(condition)
    for (size, learner, bias, seeds), conditions in by_kind.items():
        how = learner if bias == "none" else f"{learner}, {bias}"
        many = "1 seed" if seeds == 1 else f"{seeds} seeds"
        yield f"  {size} {how}: {', '.join(conditions)}; {many}"
    if overlay is not None:
        command = ["snakemake", "--configfile", *map(str, (*plan.files, overlay))]
        command += ["--config", f"results={plan.results}"] if plan.results else []
        yield _plain(f"Written to {overlay}: {shlex.join([*command, '--', plan.target])}")
    elif chosen.dropped:
        yield "--overlay FILE writes this selection as a configuration."


def _table(*columns: str, right: tuple[str, ...] = ()) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    return table


def _by_rule(plan: Plan) -> Table:
    numbers = ("run", "cached", "GPU-h", "CPU-h", "GB")
    table = _table("rule", *numbers, "basis", right=numbers)
    for rule in plan.rules:
        found = plan.amounts(rule)
        running = sum(job.rule == rule for job in plan.pending)
        cached = sum(job.rule == rule and not job.reasons for job in plan.jobs)
        table.add_row(rule, f"{running:,}", f"{cached:,}", *_cells(found, running))
    table.add_section()
    total = plan.amounts()
    ready = len(plan.jobs) - len(plan.pending)
    table.add_row("all", f"{len(plan.pending):,}", f"{ready:,}", *_cells(total, 1))
    return table


def _cells(found: Amounts, running: int) -> list[str]:
    if not running:
        return ["-", "-", "-", "-"]
    return [amount(found.gpu_hours), amount(found.cpu_hours), amount(found.gigabytes),
            found.basis()]  # fmt: skip


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
    return "\n".join([*(f"[bold]{_plain(c)}[/]" for c in changes), *map(_plain, cells)])


def _legend(plan: Plan) -> str:
    used = {word for group in plan.groups for word in group.reasons}
    return "; ".join(f"{word}: {told}" for word, told in REASONS.items() if word in used) + "."


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def _total(plan: Plan) -> str:
    found = plan.amounts()
    where = f"{plan.gpus:,} x {plan.gpu}" if plan.gpu else "no GPU"
    return (
        f"At most {amount(found.gpu_hours)} GPU-hours ({found.basis('gpu_hours')}), "
        f"{amount(found.cpu_hours)} CPU-hours ({found.basis('cpu_hours')}), "
        f"{amount(found.gigabytes)} GB ({found.basis('gigabytes')}); "
        f"{amount(plan.wall_hours)} hours on {where} and {plan.cores:,} cores "
        f"({found.basis()}), without waiting in a queue. Training that stops early takes less."
    )


def _sources(plan: Plan) -> Iterator[str]:
    """Yield where the numbers of the costliest rules come from."""
    costly = sorted(
        plan.rules, key=lambda r: -(plan.amounts(r).gpu_hours * 10 + plan.amounts(r).cpu_hours)
    )
    for rule in costly[:3]:
        for text in plan.sources(rule)[:2]:
            yield _plain(f"  {rule}: {text}")


def amount(value: float) -> str:
    """Write an amount with two digits that count, thousands in groups."""
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.1f}"
    if value >= 0.005 or value == 0:
        return f"{value:.2f}"
    return "<0.01"
