"""How far a run has come: what is booked, and what a line of the log says."""

import math

from poshgrid.models.training.progress import Progress


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
