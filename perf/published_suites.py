"""What the gate finds in published suites, as the tables of docs/lab/published-suites.md.

    poshgrid check-pairs SUITE --reader READER --text child=... --text wiki=... --output FOLDER/NAME
    python perf/published_suites.py FOLDER

FOLDER holds a folder for each suite, each with the ``quality.json`` that the gate wrote.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

WORST = 8  # phenomena of a suite
NAMES = {"untrained": "untrained", "unigram": "unigram", "ngram": "n-gram",
         "class_ngram": "class n-gram"}  # fmt: skip
_TEXT = "pairs"  # what a check needs that is made of every suite


def main(folder: Path) -> None:
    """Print the tables."""
    found = [json.loads(path.read_text()) for path in sorted(folder.glob("*/quality.json"))]
    print(faults(found))
    print(baselines(found))
    for suite in found:
        print(worst(suite))


def faults(found: list[dict[str, Any]]) -> str:
    """Return a table of the checks that every suite can be held to."""
    checks = [check["name"] for check in found[0]["checks"] if check["needs"] == _TEXT]
    lines = [f"| pairs with | {' | '.join(suite['suite'] for suite in found)} |"]
    lines.append("|---|" + "---:|" * len(found))
    for name in checks:
        counts = [_check(suite, name) for suite in found]
        if any(check["items"] for check in counts):
            cells = (f"{c['items']:,} ({len(c['phenomena'])})" for c in counts)
            lines.append(f"| {name} | {' | '.join(cells)} |")
    pairs = (f"{suite['pairs']:,}" for suite in found)
    lines.append(f"| all pairs | {' | '.join(pairs)} |")
    return "\n".join(lines) + "\n"


def baselines(found: list[dict[str, Any]]) -> str:
    """Return a table of how many phenomena are flagged, and how many are 5 points off."""
    kinds = list(phenomena(found[0])[0]["baselines"])
    lines = [f"| phenomena | {' | '.join(suite['suite'] for suite in found)} |"]
    lines.append("|---|" + "---:|" * len(found))
    for kind in kinds:
        rows = [[row["baselines"][kind] for row in phenomena(suite)] for suite in found]
        cells = (f"{sum(of['flagged'] for of in each)} ({sum(map(_off, each))})" for each in rows)
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    every = [[list(row["baselines"].values()) for row in phenomena(suite)] for suite in found]
    cells = (
        f"{sum(any(of['flagged'] for of in row) for row in each)} "
        f"({sum(any(map(_off, row)) for row in each)})"
        for each in every
    )
    lines.append(f"| any of them | {' | '.join(cells)} |")
    lines.append(f"| all phenomena | {' | '.join(str(len(each)) for each in every)} |")
    return "\n".join(lines) + "\n"


def worst(suite: dict[str, Any]) -> str:
    """Return a table of a suite's phenomena whose baselines are furthest from 50%."""
    rows = phenomena(suite)
    kinds = list(rows[0]["baselines"])
    lines = [f"| {suite['suite']} | {' | '.join(kinds)} | faults |"]
    lines.append("|---|" + "---:|" * (len(kinds) + 1))
    for row in rows[:WORST]:
        marks = [(of["mean"], "**" if of["flagged"] else "") for of in row["baselines"].values()]
        cells = (f"{mark}{100 * mean:.1f}{mark}" for mean, mark in marks)
        told = [
            f"{check['phenomena'][row['phenomenon']]:,} {check['name']}"
            for check in suite["checks"]
            if check["needs"] == _TEXT and row["phenomenon"] in check["phenomena"]
        ]
        lines.append(f"| `{row['phenomenon']}` | {' | '.join(cells)} | {'; '.join(told)} |")
    return "\n".join(lines) + "\n"


def _check(suite: dict[str, Any], name: str) -> dict[str, Any]:
    return next(check for check in suite["checks"] if check["name"] == name)


def _off(of: dict[str, Any]) -> bool:
    return abs(of["mean"] - 0.5) > 0.05 + 1e-9


def phenomena(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each phenomenon, the worst baseline first: pairs, faults, baselines.

    Args:
        found: what ``quality.json`` holds.

    Returns:
        phenomenon, pairs, faults (of all checks; a pair with two counts twice), baselines:
        "baseline, corpus" -> mean, low, high, flagged.
    """
    baselines: dict[str, dict[str, dict[str, Any]]] = {}
    for baseline in found["baselines"]:
        for corpus, of in baseline["corpora"].items():
            baselines.setdefault(baseline["phenomenon"], {})[
                f"{NAMES[baseline['baseline']]}, {corpus}"
            ] = of
    rows = [
        {
            "phenomenon": phenomenon,
            "pairs": pairs,
            "faults": sum(check["phenomena"].get(phenomenon, 0) for check in found["checks"]),
            "baselines": baselines.get(phenomenon, {}),
        }
        for phenomenon, pairs in found["phenomena"].items()
    ]
    return sorted(
        rows, key=lambda row: -max(map(_distance, row["baselines"].values()), default=0.0)
    )


def _distance(of: dict[str, Any]) -> float:
    return abs(float(of["mean"]) - 0.5)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
