"""The dynamic recency bias: against a dense implementation, in training, and in scoring."""

import json
import math
from types import SimpleNamespace

import pytest
import torch
from torch.nn import functional

from poshgrid.models.recency import GPT2RecencyConfig, GPT2RecencyLMHeadModel
from poshgrid.models.training import bias
from tests.unit.models.tiny_causal import TEXT, engine, requests, tokenizer
from tests.unit.models.training.training_support import (
    build,
    equal,
    recipe,
    statistics,
    train_spec,
    weights,
)

TYPES, CONTEXT = 400, 512


def settings(**changes):
    return {
        "vocab_size": TYPES, "n_positions": CONTEXT, "n_embd": 48, "n_layer": 2, "n_head": 3,
        "embd_pdrop": 0.0, "attn_pdrop": 0.0, "resid_pdrop": 0.0, "initializer_range": 0.2,
        "bos_token_id": 0, "eos_token_id": 0,
    } | changes  # fmt: skip


def biased(m, seed=0, **changes):
    torch.manual_seed(seed)
    return GPT2RecencyLMHeadModel(GPT2RecencyConfig(**settings(**changes), recency=m)).eval()


def drawn(rows, length, seed=1):
    return torch.randint(TYPES, (rows, length), generator=torch.Generator().manual_seed(seed))


# ---- a dense implementation, from the formulas alone ------------------------------------------


def dense(named, ids, m, heads=3):
    """GPT-2's last states with the bias, from its weights by name; ids: [rows, length]."""
    position = torch.arange(ids.shape[1])
    later = position[:, None] < position[None, :]
    distance = (position[None, :] - position[:, None]).to(named["wte.weight"].dtype)

    def norm(x, name):
        weight, shift = named[f"{name}.weight"], named[f"{name}.bias"]
        return functional.layer_norm(x, (x.shape[-1],), weight, shift)

    def linear(x, name):
        return x @ named[f"{name}.weight"] + named[f"{name}.bias"]

    x = named["wte.weight"][ids] + named["wpe.weight"][position]
    for layer in range(sum(name.endswith("ln_1.weight") for name in named)):
        query, key, value = linear(norm(x, f"h.{layer}.ln_1"), f"h.{layer}.attn.c_attn").chunk(3, 2)
        attended = []
        for q, k, v in zip(*(part.chunk(heads, 2) for part in (query, key, value)), strict=True):
            scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]) + m * distance
            attended.append(scores.masked_fill(later, -math.inf).softmax(-1) @ v)
        x = x + linear(torch.cat(attended, 2), f"h.{layer}.attn.c_proj")
        inner = linear(norm(x, f"h.{layer}.ln_2"), f"h.{layer}.mlp.c_fc")
        inner = functional.gelu(inner, approximate="tanh")
        x = x + linear(inner, f"h.{layer}.mlp.c_proj")
    return norm(x, "ln_f")


def named(model, dtype=torch.float32):
    """The body's weights as new leaves."""
    body = model.transformer
    return {n: w.detach().to(dtype).clone().requires_grad_() for n, w in body.named_parameters()}


@pytest.mark.parametrize(("m", "width"), [(1.0, 48), (0.6, 36), (0.6**9, 48)])
def test_states_and_gradients_are_those_of_a_dense_implementation(m, width):
    """The scale of attention is a quarter, or no power of two."""
    model = biased(m, n_embd=width)
    ids, aim = drawn(2, CONTEXT), torch.randn(2, CONTEXT, width)
    leaves = named(model)
    expected = dense(leaves, ids, m)
    states = model.transformer(ids, use_cache=False).last_hidden_state
    assert (states - expected).abs().max() < 1e-5
    (states * aim).mean().backward()
    (expected * aim).mean().backward()
    for name, weight in model.transformer.named_parameters():
        assert (weight.grad - leaves[name].grad).abs().max() < 1e-5, name
    assert (dense(leaves, ids, 0.0) - expected).abs().max() > 1e-3  # the bias is there


@pytest.mark.parametrize("shares", [True, False])
def test_our_engine_scores_with_the_bias_shared_or_not(tmp_path, shares):
    biased(0.5, n_positions=64).save_pretrained(tmp_path)
    words = tokenizer(tmp_path)
    scorer = engine(tmp_path)
    assert scorer.shares
    scorer.shares = shares
    texts = [" ".join(text.split()[:n]) for text in TEXT for n in range(2, 9)]
    scores = scorer.score(requests(texts))
    leaves = named(biased(0.5, n_positions=64), torch.float64)
    for text, score in zip(texts, scores, strict=True):
        ids = torch.tensor([[words.bos_token_id, *words(text)["input_ids"]]])
        with torch.no_grad():
            logprobs = (dense(leaves, ids, 0.5) @ leaves["wte.weight"].T).log_softmax(-1)
        expected = logprobs[0, :-1].gather(1, ids[0, 1:, None]).sum().item()
        assert score.logprob == pytest.approx(expected, abs=1e-4)


# ---- the bias in training ---------------------------------------------------------------------


@pytest.mark.parametrize("positions", ["learned", "none"])
def test_the_initial_weights_are_those_without_the_bias(positions):
    plain, setting = build(dropout=0.1), SimpleNamespace(device=torch.device("cpu"))
    part = bias.build("recency", {"recency": {"positions": positions}})["recency"]
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    model = part.prepare(build(dropout=0.1), setting)
    assert torch.equal(torch.random.get_rng_state(), before)  # is left alone
    assert isinstance(model, GPT2RecencyLMHeadModel)
    assert model.training
    assert model.lm_head.weight is model.transformer.wte.weight
    fixed = {name for name, weight in model.named_parameters() if not weight.requires_grad}
    assert fixed == ({"transformer.wpe.weight"} if positions == "none" else set())
    for name, weight in plain.state_dict().items():
        expected = torch.zeros_like(weight) if name in fixed else weight
        assert torch.equal(expected, model.state_dict()[name]), name
    expected, biased_config = plain.config.to_dict(), model.config.to_dict()
    differ = {
        key for key in expected | biased_config if expected.get(key) != biased_config.get(key)
    }
    assert differ <= {"model_type", "architectures", "recency", "dtype"}


@pytest.fixture(scope="module")
def two_epochs(job):
    """Return a function that trains two epochs of four steps; options: of the bias."""
    chosen = recipe(
        input="sentence", batch_size=50, steps=None, epochs=2, evaluate_every=2,
        checkpoint_epochs="every",
    )  # fmt: skip
    return lambda **options: job(train_spec(chosen, bias="recency", biases={"recency": options}))


@pytest.fixture(scope="module")
def folder(two_epochs):
    """The model of such a run."""
    return two_epochs()


def recency_of(folder):
    return json.loads((folder / "config.json").read_text())["recency"]


def test_each_checkpoint_has_the_bias_of_its_epoch(folder):
    recencies = {int(path.name): recency_of(path) for path in (folder / "checkpoints").iterdir()}
    assert recencies == {4: 1.0, 8: 0.6}
    assert statistics(folder)["best_step"] > 4  # such a short run learns until it ends
    assert recency_of(folder) == 0.6
    assert (folder / "checkpoints" / "4" / "recency.py").is_file()


def test_options_change_what_they_say(folder, two_epochs):
    faint, bare, away = (
        two_epochs(**change)
        for change in ({"decay": 0.5}, {"scored": "none"}, {"positions": "none"})
    )
    for path, same in (("checkpoints/4", True), ("checkpoints/8", False)):  # epoch 0: both 1
        assert equal(weights(folder / path), weights(faint / path)) is same
    for path in ("", "checkpoints/4", "checkpoints/8"):
        assert equal(weights(folder / path), weights(bare / path))  # trained alike
        assert recency_of(bare / path) == 0.0
        assert weights(away / path)["transformer.wpe.weight"].abs().max() == 0.0
    assert engine(bare).model.transformer.slope == 0
