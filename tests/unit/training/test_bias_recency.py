"""The dynamic recency bias: against a dense implementation, in training, and in scoring."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn import functional
from transformers import GPT2Config, GPT2LMHeadModel

from poshgrid.config import Scoring
from poshgrid.errors import PoshgridError
from poshgrid.evaluation.engine import Request
from poshgrid.evaluation.engines.load import load
from poshgrid.models.recency import (
    GPT2RecencyConfig,
    GPT2RecencyLMHeadModel,
    GPT2RecencyModel,
    parts,
)
from poshgrid.training import bias, learner, seeds
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


def unbiased(seed=0, **changes):
    torch.manual_seed(seed)
    model = GPT2LMHeadModel(GPT2Config(**settings(**changes))).eval()
    model.load_state_dict(biased(0.0, seed, **changes).state_dict())
    return model


def drawn(rows, length, seed=1):
    return torch.randint(TYPES, (rows, length), generator=torch.Generator().manual_seed(seed))


# ---- a dense implementation, from the formulas alone ------------------------------------------


def dense(named, ids, m, heads=3, positions=None, seen=None):
    """GPT-2's last states with the bias, from its weights by name.

    Args:
        named: weights.
        ids: [rows, length].
        m: factor of the bias.
        heads: of a layer.
        positions: [rows, length]; none: from 0.
        seen: which keys a query sees, [rows, length, length]; none: those up to itself.
    """
    rows, length = ids.shape
    place = torch.arange(length)
    positions = place.expand(rows, length) if positions is None else positions
    seen = (place[:, None] >= place[None, :]).expand(rows, -1, -1) if seen is None else seen
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
    other = unbiased(n_embd=width).transformer(ids).last_hidden_state
    assert (other - expected).abs().max() > 1e-3  # the bias is there


def test_it_is_as_near_to_the_truth_as_the_dense_implementation():
    """Large numbers that cancel cost nothing: both err by the rounding of float32 alone."""
    model, ids = biased(1.0), drawn(2, CONTEXT)
    with torch.no_grad():
        truth = dense(named(model, torch.float64), ids, 1.0)
        error = (model.transformer(ids).last_hidden_state - truth).abs().max()
        naive = (dense(named(model), ids, 1.0) - truth).abs().max()
    assert error < 2 * naive


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


def test_padded_rows_are_those_of_the_sentences_alone():
    model, ids = biased(0.6), drawn(3, 40)
    lengths = [40, 17, 3]
    real = torch.arange(40) < torch.tensor(lengths)[:, None]
    with torch.no_grad():
        weights = named(model)
        right = model.transformer(ids, attention_mask=real.long()).last_hidden_state
        for row, length in enumerate(lengths):
            expected = dense(weights, ids[row : row + 1, :length], 0.6)
            assert (right[row, :length] - expected[0]).abs().max() < 1e-5
            # Padding on the left, as before a continuation: positions start after it.
            left = torch.cat([torch.zeros(1, 5, dtype=torch.long), ids[row : row + 1, :length]], 1)
            mask = torch.tensor([[0] * 5 + [1] * length])
            positions = (mask.cumsum(1) - 1).clamp(min=0)
            found = model.transformer(left, attention_mask=mask, position_ids=positions)
            assert (found.last_hidden_state[0, 5:] - expected[0]).abs().max() < 1e-5


def test_several_branches_in_a_row():
    """Positions of a tree: the mask says who is seen, the position who is near."""
    model, ids = biased(0.6), drawn(1, 7)
    parent = [None, 0, 1, 2, 1, 4, 5]  # two branches after the second token
    depth = torch.tensor([[0, 1, 2, 3, 2, 3, 4]])
    seen = torch.eye(7, dtype=torch.bool)
    for node in range(1, 7):
        seen[node] |= seen[parent[node]]
    mask = torch.zeros(1, 1, 7, 7).masked_fill(~seen, torch.finfo(torch.float32).min)
    with torch.no_grad():
        found = model.transformer(ids, attention_mask=mask, position_ids=depth).last_hidden_state
        expected = dense(named(model), ids, 0.6, positions=depth, seen=seen[None])
        branch = dense(named(model), ids[:, [0, 1, 4, 5, 6]], 0.6)
    assert (found - expected).abs().max() < 1e-5
    assert (found[0, [0, 1, 4, 5, 6]] - branch[0]).abs().max() < 1e-5


def test_without_a_bias_it_is_gpt2_and_so_it_is_after_many_epochs():
    model, ids = biased(0.6), drawn(2, 64)
    with torch.no_grad():
        plain = unbiased()(ids).logits
        assert (model(ids).logits - plain).abs().max() > 1e-2
        for m in (0.6**60, 0.0):
            model.set_recency(m)
            assert (model(ids).logits - plain).abs().max() < 1e-5


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


def test_bf16_is_close():
    """As close as the model without the bias is to itself."""
    ids = drawn(2, 256)
    errors = []
    for model in (unbiased(), biased(0.6), biased(1.0)):
        with torch.no_grad():
            full = model(ids).logits.log_softmax(-1)
            with torch.autocast("cpu", torch.bfloat16):
                half = model(ids).logits.float().log_softmax(-1)
            errors.append((full - half).abs().mean().item())
    assert errors[1] < 1.5 * errors[0]
    assert errors[2] < 1.5 * errors[0]
    halved = biased(0.6).bfloat16()  # the buffer is cast with the weights, and stays exact
    assert halved.transformer.parts.float().sum().item() == pytest.approx(0.6, rel=1e-6)


def test_another_m_is_no_reason_to_compile_again():
    model, ids = biased(1.0, n_layer=1), drawn(2, 16)
    graphs = []

    def backend(graph, _):
        graphs.append(graph)
        return graph.forward

    torch._dynamo.reset()
    compiled = torch.compile(model, backend=backend)
    with torch.no_grad():
        compiled(input_ids=ids, use_cache=False)
        first = len(graphs)
        for m in (0.6, 0.36):
            model.set_recency(m)
            found = compiled(input_ids=ids, use_cache=False).logits
            assert (found - biased(m, n_layer=1)(ids).logits).abs().max() < 1e-5
    torch._dynamo.reset()
    assert len(graphs) == first > 0


def test_what_its_attention_does_not_do_is_refused():
    for name in ("add_cross_attention", "reorder_and_upcast_attn"):
        with pytest.raises(ValueError, match=name.split("_")[-2]):
            GPT2RecencyConfig(**settings(), **{name: True})


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
    beams = [
        model.generate(
            ids, attention_mask=torch.ones_like(ids), num_beams=3, use_cache=cached, **same
        )
        for cached in (True, False)
    ]
    assert torch.equal(*beams)
    static = model.generate(
        ids, attention_mask=torch.ones_like(ids), cache_implementation="static",
        disable_compile=True, **same,
    )  # fmt: skip
    assert torch.equal(static, expected)


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
    from transformers import AutoTokenizer

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


def test_the_bias_of_the_folder_is_that_of_its_configuration(folder, tmp_path):
    other = shutil.copytree(folder, tmp_path / "other")
    config = json.loads((other / "config.json").read_text())
    assert config["recency"] == 0.5
    (other / "config.json").write_text(json.dumps(config | {"recency": 0.25}))
    texts, found = scored(other)
    assert found == pytest.approx(dense_scores(other, texts, 0.25), abs=1e-4)
    assert max(abs(a - b) for a, b in zip(found, scored(folder)[1], strict=True)) > 1e-2


def test_our_engine_does_not_run_what_lies_in_the_folder(folder, tmp_path):
    other = shutil.copytree(folder, tmp_path / "other")
    ran = tmp_path / "ran"
    (other / "recency.py").write_text(f"open({str(ran)!r}, 'w')\nraise SystemExit")
    assert scored(other) == scored(folder)
    assert not ran.exists()


def test_completions_have_the_bias(folder):
    engine = load(str(folder), Scoring())
    (written,) = engine.complete(["Will the man"], beams=1, tokens=6)
    words, model = engine.tokenizer, biased(0.5, n_positions=64)
    ids = torch.tensor([[words.bos_token_id, *words("Will the man")["input_ids"]]])
    new = []
    with torch.no_grad():
        for _ in range(6):
            new.append(model(ids, use_cache=False).logits[0, -1].argmax().item())
            ids = torch.cat([ids, torch.tensor([new[-1:]])], 1)
    assert 0 not in new  # the boundary would end it
    assert written == words.decode(new)


ELSEWHERE = """
import json, sys
sys.modules["poshgrid"] = None  # as if it were not installed
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

folder, texts = sys.argv[1], json.loads(sys.argv[2])
refused = []
for asked in ({}, {"trust_remote_code": False}):
    try:
        AutoModelForCausalLM.from_pretrained(folder, **asked)
    except ValueError as error:
        refused.append(str(error))
model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True).eval()
words = AutoTokenizer.from_pretrained(folder)
found = []
for text in texts:
    ids = torch.tensor([[words.bos_token_id, *words(text)["input_ids"]]])
    with torch.no_grad():
        logprobs = model(ids).logits.log_softmax(-1)[0, :-1]
    found.append(logprobs.gather(1, ids[0, 1:, None]).sum().item())
print()  # after the question that transformers asks
print(json.dumps([type(model).__module__, refused, found]))
"""


@pytest.mark.slow
def test_elsewhere_the_folder_scores_the_same_or_not_at_all(folder, tmp_path):
    texts, expected = scored(folder)
    got = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(folder), json.dumps(texts)],
        env={**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"},
        cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True,
    )  # fmt: skip
    module, refused, found = json.loads(got.stdout.splitlines()[-1])
    assert module.startswith("transformers_modules.")
    assert len(refused) == 2
    assert all("trust_remote_code=True" in message for message in refused)
    assert found == pytest.approx(expected, abs=1e-4)


def test_the_same_model_gives_the_same_files(folder, tmp_path):
    for name in ("one", "two"):
        biased(0.5, n_positions=64).save_pretrained(tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == ["config.json", "generation_config.json", "model.safetensors", "recency.py"]
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


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


def test_the_bias_fades_with_the_epochs():
    part = recency(decay=0.5)
    model = part.prepare(nano(), setting())
    assert model.transformer.parts.tolist() == [0.0, 0.0, 0.0]
    for epoch, m in enumerate([1.0, 0.5, 0.25]):
        part.at(model, epoch)
        assert (model.config.recency, model.transformer.parts.sum().item()) == (m, m)


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
    from safetensors.torch import load_file

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
    from poshgrid.tokenization import encode

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


def test_a_resumed_run_is_one_that_nothing_interrupted(whole, inputs, tmp_path, monkeypatch):
    original = seeds.dropout

    def dropout(seed, step):
        if step == 5:
            os.kill(os.getpid(), signal.SIGTERM)
        original(seed, step)

    folders = [*inputs, tmp_path / "checkpoints", tmp_path / "model"]
    with monkeypatch.context() as patch:
        patch.setattr(seeds, "dropout", dropout)
        with pytest.raises(PoshgridError, match="told to end at step 6 of 8"):
            train(spec(), *folders)
    train(spec(), *folders)
    for name in ("config.json", "model.safetensors", "recency.py"):
        for place in (".", "checkpoints/4", "checkpoints/8"):
            one, two = whole / place / name, tmp_path / "model" / place / name
            assert one.read_bytes() == two.read_bytes(), f"{place}/{name}"


def test_the_untrained_null_has_the_bias_of_the_first_epoch(inputs, tmp_path):
    null = train_spec(None, bias="recency")
    train(null, *inputs, tmp_path / "checkpoints", tmp_path / "model")
    assert read(tmp_path / "model")["recency"] == 1.0


def test_dyck_comes_first_and_knows_nothing_of_it(inputs, tmp_path):
    """The weights that dyck+recency starts from are those that dyck does."""
    dyck = {"k": 4, "depth": 2, "length": 16, "steps": 3, "batch_size": 2, "warmup_steps": 0}
    for word in ("dyck", "dyck+recency", "none"):
        null = train_spec(None, bias=word).model_copy(update={"options": {"dyck": dyck}})
        train(null, *inputs, tmp_path / "checkpoints", tmp_path / word)
    one, two, none = (weights(tmp_path / word) for word in ("dyck", "dyck+recency", "none"))
    assert all(torch.equal(one[name], two[name]) for name in one | two)
    assert any(not torch.equal(one[name], none[name]) for name in one)
    assert read(tmp_path / "dyck+recency")["recency"] == 1.0
    assert "recency" not in read(tmp_path / "dyck")
