"""What a GPU would be given, read on a CPU: the graphs that are captured, and no wait in a step.

Graphs are those that ``torch.compile`` hands to its backend; here the backend keeps them and runs
them as they are.
"""

import functools
import math

import pytest
import torch

from poshgrid.core.errors import PoshgridError
from poshgrid.models.tokenization import encode
from poshgrid.models.tokenization.tokenizer import Vocabulary
from poshgrid.models.training import builder, loop, losses
from poshgrid.models.training.progress import Plan
from poshgrid.models.training.train import train
from tests.unit.models.training.training_support import prepared, recipe, train_spec

CASES = [
    ("gpt2", "none", "packed"),
    ("gpt2", "none", "sentence"),
    ("gpt2", "recency", "packed"),
    ("gpt2", "recency", "sentence"),
    ("gpt2", "dyck", "packed"),
    ("gpt2", "dyck+recency", "sentence"),
    ("gpt2", "tree-planting", "sentence"),
    ("gpt2", "recency+tree-planting", "sentence"),
    ("lstm", "none", "packed"),
    ("lstm", "dyck", "sentence"),
    ("babyberta", "none", "sentence"),
    ("modern", "none", "packed"),
    ("modern", "dyck", "sentence"),
    ("hybrid", "none", "packed"),
    ("hybrid", "none", "sentence"),
]
COMPILED = [
    ("gpt2", "none", "packed", "float32"),
    ("gpt2", "recency", "sentence", "bf16"),
    ("gpt2", "dyck", "packed", "float32"),
    ("gpt2", "tree-planting", "sentence", "float32"),
    ("lstm", "none", "packed", "float32"),
    ("babyberta", "none", "sentence", "float32"),
    ("modern", "none", "sentence", "bf16"),
    ("hybrid", "none", "packed", "float32"),
]
"""Every model, bias, kind of row and precision once."""


def spec_of(architecture, word, kind, **changes):
    """A run of every length that occurs; several micro-batches a step, and dev losses between."""
    chosen = recipe(
        input=kind, steps=6, evaluate_every=3,
        **{"dropout": 0.1, "batch_size": 6, "micro_batch_size": 4, "context_length": 32} | changes,
    )  # fmt: skip
    short = {"k": 2, "depth": 3, "length": 16, "steps": 3, "batch_size": 3, "warmup_steps": 1}
    options = {"dyck": short} if "dyck" in word else {}
    several = {"sentences": 2} if architecture == "babyberta" else {}  # in a row
    return train_spec(chosen, 3, word, architecture, options, **several)


def trained(inputs, distances, spec, folder):
    trees = distances if "tree" in spec.bias else None
    return train(spec, *inputs, folder / "checkpoints", folder / "model", trees)


def stepper(inputs, distances, spec, folder, device="cpu"):
    """A model, prepared as ``train`` does it, and a function that takes its steps."""
    train_split = encode.load(inputs[0], "train")
    rows = builder.rows(spec.model, spec.recipe, train_split, Vocabulary(300, 0, 1), 3)
    model, biases = prepared(inputs, spec, folder, distances)
    return model.to(device), functools.partial(
        loop.training_step, model, loop.build_optimizers(model, spec.recipe), rows,
        Plan(spec.recipe, rows.steps_per_epoch), seed=3, biases=biases,
    )  # fmt: skip


@pytest.fixture
def graphs(monkeypatch):
    """The graphs that are captured from now on, each with whether gradients are wanted."""
    captured, compile_ = [], torch.compile

    def backend(graph, _):
        captured.append((torch.is_grad_enabled() and not torch.is_inference_mode_enabled(), graph))
        return graph.forward

    monkeypatch.setattr(torch, "compile", lambda part, **k: compile_(part, backend=backend, **k))
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    yield captured
    torch._dynamo.reset()


def attentions(graph):
    return [node for node in graph.graph.nodes if "scaled_dot_product" in str(node.target)]


def masks(graph):
    """Shapes of Boolean tensors of more than a number a token."""
    tensors = [node.meta.get("example_value") for node in graph.graph.nodes]
    return [
        tuple(tensor.shape)
        for tensor in tensors
        if isinstance(tensor, torch.Tensor) and tensor.dtype == torch.bool and tensor.dim() > 2
    ]


@pytest.mark.parametrize(("architecture", "word", "kind", "precision"), COMPILED)
def test_a_recipe_is_one_graph_without_mask_or_break(
    inputs, distances, tmp_path, graphs, architecture, word, kind, precision
):
    """Each model is compiled twice, with and without gradients; waiting for a value breaks it."""
    spec = spec_of(architecture, word, kind, compile="on", precision=precision)
    trained(inputs, distances, spec, tmp_path)
    assert not torch._dynamo.utils.counters["graph_break"]
    models = 0 if architecture == "lstm" else 1 + ("dyck" in word)
    adds = word == "recency"  # numbers, as a mask
    ways = 1 + (architecture == "hybrid")  # of learning, a graph each
    assert sorted(learns for learns, _ in graphs) == [False] * models + [True] * models * ways
    causal = 0
    for _, graph in graphs:
        assert len(attentions(graph)) == 2
        # padding is all that a gap-filler may not see: a number a token
        assert adds or all(shape[1:3] == (1, 1) for shape in masks(graph))
        causal += not masks(graph) and all(
            node.kwargs["is_causal"] is True for node in attentions(graph)
        )
    assert causal == (0 if adds else {"babyberta": 0, "hybrid": 2}.get(architecture, 2 * models))


# ---- however a batch is split -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("architecture", "word", "kind"), [case for case in CASES if "dyck" not in case[1]]
)
def test_a_gradient_is_that_of_the_whole_batch(
    inputs, distances, tmp_path, monkeypatch, architecture, word, kind
):
    """Of the mean over all its predicted tokens, whichever micro-batch they stand in."""
    gradients, micro = [], []
    summed, clip = losses.summed, torch.nn.utils.clip_grad_norm_

    def clipped(weights, *rest, **others):
        weights = list(weights)
        gradients.append([w.grad.clone() for w in weights if w.grad is not None])
        return clip(weights, *rest, **others)

    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", clipped)
    monkeypatch.setattr(losses, "summed", lambda *args: micro.append(args) or summed(*args))
    for rows, padding in ((24, 10_000), (1, 16)):
        monkeypatch.setitem(loop.PADDING_AT_ONCE, "cpu", padding)
        changes = {"dropout": 0.0, "batch_size": 24, "micro_batch_size": rows}
        spec = spec_of(architecture, word, kind, **changes)
        model, take = stepper(inputs, distances, spec, tmp_path / str(rows))
        micro.clear()
        with loop.training(model, spec.recipe):
            take(0)
        assert (len(micro) == 1) == (rows == 24)
    whole, parts = gradients
    assert max(gradient.abs().max() for gradient in whole) > 0.01
    for one, other in zip(whole, parts, strict=True):
        assert (one - other).abs().max() < 1e-6


def test_a_loss_that_is_no_number_is_reported_with_its_step_and_changes_no_weight(
    inputs, distances, tmp_path
):
    model, take = stepper(inputs, distances, spec_of("gpt2", "none", "packed"), tmp_path)
    take(1)
    with torch.no_grad():
        model.transformer.ln_f.bias[0] = math.inf
    before = [weight.clone() for weight in model.parameters()]
    with pytest.raises(PoshgridError, match=r"the loss is nan at step 2; .* recipe 'small'"):
        take(2)
    assert all(map(torch.equal, before, model.parameters()))
