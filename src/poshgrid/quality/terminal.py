"""What the gate found, as two tables in a terminal: the checks, and the phenomena."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

_ROWS = 20  # phenomena that are shown
_NAMES = {"untrained": "untrained", "unigram": "unigram", "ngram": "n-gram"}


def draw(found: dict[str, Any]) -> list[RenderableType]:
    """Return the tables and lines that are printed.

    Args:
        found: what ``quality.json`` holds.
    """
    from rich.table import Table
    from rich.text import Text

    drawn: list[RenderableType] = [
        Text(f"{found['suite']}: {found['verdict']}, {found['pairs']:,} pairs", style="bold")
    ]
    table = Table(box=None, pad_edge=False)
    table.add_column("Check")
    table.add_column("Faults", justify="right")
    table.add_column("First")
    for check in found["checks"]:
        if check["items"]:
            first = check["first"][0]
            table.add_row(
                check["name"], f"{check['items']:,}", f"{first['item']}: {first['reason']}"
            )
    drawn += [table] if table.row_count else [Text("No check finds a fault.")]
    unmade = [check["name"] for check in found["checks"] if not check["checked"]]
    if unmade:
        drawn.append(Text(f"Not checked: {', '.join(unmade)}", style="dim"))
    rows = phenomena(found)
    table = Table(box=None, pad_edge=False)
    table.add_column("Phenomenon", min_width=26, overflow="fold")
    for head in ("Pairs", "Faults", *(rows[0]["nulls"] if rows else ())):
        table.add_column(head, justify="right")
    for row in rows[:_ROWS]:
        cells = (
            f"{'⚑ ' if of['flagged'] else ''}{100 * of['mean']:.1f}" for of in row["nulls"].values()
        )
        table.add_row(row["phenomenon"], f"{row['pairs']:,}", f"{row['faults']:,}", *cells)
    drawn += [Text(""), table]
    if len(rows) > _ROWS:
        drawn.append(Text(f"… and {len(rows) - _ROWS} more phenomena", style="dim"))
    return drawn


def phenomena(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each phenomenon, the worst null first: pairs, faults, nulls by base.

    Args:
        found: what ``quality.json`` holds.

    Returns:
        phenomenon, pairs, faults (of all checks; a pair with two counts twice), nulls:
        "null, base" -> mean, low, high, flagged.
    """
    nulls: dict[str, dict[str, dict[str, Any]]] = {}
    for null in found["nulls"]:
        for base, of in null["bases"].items():
            nulls.setdefault(null["phenomenon"], {})[f"{_NAMES[null['null']]}, {base}"] = of
    rows = [
        {
            "phenomenon": phenomenon,
            "pairs": pairs,
            "faults": sum(check["phenomena"].get(phenomenon, 0) for check in found["checks"]),
            "nulls": nulls.get(phenomenon, {}),
        }
        for phenomenon, pairs in found["phenomena"].items()
    ]
    return sorted(rows, key=lambda row: -max(map(_distance, row["nulls"].values()), default=0.0))


def _distance(of: dict[str, Any]) -> float:
    return abs(float(of["mean"]) - 0.5)
