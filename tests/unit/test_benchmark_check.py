"""The gate catches planted faults of every kind and lets sound pairs pass."""

from __future__ import annotations

import polars as pl
import pytest

from poshgrid.benchmark import check, lexicon
from poshgrid.benchmark.schema import ITEMS
from poshgrid.errors import PoshgridError

WORDS = lexicon.read()
KNOWN = frozenset(f for w in WORDS.words for f in w.folded) - {"zebra", "witch"}
VOCABULARY = lexicon.Vocabulary(9_999, {"a": KNOWN | {"witch"}, "b": KNOWN})

SOUND = [
    ("reflexive-gender", "The girl said that the boy likes himself.",
     "The girl said that the boy likes herself."),
    ("reflexive-gender", "The man knew that John's mother helped herself.",
     "The man knew that John's mother helped himself."),
    ("clause-type", "What did that girl say that John likes?",
     "What did that girl say whether John likes?"),
    ("wh-word", "When does Mary wanna sleep?", "Who does Mary wanna sleep?"),
    ("gap-position", "Who should the man help before seeing the girl?",
     "Who should the man help the girl before seeing?"),
    ("gap-position", "What did the man who helped the girl like?",
     "What did the man who helped like the girl?"),
    ("moved-auxiliary", "Will the man who the boy did see leave?",
     "Did the man who the boy see will leave?"),
]  # fmt: skip

PLANTED = [
    # contrast, good, bad, kind of fault
    ("reflexive-gender", "The girl said that the boy likes himself.",
     "The girl said that the boy liked herself.", "pairs that differ beyond the contrast"),
    ("reflexive-gender", "The girl said that the boy likes himself.",
     "The girl thinks that the boy likes himself.", "pairs that differ beyond the contrast"),
    ("clause-type", "What did the girl say whether John likes?",
     "What did the girl say that John likes?", "pairs that differ beyond the contrast"),
    ("clause-type", "What did the girl ask who likes?", "What did the girl ask Mary likes?",
     "pairs that differ beyond the contrast"),
    ("wh-word", "What does Mary wanna sleep?", "Who does Mary wanna sleep?",
     "pairs that differ beyond the contrast"),
    ("wh-word", "When does Mary wanna sleep?", "Who did Mary wanna sleep?",
     "pairs that differ beyond the contrast"),
    ("gap-position", "Who should the man help before seeing the girl?",
     "Who should the man help the boy before seeing?", "pairs that differ beyond the contrast"),
    ("gap-position", "Who should the man help before seeing the girl?",
     "Who the man should girl help the before seeing?", "pairs that differ beyond the contrast"),
    ("moved-auxiliary", "Will the man who the boy did see leave?",
     "Did the man who the boy will see leave?", None),  # a permutation of the same kind
    ("moved-auxiliary", "Will the man who the boy did see leave?",
     "Did the man who the boy leave will see?", "pairs that differ beyond the contrast"),
    ("moved-auxiliary", "Will the man who the boy will see leave?",
     "Will the man who the boy see will leave?", "repeated auxiliaries"),
    ("wh-word", "When does Zelda wanna sleep?", "Who does Zelda wanna sleep?",
     "words outside the vocabulary"),
    ("wh-word", "When does the witch wanna sleep?", "Who does the witch wanna sleep?",
     "words outside the vocabulary"),
    ("gap-position", "Who should the man help before helping the girl?",
     "Who should the man help the girl before helping?", "repeated content words"),
    ("gap-position", "What should the man draw before seeing the drawing?",
     "What should the man draw the drawing before seeing?", "repeated content words"),
    ("wh-word", "When does Mary wanna sleep?", "who does Mary wanna sleep?",
     "members not written as sentences"),
    ("wh-word", "When does Mary wanna sleep?", "Who does mary wanna sleep?",
     "members not written as sentences"),
    ("wh-word", "When does Mary wanna sleep?", "Who does Mary wanna sleep.",
     "members not written as sentences"),
    ("wh-word", "When does  Mary wanna sleep?", "Who does  Mary wanna sleep?",
     "members not written as sentences"),
    ("wh-word", "When does Mary wanna sleep?", "When does Mary wanna sleep?",
     "identical members"),
]  # fmt: skip


def table(*rows):
    return pl.DataFrame(
        [
            {
                "item_id": f"p-{i:04}", "category": "c", "phenomenon": "p", "template": "p-t",
                "lexical_set": "x", "contrast": contrast, "good": good, "bad": bad,
            }
            for i, (contrast, good, bad) in enumerate(rows, start=1)
        ],
        schema=ITEMS,
    )  # fmt: skip


def test_sound_pairs_pass():
    assert check.faults(table(*SOUND), WORDS, VOCABULARY) == {}
    check.gate(table(*SOUND), WORDS, VOCABULARY)


@pytest.mark.parametrize(("contrast", "good", "bad", "kind"), PLANTED)
def test_a_planted_fault_is_caught(contrast, good, bad, kind):
    items = table(*SOUND, (contrast, good, bad))
    found = check.faults(items, WORDS, VOCABULARY)
    planted = f"p-{len(SOUND) + 1:04}"
    if kind is None:
        assert found == {}
        return
    assert found[kind] == [planted]
    assert {i for ids in found.values() for i in ids} == {planted}
    with pytest.raises(PoshgridError, match=rf"1 {kind} \(first: {planted}\)"):
        check.gate(items, WORDS, VOCABULARY)


def test_a_repeated_pair_is_caught_and_counted():
    items = table(*SOUND, SOUND[0], SOUND[0])
    assert check.faults(items, WORDS, VOCABULARY) == {"repeated pairs": ["p-0008", "p-0009"]}
    with pytest.raises(PoshgridError, match=r"2 repeated pairs \(first: p-0008\)"):
        check.gate(items, WORDS, VOCABULARY)


def test_an_unknown_contrast_is_refused():
    with pytest.raises(PoshgridError, match="unknown contrast 'wh-words'; did you mean 'wh-word'"):
        check.gate(table(("wh-words", "When?", "Who?")), WORDS, VOCABULARY)
