"""Attention with dropout, block by block: beside torch's own, and all weights written out."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from poshgrid.training import attention, blockwise

ROWS, HEADS, WIDTH = 3, 2, 8
SCALE = WIDTH**-0.5


def tensors(length, width=WIDTH, seed=0):
    """Return queries, keys, values as a model has them, views of one tensor, and gradients."""
    generator = torch.Generator().manual_seed(seed)
    query, key = (
        torch.randn(ROWS, length, HEADS, WIDTH, generator=generator).transpose(1, 2)
        for _ in range(2)
    )
    value, given = (
        torch.randn(ROWS, length, HEADS, width, generator=generator).transpose(1, 2)
        for _ in range(2)
    )
    return [each.requires_grad_() for each in (query, key, value)], given


def dropped(query, key, dropout, seed):
    """Return the weights that a seed leaves: attention to values that are an identity matrix."""
    length = query.shape[2]
    torch.manual_seed(seed)
    identity = torch.eye(length).expand(*query.shape[:2], length, length)
    return blockwise.attention(query, key, identity, dropout, SCALE).detach()


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Several blocks of queries, several of heads."""
    monkeypatch.setattr(blockwise, "_QUERIES", 16)
    monkeypatch.setattr(blockwise, "_WEIGHTS", 16 * 64 * 4)


@pytest.mark.parametrize("length", [1, 16, 61, 64, 90])
@pytest.mark.parametrize("width", [WIDTH, 5])
def test_without_dropout_it_is_torchs(length, width):
    inputs, given = tensors(length, width)
    found = blockwise.attention(*inputs, 0.0, SCALE)
    ours = torch.autograd.grad(found, inputs, given)
    expected = scaled_dot_product_attention(*inputs, is_causal=True, scale=SCALE)
    theirs = torch.autograd.grad(expected, inputs, given)
    assert (found - expected).abs().max() < 1e-6
    for one, other in zip(ours, theirs, strict=True):
        assert (one - other).abs().max() < 3e-6


@pytest.mark.parametrize("dropout", [0.1, 0.5])
def test_with_dropout_it_is_all_weights_written_out(dropout):
    length = 70
    inputs, given = tensors(length)
    query, key, value = inputs
    left = dropped(query, key, dropout, seed=7)
    torch.manual_seed(7)
    found = blockwise.attention(*inputs, dropout, SCALE)
    ours = torch.autograd.grad(found, inputs, given)

    later = torch.ones(length, length, dtype=torch.bool).triu(1)
    weights = (query @ key.mT * SCALE).masked_fill(later, -torch.inf).softmax(-1)
    share = round((1 - dropout) * 2**16) / 2**16
    assert torch.allclose(left, (left > 0) * weights / share, atol=1e-6)
    expected = ((left > 0) * weights / share) @ value
    theirs = torch.autograd.grad(expected, inputs, given)
    assert (found - expected).abs().max() < 1e-6
    for one, other in zip(ours, theirs, strict=True):
        assert (one - other).abs().max() < 5e-6


def test_the_state_of_the_generator_decides():
    (query, key, _), _ = tensors(64)
    assert torch.equal(dropped(query, key, 0.2, 1), dropped(query, key, 0.2, 1))
    other = dropped(query, key, 0.2, 2)
    assert not torch.equal(dropped(query, key, 0.2, 1), other)
    blockwise.attention(query, key, query, 0.2, SCALE)
    torch.manual_seed(1)
    first, second = (blockwise.attention(query, key, query, 0.2, SCALE) for _ in range(2))
    assert not torch.equal(first, second)  # the next layer drops others


@pytest.mark.parametrize(
    ("length", "dropout", "dtype", "used"),
    [
        (blockwise.LEAST, 0.1, torch.float32, True),
        (blockwise.LEAST - 1, 0.1, torch.float32, False),
        (blockwise.LEAST, 0.0, torch.float32, False),
        (blockwise.LEAST, 0.1, torch.bfloat16, False),
    ],
)
def test_where_it_is_used(monkeypatch, length, dropout, dtype, used):
    calls = []
    whole = blockwise.attention
    monkeypatch.setattr(blockwise, "attention", lambda *a: calls.append(a) or whole(*a))
    query = tensors(length)[0][0].detach().to(dtype)
    found, _ = attention.attend(torch.nn.Module(), query, query, query, None, dropout)
    assert bool(calls) is used
    assert found.shape == (ROWS, length, HEADS, WIDTH)
    assert not calls or calls[0][-1] == SCALE  # the default
