"""Pairs of our own, for the tests of the gate."""

from __future__ import annotations

import polars as pl

from poshgrid.benchmark import items, lexicon
from poshgrid.benchmark.schema import PAIRS

WORDS = lexicon.read()
_KNOWN = frozenset(f for w in WORDS.words for f in w.folded)
VOCABULARY = lexicon.Vocabulary(9_999, {"a": _KNOWN, "b": _KNOWN - {"witch"}})

SOUND = [
    ("principle-a-locality", "reflexive-gender",
     "The girl said that the boy liked himself.", "The girl said that the boy liked herself."),
    ("principle-a-command", "reflexive-gender",
     "The man knew that John's mother helped herself.",
     "The man knew that John's mother helped himself."),
    ("principle-a-command", "reflexive-gender",
     "The woman said that the man who met the girl liked himself.",
     "The woman said that the man who met the girl liked herself."),
    ("principle-a-participle", "participle-form",
     "The boy saw himself helping the dog.", "The boy saw himself helped the dog."),
    ("island-wh", "clause-type",
     "What did that girl say that John liked?", "What did that girl say whether John liked?"),
    ("island-wh-pronoun", "wh-pronoun",
     "What did the girl say he liked?", "What did the girl say who liked?"),
    ("wanna", "wh-word", "When does Mary wanna sleep?", "Who does Mary wanna sleep?"),
    ("wanna", "wh-word", "How did the happy man wanna help the dog?",
     "What did the happy man wanna help the dog?"),
    ("island-adjunct", "gap-position", "Who should the man carry before thanking the girl?",
     "Who should the man carry the girl before thanking?"),
    ("island-adjunct", "gap-position", "What will the man carry after finding the letter?",
     "What will the man carry the letter after finding?"),
    ("island-complex-np", "gap-position", "What did the man who thanked the girl like?",
     "What did the man who thanked like the girl?"),
    ("question-formation-or", "moved-auxiliary", "Will the man who the boy did see leave?",
     "Did the man who the boy see will leave?"),
    ("question-formation-rr", "moved-auxiliary", "Will my doctor the boy can meet read the book?",
     "Can my doctor the boy meet will read the book?"),
    ("question-formation-sr", "moved-auxiliary", "Does the man who will help the boy sleep?",
     "Will the man who help the boy does sleep?"),
]  # fmt: skip
"""(phenomenon, contrast, good, bad): one pair of each kind, none with a fault."""


def table(*rows: tuple[str, str, str, str]) -> pl.DataFrame:
    """Return rows as ``ITEMS``; ids are x-0001, x-0002 ..., each a set."""
    return items.with_regions(
        pl.DataFrame(
            [
                {
                    "item_id": f"x-{i:04}", "category": "c", "phenomenon": phenomenon,
                    "template": f"{phenomenon}-t", "lexical_set": f"x{i}", "contrast": contrast,
                    "good": good, "bad": bad,
                }
                for i, (phenomenon, contrast, good, bad) in enumerate(rows, start=1)
            ],
            schema=PAIRS,
        )
    )  # fmt: skip
