"""What only a GPU can show, in a few minutes: ``make gpu``. Without one, all of it is skipped.

What can be shown without is shown without: ``tests/unit/training/test_graph.py`` reads the graphs.
Here the same runs meet the device. A table at the end says how fast they were; it asserts nothing.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import yaml

from poshgrid.config import Learner, Regimen, Scoring
from poshgrid.evaluation.engine import Request
from poshgrid.evaluation.engines.load import load
from poshgrid.tokenization.encode import Tokens
from poshgrid.training import bias, data, flops, learner, schedule, step
from poshgrid.training.progress import Progress
from poshgrid.training.train import _prepare_torch
from tests.unit.training import test_graph
from tests.unit.training.test_graph import CASES, spec_of, stepper, trained
from tests.unit.training.training_support import sentences

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")

toy = test_graph.toy
TYPES, WARM, TIMED = 32_768, 8, 20
COMPILED = {("gpt2", "recency", "packed"), ("gpt2", "dyck", "packed")}  # the others: eager
COMPILED |= {("gpt2", "recency+tree-planting", "sentence"), ("babyberta", "none", "sentence")}
FOUND: list[tuple[str, ...]] = []


@pytest.fixture(scope="module", autouse=True)
def table():
    """Print what was found, whatever else happens."""
    yield
    head = ("what", "tokens/s", "MFU", "GB", "loss off by", "attention's kernels")
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    lines = [
        f"{row[0]:46} {row[1]:>10} {row[2]:>6} {row[3]:>6} {row[4]:>12}  {row[5]}\n"
        for row in (head, *FOUND)
    ]
    versions = f"\n{device}, torch {torch.__version__}, CUDA {torch.version.cuda}\n"
    sys.stdout.write(versions + "".join(lines))


@pytest.fixture(autouse=True)
def _afresh():
    """Forget graphs: one model a process is trained elsewhere, and torch has a limit of graphs."""
    torch._dynamo.reset()


def changes(kind, compiled):
    """What makes it a replayed graph, if it is compiled and packed: one micro-batch a step."""
    one = compiled == "on" and kind == "packed"
    return {"compile": compiled} | ({"micro_batch_size": None} if one else {})


# ---- the same losses --------------------------------------------------------------------------


@pytest.mark.parametrize(("architecture", "word", "kind"), CASES)
def test_losses_are_those_of_a_cpu(toy, tmp_path, monkeypatch, architecture, word, kind):
    """Float32, without dropout, whose random numbers are each device's own; the CPU's is eager."""
    compiled = "on" if (architecture, word, kind) in COMPILED else "off"
    lines = {}
    for device, compile_ in (("cuda", compiled), ("cpu", "off")):
        spec = spec_of(architecture, word, kind, **changes(kind, compile_), dropout=0.0)
        with monkeypatch.context() as patched:
            if device == "cpu":
                patched.setattr(torch.cuda, "is_available", lambda: False)
            assert trained(toy, spec, tmp_path / device)["device"] == device
        written = (tmp_path / device / "model" / "training.jsonl").read_text()
        lines[device] = [json.loads(line) for line in written.splitlines()]
    pairs = [
        (gpu[key], cpu[key])
        for gpu, cpu in zip(lines["cuda"], lines["cpu"], strict=True)
        for key in ("dev_loss", "train_loss")
        if cpu[key] is not None
    ]
    off = max(abs(gpu - cpu) for gpu, cpu in pairs)
    name = f"{architecture} {word} {kind}{', compiled' if compiled == 'on' else ''}"
    FOUND.append((name, "", "", "", f"{off:.1e}", ""))
    assert len(pairs) > 3
    assert off < 1e-3


@pytest.mark.parametrize(
    ("architecture", "word", "kind"),
    [
        ("gpt2", "recency", "sentence"),
        ("babyberta", "none", "sentence"),
        ("lstm", "none", "packed"),
    ],
)
def test_scores_are_those_of_a_cpu(toy, tmp_path, architecture, word, kind):
    trained(toy, spec_of(architecture, word, kind, compile="off"), tmp_path)
    asked = [Request(text, text) for text in sentences(72)[61:]]
    gpu, cpu = (
        [each.logprob for each in load(str(tmp_path / "model"), Scoring(device=on)).score(asked)]
        for on in ("cuda", "cpu")
    )
    off = max(abs(one - other) for one, other in zip(gpu, cpu, strict=True))
    FOUND.append((f"{architecture} {word}, scores", "", "", "", f"{off:.1e}", ""))
    assert len(set(cpu)) > 3
    assert off < 1e-3


# ---- no wait ----------------------------------------------------------------------------------


@pytest.mark.parametrize("compiled", ["off", "on"])
@pytest.mark.parametrize(
    ("architecture", "word", "kind"), [case for case in CASES if "dyck" not in case[1]]
)
def test_a_step_does_not_wait(toy, tmp_path, architecture, word, kind, compiled):
    if compiled == "on" and (architecture, word, kind) not in COMPILED:
        pytest.skip("compiled in another case")
    device = _prepare_torch(1)
    spec = spec_of(architecture, word, kind, **changes(kind, compiled))
    taken = stepper(toy, spec, device, tmp_path)
    with step.training(taken.model, spec.regimen):
        for number in range(3):  # compiles, records, and brings an epoch's bias to the device
            taken.take(number)
        torch.cuda.synchronize()
        torch.cuda.set_sync_debug_mode("error")
        try:
            taken.take(3)
        finally:
            torch.cuda.set_sync_debug_mode("default")


# ---- how fast, and by what kernels ------------------------------------------------------------


def of_the_paper(name: str, precision: str, biased: bool = False) -> step.Stepper:
    """A learner of config/config.yaml in its packed regimen, on text that is drawn."""
    paper = yaml.safe_load((Path(__file__).parents[2] / "config" / "config.yaml").read_text())
    (chosen,) = (each for each in paper["regimens"] if each["name"] == "packed")
    (model,) = (each for each in paper["learners"] if each["name"] == name)
    regimen = Regimen(**(chosen | {"precision": precision, "compile": "on"}))
    random = torch.Generator().manual_seed(1)
    ids = torch.randint(2, TYPES, (2_000_000,), generator=random).numpy().astype("uint16")
    rows = data.rows(regimen, Tokens(ids, None), padding_id=1, seed=1)
    built = learner.build(
        Learner(**model), vocabulary_size=TYPES, context_length=regimen.context_length,
        dropout=regimen.dropout, boundary_id=0, padding_id=1, seed=1,
    ).to(_prepare_torch(1))  # fmt: skip
    biases = list(bias.build("recency" if biased else "none", {}).values())
    if biased:
        built = biases[0].prepare(built, SimpleNamespace(device=built.device))
    return step.Stepper(
        built, rows, schedule.Plan(regimen, rows.steps_per_epoch),
        seed=1, biases=biases, progress=Progress(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "precision", "biased"),
    [
        ("gpt2-small", "bf16", False),
        ("gpt2-small", "float32", False),
        ("gpt2-mini", "bf16", False),
        ("gpt2-mini", "bf16", True),
    ],
)
def test_speed_and_kernels(name, precision, biased):
    """Attention in bf16 runs in a flash kernel; speed is told."""
    from torch.profiler import ProfilerActivity, profile

    torch.cuda.reset_peak_memory_stats()
    taken = of_the_paper(name, precision, biased)
    tokens = taken._regimen.batch_size * taken._regimen.context_length
    with step.training(taken.model, taken._regimen):
        for number in range(WARM):
            taken.take(number)
        taken.ledger.settle(True)
        began = time.perf_counter()
        for number in range(WARM, WARM + TIMED):
            taken.take(number)
        taken.ledger.settle(True)  # waits
        speed = TIMED * tokens / (time.perf_counter() - began)
        with profile(activities=[ProfilerActivity.CUDA]) as profiled:
            taken.take(WARM + TIMED)
            torch.cuda.synchronize()
    kernels = {each.key for each in profiled.key_averages()}
    mine = {key for key in kernels if any(w in key.lower() for w in ("flash", "fmha", "attention"))}
    operations = flops.per_token(taken.model, taken._regimen.context_length)
    use = speed * operations / flops.peak(taken.device, precision)
    gb = torch.cuda.max_memory_allocated() / 1e9
    FOUND.append((
        f"{name} packed {precision}{' recency' if biased else ''}", f"{speed:,.0f}",
        "-" if use is None else f"{use:.0%}", f"{gb:.1f}", "",
        ", ".join(sorted(key[:60] for key in mine)) or "none found",
    ))  # fmt: skip
    assert kernels
    if precision == "bf16" and torch.cuda.get_device_capability() >= (8, 0):
        assert any("flash" in key.lower() for key in mine), sorted(kernels)
