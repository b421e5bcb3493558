"""Pairs of our own, for the tests of the checks."""

import polars as pl

from poshgrid.benchmark import lexicon
from poshgrid.benchmark.schema import PAIRS
from tests.cases import read_cases
from tests.unit.benchmark.generated import KNOWN

VOCABULARY = lexicon.Vocabulary(9_999, {**KNOWN.frequent, "b": KNOWN.frequent["a"] - {"witch"}})

CASES = read_cases(__file__, "pairs")
SOUND = [tuple(row) for row in CASES["sound"]]
"""(phenomenon, contrast, good, bad): one pair of each kind, none with a fault."""


def table(*rows: tuple[str, str, str, str]) -> pl.DataFrame:
    """Return rows as ``PAIRS``; ids are x-0001, x-0002 ..., each a set."""
    return pl.DataFrame(
        [
            {
                "item_id": f"x-{i:04}", "category": "c", "phenomenon": phenomenon,
                "template": f"{phenomenon}-t", "lexical_set": f"x{i}", "contrast": contrast,
                "good": good, "bad": bad,
            }
            for i, (phenomenon, contrast, good, bad) in enumerate(rows, start=1)
        ],
        schema=PAIRS,
    )  # fmt: skip
