"""The structural checks: every planted fault is caught by its own check, sound pairs by none."""

from __future__ import annotations

import polars as pl
import pytest

from poshgrid.benchmark import items, lexicon
from poshgrid.benchmark.checks import structure
from poshgrid.benchmark.generation import templatefile, templates
from poshgrid.benchmark.schema import PAIRS
from poshgrid.errors import PoshgridError
from tests.unit.benchmark.generated import generate
from tests.unit.quality.quality_suite import SOUND, VOCABULARY, WORDS, table

# check, phenomenon, good, bad
PLANTED = [
    ("words outside the vocabulary", "wanna", "When does Zelda wanna sleep?",
     "Who does Zelda wanna sleep?"),
    ("words outside the vocabulary", "wanna", "When does the witch wanna sleep?",
     "Who does the witch wanna sleep?"),
    ("repeated content words", "island-adjunct",
     "Who should the man carry before carrying the girl?",
     "Who should the man carry the girl before carrying?"),
    ("repeated auxiliaries", "question-formation-or", "Will the man who the boy will see leave?",
     "Will the man who the boy see will leave?"),
    ("capitals in one member only", "wanna", "When does Mary wanna sleep?",
     "Who does mary wanna sleep?"),
    ("marks in one member only", "wanna", "When does Mary, wanna sleep?",
     "Who does Mary wanna sleep?"),
    # the wrong reflexive
    ("reflexives without a rival", "principle-a-locality",
     "The girl said that the doctor liked himself.",
     "The girl said that the doctor liked herself."),
    ("reflexives without a rival", "principle-a-locality",
     "The man said that the boy liked himself.", "The man said that the boy liked herself."),
    # the good member is no sentence: gender, number, form, frame, sense, order
    ("ungrammatical good members", "principle-a-command",
     "The woman knew that John's mother helped himself.",
     "The woman knew that John's mother helped herself."),
    ("ungrammatical good members", "wanna", "When does the girls wanna sleep?",
     "Who does the girls wanna sleep?"),
    ("ungrammatical good members", "question-formation-sr",
     "Does the man who will helped the boy sleep?", "Will the man who helped the boy does sleep?"),
    ("ungrammatical good members", "island-wh", "What did that girl hope that John liked?",
     "What did that girl hope whether John liked?"),
    ("ungrammatical good members", "island-wh", "What did that girl see that John liked?",
     "What did that girl see whether John liked?"),  # no bridge
    ("ungrammatical good members", "wanna", "When does the wet man wanna sleep?",
     "Who does the wet man wanna sleep?"),
    ("ungrammatical good members", "question-formation-or",
     "Will the man who boy the did see leave?", "Did the man who boy the see will leave?"),
    # or another phenomenon's
    ("ungrammatical good members", "island-complex-np",
     "Who should the man carry after thanking the girl?",
     "Who should the man carry the girl after thanking?"),
    # the bad member is a sentence, too
    ("grammatical bad members", "wanna", "When does Mary wanna dance?",
     "What does Mary wanna dance?"),
    ("grammatical bad members", "principle-a-participle", "The boy saw himself hitting the dog.",
     "The boy saw himself hit the dog."),
]  # fmt: skip


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
    structure.hold(table(*SOUND), WORDS, VOCABULARY)


@pytest.mark.parametrize("row", PLANTED)
def test_a_planted_fault_is_caught_by_its_own_check(row):
    kind, phenomenon, *members = row
    suite = table(*SOUND, (phenomenon, "contrast", *members))
    assert failed(suite) == {kind: ["x-0015"]}
    with pytest.raises(PoshgridError, match=rf"{kind}: 1 \(first: x-0015, "):
        structure.hold(suite, WORDS, VOCABULARY)


@pytest.mark.parametrize(("phenomenon", "contrast", "good", "bad"), SOUND)
def test_a_pair_the_wrong_way_round_is_never_sound(phenomenon, contrast, good, bad):
    assert failed(table((phenomenon, contrast, bad, good)))


def test_repeated_and_identical_pairs_are_caught():
    assert failed(table(*SOUND, SOUND[0], SOUND[1])) == {"repeated pairs": ["x-0015", "x-0016"]}
    for seen in (" ", " \N{NO-BREAK SPACE}", "\N{ZERO WIDTH SPACE} ", "  "):
        alike = (*SOUND[0][:3], SOUND[0][2].replace(" ", seen, 1))
        assert failed(table(*SOUND, alike))["identical members"] == ["x-0015"], ascii(seen)
    suite = table(*SOUND).with_columns(item_id=pl.lit("x-0001"))
    assert failed(suite) == {"repeated ids": ["x-0001"]}


@pytest.mark.parametrize(
    ("phenomenon", "bad", "gap"),
    [
        ("island-adjunct", "Who should the man help the girl before thanking?", True),
        ("island-adjunct", "Who should the man help the girl before leaving?", False),
        ("island-complex-np", "What did the man who read like the girl?", False),
        ("island-wh", "What did that girl say whether John liked?", True),
        ("island-wh", "What did that girl say whether John danced?", False),
    ],
)
def test_a_gap_that_nothing_needs_to_fill_is_none(phenomenon, bad, gap):
    suite = table((phenomenon, "gap-position", "What did the man see?", bad))
    assert ("vacuous gaps" not in failed(suite, None, generated=False)) == gap


# ---- suites of others ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("capitals in one member only", "Does Mark play ?", "does Mark play ?"),
        ("capitals in one member only", "the growth saw Mark .", "the growth saw mark ."),
        ("marks in one member only", "Had Bruce ever played?", "Bruce had ever played."),
        ("repeated content words", "Helping whom helps?", "Helping who helps?"),  # one word's forms
        ("repeated auxiliaries", "can he say she can sing ?", "can she say he can sing ?"),
        ("words outside the vocabulary", "the cat saw him .", "the cat saw zelda ."),
        ("white space in one member only", "the cat sees .", "the cat see."),
        ("white space in one member only", "the cat\nsees .", "the cat see ."),
        # how pairs are written is no fault in itself
        (None, "The father saw Amelia .", "Amelia saw the father ."),  # a name opens and closes
        (None, "she is n't here .", "she 's here ."),  # an apostrophe is no mark of its own
        (None, "can't you say what he can?", "can't you say who he can?"),  # can't is not can
    ],
)
def test_a_planted_fault_of_an_outside_suite_is_caught_by_its_own_check(kind, good, bad):
    known = frozenset(lexicon.tokens(f"{good} {bad}")) - {"zelda"}
    faults = failed(table(("x", "x", good, bad)), lexicon.Vocabulary(0, {"list": known}),
                    generated=False)  # fmt: skip
    assert faults == ({kind: ["x-0001"]} if kind else {})


def test_what_a_check_needs_decides_where_it_is_made():
    def needs(rows, vocabulary=None):
        checks = structure.checks(table(*rows), WORDS, vocabulary, generated=False)
        return {c.needs for c in checks if c.checked}

    outside = [("other", "other", "a b .", "a c .")]
    assert needs(outside) == {"pairs"}
    assert needs(outside, VOCABULARY) == {"pairs", "words"}
    assert needs(SOUND) == {"pairs", "grammar"}


# ---- what the generator makes -------------------------------------------------------------------


@pytest.fixture(scope="module")
def generated():
    """Pairs of every phenomenon, from the whole lexicon."""
    words = lexicon.read()
    vocabulary = lexicon.Vocabulary(
        99_999, {"a": frozenset(f for w in words.words for f in w.folded)}
    )
    names = templatefile.names(templates.TEMPLATES)
    assert len(names) == 11
    rows = [row for name in names for row in generate(templates.read(name), 60, 7)]
    return items.with_regions(pl.DataFrame(rows, schema=PAIRS)), words, vocabulary


def test_generated_pairs_pass(generated):
    suite, words, vocabulary = generated
    checks = structure.checks(suite, words, vocabulary, generated=True)
    assert {c.name: c.faults for c in checks if c.faults} == {}
    checked = {c.name: c.checked for c in checks}
    assert checked.pop("vacuous gaps") == 4 * 60  # four kinds of islands
    assert set(checked.values()) == {suite.height}


def test_no_generated_pair_is_sound_the_wrong_way_round(generated):
    suite, words, vocabulary = generated
    turned = suite.rename({"good": "bad", "bad": "good"}).select(list(PAIRS))
    checks = structure.checks(turned, words, vocabulary, generated=True)
    # Exchanging auxiliaries, reflexives or blocks is symmetric: the grammar alone must tell.
    assert {item for check in checks for item in check.ids} == set(suite["item_id"])
