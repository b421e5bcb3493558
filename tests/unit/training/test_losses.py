"""The fused output layer against torch's own loss, and the losses of whole models."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from transformers import GPT2Model

from poshgrid import config
from poshgrid.errors import PoshgridError
from poshgrid.training import checkpoint, data, fused, learner, losses, step
from poshgrid.training.progress import Ledger, Progress
from tests.unit.training.training_support import regimen

LEARNERS = {
    "gpt2": {"hidden_size": 16, "layers": 2, "heads": 2},
    "lstm": {"hidden_size": 16, "layers": 1},
    "babyberta": {"hidden_size": 16, "layers": 2, "heads": 2, "ffn": 32},
}
TYPES = 120


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Several pieces, the last of them short, even for a few rows."""
    monkeypatch.setitem(fused.ROWS, "cpu", 7)
    monkeypatch.setattr(fused, "SLICE", 3 * 50)  # three rows of layer(), one of a model


def model_of(architecture, dropout=0.0, **options):
    return learner.build(
        config.Learner(
            name="nano", architecture=architecture, options=LEARNERS[architecture] | options
        ),
        vocabulary_size=TYPES,
        context_length=12,
        dropout=dropout,
        boundary_id=0,
        padding_id=1,
        seed=3,
    )


def batch_of(architecture="gpt2", rows=5, seed=0):
    """Rows with padding on the right; only some positions of a masked learner are asked for."""
    random = np.random.default_rng(seed)
    inputs = random.integers(2, TYPES, (rows, 10))
    targets = random.integers(2, TYPES, (rows, 10))
    real = np.arange(10) < random.integers(3, 11, rows)[:, None]
    inputs[~real], targets[~real] = 1, data.IGNORED
    if architecture != "babyberta":
        return data.Batch(inputs, targets)
    targets[random.random((rows, 10)) < 0.6] = data.IGNORED
    return data.Batch(inputs, targets, seen=real)


def plain(model, batch):
    """The loss as one writes it: all scores, then torch's cross-entropy."""
    mask = None if batch.seen is None else torch.from_numpy(batch.seen).long()
    logits = model(input_ids=torch.from_numpy(batch.inputs), attention_mask=mask).logits
    return torch.nn.functional.cross_entropy(
        logits.flatten(0, 1),
        torch.from_numpy(batch.targets).flatten(),
        ignore_index=data.IGNORED,
        reduction="sum",
    )


def gradients(model, loss):
    model.zero_grad(set_to_none=True)
    loss.backward()
    return {name: weight.grad.clone() for name, weight in model.named_parameters()}


def same(found, expected, tolerance):
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        scale = gradient.norm().item()
        assert scale > 0 or name.endswith("key.bias"), name  # a key's bias moves no attention
        assert (found[name] - gradient).norm().item() <= tolerance * max(scale, 1e-3), name


# ---- the output layer alone -------------------------------------------------------------------


def layer(dtype, rows=40, types=50, bias=True, spread=3.0):
    draw = torch.Generator().manual_seed(1)
    made = [
        torch.randn(*shape, generator=draw, dtype=dtype) * spread
        for shape in ((rows, 16), (types, 16), (types,))
    ]
    targets = torch.randint(types, (rows,), generator=draw)
    return [each.requires_grad_() for each in made[: 2 + bias]] + [None] * (not bias), targets


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("name", "tolerance"), [("float64", 1e-13), ("float32", 1e-6)])
def test_loss_and_gradients_are_those_of_torch(name, tolerance, bias):
    (hidden, weight, add), targets = layer(getattr(torch, name), bias=bias)
    given = [each for each in (hidden, weight, add) if each is not None]
    ours = fused.cross_entropy(hidden, weight, add, targets)
    scores = hidden.double() @ weight.double().T + (0 if add is None else add.double())
    theirs = torch.nn.functional.cross_entropy(scores, targets, reduction="sum")
    assert ours.dtype == hidden.dtype
    assert ours.item() == pytest.approx(theirs.item(), rel=tolerance)
    # scaled, and added to something else that the same weights are in
    found = torch.autograd.grad(0.3 * ours + (weight**2).sum(), given)
    expected = torch.autograd.grad(0.3 * theirs + (weight.double() ** 2).sum(), given)
    for one, other in zip(found, expected, strict=True):
        assert (one - other).norm() <= tolerance * other.norm()


def test_two_types_by_hand():
    """Scores 0 and ln 3: the shares are 1/4 and 3/4."""
    hidden = torch.ones(1, 1, requires_grad=True)
    weight = torch.tensor([[0.0], [math.log(3)]], requires_grad=True)
    loss = fused.cross_entropy(hidden, weight, None, torch.tensor([0]))
    loss.backward()
    assert loss.item() == pytest.approx(math.log(4))
    assert weight.grad.flatten().tolist() == pytest.approx([-0.75, 0.75])
    assert hidden.grad.item() == pytest.approx(0.75 * math.log(3))


def test_bfloat16_is_as_near_to_the_truth_as_torch_under_autocast():
    (hidden, weight, _), targets = layer(torch.float32, rows=200, bias=False, spread=0.7)
    truth = torch.nn.functional.cross_entropy(hidden @ weight.T, targets, reduction="sum")
    with torch.autocast("cpu", torch.bfloat16):
        logits = torch.nn.functional.linear(hidden, weight)
    theirs = torch.nn.functional.cross_entropy(logits.float(), targets, reduction="sum")
    ours = fused.cross_entropy(hidden, weight, None, targets, torch.bfloat16)
    assert ours.dtype == torch.float32
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-6)  # the same scores, then float32
    exact, found, other = (
        torch.autograd.grad(loss, (hidden, weight)) for loss in (truth, ours, theirs)
    )
    for right, mine, plain_one in zip(exact, found, other, strict=True):
        assert mine.dtype == torch.float32
        assert (mine - right).norm() <= 1.5 * (plain_one - right).norm()
        assert (mine - right).norm() <= 0.01 * right.norm()


# ---- whole models -----------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", LEARNERS)
def test_a_model_has_the_loss_and_gradients_of_its_own_scores(architecture):
    """Tied weights get the gradients of both their uses."""
    model = model_of(architecture).double()
    batch = batch_of(architecture)
    assert 0 < batch.tokens < batch.inputs.size
    ours, theirs = losses.summed(model, batch), plain(model, batch)
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-12)
    same(gradients(model, ours), gradients(model, theirs), 1e-10)


@pytest.mark.parametrize("architecture", LEARNERS)
def test_all_scores_are_never_asked_for(architecture, monkeypatch):
    model = model_of(architecture)
    assert losses.fuses(model)

    def refuse(*_, **__):
        raise AssertionError

    monkeypatch.setattr(type(model), "forward", refuse)
    assert losses.summed(model, batch_of(architecture)).item() > 0


def _clamped(logits):  # far above what the initial weights give
    return logits.clamp(-30.0, 30.0)


def _scaled(logits):
    return 0.5 * logits


def _noisy(logits):  # in training alone
    return torch.nn.functional.dropout(logits, 0.5, training=logits.requires_grad)


def _detached(logits):  # the same loss, no gradient
    return logits.detach() + 0.0 * logits


@pytest.mark.parametrize("change", [_clamped, _scaled, _noisy, _detached])
@pytest.mark.parametrize("architecture", LEARNERS)
def test_a_subclass_that_changes_its_scores_is_trained_on_them(architecture, change):
    """The fused layer computes what the ancestor would: only a probe shows the difference."""

    class Changed(type(model_of(architecture))):
        def forward(self, *args, **kwargs):
            found = super().forward(*args, **kwargs)
            found.logits = change(found.logits)
            return found

    model = model_of(architecture)
    model.__class__ = Changed
    before, state = checkpoint.weights(model), torch.random.get_rng_state()
    assert not losses.fuses(model)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(before[name], w) for name, w in checkpoint.weights(model).items())
    assert all(weight.grad is None for weight in model.parameters())
    with torch.no_grad():
        model.get_output_embeddings().weight *= 2.0**14  # training can make them as large
    batch = batch_of(architecture)
    torch.manual_seed(1)
    ours = losses.summed(model, batch)
    torch.manual_seed(1)
    assert ours.item() == pytest.approx(plain(model, batch).item(), rel=1e-5)


def test_a_subclass_with_a_window_is_trained_with_it():
    """Our attention has no mask: a model that makes one of its own keeps its own attention."""

    class Windowed(GPT2Model):
        def forward(self, input_ids, **kwargs):
            place = torch.arange(input_ids.shape[1])
            behind = place[:, None] - place[None, :]
            kwargs["attention_mask"] = ((behind >= 0) & (behind < 6))[None, None]
            return super().forward(input_ids, **kwargs)

    model, batch = model_of("gpt2"), batch_of()
    everything = losses.summed(model, batch).item()
    model.transformer.__class__ = Windowed
    windowed = losses.summed(model, batch).item()
    assert windowed != pytest.approx(everything, rel=1e-5)
    with step.training(model, regimen(dropout=0.0)):
        assert losses.summed(model, batch).item() == pytest.approx(windowed, rel=1e-6)


@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_the_mean_is_over_predicted_tokens_and_without_dropout(precision):
    model = model_of("gpt2", dropout=0.5).train()
    batches = [batch_of(rows=rows, seed=rows) for rows in (2, 7)]
    found = losses.mean(model, iter(batches), precision)
    assert model.training
    assert all(weight.grad is None for weight in model.parameters())
    model.eval()
    with torch.no_grad():
        sums = sum(plain(model, batch).item() for batch in batches)
    expected = sums / sum(batch.tokens for batch in batches)
    assert found == pytest.approx(expected, rel=1e-6 if precision == "float32" else 1e-3)


# ---- the step ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "rows"),
    [
        ({"context_length": 512, "batch_size": 32}, 8),
        ({"context_length": 32, "batch_size": 512}, 128),
        ({"context_length": 32, "batch_size": 512, "micro_batch_size": 5}, 5),
        ({"context_length": 16_384, "batch_size": 4}, 1),
        ({"context_length": 512, "batch_size": 3}, 3),
    ],
)
def test_rows_of_a_micro_batch_hold_4096_tokens_at_most(changes, rows):
    assert step.rows_at_once(regimen(**changes), "cpu") == rows


def test_a_gpu_is_not_waited_for_at_every_step_and_books_the_same(monkeypatch):
    """What is entered is booked when it is asked for, in order and to the last bit."""
    steps = [(3, 1.5, 0.25), (4, 1 / 3, 0.0), (5, 2.5, 0.125)]
    tensors = [(n, *(torch.tensor(x, dtype=torch.float64) for x in rest)) for n, *rest in steps]
    at_once, late = Progress(), Progress()
    for tokens, nll, added in steps:
        at_once.book(tokens, nll, added, 0.0)
    monkeypatch.setattr("poshgrid.training.progress.STEPS_UNTOLD", 3)
    ledger = Ledger(late, regimen(), torch.device("cuda"))
    for number, each in enumerate(tensors):
        ledger.settle(False)
        assert late.step == 0, number
        ledger.begin()
        ledger.enter(*each)
    ledger.settle(False)
    assert (late.step, late.tokens) == (3, 12)
    assert (late.sum_nll, late.sum_penalty) == (at_once.sum_nll, at_once.sum_penalty)
    ledger.begin()
    ledger.enter(*tensors[0])
    ledger.settle(True)
    assert late.step == 4


def test_a_loss_that_is_no_number_is_told_with_the_step_it_was_first_seen_at():
    late, bad = Progress(step=7), torch.tensor(math.inf, dtype=torch.float64)
    good = torch.ones((), dtype=torch.float64)
    ledger = Ledger(late, regimen(), torch.device("cuda"))
    for nll in (good, good, bad, bad):
        ledger.begin()
        ledger.enter(3, nll, good)
    with pytest.raises(PoshgridError, match="loss is inf at step 9; lower learning_rate"):
        ledger.settle(True)
    assert late.step == 7
    # a CPU does not wait: weights are not changed by such a step
    ledger = Ledger(late, regimen(), torch.device("cpu"))
    ledger.begin()
    with pytest.raises(PoshgridError, match="loss is inf at step 7"):
        ledger.enter(3, bad, good)
