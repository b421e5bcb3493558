"""The structural checks: a fault planted among sound pairs is caught by its own check alone."""

import polars as pl
import pytest

from poshgrid.benchmark import lexicon, structure
from poshgrid.benchmark.schema import PAIRS
from poshgrid.core.errors import PoshgridError
from tests.cases import read_cases
from tests.unit.benchmark.generated import KNOWN, WORDS

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


def failed(suite, vocabulary=VOCABULARY, *, generated=True):
    """Return check -> ids of the items that fail it."""
    checks = structure.checks(suite, WORDS, vocabulary, generated=generated)
    return {check.name: check.ids for check in checks if check.faults}


@pytest.mark.parametrize("row", CASES["planted"])
def test_a_planted_fault_is_caught_by_its_own_check(row):
    kind, phenomenon, *members = row
    suite = table(*SOUND, (phenomenon, "contrast", *members))
    assert failed(suite) == {kind: ["x-0015"]}
    with pytest.raises(PoshgridError, match=rf"{kind}: 1 \(first: x-0015, "):
        structure.refuse_faults(suite, WORDS, VOCABULARY)


def test_repeated_and_identical_pairs_are_caught():
    assert failed(table(*SOUND, SOUND[0], SOUND[1])) == {"repeated pairs": ["x-0015", "x-0016"]}
    for seen in (" ", " \N{NO-BREAK SPACE}", "\N{ZERO WIDTH SPACE} ", "  "):
        alike = (*SOUND[0][:3], SOUND[0][2].replace(" ", seen, 1))
        assert failed(table(*SOUND, alike))["identical members"] == ["x-0015"], ascii(seen)


# ---- suites of others ---------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "good", "bad"), CASES["outside"])
def test_a_planted_fault_of_an_outside_suite_is_caught_by_its_own_check(kind, good, bad):
    known = frozenset(lexicon.tokens(f"{good} {bad}")) - {"zelda"}
    faults = failed(table(("x", "x", good, bad)), lexicon.Vocabulary(0, {"list": known}),
                    generated=False)  # fmt: skip
    assert faults == ({kind: ["x-0001"]} if kind else {})
