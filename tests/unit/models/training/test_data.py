"""Rows, batches and their order; what falls due when, and what is booked of it."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poshgrid.core.errors import PoshgridError
from poshgrid.models.tokenization.encode import Tokens
from poshgrid.models.training import data, progress, seeds
from tests.unit.models.training.training_support import recipe

PAD = 999


def stream(lengths: list[int]) -> Tokens:
    """Sentences whose tokens are all different: ids count upwards; boundaries are 0."""
    ids, offsets, word = [0], [0], 1
    for length in lengths:
        ids += [*range(word, word + length), 0]
        word += length
        offsets.append(len(ids) - 1)
    return Tokens(np.array(ids, np.uint16), np.array(offsets))


def rows(kind, tokens, context_length, batch_size, seed=7, **changes):
    chosen = recipe(input=kind, context_length=context_length, batch_size=batch_size, **changes)
    return data.rows(chosen, tokens, PAD, seed)


def test_the_given_order_is_the_corpus_order_in_every_epoch():
    tokens = stream([3, 9, 1, 4, 2])
    for kind in ("packed", "sentence"):
        cut = rows(kind, tokens, 4, 2, order="given")
        first = [cut.batch(step) for step in range(cut.steps_per_epoch)]
        again = [cut.batch(cut.steps_per_epoch + step) for step in range(cut.steps_per_epoch)]
        seen = [row[row != data.IGNORED] for batch in first for row in batch.targets]
        # every word is as large as its place: the words that are asked for ascend
        words = [word for row in seen for word in row.tolist() if word]
        assert words == sorted(words)
        assert all((a.inputs == b.inputs).all() for a, b in zip(first, again, strict=True))
    assert [batch.sentences.tolist() for batch in first] == [[0, 1], [2, 3], [4]]


def test_padding_is_predicted_where_the_published_arm_did():
    tokens = stream([2, 1])
    cut = rows("sentence", tokens, 5, 2, order="given", padding_in_loss=True)
    batch = cut.batch(0)
    assert batch.inputs.tolist() == [[0, 1, 2, PAD, PAD], [0, 3, PAD, PAD, PAD]]
    assert batch.targets.tolist() == [[1, 2, 0, PAD, PAD], [3, 0, PAD, PAD, PAD]]
    assert batch.tokens == 10
    (dev,) = cut.in_order(2)  # losses compare with those of other recipes
    assert sorted(dev.targets.tolist()) == [[1, 2, 0], [3, 0, data.IGNORED]]


def test_a_plan_says_what_falls_due():
    plan = progress.Plan(
        recipe(
            steps=None, epochs=3, evaluate_every="epoch", checkpoint_epochs=[2], checkpoints=[1, 3]
        ),
        4,
    )  # fmt: skip
    steps = range(13)
    assert plan.total == 12
    assert [s for s in steps if plan.evaluates(s)] == [0, 4, 8, 12]
    assert [s for s in steps if plan.keeps(s)] == [1, 3, 8]
    # the last step of an epoch belongs to it, also for what is measured after it
    assert [plan.epoch(s) for s in (0, 1, 4, 5, 8, 9, 12)] == [0, 0, 0, 1, 1, 2, 2]
    every = progress.Plan(recipe(steps=10, checkpoint_epochs="every", evaluate_every=4), 4)
    assert [s for s in steps if every.keeps(s)] == [4, 8, 12]
    assert [s for s in range(11) if every.evaluates(s)] == [0, 4, 8, 10]


def pairs(batches: list[data.Batch]) -> list[tuple[int, int]]:
    """Return (input, target) of every predicted position, sorted."""
    predicted = []
    for batch in batches:
        real = batch.targets != data.IGNORED
        assert (batch.inputs[~real] == PAD).all()
        assert PAD not in batch.inputs[real]
        assert batch.inputs.dtype == batch.targets.dtype == np.int64
        predicted += list(
            zip(batch.inputs[real].tolist(), batch.targets[real].tolist(), strict=True)
        )
    return sorted(predicted)


def bigrams(tokens: Tokens) -> list[tuple[int, int]]:
    ids = tokens.ids.tolist()
    return sorted(itertools.pairwise(ids))


@given(
    st.sampled_from(["packed", "sentence"]),
    st.lists(st.integers(1, 9), min_size=1, max_size=30),
    st.integers(1, 12),
    st.integers(1, 5),
    st.integers(0, 3),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=150, deadline=None)
def test_every_token_is_predicted_once_an_epoch(kind, lengths, context, size, epoch, seed):
    tokens = stream(lengths)
    if kind == "sentence":
        context += 9  # none is cut
    cut = rows(kind, tokens, context, size, seed)
    n = cut.steps_per_epoch
    batches = [cut.batch(epoch * n + i) for i in range(n)]
    assert pairs(batches) == bigrams(tokens)
    assert all(0 < len(batch.inputs) <= size for batch in batches)
    assert all(batch.inputs.shape[1] <= context for batch in batches)
    assert pairs(list(cut.in_order(size))) == bigrams(tokens)
    assert sum(batch.tokens for batch in batches) == len(tokens.ids) - 1


def test_sentence_rows_worked_by_hand():
    """The longest sentence, of four words, loses its tail, and is counted."""
    cut = rows("sentence", stream([4, 1, 2]), 3, 2)
    one, two = cut.in_order(2)  # shortest first
    assert one.inputs.tolist() == [[0, 5, PAD], [0, 1, 2]]
    assert one.targets.tolist() == [[5, 0, data.IGNORED], [1, 2, 3]]
    assert (two.inputs.tolist(), two.targets.tolist()) == ([[0, 6, 7]], [[6, 7, 0]])
    assert (one.tokens, cut.truncated) == (5, 1)


@pytest.mark.parametrize("kind", ["packed", "sentence"])
@pytest.mark.parametrize(("lengths", "runs"), [([3, 5, 2, 8, 4, 1, 6] * 5, 2), ([2, 3], 20)])
def test_a_batch_is_a_function_of_seed_and_step_alone(kind, lengths, runs):
    """The second text is so small that where an epoch begins may be the number of the next one."""
    tokens, epochs = stream(lengths), []
    for seed in range(runs):
        cut = rows(kind, tokens, 3, 2, seed)
        one = cut.steps_per_epoch
        inputs = [cut.batch(step).inputs.tolist() for step in range(4 * one)]
        for step in reversed(range(4 * one)):
            fresh = rows(kind, tokens, 3, 2, seed)
            assert fresh.batch(step).inputs.tolist() == inputs[step]
            assert cut.batch(step).inputs.tolist() == inputs[step]
        epochs += [inputs[:one], inputs[one : 2 * one]]
    if runs == 2:
        assert all(first != second for first, second in itertools.combinations(epochs, 2))


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=40), st.integers(1, 90), st.integers(0, 60)
)
@settings(max_examples=60, deadline=None)
def test_micro_batches_of_sentences_have_like_lengths(lengths, tokens, padding):
    text = stream(lengths)
    batch = rows("sentence", text, 40, len(lengths)).batch(0)
    parts = list(batch.split(tokens, padding))
    assert pairs(parts) == bigrams(text)
    numbers = np.concatenate([part.sentences for part in parts])
    assert sorted(numbers) == list(range(len(lengths)))
    sizes = [lengths[number] for number in numbers]
    assert sizes == sorted(sizes, reverse=True)
    if len(parts) > 1 and len(parts[-1].inputs) == 1:  # single rows are avoided at the end
        assert len(parts[-2].inputs) < 3
    for part, after in itertools.pairwise([*parts, None]):
        count, longest = part.inputs.shape
        assert longest == lengths[part.sentences[0]] + 1  # with its last boundary
        empty = part.inputs.size - part.tokens
        if count > 1:
            assert part.inputs.size <= tokens
        if count > 2:
            assert empty <= padding
        if after is not None and after is not parts[-1]:  # one more row would have been too many
            more = empty + longest - (lengths[after.sentences[0]] + 1)
            assert (count + 1) * longest > tokens or more > padding


def test_streams_stay_apart():
    """What they are decides every weight: no version may draw from others."""
    assert (seeds.ORDER, seeds.DROPOUT, seeds.MASKS, seeds.TREES) == (1, 2, 3, 4)


def test_a_warmup_as_long_as_the_run_is_refused():
    assert progress.Plan(recipe(steps=None, epochs=3), 5).total == 15
    with pytest.raises(PoshgridError, match="warmup_steps"):
        progress.Plan(recipe(steps=None, epochs=3, warmup_steps=15), 5)


def evaluated(run, loss, epoch=0.5):
    """Book an evaluation and return its line."""
    run.add_evaluation(loss, epoch=epoch, rate=0.1)
    return run.evaluations[-1]


def test_what_is_booked_by_hand():
    run = progress.Progress()
    first = evaluated(run, 5.0, 0.0)
    assert (first["train_loss"], first["bias_loss"], first["tokens_per_second"]) == (None,) * 3
    assert (first["step"], first["tokens"], run.evaluated_at) == (0, 0, 0)
    run.add_step(100, 300.0, 10.0, 2.0)
    run.add_step(60, 180.0, 6.0, 1.0)
    assert (run.step, run.tokens, run.seconds) == (2, 160, 3.0)
    second = evaluated(run, 3.5, 1 / 3)
    assert second == {
        "step": 2, "epoch": 0.333333, "tokens": 160, "train_loss": 3.0, "bias_loss": 0.1,
        "dev_loss": 3.5, "learning_rate": 0.1, "tokens_per_second": 53.3,
    }  # fmt: skip
    # sums begin anew, what counts the run goes on
    run.add_step(10, 20.0, 5.0, 4.0)
    third = evaluated(run, 3.5)
    assert (third["train_loss"], third["bias_loss"], third["tokens_per_second"]) == (2.0, 0.5, 2.5)
    assert (run.step, run.tokens, run.seconds) == (3, 170, 7.0)
    assert (run.best_step, run.best_loss) == (2, 3.5)  # the first of equals
    assert run.kept("best") is run.evaluations[1]
    assert run.kept("last") is run.evaluations[2]
    evaluated(run, math.nan)
    assert (run.best_step, run.evaluated_at) == (2, 3)
