"""The LSTM model: against cells written out in numpy; training, scoring, loading elsewhere."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

from poshgrid.models.lstm import LSTMConfig, LSTMForCausalLM
from tests.unit.models.tiny_causal import TEXT, engine, requests, search, tokenizer
from tests.unit.models.training.training_support import build as build_small

BRANCHES = [" ".join(text.split()[:n]) + end for text in TEXT for n in range(2, 8) for end in "?."]


def build(dropout=0.0, vocabulary_size=50, **options):
    return build_small("lstm", options=options, dropout=dropout, vocabulary_size=vocabulary_size)


class Cells:
    """An LSTM language model in numpy, float64, one row, one token at a time."""

    def __init__(self, model):
        self.weights = {n: w.detach().double().numpy() for n, w in model.named_parameters()}
        self.layers = model.config.num_hidden_layers

    def logprobs(self, ids):
        """Log-probabilities of the next token after each token."""
        table = self.weights["model.embeddings.weight"]
        hidden, cell = np.zeros((2, self.layers, table.shape[1]))
        logprobs_of = []
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
            logprobs_of.append(logits - top - np.log(np.exp(logits - top).sum()))
        return np.array(logprobs_of)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# ---- the model --------------------------------------------------------------------------------


def test_the_size_of_fict():
    """The paper says 68.0 million: 50,000 types, the unknown word and the end of a sentence."""
    with torch.device("meta"):
        model = LSTMForCausalLM(LSTMConfig(vocab_size=50_002, hidden_size=1_024))
    model.tie_weights()
    layer = 4 * (1_024 * (1_024 + 1_024) + 2 * 1_024)  # four gates, two biases each
    assert model.num_parameters() == 50_002 * 1_024 + 2 * layer == 67_995_648
    assert round(model.num_parameters() / 1e6, 1) == 68.0


def test_dropout_is_on_embeddings_between_layers_and_on_the_output():
    """Zeros where dropout says: each place drops about half."""
    model = build(dropout=0.5, hidden_size=32)
    seen = []
    for layer in model.model.layers:
        layer.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    for share in (0.5, 0.0):
        seen.clear()
        seen.append(model.base_model(torch.arange(40).view(4, 10)).last_hidden_state)
        assert [(part == 0).float().mean().item() for part in seen] == [
            pytest.approx(share, abs=0.06)
        ] * 3
        model.eval()


def test_padding_to_the_right_is_not_seen_and_any_other_is_refused():
    model = build(hidden_size=32).eval()
    rows = [[5, 6, 7, 8, 9, 10], [11, 12, 13], [14, 15]]
    ids = torch.tensor([row + [1] * (6 - len(row)) for row in rows])
    mask = (ids != 1).long()
    with torch.inference_mode():
        outputs = model(ids, attention_mask=mask).logits
    for row, of in zip(rows, outputs, strict=True):
        expected = Cells(model).logprobs(row)
        assert np.abs(of[: len(row)].log_softmax(-1).numpy() - expected).max() < 1e-5
    for wrong in ({"attention_mask": mask.flip(1)},
                  {"attention_mask": mask[:, None, None]}):  # fmt: skip
        with pytest.raises(ValueError, match="an LSTM"):
            model(ids, **wrong)


# ---- scoring ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of random weights, far from uniform, with its tokenizer."""
    folder = tmp_path_factory.mktemp("model")
    model = build(hidden_size=32, vocabulary_size=400)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(10 if weight is model.lm_head.weight else 4)
    model.save_pretrained(folder)
    tokenizer(folder)
    return folder


@pytest.fixture(scope="module")
def cells(folder):
    return Cells(LSTMForCausalLM.from_pretrained(folder))


def ids_of(folder, text):
    return AutoTokenizer.from_pretrained(folder)(text)["input_ids"]


@pytest.mark.parametrize(("bos", "batch_tokens"), [(True, 50), (False, 4_096)])
def test_scores_are_those_of_single_sentences(folder, cells, bos, batch_tokens):
    model = engine(folder, bos=bos, batch_tokens=batch_tokens)
    assert model.head is not None
    assert not model.shares
    rows = [[0] * bos + ids_of(folder, text) for text in BRANCHES]
    results = zip(rows, model.logprobs(rows), model.score(requests(BRANCHES)), strict=True)
    for ids, by_token, score in results:
        expected = cells.logprobs(ids)[range(len(ids) - 1), ids[1:]]
        assert by_token.tolist() == pytest.approx(expected, abs=1e-5)
        assert score.tokens == len(expected)
        assert score.logprob == pytest.approx(sum(expected), abs=1e-5 * len(expected))
        assert score.logprob < -len(expected)  # no uniform or certain model


@pytest.mark.parametrize("beams", [1, 4])
def test_completions_are_those_of_a_search_without_state(folder, cells, beams):
    """The state follows the beams: else a beam would go on from another one's words."""
    model = engine(folder)
    assert model.writes
    prompts, steps, switched = ["The mother said", "Who should", "The girl said"], 5, 0
    completions = model.complete(prompts, beams=beams, tokens=steps)
    for prompt, text in zip(prompts, completions, strict=True):
        row = [0, *ids_of(folder, prompt)]
        ids, times = search(lambda row: cells.logprobs(row)[-1], row, beams, steps)
        switched += times
        assert text == model.tokenizer.decode(ids, skip_special_tokens=True)
    assert (switched > 0) == (beams > 1)


@pytest.mark.slow
def test_the_folder_opens_where_this_package_is_not_installed(folder, tmp_path):
    code = f"""
import sys
sys.modules["poshgrid"] = None
import torch
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained({str(folder)!r}, trust_remote_code=True).eval()
print(model(torch.tensor([[0, 5, 9, 4]])).logits.double().sum().item())
"""
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True,
        env=os.environ | {"HF_MODULES_CACHE": str(tmp_path)},
    )  # fmt: skip
    with torch.inference_mode():
        ours = LSTMForCausalLM.from_pretrained(folder)(torch.tensor([[0, 5, 9, 4]])).logits
    assert float(done.stdout) == pytest.approx(ours.double().sum().item(), rel=1e-6)
