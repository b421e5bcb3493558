"""Floating-point operations of training: how many a token takes, and how many a device could do.

A weight that is multiplied with each token's activations costs a multiplication and an addition
forward and twice that backward: 6 FLOPs per token (Kaplan et al., 2020, section 2.1; Chowdhery et
al., 2022, PaLM, appendix B). Attention adds 12 * layers * width * keys, where ``keys`` is how many
tokens one attends to: half the context under a causal mask, as Kaplan et al. count it (PaLM counts
the whole context), all of it for a masked model. Not counted: looking up embeddings, additions,
norms, activations, the softmax, the optimiser.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from poshgrid.config import Regimen

# Dense peak rates in TFLOP/s, tensor cores where there are any, sums in float32: float32 proper,
# TF32, bfloat16. From NVIDIA's data sheets (V100, T4, A10, A30, A40, A100, L4, L40, L40S, H100,
# H200, GH200, B200), where rates "with sparsity" are halved, and the white papers of GA102 (RTX
# 3090, A6000) and AD102 (RTX 4090, 6000 Ada). The longest name that fits is meant.
_TERA: dict[str, tuple[float, float | None, float | None]] = {
    "V100-PCIE": (14.0, None, None),
    "V100-SXM2": (15.7, None, None),
    "T4": (8.1, None, None),
    "A10": (31.2, 62.5, 125.0),
    "A40": (37.4, 74.8, 149.7),
    "A100": (19.5, 156.0, 312.0),
    "RTX A6000": (38.7, 77.4, 154.8),
    "RTX 3090": (35.6, 35.6, 71.0),
    "RTX 4090": (82.6, 82.6, 165.2),
    "L4": (30.3, 60.0, 121.0),
    "L40": (90.5, 90.5, 181.0),
    "L40S": (91.6, 183.0, 362.0),
    "H100": (67.0, 494.7, 989.4),  # SXM: the name says nothing, or the memory (HBM3)
    "H100 PCIE": (51.0, 378.0, 756.0),
    "H200": (67.0, 494.7, 989.4),
    "GH200": (67.0, 494.7, 989.4),
    "B200": (75.0, 1_125.0, 2_250.0),
}
# What may stand after a name in the driver's words: form and memory. Whatever else does
# ("MIG 1g.5gb", "Laptop GPU", "Ti") makes it another device.
_AFTER = re.compile(r"([ -](SXM\d|PCIE|\d+GB|HBM\d\w*))*")


def per_token(model: PreTrainedModel, context_length: int) -> float:
    """Return the FLOPs of training on one token, forward and backward.

    Every matrix of the model but those of embeddings is taken to be multiplied once per token; an
    output layer counts, whether or not it shares the embeddings' weights. A masked model is taken
    to predict at every position, as transformers' do.

    Args:
        model: any whose matrices are those of its modules: GPT-2, RoBERTa, our LSTM.
        context_length: tokens of a row.
    """
    model = getattr(model, "_orig_mod", model)  # what torch.compile wraps
    multiplied = sum(
        weight.numel()
        for module in model.modules()
        if not isinstance(module, torch.nn.Embedding)
        for weight in module.parameters(recurse=False)
        if weight.dim() > 1
    )
    return 6.0 * multiplied + _attention(model, context_length)


def _attention(model: PreTrainedModel, context_length: int) -> float:
    """Return the FLOPs per token of attention's two products; 0 for a model without attention."""
    config = model.config
    heads = getattr(config, "num_attention_heads", None)
    if not heads:
        return 0.0
    width = heads * (getattr(config, "head_dim", None) or config.hidden_size // heads)
    masked = type(model).__name__.endswith("ForMaskedLM")
    keys = context_length if masked else context_length / 2
    return 12.0 * config.num_hidden_layers * width * keys


def peak(device: torch.device, precision: str) -> float | None:
    """Return a device's peak FLOP/s in a regimen's precision; none: not known.

    Args:
        device: what the model is on; nothing is known of a CPU.
        precision: ``bf16``, or ``float32``, which is TF32 if torch may use it.
    """
    if device.type != "cuda":
        return None
    low = precision == "float32" and torch.get_float32_matmul_precision() != "highest"
    return peak_of(torch.cuda.get_device_name(device), "tf32" if low else precision)


def peak_of(name: str, precision: str) -> float | None:
    """Return the peak FLOP/s of a GPU; none: it is not in the table or has no such arithmetic.

    Args:
        name: as the driver tells it, e.g. ``NVIDIA A100-SXM4-40GB``. A part of a GPU (MIG)
            and one of a portable computer are other devices, and not known.
        precision: ``float32``, ``tf32`` or ``bf16``.
    """
    words = re.sub(r"^(NVIDIA |TESLA |GEFORCE |QUADRO )+", "", name.upper().strip())
    fits = [row for row in _TERA if words.startswith(row) and _AFTER.fullmatch(words, len(row))]
    column = ("float32", "tf32", "bf16").index(precision)
    rate = _TERA[max(fits, key=len)][column] if fits else None
    return None if rate is None else rate * 1e12


class Meter:
    """How much of its device a run uses.

    Args:
        model: on its device.
        regimen: its context and precision.
    """

    def __init__(self, model: PreTrainedModel, regimen: Regimen) -> None:
        self._device = model.device
        self._per_token = per_token(model, regimen.context_length)
        self._peak = peak(self._device, regimen.precision)

    def utilisation(self, speed: float | None) -> float | None:
        """Return the share of the peak that so many tokens per second are; none: not known.

        That is PaLM's model FLOPs utilisation. Rows that are shorter than the context attend to
        less: with sentences it is an upper bound.
        """
        if speed is None or not self._peak:
            return None
        return speed * self._per_token / self._peak

    def gpu_memory_mb(self) -> float | None:
        """Return the most that torch has held on the GPU so far, MB; none: no GPU."""
        if self._device.type != "cuda":
            return None
        return torch.cuda.max_memory_allocated(self._device) / 1e6
