"""The structural checks: every planted fault is caught by its own check, sound pairs by none."""

import polars as pl
import pytest

from poshgrid.benchmark import items, lexicon
from poshgrid.benchmark.checks import structure
from poshgrid.benchmark.generation import templatefile, templates
from poshgrid.benchmark.schema import PAIRS
from poshgrid.errors import PoshgridError
from tests.unit.benchmark.generated import KNOWN, WORDS, generate
from tests.unit.quality.quality_suite import CASES, SOUND, VOCABULARY, table


def failed(suite, vocabulary=VOCABULARY, *, generated=True):
    """Return check -> ids of the items that fail it."""
    checks = structure.checks(suite, WORDS, vocabulary, generated=generated)
    return {check.name: check.ids for check in checks if check.faults}


def test_sound_pairs_pass_and_are_all_parsed():
    checks = structure.checks(table(*SOUND), WORDS, VOCABULARY, generated=True)
    assert [c.name for c in checks if c.faults] == []
    checked = {c.name: c.checked for c in checks}
    assert checked.pop("vacuous gaps") == sum("island" in pair[0] for pair in SOUND)
    assert set(checked.values()) == {len(SOUND)}
    structure.refuse_faults(table(*SOUND), WORDS, VOCABULARY)


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


@pytest.mark.parametrize("row", CASES["vacuous gaps"])
def test_a_gap_that_nothing_needs_to_fill_is_none(row):
    """Of others' suites the bad member alone is asked."""
    phenomenon, good, bad, *vacuous = row
    suite = table((phenomenon, "gap-position", good, bad))
    assert ("vacuous gaps" in failed(suite, None, generated=False)) == vacuous[1]
    assert ("vacuous gaps" in failed(suite)) == any(vacuous)


# ---- suites of others ---------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "good", "bad"), CASES["outside"])
def test_a_planted_fault_of_an_outside_suite_is_caught_by_its_own_check(kind, good, bad):
    known = frozenset(lexicon.tokens(f"{good} {bad}")) - {"zelda"}
    faults = failed(table(("x", "x", good, bad)), lexicon.Vocabulary(0, {"list": known}),
                    generated=False)  # fmt: skip
    assert faults == ({kind: ["x-0001"]} if kind else {})


# ---- what the generator makes -------------------------------------------------------------------


@pytest.fixture(scope="module")
def generated():
    """Pairs of every phenomenon, from the whole lexicon."""
    names = templatefile.names(templates.TEMPLATES)
    assert len(names) == 11
    rows = [
        row
        for name in names
        for row in generate(
            templatefile.read(templates.Phenomenon, name, templates.TEMPLATES), 60, 7
        )
    ]
    return items.with_regions(pl.DataFrame(rows, schema=PAIRS))


def test_generated_pairs_pass(generated):
    checks = structure.checks(generated, WORDS, KNOWN, generated=True)
    assert {c.name: c.faults for c in checks if c.faults} == {}
    checked = {c.name: c.checked for c in checks}
    assert checked.pop("vacuous gaps") == 4 * 60  # four kinds of islands
    assert set(checked.values()) == {generated.height}


def test_no_generated_pair_is_sound_the_wrong_way_round(generated):
    turned = generated.rename({"good": "bad", "bad": "good"}).select(list(PAIRS))
    checks = structure.checks(turned, WORDS, KNOWN, generated=True)
    # Exchanging auxiliaries, reflexives or blocks is symmetric: the grammar alone must tell.
    assert {item for check in checks for item in check.ids} == set(generated["item_id"])
