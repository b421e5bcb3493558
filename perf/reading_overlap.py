"""How many sentences the readings of a filter take, and how many both do (docs/lab/filters.md).

python perf/reading_overlap.py GOLD.conllu ...
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from poshgrid.evidence.label import rules_of
from poshgrid.parsing import treebank


def main(paths: list[Path]) -> None:
    """Print a row for each filter that has the readings ``paper`` and ``direct``."""
    trees = [tree for path in paths for tree in treebank.trees(path)]
    print(f"{len(trees):,} sentences\nfilter | `paper` | `direct` | both\n---|---:|---:|---:")
    for name in ("question-formation", "binding"):
        readings = rules_of(name).readings
        taken = Counter(
            tuple(readings[word](tree) is not None for word in ("paper", "direct"))
            for tree in trees
        )
        both = taken[True, True]
        print(f"`{name}` | {both + taken[True, False]} | {both + taken[False, True]} | {both}")


if __name__ == "__main__":
    main([Path(path) for path in sys.argv[1:]])
