"""BabyBERTa: its size and weights, and a small one trained, scored and resumed."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
import torch
from transformers import AutoModelForMaskedLM

from poshgrid.config import Learner, Scoring, specs
from poshgrid.evaluation.engine import Request
from poshgrid.evaluation.engines.load import load
from poshgrid.models.architectures import babyberta
from poshgrid.tokenization import encode
from poshgrid.training import learner
from poshgrid.training.train import train
from tests.unit.training.training_support import corpus, regimen

SMALL = {"hidden_size": 32, "layers": 2, "heads": 2, "ffn": 64}
SCORES = ("pseudo-log-likelihood", "holistic")


def build(seed=42, context_length=16, vocabulary_size=50, dropout=0.0, padding_id=1, **options):
    return babyberta.build(
        babyberta.Options(**(SMALL | options)),
        vocabulary_size=vocabulary_size,
        context_length=context_length,
        dropout=dropout,
        boundary_id=0,
        padding_id=padding_id,
        seed=seed,
    )


# ---- the model --------------------------------------------------------------------------------


def test_the_papers_model_has_eight_million_parameters():
    """Sizes of section 2.1: by hand, the head's decoder being tied to the embeddings."""
    model = babyberta.build(
        babyberta.Options(),
        vocabulary_size=8192,
        context_length=128,
        dropout=0.1,
        boundary_id=0,
        padding_id=1,
        seed=42,
    )
    width, ffn = 256, 1024
    tables = (8192 + 1) * width + (128 + 2) * width + width + 2 * width
    attention = 4 * (width * width + width) + 2 * width
    layer = attention + width * ffn + ffn + ffn * width + width + 2 * width
    head = width * width + width + 2 * width + (8192 + 1)
    assert model.num_parameters() == tables + 8 * layer + head == 8_524_033
    assert model.config.num_attention_heads == 8
    assert model.config.layer_norm_eps == 1e-5
    assert model.config.hidden_act == "gelu"
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight


def test_weights_are_a_function_of_seed_and_name():
    one, longer, other = (
        dict(build(seed, length).named_parameters()) for seed, length in ((1, 16), (1, 40), (2, 16))
    )
    for name, weight in one.items():
        assert torch.equal(weight, longer[name][: len(weight)]), name
        assert torch.equal(weight, other[name]) == (weight.dim() == 1)
    words = one["roberta.embeddings.word_embeddings.weight"]
    assert [bool(words[number].any()) for number in (0, 1, 50)] == [True, False, True]  # 1: padding


# ---- training ---------------------------------------------------------------------------------


def spec_of(seed=42, bare=False, **changes):
    chosen = regimen(**({"input": "sentence", "steps": 12} | changes))
    return specs.TrainSpec(
        learner=Learner(name="nano", architecture="babyberta", options=SMALL),
        regimen=None if bare else chosen,
        bias="none",
        options={},
        seed=seed,
    )


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Folders of tokens and tokenizer."""
    return corpus(tmp_path_factory.mktemp("corpus"), train=400)


@pytest.fixture(scope="module")
def job(inputs, tmp_path_factory):
    """Train in fresh folders; returns the model's folder."""

    def run(spec, checkpoints=None):
        folder = tmp_path_factory.mktemp("run")
        train(spec, *inputs, checkpoints or folder / "checkpoints", folder / "model")
        return folder / "model"

    return run


@pytest.fixture(scope="module")
def learned(job):
    """A run of some hundred steps, which keeps two sets of weights of the way."""
    return job(
        spec_of(
            steps=500,
            batch_size=32,
            context_length=32,
            warmup_steps=20,
            learning_rate=1e-2,
            weight_decay=0.0,
            dropout=0.0,
            evaluate_every=250,
            checkpoint_every=1_000,
            checkpoints=[5, 250],
        )
    )


def statistics(folder):
    return json.loads((folder / "statistics.json").read_text())


def dev_rows(inputs):
    """The dev split, a sentence at a time, masked as for every run."""
    chosen = spec_of(context_length=32)
    rows = learner.rows(
        chosen.learner,
        chosen.regimen,
        encode.load(inputs[0], "dev"),
        vocabulary_size=300,
        boundary_id=0,
        padding_id=1,
        seed=0,
    )
    return list(rows.in_order(1))


def test_the_dev_loss_is_that_of_transformers(learned, inputs):
    """An independent loss: one sentence at a time, without padding, from the folder alone."""
    model = AutoModelForMaskedLM.from_pretrained(learned).eval()
    total = tokens = 0
    for batch in dev_rows(inputs):
        labels = torch.from_numpy(batch.targets)
        with torch.inference_mode():
            found = model(input_ids=torch.from_numpy(batch.inputs), labels=labels)
        total += found.loss.item() * batch.tokens
        tokens += batch.tokens
    assert statistics(learned)["dev_loss"] == pytest.approx(total / tokens, abs=1e-4)


# ---- scores -----------------------------------------------------------------------------------


@pytest.mark.parametrize("masked", SCORES)
def test_scores_are_those_of_training_rows(learned, inputs, masked):
    """A sentence is read by the engine as the rows have it: both boundaries, the same cuts."""
    model = AutoModelForMaskedLM.from_pretrained(learned).eval()
    text = pl.read_parquet(inputs[0].parent / "condition" / "dev.parquet")["text"][0]
    tokens = encode.load(inputs[0], "dev")
    whole = torch.from_numpy(tokens.ids[: tokens.offsets[1] + 1].astype(np.int64))
    total = 0.0
    for place in range(1, len(whole) - 1):
        shown = whole.clone()
        if masked == "pseudo-log-likelihood":
            shown[place] = 300
        with torch.inference_mode():
            logits = model(input_ids=shown[None]).logits[0, place]
        total += logits.double().log_softmax(-1)[whole[place]].item()
    (found,) = load(str(learned), Scoring(masked=masked)).score([Request(text, "first")])
    assert found.tokens == len(whole) - 2
    assert found.logprob == pytest.approx(total, abs=1e-3)


# ---- same bytes -------------------------------------------------------------------------------
