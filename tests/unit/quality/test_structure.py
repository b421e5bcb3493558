"""The structural checks: every planted fault is caught by its own check, sound pairs by none."""

from __future__ import annotations

import polars as pl
import pytest

from poshgrid.benchmark import items, lexicon
from poshgrid.benchmark.checks import structure
from poshgrid.benchmark.generation import templates
from poshgrid.benchmark.schema import PAIRS
from poshgrid.errors import PoshgridError
from tests.unit.benchmark.generated import generate
from tests.unit.quality.quality_suite import SOUND, VOCABULARY, WORDS, table

LOCAL, COMMAND, PARTICIPLE = (
    ("principle-a-locality", "reflexive-gender"),
    ("principle-a-command", "reflexive-gender"),
    ("principle-a-participle", "participle-form"),
)
CLAUSE, PRONOUN = ("island-wh", "clause-type"), ("island-wh-pronoun", "wh-pronoun")
WANNA = ("wanna", "wh-word")
ADJUNCT, COMPLEX = ("island-adjunct", "gap-position"), ("island-complex-np", "gap-position")
OR, SR = (
    ("question-formation-or", "moved-auxiliary"),
    ("question-formation-sr", "moved-auxiliary"),
)
OTHER = ("other", "gap-position")

PLANTED = [
    # words
    ("words outside the vocabulary", *WANNA, "When does Zelda wanna sleep?",
     "Who does Zelda wanna sleep?"),
    ("words outside the vocabulary", *WANNA, "When does the witch wanna sleep?",
     "Who does the witch wanna sleep?"),
    ("repeated content words", *ADJUNCT, "Who should the man help before helping the girl?",
     "Who should the man help the girl before helping?"),
    ("repeated auxiliaries", *OR, "Will the man who the boy will see leave?",
     "Will the man who the boy see will leave?"),
    ("capitals in one member only", *WANNA, "When does Mary wanna sleep?",
     "who does Mary wanna sleep?"),
    ("capitals in one member only", *WANNA, "When does Mary wanna sleep?",
     "Who does mary wanna sleep?"),
    ("marks in one member only", *WANNA, "When does Mary wanna sleep?",
     "Who does Mary wanna sleep."),
    ("marks in one member only", *WANNA, "When does Mary, wanna sleep?",
     "Who does Mary wanna sleep?"),
    # gender
    ("errors of gender", *LOCAL, "The girl said that the boy liked herself.",
     "The girl said that the boy liked himself."),
    ("errors of gender", *LOCAL, "The girl said that the doctor liked himself.",
     "The girl said that the doctor liked herself."),
    ("errors of gender", *LOCAL, "The man said that the boy liked himself.",
     "The man said that the boy liked herself."),
    ("errors of gender", *COMMAND, "The woman knew that John's mother helped himself.",
     "The woman knew that John's mother helped herself."),
    ("errors of gender", *PARTICIPLE, "The girl saw himself helping the dog.",
     "The girl saw himself helped the dog."),
    # number
    ("errors of number", *WANNA, "When do Mary wanna sleep?", "Who do Mary wanna sleep?"),
    ("errors of number", *WANNA, "When does the girls wanna sleep?",
     "Who does the girls wanna sleep?"),
    ("errors of number", *CLAUSE, "What did these girl say that John liked?",
     "What did these girl say whether John liked?"),
    ("errors of number", *COMPLEX, "What did the man who help the girl like?",
     "What did the man who help like the girl?"),
    # verb forms
    ("wrong verb forms", *WANNA, "When does Mary wanna slept?", "Who does Mary wanna slept?"),
    ("wrong verb forms", *ADJUNCT, "Who should the man help before see the girl?",
     "Who should the man help the girl before see?"),
    ("wrong verb forms", *CLAUSE, "What did that girl say that John seeing?",
     "What did that girl say whether John seeing?"),
    ("wrong verb forms", *SR, "Does the man who will helped the boy sleep?",
     "Will the man who helped the boy does sleep?"),
    # selection
    ("errors of selection", *CLAUSE, "What did that girl hope that John liked?",
     "What did that girl hope whether John liked?"),
    ("errors of selection", *CLAUSE, "What did that girl see that John liked?",
     "What did that girl see whether John liked?"),  # no bridge
    ("errors of selection", *CLAUSE, "What did that girl say that John met?",
     "What did that girl say whether John met?"),
    ("errors of selection", *WANNA, "When does Mary wanna read the dog?",
     "Who does Mary wanna read the dog?"),
    ("errors of selection", *WANNA, "When does the wet man wanna sleep?",
     "Who does the wet man wanna sleep?"),
    # the good member is no sentence, or another phenomenon's
    ("ungrammatical good members", *OR, "Will the man who boy the did see leave?",
     "Did the man who boy the see will leave?"),
    ("ungrammatical good members", *OR, "Does the man who can help the boy sleep?",
     "Can the man who help the boy does sleep?"),
    ("ungrammatical good members", *COMPLEX, "Who should the man help after seeing the girl?",
     "Who should the man help the girl after seeing?"),
    # the bad member is a sentence, too
    ("grammatical bad members", *WANNA, "When does Mary wanna dance?",
     "What does Mary wanna dance?"),
    ("grammatical bad members", *PARTICIPLE, "The boy saw himself hitting the dog.",
     "The boy saw himself hit the dog."),
    ("grammatical bad members", *ADJUNCT, "What will the man show after seeing the girl?",
     "What will the man show the girl after seeing?"),
]  # fmt: skip


def failed(items, vocabulary=VOCABULARY):
    """Return check -> ids of the items that fail it, of the checks that refuse a suite."""
    return {check.name: check.ids for check in found(items, vocabulary) if check.faults}


def found(items, vocabulary=VOCABULARY):
    """Return the checks that refuse a generated suite."""
    checks = structure.checks(items, WORDS, vocabulary, generated=True)
    return [check for check in checks if check.refuses]


def test_sound_pairs_pass_and_are_all_parsed():
    checks = found(table(*SOUND))
    assert [c.name for c in checks if c.faults] == []
    told = {c.name: c.checked for c in checks}
    assert told.pop("vacuous gaps") == sum("island" in pair[0] for pair in SOUND)
    assert set(told.values()) == {len(SOUND)}
    structure.hold(table(*SOUND), WORDS, VOCABULARY)


@pytest.mark.parametrize("row", PLANTED)
def test_a_planted_fault_is_caught_by_its_own_check(row):
    kind, *planted = row
    items = table(*SOUND, tuple(planted))
    item = f"x-{len(SOUND) + 1:04}"
    assert failed(items) == {kind: [item]}
    with pytest.raises(PoshgridError, match=rf"^generated items: {kind}: 1 \(first: {item}, "):
        structure.hold(items, WORDS, VOCABULARY)


@pytest.mark.parametrize(("phenomenon", "contrast", "good", "bad"), SOUND)
def test_a_pair_the_wrong_way_round_is_never_sound(phenomenon, contrast, good, bad):
    assert failed(table((phenomenon, contrast, bad, good)))


def test_repeated_and_identical_pairs_are_caught():
    assert failed(table(*SOUND, SOUND[0], SOUND[1])) == {"repeated pairs": ["x-0015", "x-0016"]}
    same = (*SOUND[0][:3], SOUND[0][2])
    assert failed(table(*SOUND, same)) == {"identical members": ["x-0015"]}
    for seen in (" \N{NO-BREAK SPACE}", "\N{ZERO WIDTH SPACE} ", "  "):
        alike = (*SOUND[0][:3], SOUND[0][2].replace(" ", seen, 1))
        assert "identical members" in failed(table(*SOUND, alike)), ascii(seen)
    items = table(*SOUND).with_columns(item_id=pl.lit("x-0001"))
    assert failed(items) == {"repeated ids": ["x-0001"]}


def test_without_counted_bases_only_the_lexicon_decides():
    witch = ("wanna", "wh-word", "When does the witch wanna sleep?",
             "Who does the witch wanna sleep?")  # fmt: skip
    assert failed(table(witch), None) == {}
    assert failed(table(witch)) == {"words outside the vocabulary": ["x-0001"]}


@pytest.mark.parametrize(
    ("phenomenon", "bad", "gap"),
    [
        ("island-adjunct", "Who should the man help the girl before seeing?", True),
        ("island-adjunct", "Who should the man help the girl before leaving?", False),
        (
            "island-adjunct",
            "What will the man see the letter after reading?",
            False,
        ),  # reading what?
        ("island-complex-np", "What did the man who helped like the girl?", True),
        ("island-complex-np", "What did the man who read like the girl?", False),
        ("island-wh", "What did that girl say whether John liked?", True),
        ("island-wh", "What did that girl say whether John danced?", False),
    ],
)
def test_a_gap_that_nothing_needs_to_fill_is_none(phenomenon, bad, gap):
    items = table((phenomenon, "gap-position", "What did the man see?", bad))
    (check,) = [
        c for c in structure.checks(items, WORDS, generated=False) if c.name == "vacuous gaps"
    ]
    assert (check.checked, len(check.faults)) == (1, 0 if gap else 1)


# ---- suites of others ---------------------------------------------------------------------------

OUTSIDE = [
    ("capitals in one member only", "Does Mark play ?", "does Mark play ?"),
    ("capitals in one member only", "the growth saw Mark .", "the growth saw mark ."),
    ("marks in one member only", "Had Bruce ever played?", "Bruce had ever played."),
    ("marks in one member only", "she sings , he knows .", "she sings he knows ."),
    ("members of different lengths", "Ann couldn't sing.", "Ann couldn't sing it."),
    ("repeated content words", "the cat saw this cat .", "the cat saw these cat ."),
    (
        "repeated content words",
        "Helping whom helps?",
        "Helping who helps?",
    ),  # two forms of one word
    ("repeated auxiliaries", "can he say she can sing ?", "can she say he can sing ?"),
    ("words outside the vocabulary", "the cat saw him .", "the cat saw zelda ."),
    ("white space in one member only", "the cat sees .", "the cat see."),
    ("white space in one member only", "the cat\nsees .", "the cat see ."),
    ("white space in one member only", "the cat sees . ", "the cat see ."),
    ("spelt unlike the corpora", "the cat’s here .", "the cat’s hers ."),
    ("spelt unlike the corpora", "the cafe\u0301 sees .", "the cafe\u0301 see ."),
    ("spelt unlike the corpora", "the  cat sees .", "the cat  see ."),
]


@pytest.mark.parametrize(("kind", "good", "bad"), OUTSIDE)
def test_a_planted_fault_of_an_outside_suite_is_caught_by_its_own_check(kind, good, bad):
    letters = frozenset(lexicon.tokens(" ".join(f"{g} {b}" for _, g, b in OUTSIDE))) - {"zelda"}
    words = lexicon.Vocabulary(0, {"list": letters})
    items = table(("other", "other", good, bad))
    checks = structure.checks(items, WORDS, words, generated=False)
    assert {c.name: c.ids for c in checks if c.faults} == {kind: ["x-0001"]}


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("The father saw Amelia .", "Amelia saw the father ."),  # a name opens and closes
        ("Mary isn't here.", "Mary is here."),  # an apostrophe is no mark of its own
        ("she is n't here .", "she 's here ."),
        ("Harvard University likes the university.", "Harvard University liked the university."),
        ("can't you say what he can?", "can't you say who he can?"),  # can't is not can
    ],
)
def test_how_pairs_of_others_are_written_is_no_fault_in_itself(good, bad):
    checks = structure.checks(table(("other", "other", good, bad)), WORDS, generated=False)
    written = {"capitals in one member only", "marks in one member only", "repeated auxiliaries"}
    assert [c.name for c in checks if c.faults and c.name in written] == []


def test_what_a_check_needs_decides_where_it_is_made():
    outside = structure.checks(table(("other", "other", "a b .", "a c .")), WORDS, generated=False)
    made = {c.needs for c in outside if c.checked}
    assert made == {"pairs"}
    assert {c.needs for c in outside if not c.checked} == {"words", "grammar"}
    known = structure.checks(table(*SOUND), WORDS, generated=False)
    assert {c.needs for c in known if c.checked} == {"pairs", "grammar"}


# ---- what the generator makes -------------------------------------------------------------------


@pytest.fixture(scope="module")
def generated():
    """Pairs of every phenomenon, from the whole lexicon."""
    words = lexicon.read()
    vocabulary = lexicon.Vocabulary(
        99_999, {"a": frozenset(f for w in words.words for f in w.folded)}
    )
    names = sorted(path.stem for path in templates.TEMPLATES.glob("*.yaml"))
    rows = [
        {column: row[column] for column in PAIRS}
        for name in names
        for row in generate(templates.read(name), 60, 7, words, vocabulary)
    ]
    return items.with_regions(pl.DataFrame(rows, schema=PAIRS)), words, vocabulary


def test_generated_pairs_pass(generated):
    items, words, vocabulary = generated
    checks = structure.checks(items, words, vocabulary, generated=True)
    assert {c.name: c.faults for c in checks if c.faults and c.refuses} == {}
    told = {c.name: c.checked for c in checks if c.refuses}
    assert told.pop("vacuous gaps") == 4 * 60  # four kinds of islands
    assert set(told.values()) == {items.height}
    assert items["phenomenon"].n_unique() == 11


def test_no_generated_pair_is_sound_the_wrong_way_round(generated):
    items, words, vocabulary = generated
    turned = items.rename({"good": "bad", "bad": "good"}).select(list(PAIRS))
    found = {
        item
        for c in structure.checks(turned, words, vocabulary, generated=True)
        for item, _ in c.faults
    }
    # Exchanging auxiliaries, reflexives or blocks is symmetric: the grammar alone must tell.
    assert found == set(items["item_id"])
