"""How often the gate flags a baseline, by pairs and by what it truly knows (docs/lab/benchmark.md).

    python perf/baseline_flags.py

Independent pairs, each a lexical set of its own; in brackets the rule of five points alone, which
knows nothing of the number of pairs.
"""

from __future__ import annotations

import numpy as np

from poshgrid.quality.baselines import beyond, interval

TOLERANCE = 0.05
SHARES = (0.5, 0.55, 0.6, 0.65, 0.8)
REPLICATES = {12: 10_000, 50: 10_000, 500: 3_000}  # by pairs


def main() -> None:
    """Print the table."""
    print("pairs", *(f"{100 * share:.0f}%" for share in SHARES), sep="\t")
    for pairs, replicates in REPLICATES.items():
        cells = []
        for share in SHARES:
            generator = np.random.default_rng(7)
            right = (generator.random((replicates, pairs)) < share).astype(float)
            flagged = [beyond(interval(row, [1] * pairs), TOLERANCE) for row in right.tolist()]
            points = np.abs(right.mean(1) - 0.5) > TOLERANCE + 1e-9
            cells.append(f"{100 * np.mean(flagged):.1f}% ({100 * points.mean():.1f}%)")
        print(pairs, *cells, sep="\t")


if __name__ == "__main__":
    main()
