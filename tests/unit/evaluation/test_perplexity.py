"""Perplexity: against a plain loop, against training's own test loss, by hand, and with faults."""

import json
import math
import shutil

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from poshgrid.config import Scoring, specs
from poshgrid.core import errors
from poshgrid.evaluation.perplexity import perplexity
from poshgrid.models.ngram import count
from poshgrid.models.training.train import train
from tests.unit.models import tiny_causal
from tests.unit.models.training.training_support import (
    corpus,
    recipe,
    sentences,
    train_spec,
    write_sentences,
)


def spec(**scoring):
    return specs.PerplexitySpec(scoring=Scoring(**scoring), tested="toy")


def whole(path, **splits):
    """Write a corpus's sentences; split -> texts."""
    rows = [(text, split, "10K") for split, texts in splits.items() for text in texts]
    return write_sentences(path, rows)


def plain(folder, texts, context=None):
    """Return NLL and number of predictions, one sentence at a time, straight from the logits."""
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    cutter = AutoTokenizer.from_pretrained(folder)
    nats, tokens = 0.0, 0
    for text in texts:
        ids = cutter(text, add_special_tokens=False)["input_ids"]
        row = [cutter.bos_token_id, *ids, cutter.eos_token_id]
        for first in range(0, len(row) - 1, context or len(row)):
            part = row[first : first + (context or len(row)) + 1]
            nats -= sum(tiny_causal.left_to_right(model, part))
            tokens += len(part) - 1
    return nats, tokens


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model trained on sentences, and one on windows of the text; their condition."""
    folder = tmp_path_factory.mktemp("trained")
    tokens, tokenizer = corpus(folder)
    for kind in ("sentence", "packed"):
        # Room for the longest sentence: training cuts the tail of a longer one off.
        train(train_spec(recipe(input=kind, context_length=64, steps=30)), tokens, tokenizer,
              folder / "checkpoints", folder / kind)  # fmt: skip
    return folder


@pytest.fixture
def random_gpt2(copy):
    tiny_causal.gpt2(copy, context=16)
    return copy


def test_is_the_test_loss_of_training(trained, tmp_path):
    test = trained / "condition" / "test.parquet"
    ours = perplexity(spec(), trained / "sentence", test, tmp_path / "p.json")
    facts = json.loads((trained / "sentence" / "statistics.json").read_text())
    assert facts["truncated_sentences"] == 0
    assert ours["loss"] == pytest.approx(facts["test_loss"], abs=1e-4)
    assert ours["perplexity"] == pytest.approx(facts["test_perplexity"], rel=1e-4)
    counted = json.loads((trained / "tokens" / "statistics.json").read_text())["test"]
    # The split's first boundary is context only.
    assert (ours["sentences"], ours["tokens"]) == (counted["sentences"], counted["tokens"] - 1)
    assert ours["words"] == counted["words"]
    assert json.loads((tmp_path / "p.json").read_text()) == ours


@pytest.mark.parametrize("kind", ["sentence", "packed"])
@pytest.mark.parametrize("batch_tokens", [64, 8192])
def test_is_a_plain_loop_whatever_the_batch(trained, tmp_path, kind, batch_tokens):
    texts = [*sentences(40, seed=9), "Dog.", "Dog."]  # the same sentence twice counts twice
    table = whole(tmp_path / "whole.parquet", train=sentences(3, seed=1), dev=["No."], test=texts)
    read = perplexity(spec(batch_tokens=batch_tokens), trained / kind, table, tmp_path / "p.json")
    assert read["word_perplexity"] == pytest.approx(math.exp(read["nats"] / read["words"]))
    nats, tokens = plain(trained / kind, texts)
    assert read["tokens"] == tokens
    assert read["nats"] == pytest.approx(nats, rel=1e-6)


def test_longer_than_the_context_is_read_in_windows(random_gpt2, tmp_path):
    texts = ["a", " ".join(tiny_causal.TEXT), tiny_causal.TEXT[0]]
    table = whole(tmp_path / "whole.parquet", test=texts)
    read = perplexity(spec(), random_gpt2, table, tmp_path / "p.json")
    nats, tokens = plain(random_gpt2, texts, context=16)
    cutter = AutoTokenizer.from_pretrained(random_gpt2)
    lengths = [len(cutter(text, add_special_tokens=False)["input_ids"]) + 1 for text in texts]
    assert read["tokens"] == tokens == sum(lengths)  # each once
    assert read["nats"] == pytest.approx(nats, rel=1e-6)
    assert read["windowed"] == sum(length > 16 for length in lengths) < len(texts)


def refused(model, table, output, message):
    with pytest.raises(errors.PoshgridError, match=message):
        perplexity(spec(), model, table, output)
    assert not output.exists()


def test_what_has_no_perplexity_is_refused(random_gpt2, tmp_path):
    out = tmp_path / "p.json"
    table = whole(tmp_path / "whole.parquet", train=["a dog"], test=["the boy"])
    tiny_causal.roberta(tmp_path / "masked")
    count(table, tmp_path / "ngram", order=2)
    for kind in ("masked", "ngram"):
        refused(tmp_path / kind, table, out, "leave the run out")
    blank = whole(tmp_path / "blank.parquet", train=["a dog"], test=[" ", ""])
    refused(random_gpt2, blank, out, "no test sentence")
    model = tiny_causal.gpt2(random_gpt2)
    with torch.no_grad():
        model.transformer.wte.weight[7] = float("nan")
    model.save_pretrained(random_gpt2)
    refused(random_gpt2, table, out, "not numbers")
    shutil.rmtree(random_gpt2)
    tiny_causal.tokenizer(random_gpt2, bos=False)
    tiny_causal.gpt2(random_gpt2)
    refused(random_gpt2, table, out, "no boundaries")
