"""Small conditions, tokenizers, token folders and specs for the tests of training."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import polars as pl

from poshgrid import config
from poshgrid.config import specs
from poshgrid.evidence.schema import CONDITION
from poshgrid.files import write_table
from poshgrid.tokenization import encode, tokenizer

NOUNS = ["dog", "cat", "girl", "boy", "teacher", "baby", "farmer", "queen"]
VERBS = ["sees", "likes", "finds", "helps", "wants", "hears"]


def sentences(number: int, seed: int = 0) -> list[str]:
    """Return sentences such as ``The dog that sees the cat likes a boy.``"""
    draw = random.Random(seed)
    found = []
    for _ in range(number):
        subject, other, third = draw.sample(NOUNS, 3)
        verb, second = draw.sample(VERBS, 2)
        relative = f" that {second} the {third}" if draw.random() < 0.4 else ""
        found.append(f"The {subject}{relative} {verb} a {other}.")
    return found


def write_condition(folder: Path, **splits: list[str]) -> Path:
    """Write train.parquet, dev.parquet, test.parquet from sentences."""
    for split, texts in splits.items():
        rows = len(texts)
        frame = pl.DataFrame(
            {
                "sent_id": list(range(rows)),
                "source": ["toy"] * rows,
                "document": ["d"] * rows,
                "position": list(range(rows)),
                "text": texts,
                "n_words": [len(text.split()) for text in texts],
                "replaced": [None] * rows,
            },
            schema=CONDITION,
        )
        write_table(frame, folder / f"{split}.parquet", CONDITION)
    return folder


def condition(folder: Path, train: int = 200, dev: int = 30, test: int = 30) -> Path:
    """Write a condition of toy sentences."""
    texts = iter(sentences(train + dev + test))
    parts = {"train": train, "dev": dev, "test": test}
    return write_condition(
        folder, **{split: list(itertools.islice(texts, size)) for split, size in parts.items()}
    )


def tokenizer_spec(vocabulary_size: int = 300, **settings: object) -> specs.TokenizerSpec:
    """Return a spec of a small tokenizer."""
    return specs.TokenizerSpec(
        tokenizer=config.Tokenizer(vocabulary_size=vocabulary_size, **settings)
    )


def corpus(folder: Path, **sizes: int) -> tuple[Path, Path]:
    """Return folders of tokens and tokenizer of a toy condition."""
    source = condition(folder / "condition", **sizes)
    tokenizer.train(tokenizer_spec(), [source], folder / "tokenizer")
    encode.encode(source, folder / "tokenizer", folder / "tokens")
    return folder / "tokens", folder / "tokenizer"


def regimen(**changes: object) -> config.Regimen:
    """Return a regimen of a few seconds at most."""
    small = {
        "name": "small",
        "context_length": 16,
        "batch_size": 4,
        "steps": 12,
        "learning_rate": 3e-3,
        "warmup_steps": 2,
        "evaluate_every": 4,
        "checkpoint_every": 3,
        "patience_steps": None,
    }
    return config.Regimen(**(small | changes))


def train_spec(
    chosen: config.Regimen | None, seed: int = 42, bias: str = "none", **options: object
) -> specs.TrainSpec:
    """Return the spec of a very small GPT-2."""
    return specs.TrainSpec(
        learner=config.Learner(
            name="nano", options={"hidden_size": 16, "layers": 2, "heads": 2} | options
        ),
        regimen=chosen,
        bias=bias,
        options={},
        seed=seed,
    )
