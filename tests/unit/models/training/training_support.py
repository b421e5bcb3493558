"""Small conditions, tokenizers, token folders and specs for the tests of training."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import torch
from safetensors.torch import load_file

from poshgrid import config
from poshgrid.config import specs
from poshgrid.core.files import Schema, write_table
from poshgrid.corpora.schema import SENTENCES
from poshgrid.evidence.schema import CONDITION
from poshgrid.models.distances.make import make
from poshgrid.models.tokenization import encode, tokenizer
from poshgrid.models.training import bias, builder
from poshgrid.models.training.checkpoint import Checkpoints

if TYPE_CHECKING:
    from transformers import PreTrainedModel

SMALL = {
    "gpt2": {"hidden_size": 16, "layers": 2, "heads": 2},
    "lstm": {"hidden_size": 16, "layers": 2},
    "babyberta": {"hidden_size": 16, "layers": 2, "heads": 2, "ffn": 32},
    "modern": {"hidden_size": 16, "layers": 2, "heads": 2},
    "hybrid": {"hidden_size": 16, "layers": 2, "heads": 2},
}
"""Architecture -> dimensions of the least model."""
NOUNS = ["dog", "cat", "girl", "boy", "teacher", "baby", "farmer", "queen"]
VERBS = ["sees", "likes", "finds", "helps", "wants", "hears"]


def sentences(number: int, seed: int = 0) -> list[str]:
    """Return sentences such as ``The dog that sees the cat likes a boy.``"""
    draw = random.Random(seed)
    texts = []
    for _ in range(number):
        subject, other, third = draw.sample(NOUNS, 3)
        verb, second = draw.sample(VERBS, 2)
        relative = f" that {second} the {third}" if draw.random() < 0.4 else ""
        texts.append(f"The {subject}{relative} {verb} a {other}.")
    return texts


def _write(texts: pl.DataFrame, path: Path, schema: Schema) -> None:
    """Write a table of sentences; what a test does not say of them is filled in."""
    whole = texts.with_row_index("sent_id").with_columns(
        source=pl.lit("toy"), document=pl.lit("d"), position="sent_id", rank="sent_id",
        n_words=pl.col("text").str.count_matches(r"\S+"), replaced=None,
    )  # fmt: skip
    write_table(whole.select(list(schema)).cast(schema), path, schema)


def write_condition(folder: Path, **splits: list[str]) -> Path:
    """Write train.parquet, dev.parquet, test.parquet from sentences."""
    for split, texts in splits.items():
        frame = pl.DataFrame({"text": texts}, {"text": pl.String})
        _write(frame, folder / f"{split}.parquet", CONDITION)
    return folder


def write_sentences(path: Path, rows: Iterable[tuple[str, str, str]]) -> Path:
    """Write a corpus's table from (text, split, size)."""
    frame = pl.DataFrame(list(rows), schema=["text", "split", "size"], orient="row")
    _write(frame, path, SENTENCES)
    return path


def tokenizer_spec(vocabulary_size: int = 300, **settings: object) -> specs.TokenizerSpec:
    """Return a spec of a small tokenizer."""
    return specs.TokenizerSpec(
        tokenizer=config.Tokenizer(vocabulary_size=vocabulary_size, **settings)
    )


def condition(folder: Path) -> Path:
    """Write a condition of 200, 30 and 30 toy sentences."""
    texts = sentences(260)
    return write_condition(folder, train=texts[:200], dev=texts[200:230], test=texts[230:])


def corpus(folder: Path) -> tuple[Path, Path]:
    """Return folders of tokens and tokenizer of a toy condition."""
    source = condition(folder / "condition")
    tokenizer.train(tokenizer_spec(), [source], folder / "tokenizer")
    encode.encode(source, folder / "tokenizer", folder / "tokens")
    return folder / "tokens", folder / "tokenizer"


def plant(folder: Path) -> Path:
    """Measure distances in trees of a corpus: each word hangs off the one before it."""
    from tests.unit.models.distances.test_distances import write_parses

    texts = pl.read_parquet(folder / "condition" / "train.parquet")["text"]
    words = [[*text.removesuffix(".").split(), "."] for text in texts]
    shard = write_parses(
        folder / "parses.parquet", [(sentence, list(range(len(sentence)))) for sentence in words]
    )
    inputs = folder / "condition", folder / "tokenizer", folder / "tokens", [shard]
    assert make(*inputs, folder / "distances")["used"] == len(words)
    return folder / "distances"


def setting(
    inputs: tuple[Path, Path], spec: specs.TrainSpec, checkpoints: Path, distances: Any = None
) -> bias.Setting:
    """Return what a run's biases are prepared with."""
    return bias.Setting(
        spec=spec, recipe=spec.recipe, tokenizer=inputs[1], distances=distances,
        checkpoints=Checkpoints(checkpoints, "0"), device=torch.device("cpu"),
        vocabulary=tokenizer.Vocabulary(tokenizer.load(inputs[1]).get_vocab_size(), 0, 1),
    )  # fmt: skip


def prepared(
    inputs: tuple[Path, Path], spec: specs.TrainSpec, checkpoints: Path, distances: Path | None
) -> tuple[PreTrainedModel, list[bias.Bias]]:
    """Return a run's model before its first step and its biases, as ``train`` prepares them."""
    settings = setting(inputs, spec, checkpoints, distances)
    model = build(
        spec.model.architecture, spec.seed, options=spec.model.options,
        vocabulary_size=settings.vocabulary.size, context_length=spec.recipe.context_length,
        dropout=spec.recipe.dropout,
    )  # fmt: skip
    biases = list(bias.build(spec.bias, spec.options).values())
    for part in biases:
        model = part.prepare(model, settings)
    return model, biases


def recipe(**changes: object) -> config.Recipe:
    """Return a recipe of a few seconds at most."""
    small = {
        "name": "small",
        "context_length": 16,
        "batch_size": 4,
        "steps": 12,
        "learning_rate": 3e-3,
        "warmup_steps": 2,
        "evaluate_every": 4,
        "patience_steps": None,
    }
    return config.Recipe(**(small | changes))


def train_spec(
    chosen: config.Recipe,
    seed: int = 42,
    bias: str = "none",
    architecture: str = "gpt2",
    biases: dict[str, dict[str, Any]] | None = None,
    **options: object,
) -> specs.TrainSpec:
    """Return the spec of a very small model; options: the model's."""
    return specs.TrainSpec(
        model=config.Model(
            name="nano", architecture=architecture, options=SMALL[architecture] | options
        ),
        recipe=chosen,
        bias=bias,
        options=biases or {},
        seed=seed,
    )


def build(
    architecture: str = "gpt2", seed: int = 42, *, options: Any = None, **sizes: Any
) -> PreTrainedModel:
    """Build a very small model with initial weights.

    Args:
        architecture: of the builder.
        seed: of the weights.
        options: of the model, where they are not as usual; none: the least model.
        sizes: vocabulary_size, context_length, dropout, where they are not as usual.
    """
    chosen = train_spec(recipe(), architecture=architecture, **(options or {})).model
    vocabulary = tokenizer.Vocabulary(sizes.pop("vocabulary_size", 300), 0, 1)
    usual = {"context_length": 16, "dropout": 0.0}
    return builder.build(chosen, vocabulary, seed=seed, **(usual | sizes))


def log(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of a model's ``training.jsonl``."""
    return [json.loads(line) for line in (folder / "training.jsonl").read_text().splitlines()]


def statistics(folder: Path) -> dict[str, Any]:
    """Return a model's ``statistics.json``."""
    return json.loads((folder / "statistics.json").read_text())


def weights(folder: Path) -> dict[str, torch.Tensor]:
    """Return a model's weights by name."""
    return load_file(folder / "model.safetensors")


def equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    """Say whether two models have the same weights, to the bit."""
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)
