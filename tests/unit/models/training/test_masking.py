"""Masked rows: how many tokens are hidden, which, and how; their copies and their order."""

import itertools
import math
import shutil
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from transformers import AutoTokenizer

from poshgrid.core.errors import PoshgridError
from poshgrid.evaluation.engines.load import warn_if_different
from poshgrid.models.architectures import hybrid
from poshgrid.models.architectures.babyberta import Masking
from poshgrid.models.tokenization.encode import Tokens
from poshgrid.models.tokenization.tokenizer import Vocabulary
from poshgrid.models.training import data, masking
from poshgrid.models.training.data import IGNORED
from tests.unit.models.training.training_support import recipe

BOUNDARY, PAD, TYPES = 0, 1, 50
MASK = TYPES


def text(lengths, seed=0):
    """Sentences of so many tokens, none of them special."""
    draw = np.random.default_rng(seed)
    sentences = [draw.integers(2, TYPES, length).tolist() for length in lengths]
    ids = [BOUNDARY]
    for sentence in sentences:
        ids += [*sentence, BOUNDARY]
    offsets = np.cumsum([0, *(length + 1 for length in lengths)])
    return sentences, Tokens(np.array(ids, np.uint16), offsets)


def cut(lengths, seed=7, chosen=None, **options):
    """Rows of sentences of such lengths; ``chosen``: what of the recipe is not as usual."""
    usual = {"input": "sentence", "context_length": 128, "order": "shuffled"}
    return masking.Masked(
        Masking(**options), recipe(**(usual | (chosen or {}))), text(lengths)[1],
        Vocabulary(TYPES, BOUNDARY, PAD), seed,
    )  # fmt: skip


def epoch(rows, number=0):
    steps = rows.steps_per_epoch
    return [rows.batch(step) for step in range(number * steps, (number + 1) * steps)]


def patterns(batches):
    """Sentence -> the places, counted from its first token, that each of its rows asks for."""
    asked = defaultdict(list)
    for batch in batches:
        for sentence, targets in zip(batch.sentences, batch.targets, strict=True):
            places = np.flatnonzero(targets != IGNORED) - 1
            asked[int(sentence)].append(tuple(places.tolist()))
    return asked


def same(one, other):
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("inputs", "targets", "sentences", "seen")
    )


# ---- how many ---------------------------------------------------------------------------------


@given(
    lengths=st.lists(st.integers(1, 40), min_size=1, max_size=12),
    mask=st.sampled_from([0.05, 0.15, 0.5, 0.9]),
    duplicates=st.integers(1, 12),
    order=st.sampled_from(["shuffled", "given"]),
)
@settings(max_examples=40, deadline=None)
def test_an_epoch_has_as_many_copies_of_every_sentence(lengths, mask, duplicates, order):
    room, lengths = 30, [3, *lengths]
    sentences, _ = text(lengths)
    chosen = {"context_length": room + 2, "batch_size": 5, "order": order}
    rows = cut(lengths, chosen=chosen, mask=mask, random=0.3, unmask=0.3, duplicates=duplicates)
    batches = epoch(rows, number=1)
    for batch in batches:
        width = batch.inputs.shape[1]
        assert width == batch.seen.sum(axis=1).max()  # no more padding than need be
        for k, number in enumerate(batch.sentences):
            whole = [BOUNDARY, *sentences[number], BOUNDARY]
            padded = np.array(whole + [PAD] * (width - len(whole)))
            asked = batch.targets[k] != IGNORED
            assert np.array_equal(batch.seen[k], np.arange(width) < len(whole))
            assert not asked[0]
            assert not asked[len(whole) - 1 :].any()
            assert np.array_equal(batch.targets[k][asked], padded[asked])
            assert np.array_equal(batch.inputs[k][~asked], padded[~asked])
            assert not {BOUNDARY, PAD} & set(batch.inputs[k][asked].tolist())
            assert batch.inputs[k].max() <= MASK
    assert sorted(len(batch.inputs) for batch in batches)[1:] == [5] * (len(batches) - 1)
    asked_of = patterns(batches)
    assert set(asked_of) == {i for i, length in enumerate(lengths) if length <= room}
    assert rows.truncated == sum(length > room for length in lengths)
    for masks in asked_of.values():
        assert len(masks) == duplicates
        assert all(masks)  # every row asks for something


# ---- what stands there ------------------------------------------------------------------------


def test_random_words_masks_and_words_left_have_their_shares():
    rows = cut([20] * 400, random=0.3, unmask=0.2, duplicates=5)
    batches = epoch(rows)
    asked = np.concatenate([b.targets[b.targets != IGNORED] for b in batches])
    shown = np.concatenate([b.inputs[b.targets != IGNORED] for b in batches])
    assert len(asked) == pytest.approx(400 * 5 * 20 * 0.15 / (1 - 0.85**20), rel=0.03)
    # a random word is the right one once in 48 times
    shares = [(shown == MASK).mean(), (shown == asked).mean()]
    error = 4 * math.sqrt(0.25 / len(asked))
    assert shares == pytest.approx([0.5, 0.2 + 0.3 / 48], abs=error)
    words = Counter(shown[(shown != MASK) & (shown != asked)].tolist())
    assert set(words) == set(range(2, TYPES))
    expected = sum(words.values()) / 48
    assert max(words.values()) < expected + 5 * math.sqrt(expected)
    assert min(words.values()) > expected - 5 * math.sqrt(expected)


def left(batch):
    asked = batch.targets != IGNORED
    return (batch.inputs[asked] == batch.targets[asked]).mean()


def test_what_is_left_rises_along_a_line_to_the_last_step():
    options = {"random": 0.0, "unmask_end": 0.8, "duplicates": 5}
    rows = cut([20] * 400, chosen={"batch_size": 400, "steps": 11}, **options)
    for step, share in ((0, 0.0), (5, 0.4), (10, 0.8), (30, 0.8)):
        error = 4 * math.sqrt(share * (1 - share) / (400 * 3))
        assert left(rows.batch(step)) == pytest.approx(share, abs=error + 1e-9)
    # Passes are as many steps as the corpus has; dev losses of all steps compare.
    passes = cut([20] * 400, chosen={"batch_size": 400, "steps": None, "epochs": 2}, **options)
    assert left(passes.batch(2 * passes.steps_per_epoch - 1)) > 0.7
    assert [left(batch) for batch in passes.in_order(400)] == [0.0]
    # What is hidden, and by which random words, is what it is without a curriculum.
    plain = cut([20] * 400, chosen={"batch_size": 400, "steps": 11}, random=0.0, duplicates=5)
    assert same(plain.batch(0), rows.batch(0))
    assert np.array_equal(plain.batch(7).targets, rows.batch(7).targets)


@pytest.mark.parametrize(("length", "mask"), [(1, 0.15), (2, 0.15), (3, 0.4), (4, 0.15)])
def test_every_mask_is_as_likely_as_by_chance_token_by_token(length, mask):
    """By hand: m of n tokens have mask^m (1 - mask)^(n - m), over the chance of any at all."""
    rows = cut([length] * 300, chosen={"batch_size": 64}, mask=mask, duplicates=4)
    counts = Counter(
        places
        for number in range(10)
        for masks in patterns(epoch(rows, number)).values()
        for places in masks
    )
    draws = counts.total()
    assert draws == 12_000
    for asked in range(1, length + 1):
        for places in itertools.combinations(range(length), asked):
            share = mask**asked * (1 - mask) ** (length - asked) / (1 - (1 - mask) ** length)
            error = 5 * math.sqrt(share * (1 - share) / draws)
            assert counts[places] / draws == pytest.approx(share, abs=error)


def test_rows_of_several_sentences_are_neighbours_whose_boundaries_are_never_asked_for():
    sentences, _ = text([3, 4, 5, 30, 2, 6, 1])
    rows = cut([3, 4, 5, 30, 2, 6, 1], chosen={"context_length": 20}, sentences=2, mask=0.6)
    assert rows.truncated == 1  # the third and the fourth are too long together
    expected = []
    for one, two in ((0, 1), (4, 5)):
        expected.append([BOUNDARY, *sentences[one], BOUNDARY, *sentences[two], BOUNDARY])
    expected.append([BOUNDARY, *sentences[6], BOUNDARY])
    for batch in epoch(rows):
        asked = batch.targets != IGNORED
        assert not (batch.targets[asked] == BOUNDARY).any()
        for row in range(len(asked)):
            whole = np.where(asked[row], batch.targets[row], batch.inputs[row])
            assert whole[batch.seen[row]].tolist() in expected


@pytest.mark.parametrize("kind", ["packed", "sentence"])
def test_hybrid_rows_are_causal_ones_some_of_which_hide_tokens(kind):
    """The token before a hidden one predicts it; what is asked for stands in the causal row."""
    options = hybrid.Options(
        hidden_size=8, heads=1, layers=1, causal_share=0.25, mask=0.3, random=0.0
    )
    tokens, vocabulary = text([1, 9, 1, 30, 4, 17] * 20)[1], Vocabulary(TYPES, BOUNDARY, PAD)
    chosen = recipe(input=kind, context_length=24, batch_size=9)
    rows, again = (masking.Hybrid(options, chosen, tokens, vocabulary, 7) for _ in range(2))
    causal = data.rows(chosen, tokens, PAD, 7)
    asked = hidden = 0
    for step in range(2 * rows.steps_per_epoch):
        batch, plain = rows.batch(step), causal.batch(step)
        if step % 4 == 3:
            assert same(batch, plain)
            continue
        assert np.array_equal(batch.seen, plain.targets != IGNORED)
        masks = batch.inputs == MASK
        assert np.array_equal(np.where(masks, plain.inputs, batch.inputs), plain.inputs)
        before = np.roll(masks, -1, axis=1)
        assert not before[:, -1].any()
        assert np.array_equal(batch.targets, np.where(before, plain.targets, IGNORED))
        assert not (plain.inputs[masks] == BOUNDARY).any()
        may = batch.seen & (plain.inputs != BOUNDARY) & (np.arange(batch.seen.shape[1]) > 0)
        assert masks.any(axis=1)[may.any(axis=1)].all()
        asked, hidden = asked + masks.sum(), hidden + may.sum()
    assert 0.3 <= asked / hidden < 0.36  # a little more, as each row asks for something
    for step in (5, 2, rows.steps_per_epoch):
        assert same(again.batch(step), rows.batch(step))
    for one, other in zip(rows.in_order(5), causal.in_order(5), strict=True):
        assert same(one, other)


def test_numbers_are_mixed_as_published():
    """The first outputs of SplitMix64 from the states 0 and 1234567."""
    numbers = masking.mixed(np.array([0, 1234567], np.uint64))
    assert numbers.tolist() == [0xE220A8397B1DCDAF, 6457827717110365317]


# ---- order ------------------------------------------------------------------------------------


def test_a_step_is_a_function_of_seed_and_step_alone():
    lengths = [3, 8, 12, 25, 4, 17, 6] * 9
    rows = cut(lengths)
    steps = rows.steps_per_epoch
    wanted = [0, steps + 3, 5, 2 * steps - 1, steps]
    before = {step: rows.batch(step) for step in range(2 * steps)}
    for step in wanted:
        assert same(cut(lengths).batch(step), before[step])
    other = cut(lengths, seed=8)
    assert not any(same(other.batch(step), before[step]) for step in wanted)


def test_the_dev_split_has_the_same_masks_for_every_seed_and_batch():
    lengths = [3, 8, 140, 12, 25, 4, 17, 6] * 5
    whole = list(cut(lengths).in_order(4))
    sizes = [int(n) for batch in whole for n in batch.seen.sum(axis=1)]
    assert sizes == sorted(length + 2 for length in lengths if length < 127)
    for again in (cut(lengths, seed=99), cut(lengths, chosen={"batch_size": 9}, random=0.1)):
        assert all(same(a, b) for a, b in zip(again.in_order(4), whole, strict=True))
    assert patterns(whole) == patterns(cut(lengths).in_order(1))


@pytest.mark.parametrize(
    "chosen", [{"input": "packed"}, {"padding_in_loss": True}, {"context_length": 7}]
)
def test_recipes_that_cannot_be_are_refused(chosen):
    """Packed rows, padding in the loss, and a context that holds no sentence."""
    assert cut([6, 7], chosen={"context_length": 8}).truncated == 1
    with pytest.raises(PoshgridError, match="recipes: small"):
        cut([6, 7], chosen=chosen)


# ---- the tokenizer ----------------------------------------------------------------------------


@pytest.mark.parametrize("around", [True, False])
def test_the_mask_gets_the_id_after_the_vocabulary(inputs, tmp_path, around):
    folder, sentence = tmp_path / "tokenizer", "The dog that sees the cat likes a boy."
    shutil.copytree(inputs[1], folder)
    before = Tokenizer.from_file(str(folder / "tokenizer.json"))
    plain = before.encode(sentence, add_special_tokens=False).ids
    masking.add_mask(folder, around=around)
    words = AutoTokenizer.from_pretrained(folder)
    assert words.mask_token_id == before.get_vocab_size() == 300
    ends = [0] * around
    assert words(sentence)["input_ids"] == [*ends, *plain, *ends]
    assert words("<mask> dog", split_special_tokens=True)["input_ids"].count(300) == 0
    masked = words("The dog <mask> the cat.")["input_ids"]
    assert masked.count(300) == 1
    end = "<|endoftext|>" * around
    assert words.decode([i for i in masked if i != 300]) == f"{end} The dog the cat.{end}"
    warn_if_different(str(folder), Tokenizer.from_file(str(folder / "tokenizer.json")), words)
