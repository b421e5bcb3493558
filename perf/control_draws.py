"""How often draws of seeds find what is planted in the tiny grid, and nothing else.

    python perf/control_draws.py COUNTS [--seeds 3 --draws 20 --null]

COUNTS is counts.parquet of ``config/tiny.yaml`` with many seeds (``experiments: seeds``). Each draw
takes some seeds of each condition and fits the configuration's model to them. With ``--null`` both
groups are seeds of the first condition, so that all that is found is false.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from poshgrid.config import specs
from poshgrid.grid import configfile
from poshgrid.statistics.fit import fit

CONFIG = Path(__file__).resolve().parents[1] / "config/tiny.yaml"


def main() -> None:
    """Draw, fit, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("counts", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--null", action="store_true")
    options = parser.parse_args()
    (model,) = configfile.load(CONFIG).regressions
    (contrast,) = model.contrasts
    counts = pl.read_parquet(options.counts).filter(recipe="packed")
    seeds = counts["seed"].unique().sort().to_numpy()
    generator = np.random.default_rng(1)
    held = 0
    for draw in range(options.draws):
        both = generator.choice(seeds, (2, options.seeds), replace=False)
        parts = []
        for condition, chosen in zip((contrast.first, contrast.less), both, strict=True):
            source = contrast.first if options.null else condition
            rows = counts.filter(pl.col("seed").is_in(chosen.tolist()), condition=source)
            number = pl.col("seed").rank("dense").cast(pl.UInt32)
            filtered = pl.lit(condition == contrast.first)
            parts.append(
                rows.with_columns(condition=pl.lit(condition), seed=number, filtered=filtered)
            )
        with tempfile.TemporaryDirectory() as folder:
            table, output = Path(folder, "counts.parquet"), Path(folder, "fit")
            pl.concat(parts).write_parquet(table)
            fit(specs.RegressionSpec(model=model), table, output)
            rows = pl.read_parquet(output / "contrasts.parquet").to_dicts()
        planted = dict.fromkeys(contrast.planted, "none") if options.null else contrast.planted
        shown = [
            f"{row['level']} {100 * row['share']:.0f} [{100 * row['joint_low']:.0f}, "
            f"{100 * row['joint_high']:.0f}]"
            for row in rows if row["level"] in planted
        ]  # fmt: skip
        right = all(
            model.found_sign(row) == planted[row["level"]]
            for row in rows if row["level"] in planted
        )  # fmt: skip
        held += right
        print(draw, "as planted" if right else "NOT as planted", *shown, sep="; ", flush=True)
    print(f"as planted: {held} of {options.draws}")


if __name__ == "__main__":
    main()
