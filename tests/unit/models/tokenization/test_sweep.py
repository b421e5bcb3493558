"""The sweep of vocabulary sizes: one training stands for all, and counts are those of the text."""

import json

from poshgrid.config import Tokenizer, specs
from poshgrid.models.tokenization import sweep
from tests.unit.models.training.training_support import write_condition


def spec(*sizes: int, **options: object) -> specs.TokenizerSpec:
    """Return a spec with a list of sizes; its own size leaves no merge: it must not be read."""
    settings = Tokenizer(vocabulary_size=258, sweep=list(sizes), **options)
    return specs.TokenizerSpec(tokenizer=settings)


def test_counts_worked_by_hand(tmp_path):
    # Words of bytes: " aa" twice, " b" once. At 258 types each byte is a token: 3 + 3 + 2.
    # The first merge is of a pair that occurs twice, the second makes " aa" one token.
    source = write_condition(tmp_path / "condition", train=["aa b", "aa"], dev=["b"], test=["b"])
    facts = sweep.sweep(spec(258, 259, 260, 5000), source, tmp_path / "sweep.json")
    assert facts == json.loads((tmp_path / "sweep.json").read_text())
    assert (facts["sentences"], facts["words"]) == (2, 3)
    rows = [tuple(row.values()) for row in facts["vocabularies"]]
    assert rows == [  # size, reached, tokens without and with 3 boundaries, per word
        (258, 258, 8, 11, 2.666667),
        (259, 259, 6, 9, 2.0),
        (260, 260, 4, 7, 1.333333),
        (5000, 260, 4, 7, 1.333333),  # " b" occurs once, below min_frequency: no more types
    ]
