"""The fused output layer against torch's own loss, and the losses of whole models."""

import numpy as np
import pytest
import torch
from transformers import GPT2LMHeadModel

from poshgrid.models.training import data, losses
from tests.unit.models.training.training_support import SMALL, build

TYPES = 120


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Several pieces, the last of them short, even for a few rows."""
    monkeypatch.setitem(losses.ROWS, "cpu", 7)
    monkeypatch.setattr(losses, "SLICE", 3 * 50)  # three rows of layer(), one of a model


def model_of(architecture, dropout=0.0):
    return build(architecture, 3, vocabulary_size=TYPES, context_length=12, dropout=dropout)


def batch_of(architecture="gpt2", rows=5, seed=0):
    """Rows with padding on the right; only some positions of a masked model are asked for."""
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
    targets = torch.from_numpy(batch.targets).flatten()
    return torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), targets, ignore_index=data.IGNORED, reduction="sum"
    )


# ---- the output layer alone -------------------------------------------------------------------


def layer(dtype, rows=40, types=50, bias=True, spread=3.0):
    draw = torch.Generator().manual_seed(1)
    made = [
        torch.randn(*shape, generator=draw, dtype=dtype) * spread
        for shape in ((rows, 16), (types, 16), (types,))
    ]
    targets = torch.randint(types, (rows,), generator=draw)
    return [part.requires_grad_() for part in made[: 2 + bias]] + [None] * (not bias), targets


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("name", "tolerance"), [("float64", 1e-13), ("float32", 1e-6)])
def test_loss_and_gradients_are_those_of_torch(name, tolerance, bias):
    (hidden, weight, add), targets = layer(getattr(torch, name), bias=bias)
    leaves = [leaf for leaf in (hidden, weight, add) if leaf is not None]
    ours = losses.cross_entropy(hidden, weight, add, targets)
    scores = hidden.double() @ weight.double().T + (0 if add is None else add.double())
    theirs = torch.nn.functional.cross_entropy(scores, targets, reduction="sum")
    assert ours.dtype == hidden.dtype
    assert ours.item() == pytest.approx(theirs.item(), rel=tolerance)
    # scaled, and added to something else that the same weights are in
    gradients = torch.autograd.grad(0.3 * ours + (weight**2).sum(), leaves)
    expected = torch.autograd.grad(0.3 * theirs + (weight.double() ** 2).sum(), leaves)
    for one, other in zip(gradients, expected, strict=True):
        assert (one - other).norm() <= tolerance * other.norm()


def test_bfloat16_is_as_near_to_the_truth_as_torch_under_autocast():
    (hidden, weight, _), targets = layer(torch.float32, rows=200, bias=False, spread=0.7)
    truth = torch.nn.functional.cross_entropy(hidden @ weight.T, targets, reduction="sum")
    with torch.autocast("cpu", torch.bfloat16):
        logits = torch.nn.functional.linear(hidden, weight)
    theirs = torch.nn.functional.cross_entropy(logits.float(), targets, reduction="sum")
    ours = losses.cross_entropy(hidden, weight, None, targets, torch.bfloat16)
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-6)  # the same scores, then float32
    gradients = [torch.autograd.grad(loss, (hidden, weight)) for loss in (truth, ours, theirs)]
    for exact, mine, other in zip(*gradients, strict=True):
        assert mine.dtype == torch.float32
        assert (mine - exact).norm() <= 1.5 * (other - exact).norm()
        assert (mine - exact).norm() <= 0.01 * exact.norm()


# ---- whole models -----------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", SMALL)
def test_a_model_has_the_loss_and_gradients_of_its_own_scores(architecture, monkeypatch):
    """Tied weights get the gradients of both their uses; all scores are never asked for."""
    model, batch = model_of(architecture).double(), batch_of(architecture)
    assert 0 < batch.tokens < batch.inputs.size
    results = []
    for loss in (losses.summed, plain):
        with monkeypatch.context() as patch:
            if loss is losses.summed:
                patch.setattr(type(model), "forward", None)
            nll = loss(model, batch)
        model.zero_grad(set_to_none=True)
        nll.backward()
        results.append((nll.item(), {n: w.grad for n, w in model.named_parameters()}))
    (ours, mine), (theirs, expected) = results
    assert ours == pytest.approx(theirs, rel=1e-12)
    for name, gradient in expected.items():
        scale = gradient.norm().item()
        assert scale > 0 or name.endswith("key.bias"), name  # a key's bias moves no attention
        assert (mine[name] - gradient).norm().item() <= 1e-10 * max(scale, 1e-3), name


def test_a_subclass_that_changes_its_scores_is_trained_on_them():
    class Changed(GPT2LMHeadModel):
        def forward(self, *args, **kwargs):
            output = super().forward(*args, **kwargs)
            output.logits = 0.5 * output.logits
            return output

    model, batch = model_of("gpt2"), batch_of()
    unchanged = losses.summed(model, batch).item()
    model.__class__ = Changed
    ours = losses.summed(model, batch).item()
    assert ours == pytest.approx(plain(model, batch).item(), rel=1e-5)
    assert ours != pytest.approx(unchanged, rel=1e-5)


def test_gradients_are_computed_only_where_they_are_enabled():
    """Each piece then needs three matrix products; else the scores alone."""
    parts, targets = layer(torch.float32)
    products = {}
    for enabled in (True, False):
        with torch.set_grad_enabled(enabled), torch.profiler.profile() as profile:
            losses.cross_entropy(*parts, targets)
        counts = {event.key: event.count for event in profile.key_averages()}
        products[enabled] = sum(counts.get(key, 0) for key in ("aten::mm", "aten::addmm_"))
    assert products[True] == 3 * products[False] > 0


@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_the_mean_is_over_predicted_tokens_and_without_dropout(precision):
    model = model_of("gpt2", dropout=0.5).train()
    batches = [batch_of(rows=rows, seed=rows) for rows in (2, 7)]
    loss = losses.mean(model, iter(batches), precision)
    assert model.training
    assert all(weight.grad is None for weight in model.parameters())
    model.eval()
    with torch.no_grad():
        sums = sum(plain(model, batch).item() for batch in batches)
    expected = sums / sum(batch.tokens for batch in batches)
    assert loss == pytest.approx(expected, rel=1e-6 if precision == "float32" else 1e-3)
