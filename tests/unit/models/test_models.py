"""Architectures: sizes, seeded weights."""

from __future__ import annotations

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from poshgrid.models.architectures import gpt2

SMALL = {"hidden_size": 16, "layers": 2, "heads": 2}


def build(seed=42, context_length=16, vocabulary_size=50, dropout=0.0, **options):
    return gpt2.build(
        gpt2.Options(**(SMALL | options)),
        vocabulary_size=vocabulary_size,
        context_length=context_length,
        dropout=dropout,
        boundary_id=0,
        padding_id=1,
        seed=seed,
    )


def test_number_of_parameters_by_hand():
    # embeddings 50*16 and positions 16*16; a layer: two norms 4*16, attention 16*48+48 and
    # 16*16+16, feed-forward 16*24+24 and 24*16+16; the last norm 2*16; the head is tied
    layer = 4 * 16 + (16 * 48 + 48) + (16 * 16 + 16) + (16 * 24 + 24) + (24 * 16 + 16)
    assert build(ffn=24).num_parameters() == 50 * 16 + 16 * 16 + 2 * layer + 2 * 16


def test_weights_are_a_function_of_the_seed():
    one, same, other = (dict(build(seed).named_parameters()) for seed in (1, 1, 2))
    for name, weight in one.items():
        assert torch.equal(weight, same[name])
        assert torch.equal(weight, other[name]) == (weight.dim() == 1)


def test_longer_contexts_only_add_positions():
    short, long = (dict(build(context_length=n).named_parameters()) for n in (16, 40))
    for name, weight in short.items():
        assert torch.equal(weight, long[name][: len(weight)])
    assert long["transformer.wpe.weight"].shape == (40, 16)


def test_initial_weights_have_the_deviations_of_gpt2():
    model = build(hidden_size=64, layers=8)
    weights = dict(model.named_parameters())
    assert weights["transformer.wte.weight"].std().item() == pytest.approx(0.02, rel=0.1)
    for name in ("attn.c_proj", "mlp.c_proj"):  # 16 additions to the residual stream
        found = weights[f"transformer.h.3.{name}.weight"].std().item()
        assert found == pytest.approx(0.02 / 4, rel=0.1)
    assert weights["transformer.h.0.ln_1.weight"].unique().tolist() == [1.0]
    assert weights["transformer.h.0.attn.c_attn.bias"].unique().tolist() == [0.0]


def test_embeddings_are_tied_and_the_global_random_state_is_left_alone():
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    model = build()
    assert torch.equal(torch.random.get_rng_state(), before)
    assert model.lm_head.weight is model.transformer.wte.weight


def test_the_activation_is_that_of_gpt2():
    ours = build(seed=5).eval()
    config = GPT2Config(**(ours.config.to_dict() | {"activation_function": "gelu_new"}))
    theirs = GPT2LMHeadModel(config).eval()
    theirs.load_state_dict(ours.state_dict())
    ids = torch.arange(12)[None]
    with torch.inference_mode():
        assert torch.allclose(ours(ids).logits, theirs(ids).logits, atol=1e-6)
