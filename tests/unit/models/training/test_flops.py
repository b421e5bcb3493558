"""Model FLOPs: against torch's own counter."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from poshgrid.models.training import flops
from tests.unit.models.training.training_support import build

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
