"""The dynamic recency bias: against a dense implementation, in training, and in scoring."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional
from transformers import AutoTokenizer

from poshgrid.config import Scoring
from poshgrid.evaluation.engine import Request
from poshgrid.evaluation.engines.load import load
from poshgrid.models.recency import (
    GPT2RecencyConfig,
    GPT2RecencyLMHeadModel,
    GPT2RecencyModel,
    parts,
)
from poshgrid.tokenization import encode
from poshgrid.training import bias, learner
from poshgrid.training.train import train
from tests.unit.models.tiny_causal import TEXT, tokenizer
from tests.unit.training.training_support import corpus, regimen, train_spec

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
    """GPT-2's last states with the bias, from its weights by name.

    Args:
        named: weights.
        ids: [rows, length].
        m: factor of the bias.
        heads: of a layer.
    """
    rows, length = ids.shape
    place = torch.arange(length)
    positions = place.expand(rows, length)
    seen = (place[:, None] >= place[None, :]).expand(rows, -1, -1)
    distance = (positions[:, None, :] - positions[:, :, None]).to(named["wte.weight"].dtype)

    def norm(x, name):
        weight, shift = named[f"{name}.weight"], named[f"{name}.bias"]
        return functional.layer_norm(x, (x.shape[-1],), weight, shift)

    def linear(x, name):
        return x @ named[f"{name}.weight"] + named[f"{name}.bias"]

    x = named["wte.weight"][ids] + named["wpe.weight"][positions]
    for layer in range(sum(name.endswith("ln_1.weight") for name in named)):
        query, key, value = linear(norm(x, f"h.{layer}.ln_1"), f"h.{layer}.attn.c_attn").chunk(3, 2)
        found = []
        for q, k, v in zip(*(part.chunk(heads, 2) for part in (query, key, value)), strict=True):
            scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]) + m * distance
            found.append(scores.masked_fill(~seen, -math.inf).softmax(-1) @ v)
        x = x + linear(torch.cat(found, 2), f"h.{layer}.attn.c_proj")
        inner = linear(norm(x, f"h.{layer}.ln_2"), f"h.{layer}.mlp.c_fc")
        inner = functional.gelu(inner, approximate="tanh")
        x = x + linear(inner, f"h.{layer}.mlp.c_proj")
    return norm(x, "ln_f")


def named(model, dtype=torch.float32):
    """The body's weights as new leaves."""
    body = model.transformer
    return {n: w.detach().to(dtype).clone().requires_grad_() for n, w in body.named_parameters()}


@pytest.mark.parametrize("width", [48, 36], ids=["scale a quarter", "scale no power of two"])
@pytest.mark.parametrize("m", [1.0, 0.6, 0.6**9])
def test_states_and_gradients_are_those_of_a_dense_implementation(m, width):
    model = biased(m, n_embd=width)
    ids, aim = drawn(2, CONTEXT), torch.randn(2, CONTEXT, width)
    weights = named(model)
    expected = dense(weights, ids, m)
    states = model.transformer(ids, use_cache=False).last_hidden_state
    assert (states - expected).abs().max() < 1e-5
    (states * aim).mean().backward()
    (expected * aim).mean().backward()
    for name, weight in model.transformer.named_parameters():
        assert (weight.grad - weights[name].grad).abs().max() < 1e-5, name
    assert (dense(weights, ids, 0.0) - expected).abs().max() > 1e-3  # the bias is there


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_attention_by_hand(implementation):
    """Queries and keys of zero: weights are those of the bias alone."""
    model = biased(math.log(2), n_layer=1, attn_implementation=implementation)
    attention = model.transformer.h[0].attn
    width, length = model.config.n_embd, 5
    with torch.no_grad():
        attention.c_attn.weight[:, : 2 * width] = 0.0
        attention.c_proj.weight.copy_(torch.eye(width))
        states = torch.randn(1, length, width)
        columns = model.transformer.columns(torch.arange(7, 7 + length)[None])
        mask = torch.full((length, length), -math.inf).triu(1)[None, None]
        found, weights = attention(states, attention_mask=mask, recency=columns)
        value = attention.c_attn(states)[..., 2 * width :]
    halves = torch.tensor([8.0, 4.0, 2.0, 1.0]).flip(0) / 15  # 2 ** -(distance), of query 3
    assert found[0, 3] == pytest.approx(halves @ value[0, :4], abs=1e-6)
    if implementation == "eager":
        assert weights[0, :, 3, :4] == pytest.approx(halves.expand(3, 4), abs=1e-6)
        assert weights[0, :, 3, 4].abs().max() == 0.0


def test_the_columns_are_exact_in_half_precision_too():
    for m in (1.0, 0.6, 0.6**3, 1 / 3, 0.6**20, 0.0):
        split = parts(m)
        assert torch.equal(split, split.bfloat16().float())
        assert abs(split.double().sum().item() - m) <= 2**-23 * m
    body = GPT2RecencyModel(GPT2RecencyConfig(**settings(), recency=0.6))
    positions = torch.arange(4_096)[None]
    query, key = body.columns(positions)
    assert torch.equal(key, key.bfloat16().float())
    fixed = [0, 2, 3, 4, 5, 6, 7]  # but for the queries' share, the same for every key
    assert torch.equal(query[..., fixed], query[..., fixed].bfloat16().float())
    some = torch.tensor([0, 1, 15, 16, 17, 255, 511, 4_095])
    product = query[0, some, 0].double() @ key[0, some, 0].double().T
    product = product - product.diag()[:, None]  # what is the same for every key does not count
    expected = 0.6 * (some[None, :] - some[:, None]).double()
    assert (product - expected).abs().max() < 1e-3  # 4,095 times 0.6 in float32
    assert (product - expected)[:5, :5].abs().max() < 1e-6


# ---- generation -------------------------------------------------------------------------------


def test_generation_with_a_cache_is_that_without():
    model, ids = biased(0.6), drawn(2, 6)
    weights = named(model)
    expected = ids
    with torch.no_grad():
        for _ in range(8):
            logits = dense(weights, expected, 0.6)[:, -1] @ weights["wte.weight"].T
            expected = torch.cat([expected, logits.argmax(-1, keepdim=True)], 1)
    # Left padding moves the second prompt in its row, not in its positions.
    padded = torch.cat([torch.zeros(2, 3, dtype=torch.long), ids], 1)
    mask = torch.tensor([[0] * 3 + [1] * 6] * 2)
    same = {"max_new_tokens": 8, "min_new_tokens": 8, "do_sample": False, "pad_token_id": 1}
    model.generation_config.eos_token_id = None
    for cached in (True, False):
        found = model.generate(ids, attention_mask=torch.ones_like(ids), use_cache=cached, **same)
        assert torch.equal(found, expected)
        found = model.generate(padded, attention_mask=mask, use_cache=cached, **same)
        assert torch.equal(found[:, 3:], expected)


# ---- folders and scoring ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model with the bias and a tokenizer."""
    folder = tmp_path_factory.mktemp("model")
    biased(0.5, n_positions=64).save_pretrained(folder)
    tokenizer(folder)
    return folder


def scored(folder, shares=True):
    engine = load(str(folder), Scoring())
    assert engine.shares
    engine.shares = shares
    texts = [" ".join(text.split()[:n]) for text in TEXT for n in range(2, 9)]
    requests = [Request(text, f"item {i}") for i, text in enumerate(texts)]
    return texts, [score.logprob for score in engine.score(requests)]


def dense_scores(folder, texts, m):
    words = AutoTokenizer.from_pretrained(folder)
    weights = named(biased(m, n_positions=64), torch.float64)
    found = []
    for text in texts:
        ids = torch.tensor([[words.bos_token_id, *words(text)["input_ids"]]])
        with torch.no_grad():
            logprobs = (dense(weights, ids, m) @ weights["wte.weight"].T).log_softmax(-1)
        found.append(logprobs[0, :-1].gather(1, ids[0, 1:, None]).sum().item())
    return found


def test_our_engine_scores_with_the_bias_shared_or_not(folder):
    texts, shared = scored(folder)
    assert shared == pytest.approx(dense_scores(folder, texts, 0.5), abs=1e-4)
    assert shared == pytest.approx(scored(folder, shares=False)[1], abs=1e-4)


# ---- the bias in training ---------------------------------------------------------------------


def setting(word="recency"):
    return SimpleNamespace(
        spec=train_spec(regimen(), bias=word), regimen=regimen(), device=torch.device("cpu")
    )


def nano(seed=42, dropout=0.1):
    return learner.build(
        train_spec(regimen()).learner, vocabulary_size=300, context_length=16, dropout=dropout,
        boundary_id=0, padding_id=1, seed=seed,
    )  # fmt: skip


def recency(**options):
    return bias.build("recency", {"recency": options})["recency"]


def test_the_initial_weights_are_those_without_the_bias():
    plain = nano()
    torch.manual_seed(3)
    model = recency().prepare(nano(), setting())
    after = torch.rand(1)
    torch.manual_seed(3)
    assert torch.equal(after, torch.rand(1))  # the global random state is left alone
    assert isinstance(model, GPT2RecencyLMHeadModel)
    assert model.training
    assert model.lm_head.weight is model.transformer.wte.weight
    names = list(plain.state_dict())
    assert list(model.state_dict()) == names
    for name, weight in plain.state_dict().items():
        assert torch.equal(weight, model.state_dict()[name]), name
    expected = plain.config.to_dict()
    found = model.config.to_dict()
    differ = {key for key in expected | found if expected.get(key) != found.get(key)}
    assert differ <= {"model_type", "architectures", "recency", "dtype"}
    dropped = {type(m): m.p for m in model.modules() if isinstance(m, nn.Dropout)}
    assert dropped == {nn.Dropout: 0.1}


def test_learned_positions_can_go():
    model = recency(positions="none").prepare(nano(), setting())
    weight = model.transformer.wpe.weight
    assert weight.abs().max() == 0.0
    assert not weight.requires_grad
    others = {name for name, w in model.named_parameters() if not w.requires_grad}
    assert others == {"transformer.wpe.weight"}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Folders of tokens and tokenizer."""
    return corpus(tmp_path_factory.mktemp("inputs"))


@pytest.fixture(scope="module")
def job(inputs, tmp_path_factory):
    """Train a spec in a folder of its own; return the model's folder."""

    def run(**options):
        place = tmp_path_factory.mktemp("run")
        train(spec(**options), *inputs, place / "checkpoints", place / "model")
        return place / "model"

    return run


CHOSEN = {
    "input": "sentence", "batch_size": 50, "steps": None, "epochs": 2, "evaluate_every": 2,
    "checkpoint_epochs": "every",
}  # fmt: skip


def spec(**options):
    found = train_spec(regimen(**CHOSEN), bias="recency")
    return found.model_copy(update={"options": {"recency": options} if options else {}})


@pytest.fixture(scope="module")
def whole(job):
    """Two epochs of four steps."""
    return job()


def read(folder, name="config.json"):
    return json.loads((folder / name).read_text())


def weights(folder):
    return load_file(folder / "model.safetensors")


def test_each_checkpoint_has_the_bias_of_its_epoch(whole):
    found = {int(path.name): read(path)["recency"] for path in (whole / "checkpoints").iterdir()}
    assert found == {4: 1.0, 8: 0.6}
    said = read(whole, "statistics.json")
    assert said["best_step"] > 4  # such a short run learns until it ends
    assert read(whole)["recency"] == 0.6
    assert read(whole)["model_type"] == "poshgrid-gpt2-recency"
    assert said["biases"]["recency"] == {"recency": 0.6, "scored": "epoch"}
    assert (whole / "checkpoints" / "4" / "recency.py").is_file()


def test_the_folder_has_the_losses_that_it_claims(whole, inputs):
    """Of the dev split, sentence by sentence, with the bias, by the folder alone."""
    dev = encode.load(inputs[0], "dev")
    model = GPT2RecencyLMHeadModel.from_pretrained(whole).eval()
    nll = count = 0.0
    for first, last in zip(dev.offsets[:-1], dev.offsets[1:], strict=True):
        ids = torch.tensor(dev.ids[first : last + 1][: 16 + 1].astype("int64"))[None]  # context
        with torch.no_grad():
            logits = model(ids[:, :-1], use_cache=False).logits[0]
        nll += functional.cross_entropy(logits, ids[0, 1:], reduction="sum").item()
        count += ids.shape[1] - 1
    said = read(whole, "statistics.json")
    assert nll / count == pytest.approx(said["dev_loss"], abs=1e-5)


def test_each_epoch_is_trained_with_its_bias(whole, job):
    faint = job(decay=0.5)
    one, two = weights(whole / "checkpoints" / "4"), weights(faint / "checkpoints" / "4")
    assert all(torch.equal(one[name], two[name]) for name in one)  # epoch 0: both 1
    one, two = weights(whole / "checkpoints" / "8"), weights(faint / "checkpoints" / "8")
    assert any(not torch.equal(one[name], two[name]) for name in one)


def test_scored_without_is_trained_alike(whole, job):
    other = job(scored="none")
    for place in ("", "checkpoints/4", "checkpoints/8"):
        one, two = weights(whole / place), weights(other / place)
        assert all(torch.equal(one[name], two[name]) for name in one)
        assert read(other / place)["recency"] == 0.0
    assert load(str(other), Scoring()).model.transformer.parts.tolist() == [0.0, 0.0, 0.0]


def test_positions_stay_away(job):
    found = job(positions="none")
    for place in ("", "checkpoints/4"):
        assert weights(found / place)["transformer.wpe.weight"].abs().max() == 0.0
