"""How far a run has come: what is booked, and what a line of the log says."""

import math

import pytest
import torch

from poshgrid.errors import PoshgridError
from poshgrid.training.progress import Ledger, Progress
from tests.unit.training.training_support import recipe


def evaluated(progress, loss, epoch=0.5):
    """Book an evaluation and return its line."""
    progress.evaluated(loss, epoch=epoch, rate=0.1)
    return progress.evaluations[-1]


def test_what_is_booked_by_hand():
    progress = Progress()
    first = evaluated(progress, 5.0, 0.0)
    assert (first["train_loss"], first["bias_loss"], first["tokens_per_second"]) == (None,) * 3
    assert (first["step"], first["tokens"], progress.evaluated_at) == (0, 0, 0)
    progress.book(100, 300.0, 10.0, 2.0)
    progress.book(60, 180.0, 6.0, 1.0)
    assert (progress.step, progress.tokens, progress.seconds) == (2, 160, 3.0)
    second = evaluated(progress, 3.5, 1 / 3)
    assert second == {
        "step": 2, "epoch": 0.333333, "tokens": 160, "train_loss": 3.0, "bias_loss": 0.1,
        "dev_loss": 3.5, "learning_rate": 0.1, "tokens_per_second": 53.3,
    }  # fmt: skip
    # sums begin anew, what counts the run goes on
    progress.book(10, 20.0, 5.0, 4.0)
    third = evaluated(progress, 3.5)
    assert (third["train_loss"], third["bias_loss"], third["tokens_per_second"]) == (2.0, 0.5, 2.5)
    assert (progress.step, progress.tokens, progress.seconds) == (3, 170, 7.0)
    assert (progress.best_step, progress.best_loss) == (2, 3.5)  # the first of equals
    assert progress.kept("best") is progress.evaluations[1]
    assert progress.kept("last") is progress.evaluations[2]
    evaluated(progress, math.nan)
    assert (progress.best_step, progress.evaluated_at) == (2, 3)


def number(value):
    return torch.tensor(value, dtype=torch.float64)


def test_a_gpu_is_not_waited_for_at_every_step_and_books_the_same(monkeypatch):
    """What is entered is booked when it is asked for, in order and to the last bit."""
    steps = [(3, 1.5, 0.25), (4, 1 / 3, 0.0), (5, 2.5, 0.125)]
    at_once, late = Progress(), Progress()
    monkeypatch.setattr("poshgrid.training.progress.STEPS_UNTOLD", 3)
    ledger = Ledger(late, recipe(), torch.device("cuda"))
    for tokens, nll, added in steps:
        at_once.book(tokens, nll, added, 0.0)
        ledger.settle(False)
        assert late.step == 0
        ledger.begin()
        ledger.enter(tokens, number(nll), number(added))
    ledger.settle(False)
    assert (late.step, late.tokens) == (3, 12)
    assert (late.sum_nll, late.sum_penalty) == (at_once.sum_nll, at_once.sum_penalty)
    ledger.begin()
    ledger.enter(1, number(1.0), number(0.0))
    ledger.settle(True)
    assert late.step == 4


def test_a_loss_that_is_no_number_is_reported_with_the_step_it_was_first_seen_at():
    late = Progress(step=7)
    ledger = Ledger(late, recipe(), torch.device("cuda"))
    for nll in (1.0, 1.0, math.inf, math.inf):
        ledger.begin()
        ledger.enter(3, number(nll), number(1.0))
    with pytest.raises(PoshgridError, match="loss is inf at step 9"):
        ledger.settle(True)
    assert late.step == 7
    # a CPU does not wait: weights are not changed by such a step
    ledger = Ledger(late, recipe(), torch.device("cpu"))
    ledger.begin()
    with pytest.raises(PoshgridError, match="loss is inf at step 7"):
        ledger.enter(3, number(math.inf), number(1.0))
