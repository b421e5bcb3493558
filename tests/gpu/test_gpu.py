"""What only a GPU can show, in a few minutes: ``make gpu``. Without one, all of it is skipped.

What can be shown without a GPU is shown in ``tests/unit/models/training/test_graph.py``, which
reads the graphs. Here the same runs meet the device. ``perf/training_speed.py`` says how fast they
are.
"""

import pytest
import torch

from poshgrid.config import Scoring
from poshgrid.evaluation.engine import Request
from poshgrid.evaluation.engines.load import load
from poshgrid.models.training import loop
from tests.unit.models.training.test_graph import CASES, spec_of, stepper, trained
from tests.unit.models.training.training_support import log, recipe, sentences, train_spec

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")

COMPILED = {("gpt2", "recency", "packed"), ("gpt2", "dyck", "packed")}  # the others: eager
COMPILED |= {("gpt2", "recency+tree-planting", "sentence"), ("babyberta", "none", "sentence")}


@pytest.fixture(autouse=True)
def _afresh():
    """Forget graphs: one model a process is trained elsewhere, and torch has a limit of graphs."""
    torch._dynamo.reset()


def changes(kind, compiled):
    """What makes it a replayed graph, if it is compiled and packed: one micro-batch a step."""
    one = compiled == "on" and kind == "packed"
    return {"compile": compiled} | ({"micro_batch_size": None} if one else {})


@pytest.mark.parametrize(("architecture", "word", "kind"), CASES)
def test_losses_are_those_of_a_cpu(
    inputs, distances, tmp_path, monkeypatch, architecture, word, kind
):
    """Float32, without dropout, whose random numbers are each device's own; the CPU's is eager."""
    compiled = "on" if (architecture, word, kind) in COMPILED else "off"
    lines = {}
    for device, compile_ in (("cuda", compiled), ("cpu", "off")):
        spec = spec_of(architecture, word, kind, **changes(kind, compile_), dropout=0.0)
        with monkeypatch.context() as patched:
            if device == "cpu":
                patched.setattr(torch.cuda, "is_available", lambda: False)
            assert trained(inputs, distances, spec, tmp_path / device)["device"] == device
        lines[device] = log(tmp_path / device / "model")
    for key in ("dev_loss", "train_loss"):
        gpu, cpu = ([line[key] for line in lines[device][1:]] for device in ("cuda", "cpu"))
        assert gpu == pytest.approx(cpu, abs=1e-3)


@pytest.mark.parametrize(
    ("architecture", "word", "kind"),
    [
        ("gpt2", "recency", "sentence"),
        ("babyberta", "none", "sentence"),
        ("lstm", "none", "packed"),
    ],
)
def test_scores_are_those_of_a_cpu(inputs, tmp_path, architecture, word, kind):
    trained(inputs, None, spec_of(architecture, word, kind, compile="off"), tmp_path)
    asked = [Request(text, text) for text in sentences(12)]
    gpu, cpu = (
        [
            scored.logprob
            for scored in load(str(tmp_path / "model"), Scoring(device=on)).score(asked)
        ]
        for on in ("cuda", "cpu")
    )
    assert gpu == pytest.approx(cpu, abs=1e-3)
    assert len(set(cpu)) > 3


def test_attention_runs_in_a_flash_kernel(inputs, tmp_path):
    from torch.profiler import ProfilerActivity, profile

    chosen = recipe(precision="bf16", context_length=64, compile="off")
    spec = train_spec(chosen, hidden_size=128)
    model, take = stepper(inputs, None, spec, tmp_path, "cuda")
    profiler = profile(activities=[ProfilerActivity.CUDA])
    with loop.training(model, chosen), profiler:
        take(0)
        torch.cuda.synchronize()
    kernels = sorted(event.key for event in profiler.key_averages())
    assert kernels
    if torch.cuda.get_device_capability() >= (8, 0):
        assert any("flash" in name.lower() for name in kernels), kernels
