"""The LSTM learner: against cells written out in numpy; training, scoring, loading elsewhere."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from poshgrid import config
from poshgrid.config import Scoring, specs
from poshgrid.errors import PoshgridError
from poshgrid.evaluation.engine import Request
from poshgrid.evaluation.engines.load import load
from poshgrid.models import initial
from poshgrid.models.architectures import lstm
from poshgrid.tokenization import encode
from poshgrid.training import seeds
from poshgrid.training.train import train
from tests.unit.models.tiny_causal import TEXT, tokenizer
from tests.unit.training.training_support import corpus, regimen

BRANCHES = [" ".join(text.split()[:n]) + end for text in TEXT for n in range(2, 8) for end in "?."]
BYTES = ("config.json", "generation_config.json", "model.safetensors", "lstm.py")


def build(seed=42, hidden_size=16, vocabulary_size=50, dropout=0.0, context_length=16, layers=2):
    return lstm.build(
        lstm.Options(hidden_size=hidden_size, layers=layers),
        vocabulary_size=vocabulary_size,
        context_length=context_length,
        dropout=dropout,
        boundary_id=0,
        padding_id=1,
        seed=seed,
    )


def spec(chosen, seed=42, **options):
    return specs.TrainSpec(
        learner=config.Learner(
            name="nano-lstm", architecture="lstm", options={"hidden_size": 16} | options
        ),
        regimen=chosen,
        bias="none",
        options={},
        seed=seed,
    )


class Cells:
    """An LSTM language model in numpy, float64, one row, one token at a time."""

    def __init__(self, model):
        self.weights = {n: w.detach().double().numpy() for n, w in model.named_parameters()}
        self.layers = model.config.num_hidden_layers

    def logprobs(self, ids):
        """Log-probabilities of the next token after each token."""
        table = self.weights["model.embeddings.weight"]
        hidden, cell = np.zeros((2, self.layers, table.shape[1]))
        found = []
        for token in ids:
            state = table[token]
            for layer in range(self.layers):
                of = {
                    part: self.weights[f"model.layers.{layer}.{part}_l0"]
                    for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
                }
                gates = of["weight_ih"] @ state + of["bias_ih"]
                gates += of["weight_hh"] @ hidden[layer] + of["bias_hh"]
                enter, forget, new, out = np.split(gates, 4)
                cell[layer] = sigmoid(forget) * cell[layer] + sigmoid(enter) * np.tanh(new)
                hidden[layer] = state = sigmoid(out) * np.tanh(cell[layer])
            logits = table @ state
            top = logits.max()
            found.append(logits - top - np.log(np.exp(logits - top).sum()))
        return np.array(found)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# ---- the model --------------------------------------------------------------------------------


def test_the_size_of_fict():
    """The paper says 68.0 million: 50,000 types, the unknown word and the end of a sentence."""
    import torch

    from poshgrid.models.lstm import LSTMConfig, LSTMForCausalLM

    with torch.device("meta"):
        model = LSTMForCausalLM(LSTMConfig(vocab_size=50_002, hidden_size=1_024))
    model.tie_weights()
    layer = 4 * (1_024 * (1_024 + 1_024) + 2 * 1_024)  # four gates, two biases each
    assert model.num_parameters() == 50_002 * 1_024 + 2 * layer == 67_995_648
    assert round(model.num_parameters() / 1e6, 1) == 68.0


@pytest.mark.parametrize("layers", [1, 3])
def test_logits_are_those_of_the_equations(layers):
    import torch

    model = build(layers=layers).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(6)  # far from uniform
    ids = [0, 7, 7, 33, 49, 2, 18]
    with torch.inference_mode():
        found = model(torch.tensor([ids])).logits[0].log_softmax(-1).numpy()
    assert np.abs(found - Cells(model).logprobs(ids)).max() < 1e-5
    assert np.ptp(found[-1]) > 1


def test_weights_are_a_function_of_seed_and_name_alone():
    import torch

    one, same, other = (
        dict(build(seed, context_length=n).named_parameters())
        for seed, n in ((1, 16), (1, 99), (2, 16))
    )
    for name, weight in one.items():
        assert torch.equal(weight, same[name])
        assert not torch.equal(weight, other[name])
    values = [w.flatten()[:8].tolist() for w in one.values()]
    assert len({tuple(value) for value in values}) == len(values)
    # another width of the output, or more layers, leaves the rest as it is
    deeper = dict(build(1, layers=3, vocabulary_size=70).named_parameters())
    for name, weight in one.items():
        assert torch.equal(weight, deeper[name][: len(weight)])


def test_initial_weights_have_the_distributions_that_are_said():
    weights = dict(build(hidden_size=64, vocabulary_size=500).named_parameters())
    for name, weight in weights.items():
        bound = 0.1 if "embeddings" in name else 64**-0.5
        assert 0.9 * bound < weight.abs().max().item() <= bound
        assert weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.15)
        assert weight.mean().item() == pytest.approx(0, abs=bound / 6)


def test_uniform_draws_fill_row_by_row():
    import torch

    short, long = torch.empty(3, 4), torch.empty(5, 4)
    initial.uniform_(short, 1, "a", 0.5)
    initial.uniform_(long, 1, "a", 0.5)
    assert torch.equal(short, long[:3])
    initial.uniform_(long, 1, "b", 0.5)
    assert not torch.equal(short, long[:3])


def test_embeddings_are_tied_and_the_global_random_state_is_left_alone():
    import torch

    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    model = build()
    assert torch.equal(torch.random.get_rng_state(), before)
    assert model.training
    assert model.lm_head.weight is model.get_input_embeddings().weight
    assert model.base_model is model.model


def test_dropout_is_on_embeddings_between_layers_and_on_the_output():
    """Zeros where dropout says: each place drops about half, and repeats with torch's seed."""
    import torch

    model = build(dropout=0.5, hidden_size=32)
    ids = torch.arange(40).view(4, 10)
    seen = []
    for layer in model.model.layers:
        layer.register_forward_pre_hook(lambda _, given: seen.append(given[0]))

    def run():
        seen.clear()
        torch.manual_seed(5)
        out = model.base_model(ids).last_hidden_state
        return [(part == 0).float().mean().item() for part in (*seen, out)], out

    (shares, first), (_, second) = run(), run()
    assert shares == [pytest.approx(0.5, abs=0.06)] * 3
    assert torch.equal(first, second)
    model.eval()
    assert run()[0] == [0.0] * 3


def test_padding_is_passed_over_wherever_it_stands():
    import torch

    model = build(hidden_size=32).eval()
    cells = Cells(model)
    rows = [[5, 6, 7, 8, 9, 10], [11, 12, 13], [14, 15]]
    left = torch.tensor([[1] * (6 - len(row)) + row for row in rows])
    right = torch.tensor([row + [1] * (6 - len(row)) for row in rows])
    middle = torch.tensor([[5, 6, 7, 8, 9, 10], [11, 1, 12, 13, 1, 1], [1, 14, 1, 1, 15, 1]])
    for ids in (left, right, middle):
        for cache in (False, True):
            with torch.inference_mode():
                found = model(ids, attention_mask=(ids != 1).long(), use_cache=cache)
                again = model(
                    torch.full((3, 1), 20),
                    attention_mask=torch.cat([ids != 1, torch.ones(3, 1).bool()], 1).long(),
                    past_key_values=found.past_key_values,
                )
            for row, of, mask, after in zip(
                rows, found.logits, ids != 1, again.logits, strict=True
            ):
                expected = cells.logprobs([*row, 20])
                assert np.abs(of[mask].log_softmax(-1).numpy() - expected[:-1]).max() < 1e-5
                if cache:  # the state is that of the last real token
                    assert np.abs(after[0].log_softmax(-1).numpy() - expected[-1]).max() < 1e-5


def test_a_mask_of_four_dimensions_is_refused():
    import torch

    with pytest.raises(ValueError, match="no mask of 4 dimensions"):
        build()(torch.tensor([[1, 2]]), attention_mask=torch.zeros(1, 1, 2, 2))


def test_the_loss_is_the_mean_over_the_tokens_that_follow():
    import torch

    model = build().eval()
    ids = [3, 9, 27, 11, 4]
    labels = torch.tensor([[3, 9, 27, -100, 4]])
    values = Cells(model).logprobs(ids)
    expected = -(values[0, 9] + values[1, 27] + values[3, 4]) / 3
    assert model(torch.tensor([ids]), labels=labels).loss.item() == pytest.approx(
        expected, abs=1e-5
    )


# ---- training ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Folders of tokens and tokenizer."""
    return corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def job(inputs, tmp_path_factory):
    """Train in fresh folders; returns the model's folder."""

    def run(asked):
        folder = tmp_path_factory.mktemp("run")
        train(asked, *inputs, folder / "checkpoints", folder / "model")
        return folder / "model"

    return run


@pytest.fixture(scope="module")
def whole(job):
    """A run that nothing interrupted."""
    return job(spec(regimen()))


def statistics(folder):
    return json.loads((folder / "statistics.json").read_text())


def test_a_seed_gives_its_bytes_twice_and_another_gives_others(job, whole):
    again, other = job(spec(regimen())), job(spec(regimen(), seed=53))
    for name in BYTES:
        assert (again / name).read_bytes() == (whole / name).read_bytes(), name
    assert (other / "model.safetensors").read_bytes() != (whole / "model.safetensors").read_bytes()
    assert statistics(other)["dev_loss"] != statistics(whole)["dev_loss"]


def test_an_interrupted_job_ends_with_the_weights_of_one_that_was_not(
    inputs, whole, tmp_path, caplog, monkeypatch
):
    folders = [*inputs, tmp_path / "checkpoints", tmp_path / "model"]
    original = seeds.dropout

    def dropout(seed, step):
        if step == 6:
            os.kill(os.getpid(), signal.SIGTERM)
        original(seed, step)

    with monkeypatch.context() as patch:
        patch.setattr(seeds, "dropout", dropout)
        with pytest.raises(PoshgridError, match="told to end at step 7 of 12"):
            train(spec(regimen()), *folders)
    with caplog.at_level("INFO", logger="poshgrid"):
        train(spec(regimen()), *folders)
    assert "resumed at step 7 of 12" in caplog.text
    for name in BYTES:
        assert (tmp_path / "model" / name).read_bytes() == (whole / name).read_bytes(), name


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, marks=pytest.mark.slow),
        {"input": "sentence", "micro_batch_size": 3, "precision": "bf16"},
    ],
)
def test_it_learns_the_toy_corpus(tmp_path, changes):
    inputs = corpus(tmp_path, train=600)
    chosen = regimen(steps=None, epochs=3, learning_rate=5e-3, evaluate_every="epoch", **changes)
    train(spec(chosen, hidden_size=96), *inputs, tmp_path / "checkpoints", tmp_path / "model")
    found = statistics(tmp_path / "model")
    assert found["initial_dev_loss"] == pytest.approx(math.log(300), abs=0.05)
    ids = encode.load(inputs[0], "train").ids
    shares = np.bincount(ids) / len(ids)
    unigram = -(shares[shares > 0] * np.log(shares[shares > 0])).sum()
    assert found["dev_loss"] < unigram - 0.4  # it knows more than how often a type occurs
    assert found["test_loss"] == pytest.approx(found["dev_loss"], abs=0.3)


def test_rows_of_a_batch_do_not_see_each_other():
    """A batch of rows gives the gradient of its rows alone: no state is carried."""
    import torch

    model = build(vocabulary_size=60)
    ids = torch.arange(2, 50).view(4, 12)

    def gradient(parts):
        model.zero_grad()
        for part in parts:
            model(part).logits.pow(2).sum().backward()
        return [w.grad.clone() for w in model.parameters()]

    for one, other in zip(gradient([ids]), gradient(ids.split(1)), strict=True):
        assert torch.allclose(one, other, atol=1e-5, rtol=1e-4)


# ---- scoring ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of random weights, far from uniform, with its tokenizer."""
    import torch

    folder = tmp_path_factory.mktemp("model")
    model = build(hidden_size=32, vocabulary_size=400)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(10 if weight is model.lm_head.weight else 4)
    model.save_pretrained(folder)
    tokenizer(folder)
    return folder


def opened(folder):
    from poshgrid.models import lstm as family

    return Cells(family.LSTMForCausalLM.from_pretrained(folder))


def cut(folder, text):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)(text)["input_ids"]


def alone(folder, text, *, bos=True):
    ids = ([0] if bos else []) + cut(folder, text)
    values = opened(folder).logprobs(ids)
    return [values[i, ids[i + 1]] for i in range(len(ids) - 1)]


def engine(folder, **scoring):
    return load(str(folder), Scoring(**scoring))


def requests(texts):
    return [Request(text, f"item {i}") for i, text in enumerate(texts)]


@pytest.mark.parametrize("bos", [True, False])
@pytest.mark.parametrize("batch_tokens", [1, 50, 4_096])
def test_scores_are_those_of_single_sentences(folder, bos, batch_tokens):
    model = engine(folder, bos=bos, batch_tokens=batch_tokens)
    assert model.separate
    assert not model.shares
    found = model.score(requests(BRANCHES), per_token=True)
    for text, score in zip(BRANCHES, found, strict=True):
        expected = alone(folder, text, bos=bos)
        each = [token.logprob for token in score.each if token.logprob is not None]
        assert each == pytest.approx(expected, abs=1e-5)
        assert score.tokens == len(expected)
        assert score.logprob == pytest.approx(sum(expected), abs=1e-5 * len(expected))
        assert score.logprob < -len(expected)  # no uniform or certain model


def test_no_sentence_is_too_long(folder):
    text = " ".join(TEXT * 20)
    (found,) = engine(folder).score(requests([text]))
    expected = alone(folder, text)
    assert found.tokens == len(expected) > 500
    assert found.logprob == pytest.approx(sum(expected), rel=1e-5)


@pytest.mark.parametrize("part", ["Will", "the man", "boy did see", "leave?"])
def test_regions_are_the_sums_over_their_tokens(folder, part):
    text = TEXT[0]
    start = text.index(part)
    asked = [*requests(BRANCHES[:5]), Request(text, "item r", (start, start + len(part)))]
    values, before = alone(folder, text), len(cut(folder, text[:start].rstrip()))
    if not text[:start]:
        before = 0
    inside = values[before : before + len(cut(folder, part))]
    score = engine(folder).score(asked)[-1]
    assert score.region_tokens == len(inside)
    assert score.region_logprob == pytest.approx(sum(inside), abs=1e-5)


@pytest.mark.parametrize("beams", [1, 4])
def test_completions_are_those_of_a_search_without_state(folder, beams):
    """The state follows the beams: else a beam would go on from another one's words."""
    cells, model = opened(folder), engine(folder)
    assert model.writes
    prompts = ["The mother said", "Who should", "The girl said", "When does the", "Will the man"]
    steps, switched = 5, 0
    found = model.complete(prompts, beams=beams, tokens=steps)
    for prompt, text in zip(prompts, found, strict=True):
        open_, finished = [(0.0, [0, *cut(folder, prompt)], 0)], []
        length = len(open_[0][1])
        for step in range(steps):
            grown = []
            for number, (value, row, _) in enumerate(open_):
                nexts = cells.logprobs(row)[-1]
                grown += [(value + nexts[i], [*row, i], number) for i in range(400)]
            best = sorted(grown, reverse=True)[: 2 * beams]
            finished += [(v / (step + 1), r) for v, r, _ in best[:beams] if r[-1] == 0]
            open_ = [one for one in best if one[1][-1]][:beams]
            switched += [one[2] for one in open_] != list(range(len(open_)))
        finished += [(value / steps, row) for value, row, _ in open_]
        assert text == model.tokenizer.decode(max(finished)[1][length:], skip_special_tokens=True)
    assert (switched > 0) == (beams > 1)


def test_the_losses_of_training_are_those_of_the_scorer(job, inputs):
    """The dev loss over rows of sentences, and the same sentences scored: but for their ends."""
    folder = job(spec(regimen(input="sentence", context_length=64)))
    split = encode.load(inputs[0], "dev")
    cells, total = opened(folder), 0.0
    model = engine(folder)
    for start, end in zip(split.offsets[:-1], split.offsets[1:], strict=True):
        ids = split.ids[start : end + 1].astype(int).tolist()  # with both boundaries
        values = cells.logprobs(ids[:-1])
        each = [values[i, target] for i, target in enumerate(ids[1:])]
        total += sum(each)
        text = model.tokenizer.decode(ids[1:-1]).strip()
        (score,) = model.score(requests([text]))
        assert score.logprob == pytest.approx(sum(each[:-1]), abs=1e-4)
    mean = -total / (len(split.ids) - 1)
    assert statistics(folder)["dev_loss"] == pytest.approx(mean, abs=1e-5)


# ---- the folder elsewhere ---------------------------------------------------------------------

ELSEWHERE = """
    import sys
    sys.modules["poshgrid"] = None  # not installed
    import torch
    from transformers import AutoModelForCausalLM
    model = AutoModelForCausalLM.from_pretrained(sys.argv[1], trust_remote_code=True).eval()
    with torch.inference_mode():
        print(model(torch.tensor([[0, 5, 9, 4]])).logits.double().sum().item())
"""


@pytest.mark.slow
def test_the_folder_opens_where_this_package_is_not_installed(folder, tmp_path):
    import torch

    from poshgrid.models import lstm as family

    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(ELSEWHERE), str(folder)],
        check=True, capture_output=True, text=True,
        env=os.environ | {"HF_MODULES_CACHE": str(tmp_path)},
    )  # fmt: skip
    with torch.inference_mode():
        ours = family.LSTMForCausalLM.from_pretrained(folder)(torch.tensor([[0, 5, 9, 4]])).logits
    assert float(done.stdout) == pytest.approx(ours.double().sum().item(), rel=1e-6)


def test_the_scorer_never_runs_a_folders_code(folder, tmp_path):
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "lstm.py").write_text("raise SystemExit('was run')\n")
    (found,) = engine(tmp_path).score(requests([TEXT[0]]))
    assert found.logprob == pytest.approx(sum(alone(folder, TEXT[0])), abs=1e-4)
