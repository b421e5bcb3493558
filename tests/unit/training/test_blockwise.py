"""Attention with dropout, block by block: compared with torch's own, and with all weights."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from poshgrid.training import blockwise

ROWS, HEADS, WIDTH = 3, 2, 8
SCALE = WIDTH**-0.5


def tensors(length, width=WIDTH):
    """Return queries, keys, values as a model has them, views of one tensor, and gradients."""
    generator = torch.Generator().manual_seed(0)
    made = [
        torch.randn(ROWS, length, HEADS, each, generator=generator).transpose(1, 2)
        for each in (WIDTH, WIDTH, width, width)
    ]
    return [each.requires_grad_() for each in made[:3]], made[3]


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


def compared(inputs, given, found, expected, tolerance):
    assert (found - expected).abs().max() < 1e-6
    ours, theirs = (torch.autograd.grad(each, inputs, given) for each in (found, expected))
    for one, other in zip(ours, theirs, strict=True):
        assert (one - other).abs().max() < tolerance


@pytest.mark.parametrize(("length", "width"), [(1, WIDTH), (16, 5), (61, WIDTH), (90, 5)])
def test_without_dropout_it_is_torchs(length, width):
    inputs, given = tensors(length, width)
    expected = scaled_dot_product_attention(*inputs, is_causal=True, scale=SCALE)
    compared(inputs, given, blockwise.attention(*inputs, 0.0, SCALE), expected, 3e-6)


@pytest.mark.parametrize("dropout", [0.1, 0.5])
def test_with_dropout_it_is_all_weights_written_out(dropout):
    length = 70
    inputs, given = tensors(length)
    query, key, value = inputs
    left = dropped(query, key, dropout, seed=7)
    assert torch.equal(left, dropped(query, key, dropout, seed=7))
    assert not torch.equal(left, dropped(query, key, dropout, seed=8))
    torch.manual_seed(7)
    found = blockwise.attention(*inputs, dropout, SCALE)
    assert not torch.equal(found, blockwise.attention(*inputs, dropout, SCALE))  # the next layer
    later = torch.ones(length, length, dtype=torch.bool).triu(1)
    weights = (query @ key.mT * SCALE).masked_fill(later, -torch.inf).softmax(-1)
    share = round((1 - dropout) * 2**16) / 2**16
    assert torch.allclose(left, (left > 0) * weights / share, atol=1e-6)
    compared(inputs, given, found, ((left > 0) * weights / share) @ value, 5e-6)
