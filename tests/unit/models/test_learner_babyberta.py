"""BabyBERTa: its size and weights, and a small one trained, scored and resumed."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from poshgrid.benchmark.schema import DESIGN, ITEMS
from poshgrid.config import Learner, Scoring, specs
from poshgrid.errors import PoshgridError
from poshgrid.evaluation import score
from poshgrid.evaluation.engine import Request
from poshgrid.evaluation.engines.load import load
from poshgrid.files import write_table
from poshgrid.models.architectures import babyberta
from poshgrid.tokenization import encode
from poshgrid.training import learner, losses
from poshgrid.training.data import IGNORED, Batch
from poshgrid.training.train import train
from tests.unit.training.training_support import corpus, regimen, sentences

SMALL = {"hidden_size": 32, "layers": 2, "heads": 2, "ffn": 64}
FIXED = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
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
    import torch

    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    one, again, other, longer = (
        dict(build(seed, length).named_parameters())
        for seed, length in ((1, 16), (1, 16), (2, 16), (1, 40))
    )
    assert torch.equal(torch.random.get_rng_state(), before)
    for name, weight in one.items():
        assert torch.equal(weight, again[name])
        assert torch.equal(weight, longer[name][: len(weight)]), name
        if weight.dim() > 1:
            assert not torch.equal(weight, other[name])
            assert weight.std().item() == pytest.approx(0.02, rel=0.2)
        else:
            value = 1.0 if "norm.weight" in name.lower() else 0.0
            assert torch.equal(weight, torch.full_like(weight, value)), name
    words = one["roberta.embeddings.word_embeddings.weight"]
    assert not words[1].any()  # padding
    assert words[0].any()
    assert words[50].any()  # the mask


@pytest.mark.parametrize("padding_id", [1, 7])
def test_the_context_holds_what_it_says_and_no_more(padding_id):
    import torch

    model = build(padding_id=padding_id).eval()
    ids = torch.full((1, 16), 20)
    assert model(input_ids=ids).logits.shape == (1, 16, 51)
    with pytest.raises((IndexError, RuntimeError)):
        model(input_ids=torch.full((1, 17), 20))


def test_both_sides_of_a_mask_are_seen_and_padding_is_not():
    import torch

    model = build().eval()
    ids = torch.tensor([[0, 5, 50, 7, 8, 0]])
    with torch.inference_mode():
        whole = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0]
        for place in (1, 4):
            changed = ids.clone()
            changed[0, place] = 30
            assert not torch.allclose(model(input_ids=changed).logits[0, 2], whole[2], atol=1e-6)
        padded = torch.tensor([[0, 5, 50, 7, 8, 0, 1, 1, 1]])
        found = model(input_ids=padded, attention_mask=padded.ne(1).long()).logits[0]
    assert torch.allclose(found[:6], whole, atol=1e-6)


def test_options_are_checked():
    with pytest.raises(ValidationError, match="not divisible by 3 heads"):
        babyberta.Options(hidden_size=16, heads=3)
    with pytest.raises(ValidationError, match="add up to more than 1"):
        babyberta.Options(random=0.7, unmask=0.7)
    with pytest.raises(ValidationError, match="tokens"):
        Learner(name="b", architecture="babyberta", options={"tokens": 3})


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


def test_the_dev_loss_falls_far_below_that_of_guessing(learned):
    found = statistics(learned)
    assert found["initial_dev_loss"] == pytest.approx(math.log(301), abs=0.1)
    assert found["dev_loss"] < 0.5 * math.log(301)
    assert found["test_loss"] == pytest.approx(found["dev_loss"], abs=0.4)
    assert found["truncated_sentences"] == 0


def test_the_dev_loss_is_that_of_transformers(learned, inputs):
    """An independent loss: one sentence at a time, without padding, from the folder alone."""
    import torch
    from transformers import AutoModelForMaskedLM

    model = AutoModelForMaskedLM.from_pretrained(learned).eval()
    total = tokens = 0
    for batch in dev_rows(inputs):
        labels = torch.from_numpy(batch.targets)
        with torch.inference_mode():
            found = model(input_ids=torch.from_numpy(batch.inputs), labels=labels)
        total += found.loss.item() * batch.tokens
        tokens += batch.tokens
    assert statistics(learned)["dev_loss"] == pytest.approx(total / tokens, abs=1e-4)


def test_padding_is_neither_seen_nor_asked_for(learned, inputs):
    """A padded batch has the summed loss of its rows, one by one."""
    import torch
    from transformers import AutoModelForMaskedLM

    model = AutoModelForMaskedLM.from_pretrained(learned).eval()
    short, *_, long = dev_rows(inputs)
    pad = ((0, 0), (0, long.inputs.shape[1] - short.inputs.shape[1]))
    assert pad[1][1] > 3
    mixed = Batch(
        np.concatenate([long.inputs, np.pad(short.inputs, pad, constant_values=1)]),
        np.concatenate([long.targets, np.pad(short.targets, pad, constant_values=IGNORED)]),
        seen=np.concatenate([long.seen, np.pad(short.seen, pad)]),
    )
    with torch.inference_mode():
        together = losses.summed(model, mixed).item()
        alone = sum(losses.summed(model, part).item() for part in (short, long))
    assert together == pytest.approx(alone, rel=1e-5)


# ---- scores -----------------------------------------------------------------------------------


def swapped(sentence):
    """Put the last article after its noun: ``The dog sees a cat.``, ``The dog sees cat a.``"""
    *first, article, noun = sentence.removesuffix(".").split()
    return f"{' '.join([*first, noun, article])}."


def items(folder, number=60):
    good = list(dict.fromkeys(sentences(3 * number, seed=9)))[:number]
    table = pl.DataFrame(
        {
            **DESIGN,
            "item_id": [f"order-{i:04d}" for i in range(number)],
            "category": "order",
            "phenomenon": "order",
            "template": "order",
            "lexical_set": [f"set-{i}" for i in range(number)],
            "contrast": "order",
            "good": good,
            "bad": [swapped(sentence) for sentence in good],
            **dict.fromkeys(("good_start", "good_end", "bad_start", "bad_end"), 0),
        },
        schema=ITEMS,
    )
    write_table(table, folder / "items.parquet", ITEMS)
    return folder / "items.parquet"


@pytest.mark.parametrize("masked", SCORES)
def test_it_tells_order_from_disorder_and_learns_to(learned, tmp_path, masked, caplog):
    path = tmp_path / "scores.parquet"
    facts = score.score(
        specs.ScoreSpec(scoring=Scoring(masked=masked), tasks={"order": "pairs"}),
        str(learned),
        {"order": items(tmp_path)},
        {"order": path},
    )
    assert facts["steps"] == [5, 250]
    assert not [r for r in caplog.records if "cuts sentences" in r.message]
    found = pl.read_parquet(path)
    right = {
        step: (part["good_logprob"] > part["bad_logprob"]).mean()
        for (step,), part in found.group_by("step")
    }
    assert right[None] > 0.8
    assert right[250] > right[5]
    assert (found["good_tokens"] == found["bad_tokens"]).all()


@pytest.mark.parametrize("masked", SCORES)
def test_scores_are_those_of_training_rows(learned, inputs, masked):
    """A sentence is read by the engine as the rows have it: both boundaries, the same cuts."""
    import torch
    from transformers import AutoModelForMaskedLM

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


def test_a_seed_gives_its_bytes_twice_and_another_gives_others(job):
    one, again, other = (job(spec_of(seed, dropout=0.1)) for seed in (42, 42, 53))
    for name in FIXED:
        assert (one / name).read_bytes() == (again / name).read_bytes(), name
    assert (one / "model.safetensors").read_bytes() != (other / "model.safetensors").read_bytes()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        assert (one / name).read_bytes() == (other / name).read_bytes()


class _KilledError(Exception):
    pass


@pytest.mark.parametrize("order", ["shuffled", "given"])
def test_a_run_that_is_killed_ends_as_one_that_was_not(job, tmp_path, monkeypatch, order):
    spec = spec_of(order=order, dropout=0.1)
    whole = job(spec)
    real, calls = losses.summed, []

    def summed(model, *given, **named):
        calls.append(model.training)
        if calls.count(True) == 8:  # during the eighth step: the checkpoint is of step 6
            raise _KilledError
        return real(model, *given, **named)

    monkeypatch.setattr(losses, "summed", summed)
    with pytest.raises(_KilledError):
        job(spec, tmp_path / "checkpoints")
    assert list((tmp_path / "checkpoints").rglob("step-*"))
    monkeypatch.setattr(losses, "summed", real)
    resumed = job(spec, tmp_path / "checkpoints")
    for name in FIXED:
        assert (resumed / name).read_bytes() == (whole / name).read_bytes(), name


def test_the_null_has_the_weights_that_training_starts_from(job):
    from safetensors.torch import load_file

    null = load_file(job(spec_of(bare=True)) / "model.safetensors")
    start = load_file(job(spec_of(steps=0, warmup_steps=0)) / "model.safetensors")
    assert null.keys() == start.keys()
    for name, weight in start.items():
        assert (null[name][: len(weight)] == weight).all(), name


def test_packed_rows_are_refused_before_training(job, inputs, tmp_path):
    with pytest.raises(PoshgridError, match="set input to sentence"):
        train(spec_of(input="packed"), *inputs, tmp_path / "checkpoints", tmp_path / "model")
    assert not (tmp_path / "model").exists()
