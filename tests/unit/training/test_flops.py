"""Model FLOPs: against torch's own counter, and worked by hand; peaks of devices by name."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import RobertaConfig, RobertaForMaskedLM

from poshgrid.models.architectures import gpt2, lstm
from poshgrid.training import flops

ROWS, LENGTH, TYPES = 2, 24, 300
COMMON = {"vocabulary_size": TYPES, "context_length": 32, "dropout": 0.0, "boundary_id": 0,
          "padding_id": 1, "seed": 1}  # fmt: skip


def a_gpt2():
    model = gpt2.build(gpt2.Options(hidden_size=48, layers=3, heads=4, ffn=100), **COMMON)
    model.set_attn_implementation("eager")
    return model


def an_lstm():
    return lstm.build(lstm.Options(hidden_size=40, layers=3), **COMMON)


def a_roberta():
    config = RobertaConfig(
        vocab_size=TYPES, hidden_size=48, intermediate_size=100, num_hidden_layers=3,
        num_attention_heads=4, max_position_embeddings=40,
    )  # fmt: skip
    return RobertaForMaskedLM._from_config(config, attn_implementation="eager")


def counted(model):
    """FLOPs per token of one training step, by what torch runs; layers unfused, to be seen."""
    ids = torch.arange(2, 2 + ROWS * LENGTH).view(ROWS, LENGTH)
    with torch.backends.mkldnn.flags(enabled=False), FlopCounterMode(display=False) as counter:
        model(input_ids=ids).logits.sum().backward()
    return counter.get_total_flops() / (ROWS * LENGTH)


@pytest.mark.parametrize("build", [an_lstm, a_roberta])
def test_flops_are_those_that_torch_counts(build):
    model = build()
    assert flops.per_token(model, LENGTH) == pytest.approx(counted(model), rel=0.01)


def test_a_causal_model_is_spared_the_half_that_its_mask_hides():
    model = a_gpt2()
    hidden = 12 * 3 * 48 * LENGTH / 2  # eager attention multiplies it and throws it away
    assert flops.per_token(model, LENGTH) + hidden == pytest.approx(counted(model), rel=0.01)


def test_flops_by_hand():
    # a layer: two matrices of 4 gates; the tied output layer is a product, the lookup is not
    assert flops.per_token(an_lstm(), 999) == 6 * (3 * 2 * 4 * 40 * 40 + 40 * TYPES)
    # a layer: attention 4 squares, feed-forward 2 * 48 * 100; attention over half of 10 tokens
    matrices = 3 * (4 * 48 * 48 + 2 * 48 * 100) + 48 * TYPES
    assert flops.per_token(a_gpt2(), 10) == 6 * matrices + 12 * 3 * 48 * 5


@pytest.mark.parametrize(
    ("name", "precision", "tera"),
    [
        ("NVIDIA A100 80GB PCIe", "tf32", 156),
        ("NVIDIA A10", "bf16", 125),
        ("NVIDIA H100 80GB HBM3", "bf16", 989.4),
        ("NVIDIA H100 PCIe", "bf16", 756),
        ("Tesla V100-SXM2-16GB", "float32", 15.7),
        ("NVIDIA GeForce RTX 4090", "bf16", 165.2),
    ],
)
def test_peaks_by_the_names_that_drivers_give(name, precision, tera):
    assert flops.peak_of(name, precision) == pytest.approx(tera * 1e12)


@pytest.mark.parametrize(
    ("name", "precision"),
    [
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "bf16"),  # a part of the device
        ("NVIDIA GeForce RTX 4090 Laptop GPU", "bf16"),
        ("NVIDIA A1000", "bf16"),
        ("NVIDIA H100 NVL", "bf16"),  # not in the table
        ("Tesla T4", "bf16"),  # no such arithmetic
    ],
)
def test_what_is_not_known_has_no_peak(name, precision):
    assert flops.peak_of(name, precision) is None


def test_peak_of_a_device(monkeypatch):
    assert flops.peak(torch.device("cpu"), "bf16") is None
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "NVIDIA A100-SXM4-80GB")
    monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda: "highest")
    gpu = torch.device("cuda")
    assert flops.peak(gpu, "float32") == 19.5e12
    assert flops.peak(gpu, "bf16") == 312e12
    monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda: "high")
    assert flops.peak(gpu, "float32") == 156e12
