"""Dyck pre-pretraining: the language, what is learned of it, and what of that is carried over."""

import numpy as np
import pytest

from poshgrid.models.biases import dyck
from poshgrid.models.tokenization import tokenizer as tokenizers
from poshgrid.models.tokenization.tokenizer import Vocabulary
from poshgrid.models.training import checkpoint
from poshgrid.models.training.dyck_language import Alphabet, Brackets, Flat, Language
from tests.unit.models.training.training_support import (
    build,
    recipe,
    setting,
    train_spec,
)

SMALL = {"k": 3, "depth": 4, "length": 24, "steps": 8, "batch_size": 4, "warmup_steps": 2}


# ---- the languages ----------------------------------------------------------------------------


def open_brackets(language, drawn):
    """How many brackets of each kind are open after each place: [sequences, places, kinds]."""
    opened = drawn[:, :, None] == np.arange(language.k)
    closed = drawn[:, :, None] == np.arange(language.k) + language.k
    return np.cumsum(opened.astype(int) - closed, axis=1)


@pytest.mark.parametrize(
    "language",
    [
        Language(k=64, p_open=0.5, depth=8, length=2_048),
        Language(k=3, p_open=0.1, depth=1, length=10),
        Language(k=2, p_open=0.99, depth=100, length=30),  # the end is nearer than the depth
        Language(k=5, p_open=0.4, depth=3, length=60),
    ],
    ids=str,
)
def test_brackets_close_and_are_never_deeper_than_may_be(language):
    drawn = language.draw(11, range(20))
    counts = open_brackets(language, drawn)
    assert counts.min() == 0
    assert not counts[:, -1].any()
    assert counts.sum(axis=2).max() == min(language.depth, language.length // 2)


@pytest.mark.parametrize("kind", [Language, Flat])
def test_a_sequence_is_a_function_of_seed_part_and_index(kind):
    language = kind(k=4, p_open=0.5, depth=4, length=64)
    some = language.draw(42, range(10))
    assert (language.draw(42, [7, 3]) == some[[7, 3]]).all()
    assert len({sequence.tobytes() for sequence in some}) == 10
    for other in (language.draw(43, range(10)), language.draw(42, range(10), "dev")):
        assert not any((one == two).all() for one in other for two in some)
    # The draws decide every weight: no version may make others
    begins = {
        Language: [3, 7, 3, 7, 3, 3, 3, 7, 3, 7, 7, 0],
        Flat: [3, 7, 2, 6, 1, 7, 7, 7, 1, 5, 3, 2],
    }
    assert some[0, :12].tolist() == begins[kind]


@pytest.mark.parametrize("language", [Language(64, 0.5, 8, 512), Language(3, 0.6, 4, 40)])
def test_the_flat_language_has_the_same_bigrams_and_no_structure(language):
    k, flat = language.k, Flat(**vars(language))
    index = range(2_000_000 // language.length // 8)
    both = [language.draw(1, index), flat.draw(1, index)]

    def classes(drawn):
        first, second = drawn[:, :-1], drawn[:, 1:]
        key = (first < k) * 4 + (second < k) * 2 + (first % k == second % k)
        return np.bincount(key.ravel(), minlength=8) / key.size

    one, other = map(classes, both)
    assert np.abs(one - other).max() < 0.01  # a sequence begins and ends, a chain does not
    matched = []
    for drawn in both:
        shares = k * np.bincount((drawn % k).ravel(), minlength=k) / drawn.size
        assert np.abs(shares - 1).max() < 0.1  # no bracket is more frequent than another
        counts = open_brackets(language, drawn[:50])
        balanced = (counts >= 0).all(axis=(1, 2)) & (counts[:, -1] == 0).all(axis=1)
        matched.append(balanced.mean())
    assert matched[0] == 1
    assert matched[1] < 0.1


# ---- rows -------------------------------------------------------------------------------------


def test_rows_hold_each_sequence_once_after_the_boundary():
    language = Language(k=2, p_open=0.5, depth=3, length=10)
    own = Alphabet([[2], [3], [4], [5]], Vocabulary(6, 0, 1))

    def brackets():
        return Brackets(language, own, seed=42, part="train", batch_size=3, steps=7)

    expected = language.draw(42, range(21)) + 2
    rows = brackets()
    assert rows.steps_per_epoch == 7
    batches = [rows.batch(step) for step in range(7)]
    targets = np.concatenate([batch.targets for batch in batches])
    inputs = np.concatenate([batch.inputs for batch in batches])
    assert (targets == expected).all()
    assert (inputs[:, 0] == 0).all()
    assert (inputs[:, 1:] == expected[:, :-1]).all()
    assert batches[0].tokens == 30
    in_order = np.concatenate([batch.targets for batch in rows.in_order(4)])
    assert (in_order == expected).all()
    for step in (5, 0, 6, 3):  # wherever it begins
        assert (brackets().batch(step).targets == batches[step].targets).all()


def test_how_brackets_are_written(inputs, tmp_path):
    """As tokens of their own; as numbers in the language's tokens."""
    chosen = setting(inputs, train_spec(recipe(), bias="dyck"), tmp_path)
    body = dyck.alphabet(dyck.Options(k=2), chosen)
    assert body == Alphabet([[2], [3], [4], [5]], Vocabulary(6, 0, 1))
    letters = dyck.alphabet(dyck.Options(k=64, length=30, brackets="text"), chosen)
    assert letters.vocabulary == (300, 0, 1)
    drawn = Language(k=64, p_open=0.5, depth=8, length=30).draw(42, range(300))
    cutter = tokenizers.load(inputs[1])
    ids = [cutter.encode(" ".join(map(str, row)), add_special_tokens=False).ids for row in drawn]
    assert letters.ids(drawn).tolist() == [row_ids[:30] for row_ids in ids]
    assert min(map(len, ids)) > 30  # some numbers take several tokens


# ---- what is carried over ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "vocabulary", "context"),
    [
        ({}, 2 + 6, 16),
        ({"brackets": "text"}, 300, 16),
        ({"brackets": "text"}, 300, 40),
    ],
)
def test_what_is_carried_over(inputs, tmp_path, options, vocabulary, context):
    """The body; of all, word rows and the positions that both have; the rest stays initial."""
    chosen = setting(inputs, train_spec(recipe(), bias="dyck"), tmp_path)
    model = build(context_length=context)
    initial = checkpoint.weights(model)
    part = dyck.build(dyck.Options(**(SMALL | options)))
    assert part.prepare(model, chosen) is model
    assert model.lm_head.weight is model.transformer.wte.weight
    trained, after = (
        chosen.checkpoints.part("dyck").newest()[0]["weights"],
        checkpoint.weights(model),
    )
    tables = {"transformer.wte.weight": vocabulary, "transformer.wpe.weight": 24}
    for name, weight in after.items():
        rows = len(weight)
        if name in tables:
            assert trained[name].shape == (tables[name], 16)
            rows = min(rows, tables[name]) if options else 0
        assert weight[:rows].equal(trained[name][:rows]), name
        assert weight[rows:].equal(initial[name][rows:]), name
        assert rows == 0 or not weight[:rows].equal(initial[name][:rows]), name
