"""BabyBERTa: its size and weights, and a small one trained and scored."""

import polars as pl
import pytest
import torch
from transformers import AutoModelForMaskedLM

from poshgrid.models.architectures import babyberta
from poshgrid.models.tokenization import encode
from poshgrid.models.tokenization.tokenizer import Vocabulary
from poshgrid.models.training import builder
from tests.unit.models.tiny_causal import engine, one_by_one, requests
from tests.unit.models.training.training_support import build, recipe, statistics, train_spec


def test_the_papers_model_has_eight_million_parameters():
    """Sizes of section 2.1: by hand, the head's decoder being tied to the embeddings."""
    options = babyberta.Options().model_dump()
    model = build("babyberta", options=options, vocabulary_size=8192, context_length=128)
    width, ffn, types = 256, 1024, 8192 + 1
    layer = 4 * (width * width + width) + 2 * width * ffn + ffn + width + 4 * width
    tables, head = (types + 130 + 1 + 2) * width, width * width + 3 * width + types
    assert model.num_parameters() == tables + 8 * layer + head == 8_524_033
    assert model.config.num_attention_heads == 8
    assert model.config.layer_norm_eps == 1e-5
    assert model.config.hidden_act == "gelu"


@pytest.fixture(scope="module")
def learned(job):
    """The spec and the folder of a run of some hundred steps."""
    chosen = recipe(
        input="sentence", steps=300, batch_size=32, context_length=32, warmup_steps=20,
        learning_rate=1e-2, weight_decay=0.0, dropout=0.0, evaluate_every=150,
    )  # fmt: skip
    spec = train_spec(chosen, architecture="babyberta")
    return spec, job(spec)


def test_the_dev_loss_is_that_of_transformers(learned, inputs):
    """An independent loss: one sentence at a time, without padding, from the folder alone."""
    spec, folder = learned
    model = AutoModelForMaskedLM.from_pretrained(folder).eval()
    dev = encode.load(inputs[0], "dev")
    rows = builder.rows(spec.model, spec.recipe, dev, Vocabulary(300, 0, 1), 0)
    total = tokens = 0
    for batch in rows.in_order(1):
        with torch.inference_mode():
            output = model(torch.from_numpy(batch.inputs), labels=torch.from_numpy(batch.targets))
        total += output.loss.item() * batch.tokens
        tokens += batch.tokens
    assert statistics(folder)["dev_loss"] == pytest.approx(total / tokens, abs=1e-4)


@pytest.mark.parametrize("masked", ["pseudo-log-likelihood", "holistic"])
def test_scores_are_those_of_training_rows(learned, inputs, masked):
    """A sentence is read by the engine as the rows have it: both boundaries, the same cuts."""
    model = AutoModelForMaskedLM.from_pretrained(learned[1]).eval()
    text = pl.read_parquet(inputs[0].parent / "condition" / "dev.parquet")["text"][0]
    tokens = encode.load(inputs[0], "dev")
    ids = tokens.ids[: tokens.offsets[1] + 1].tolist()
    expected = one_by_one(model, ids, 300 if masked == "pseudo-log-likelihood" else None)
    (scored,) = engine(learned[1], masked=masked).score(requests([text]))
    assert scored.tokens == len(expected)
    assert scored.logprob == pytest.approx(sum(expected), abs=1e-3)
