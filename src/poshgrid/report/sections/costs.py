"""Time and cost: what the manifests of a target's results say of computing time and memory.

A manifest holds the attempt that succeeded, and no other. What that leaves out is said beside the
sums. Training keeps its own clock: the seconds of its steps over all attempts, in its checkpoints.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import polars as pl

from poshgrid.files import Schema
from poshgrid.report import style
from poshgrid.report.blocks import Block, Heading, Note, Page, headed
from poshgrid.report.collect import Collected, Trained
from poshgrid.report.records import Record
from poshgrid.tables.table import Column, Table, empty, text, without
from poshgrid.tables.words import count, counted, decimals, duration, percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE, ORDER, AUDIENCE = "Time and cost", 160, "engineer"
HOUR = 3600.0  # seconds
STAGES: Schema = {
    "stage": pl.String,
    "jobs": pl.UInt32,
    "wall_seconds": pl.Float64,  # of the attempts that succeeded, summed; as the next
    "cpu_seconds": pl.Float64,  # of the jobs' own processes
    "gpu_seconds": pl.Float64,  # wall time of the jobs that ran on a GPU
    "peak_memory_mb": pl.Float64,  # of the largest job; null: not recorded
}
"""One row per stage, in the order of the pipeline."""

_FORMULA = (
    "Cost = GPU hours × price of a GPU hour + CPU hours × price of a CPU hour, at your prices. "
    "CPU hours are those used; if you pay for what you reserve, use wall time × cores."
)


def blocks(page: Page) -> list[Block]:
    """Return what the manifests say of time: sums, the stages, what is left out, training."""
    collected, shelf = page.collected, page.shelf
    stages = by_stage(collected.records)
    if stages.is_empty():
        return ["Not run."]
    caption = "Wall time by stage, summed over jobs, in the order of the pipeline."
    return [
        f"{summary(stages)} {_FORMULA}",
        shelf.picture("wall-time", caption, draw, stages),
        Heading("Stages"),
        shelf.table(_stages(stages)),
        *map(Note, notes(collected)),
        *headed("Training", page.table(training(collected))),
    ]


def by_stage(records: Iterable[Record]) -> pl.DataFrame:
    """Sum the manifests up by stage (:data:`STAGES`); those without a time are left out."""
    found: dict[str, dict[str, Any]] = {}
    for record in records:
        facts = record.content
        wall = facts.get("wall_seconds")
        if wall is None:
            continue
        row = found.setdefault(record.stage, {
            "stage": record.stage, "jobs": 0, "wall_seconds": 0.0, "cpu_seconds": 0.0,
            "gpu_seconds": 0.0, "peak_memory_mb": None,
        })  # fmt: skip
        row["jobs"] += 1
        row["wall_seconds"] += wall
        row["cpu_seconds"] += facts.get("cpu_seconds") or 0.0
        row["gpu_seconds"] += wall if _device(facts) != "cpu" else 0.0
        memory = [m for m in (row["peak_memory_mb"], facts.get("peak_memory_mb")) if m is not None]
        row["peak_memory_mb"] = max(memory, default=None)
    return pl.DataFrame(list(found.values()), schema=STAGES)


def _device(facts: dict[str, Any]) -> str:
    """Return where a job computed; manifests say "cpu" where nothing else is known."""
    return str(facts.get("device") or "cpu").partition(":")[0]


def _stages(stages: pl.DataFrame) -> Table:
    """Lay the stages out, with their sum."""
    every = stages.sum().row(0, named=True)
    every |= {"stage": "all", "peak_memory_mb": stages["peak_memory_mb"].max()}
    total = every["wall_seconds"]
    rows: list[list[Any]] = [
        [
            row["stage"], row["jobs"], row["wall_seconds"], row["cpu_seconds"],
            row["peak_memory_mb"], row["gpu_seconds"] / HOUR,
            row["wall_seconds"] / total if total else None,
        ]
        for row in (*stages.iter_rows(named=True), every)
    ]  # fmt: skip
    columns = [
        text("Stage"), Column("Jobs", count), Column("Wall time", duration),
        Column("CPU time", duration), Column("Peak memory (MB)", count),
        Column("GPU hours", decimals(2)), Column("Share of wall time (%)", percent),
    ]  # fmt: skip
    caption = (
        "Computing time by stage, in the order of the pipeline. Wall time is summed over jobs, "
        "which may have run side by side; GPU hours are the wall time of jobs on a GPU; peak "
        "memory is that of the largest job."
    )
    return Table("costs", caption, columns, rows, {len(rows) - 1: "total"})


def summary(stages: pl.DataFrame) -> str:
    """Say in one sentence what the results took."""
    every = stages.sum().row(0, named=True)
    wall, cpu, gpu = (every[f"{name}_seconds"] / HOUR for name in ("wall", "cpu", "gpu"))
    return (
        f"{counted(every['jobs'], 'job')} took {cpu:,.2f} CPU hours and {gpu:,.2f} GPU hours in "
        f"{wall:,.2f} hours of wall time, summed over jobs."
    )


# ---- training ------------------------------------------------------------------------------------


def step_seconds(item: Trained) -> float | None:
    """Return the seconds that the steps of a training took, all attempts together.

    Evaluations and pre-pretraining are not in it. ``None``: nothing was trained, or no speed is
    recorded.
    """
    tokens, speed = (item.statistics.get(key) for key in ("tokens", "tokens_per_second"))
    return tokens / speed if tokens and speed else None


def resumed(item: Trained) -> bool:
    """Return whether a training was certainly resumed: its steps took longer than its last attempt.

    An attempt that was soon interrupted cannot be told so.
    """
    seconds, wall = step_seconds(item), item.manifest.get("wall_seconds")
    # The speed is rounded to a tenth of a token per second: a hundredth is no proof.
    return seconds is not None and wall is not None and seconds > 1.01 * wall + 1


def training(collected: Collected) -> Table:
    """Lay the speed of training out by learner, regimen, bias and device."""
    groups: dict[tuple[str, ...], list[Trained]] = {}
    for item in collected.asked:
        if step_seconds(item) is not None:
            device = _device(item.statistics if item.statistics.get("device") else item.manifest)
            key = (item.run.learner, item.run.regimen, item.run.bias, device)
            groups.setdefault(key, []).append(item)
    rows: list[list[Any]] = []
    for axes, found in sorted(groups.items(), key=itemgetter(0)):
        steps, tokens = (sum(i.statistics.get(k) or 0 for i in found) for k in ("steps", "tokens"))
        seconds = sum(step_seconds(i) or 0.0 for i in found)
        walls = [i.manifest["wall_seconds"] for i in found if "wall_seconds" in i.manifest]
        used, memory = _on_device(found)
        rows.append([
            *axes, len(found), steps, tokens, seconds, steps / seconds, tokens / seconds, used,
            memory, sum(walls) if walls else None, sum(map(resumed, found)),
        ])  # fmt: skip
    columns = [
        *(text(name) for name in ("Learner", "Regimen", "Bias", "Device")),
        Column("Runs", count), Column("Steps", count), Column("Tokens seen", count),
        Column("Time of steps", duration), Column("Steps/s", decimals(2)),
        Column("Tokens/s", count), Column("Utilisation (%)", percent),
        Column("GPU memory (MB)", count), Column("Wall time", duration), Column("Resumed", count),
    ]  # fmt: skip
    caption = (
        "Speed of training, summed over sizes, conditions and seeds. Tokens and time of steps are "
        "those of all attempts, without evaluations and pre-pretraining; wall time is the last "
        "attempt's, with both."
    )
    if all(row[10] is None for row in rows):
        caption += " The share of the device's FLOPs is not known: it is recorded on GPUs alone."
    else:
        caption += " Utilisation: model FLOPs as a share of the device's peak, weighted by time."
    table = Table("training-speed", caption, columns, rows)
    return without(table, empty(table, ["Utilisation (%)", "GPU memory (MB)"]))


def _on_device(items: Iterable[Trained]) -> tuple[float | None, float | None]:
    """Return utilisation (share, mean over time) and largest GPU memory (MB) of trainings."""
    used = seconds = 0.0
    memory: list[float] = []
    for item in items:
        before = 0
        for line in item.curve:
            tokens, before = line["tokens"] - before, line["tokens"]
            speed, share = line.get("tokens_per_second"), line.get("utilisation")
            if speed and share is not None:
                used += share * tokens / speed
                seconds += tokens / speed
            if line.get("gpu_memory_mb") is not None:
                memory.append(line["gpu_memory_mb"])
    return (used / seconds if seconds else None), max(memory, default=None)


def notes(collected: Collected) -> list[str]:
    """Say what the sums leave out."""
    found = [
        "A manifest records the attempt that succeeded: failed and interrupted attempts, and "
        "results that were made again, are not in these sums. CPU time is that of a job's own "
        "process and threads, without the processes that it started."
    ]
    trained = [item for item in collected.asked if step_seconds(item) is not None]
    again = [item for item in trained if resumed(item)]
    if again:
        steps = sum(step_seconds(item) or 0.0 for item in again)
        walls = sum(item.manifest["wall_seconds"] for item in again)
        found.append(
            f"Resumed after an interruption: {len(again)} of {counted(len(trained), 'training')}. "
            f"Their steps took {duration(steps)}, their last attempts {duration(walls)}, so at "
            f"least {duration(steps - walls)} of wall time, with its CPU or GPU hours, is "
            "missing here."
        )
    elif trained:
        found.append(
            f"No sign that any of {counted(len(trained), 'training')} was resumed; an interruption "
            "early in training would not show."
        )
    return found


# ---- the figure ----------------------------------------------------------------------------------


def draw(stages: pl.DataFrame, *, narrow: bool = False) -> Figure:
    """Draw wall time by stage as horizontal bars.

    Args:
        stages: :data:`STAGES`.
        narrow: for a telephone.

    Returns:
        The share on a GPU in a second colour, if there is any; each bar's time beside it.
    """
    from matplotlib.figure import Figure

    longest = max([*stages["wall_seconds"], 1e-9])
    unit, name = next(
        (u, n)
        for u, n in ((HOUR, "hours"), (60.0, "minutes"), (1.0, "seconds"))
        if longest >= 2 * u or u == 1.0
    )
    width = style.NARROW if narrow else style.WIDE
    figure = Figure(figsize=(width, 0.8 + 0.27 * stages.height), layout="constrained")
    axes = figure.subplots()
    places = list(range(stages.height))[::-1]
    gpu = [seconds / unit for seconds in stages["gpu_seconds"]]
    cpu = [
        (wall - on_gpu) / unit
        for wall, on_gpu in stages.select("wall_seconds", "gpu_seconds").iter_rows()
    ]
    on_cpu = axes.barh(places, cpu, height=0.68, color=style.SERIES[0].light, label="on a CPU")
    if any(gpu):
        on_gpu = axes.barh(
            places, gpu, left=cpu, height=0.68, color=style.SERIES[1].light, label="on a GPU"
        )
        style.legend(figure, [on_cpu, on_gpu])
    for y, seconds in zip(places, stages["wall_seconds"], strict=True):
        axes.annotate(
            duration(seconds), (seconds / unit, y), (4, 0), textcoords="offset points",
            va="center", fontsize=8, color=style.MUTED.light,
        )  # fmt: skip
    axes.set_yticks(places, stages["stage"].to_list())
    axes.tick_params(axis="y", labelcolor=style.INK.light, length=0)
    axes.set_xlim(0, longest / unit * (1.35 if narrow else 1.15))
    axes.set_ylim(-0.7, stages.height - 0.3)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(f"Wall time ({name})")
    return figure
