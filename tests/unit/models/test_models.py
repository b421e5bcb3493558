"""Architectures: seeded weights, the size and activation of GPT-2, FLOPs by torch's counter."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import GPT2Config, GPT2LMHeadModel

from poshgrid.models.training import flops
from tests.unit.models.training.training_support import SMALL, build


def test_number_of_parameters_by_hand():
    # embeddings 300*16 and positions 16*16; a layer: two norms 4*16, attention 16*48+48 and
    # 16*16+16, feed-forward 16*24+24 and 24*16+16; the last norm 2*16; the head is tied
    layer = 4 * 16 + (16 * 48 + 48) + (16 * 16 + 16) + (16 * 24 + 24) + (24 * 16 + 16)
    expected = 300 * 16 + 16 * 16 + 2 * layer + 2 * 16
    assert build(options={"ffn": 24}).num_parameters() == expected


@pytest.mark.parametrize("architecture", SMALL)
def test_weights_are_a_function_of_seed_and_name(architecture):
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    one, longer, other = (
        dict(build(architecture, seed, context_length=length).named_parameters())
        for seed, length in ((1, 16), (1, 40), (2, 16))
    )
    assert torch.equal(torch.random.get_rng_state(), before)  # is left alone
    for name, weight in one.items():
        assert torch.equal(weight, longer[name][: len(weight)]), name
        fixed = architecture != "lstm" and weight.dim() == 1  # biases and gains
        assert torch.equal(weight, other[name]) == fixed, name
    assert not {"lm_head.weight", "lm_head.decoder.weight"} & set(one)  # tied


@pytest.mark.parametrize(
    ("architecture", "width"), [("gpt2", 15), ("babyberta", 15), ("modern", 18), ("hybrid", 18)]
)
def test_heads_divide_the_width_and_rotary_positions_turn_pairs(architecture, width):
    with pytest.raises(ValueError, match="not divisible"):
        build(architecture, options={"hidden_size": width, "heads": 6})


def test_padding_has_no_embedding_in_babyberta():
    words = build("babyberta").get_input_embeddings().weight
    assert [bool(words[number].any()) for number in (0, 1, 300)] == [True, False, True]


def test_initial_weights_have_the_deviations_of_gpt2():
    weights = dict(build(options={"hidden_size": 64, "layers": 8}).named_parameters())
    assert weights["transformer.wte.weight"].std().item() == pytest.approx(0.02, rel=0.1)
    for name in ("attn.c_proj", "mlp.c_proj"):  # 16 additions to the residual stream
        deviation = weights[f"transformer.h.3.{name}.weight"].std().item()
        assert deviation == pytest.approx(0.02 / 4, rel=0.1)
    assert weights["transformer.h.0.ln_1.weight"].unique().tolist() == [1.0]
    assert weights["transformer.h.0.attn.c_attn.bias"].unique().tolist() == [0.0]


def test_the_activation_is_that_of_gpt2():
    ours = build(seed=5).eval()
    config = GPT2Config(**(ours.config.to_dict() | {"activation_function": "gelu_new"}))
    theirs = GPT2LMHeadModel(config).eval()
    theirs.load_state_dict(ours.state_dict())
    ids = torch.arange(12)[None]
    with torch.inference_mode():
        assert torch.allclose(ours(ids).logits, theirs(ids).logits, atol=1e-6)


ROWS, LENGTH = 2, 24
SHAPE = {"hidden_size": 48, "layers": 3, "heads": 4, "ffn": 100}


@pytest.mark.parametrize(
    ("architecture", "options"),
    [
        ("lstm", {"hidden_size": 40}),
        ("gpt2", SHAPE),
        ("babyberta", SHAPE),
        ("modern", SHAPE | {"tied": False}),
    ],
)
def test_flops_are_those_that_torch_counts(architecture, options):
    """What torch runs in a training step; layers unfused, to be seen."""
    model = build(architecture, options=options, context_length=32)
    if architecture != "lstm":
        model.set_attn_implementation("eager")
    ids = torch.arange(2, 2 + ROWS * LENGTH).view(ROWS, LENGTH)
    with torch.backends.mkldnn.flags(enabled=False), FlopCounterMode(display=False) as counter:
        model(input_ids=ids).logits.sum().backward()
    # eager attention multiplies the half that a causal mask hides, and throws it away
    hidden = 12 * 3 * 48 * LENGTH / 2 if architecture in ("gpt2", "modern") else 0
    counted = counter.get_total_flops() / (ROWS * LENGTH)
    assert flops.per_token(model, LENGTH) + hidden == pytest.approx(counted, rel=0.01)
