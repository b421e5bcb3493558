"""Stages of tokenizers, tokens, distances, training, and baselines that count words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from poshgrid.config import specs
from poshgrid.config.models import OWN, SMALLEST
from poshgrid.config.runs import COUNTED, SPLITS, WORD_ORDER, Run, counting
from poshgrid.core import plugins
from poshgrid.stages.stage import PATHS, Files, Job, Stage, Wildcards, growing, relative

RUN = "{condition}/{size}/{model}/{recipe}/{bias}/seed{seed}"
"""A run's name as wildcards."""
COUNTED_RUN = f"{{condition}}/{{size}}/{{model}}/{COUNTED}/none/seed0"
TOKENS = (*(f"{split}{kind}" for split in SPLITS for kind in (".bin", ".offsets.npy")),)


class Tokenizer(Stage):
    """Train a tokenizer on conditions, or copy it from a file."""

    function = "poshgrid.models.tokenization.tokenizer.train"
    output = PATHS.tokenizer("{condition}", "{size}")
    outputs = ("tokenizer.json", "tokenizer_config.json", "statistics.json")
    external = ("file",)

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return training sentences, or the file of the tokenizer."""
        if file := self.grid.tokenizer_of(wc.condition).file:
            return {"file": relative(Path(self.data, file))}
        cells = self.grid.tokenizer_texts(wc.condition, wc.size)
        return {"texts": [f"{self.paths.condition(*cell)}/train.parquet" for cell in cells]}

    def spec(self, wc: Wildcards) -> specs.TokenizerSpec:
        """Return the tokenizer, without the name of its training text, which is an input."""
        tokenizer = self.grid.tokenizer_of(wc.condition)
        tokenizer = tokenizer.model_copy(update={"sweep": [], "trained_on": OWN})
        return specs.TokenizerSpec(tokenizer=tokenizer)

    @staticmethod
    def run(job: Job) -> dict[str, Any]:
        """Train the tokenizer, or copy it."""
        from poshgrid.models.tokenization import tokenizer

        if job.spec.tokenizer.file:
            spaced = job.spec.tokenizer.space_final_mark
            return tokenizer.from_file(job.path("file"), job.output, space_final_mark=spaced)
        conditions = [text.parent for text in job.files("texts")]
        return tokenizer.train(job.spec, conditions, job.output)


class Tokens(Stage):
    """Encode a condition as memory-mapped tokens."""

    function = "poshgrid.models.tokenization.encode.encode"
    output = PATHS.tokens("{condition}", "{size}")
    outputs = (*TOKENS, "statistics.json")
    takes = lambda job: (job.folder("condition"), job.folder("tokenizer"), job.output)

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the condition and its tokenizer."""
        folder = self.paths.condition(wc.condition, wc.size)
        return {
            "condition": [f"{folder}/{split}.parquet" for split in SPLITS],
            "tokenizer": self.tokenizer(wc.condition, wc.size),
        }


class Sweep(Stage):
    """Count a condition's tokens at several vocabulary sizes."""

    function = "poshgrid.models.tokenization.sweep.sweep"
    output = str(Path(PATHS.sweep("{condition}", "{size}")).parent)
    outputs = ("sweep.json",)
    takes = lambda job: (job.spec, job.folder("condition"), job.output / "sweep.json")

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the training sentences."""
        return {"condition": f"{self.paths.condition(wc.condition, wc.size)}/train.parquet"}

    def spec(self, wc: Wildcards) -> specs.TokenizerSpec:
        """Return the tokenizer without its own vocabulary size."""
        tokenizer = self.grid.config.tokenizer.model_copy(update={"vocabulary_size": SMALLEST})
        return specs.TokenizerSpec(tokenizer=tokenizer)


class Distances(Stage):
    """Measure distances in the trees of the training sentences, for tree-planting."""

    function = "poshgrid.models.distances.make.make"
    output = PATHS.distances("{condition}", "{size}", "{parser}")
    outputs = ("distances.bin", "words.bin", "offsets.npy", "statistics.json")
    minutes = 120
    takes = lambda job: (
        job.folder("condition"), job.folder("tokenizer"), job.folder("tokens"),
        job.files("parses"), job.output,
    )  # fmt: skip

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the condition's sentences, trees, tokenizer and tokens."""
        return {
            "condition": f"{self.paths.condition(wc.condition, wc.size)}/train.parquet",
            "tokenizer": self.tokenizer(wc.condition, wc.size),
            "tokens": f"{self.paths.tokens(wc.condition, wc.size)}/train.bin",
            "parses": self.shards(self.grid.corpus_of(wc.condition).name, wc.parser),
        }


class Train(Stage):
    """Train one run; resume if an earlier attempt was stopped."""

    function = "poshgrid.models.training.train.train"
    output = PATHS.model(RUN)
    outputs = (
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "training.jsonl",
        "statistics.json",
    )
    minutes = 1440
    costly = True

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return tokens, tokenizer and the distances that a bias needs."""
        parser = self.grid.parser_of_bias[wc.bias]
        distances = self.paths.distances(wc.condition, wc.size, parser or "")
        folder = self.paths.tokens(wc.condition, wc.size)
        return {
            "tokens": [f"{folder}/{name}" for name in Tokens.outputs],
            "tokenizer": self.tokenizer(wc.condition, wc.size),
            "distances": [f"{distances}/statistics.json"] if parser else [],
        }

    def spec(self, wc: Wildcards) -> specs.TrainSpec:
        """Return the run's model, recipe, bias and seed."""
        return self.grid.train_spec(Run.of(wc))

    def modules(self, wc: Wildcards) -> Sequence[str]:
        """Return the architecture and the biases."""
        architecture = self.grid.models[wc.model].architecture
        return [
            self.module,
            plugins.module_name(plugins.ARCHITECTURES, architecture),
            *(plugins.module_name(plugins.BIASES, part) for part in Run.of(wc).biases),
        ]

    @property
    def resources(self) -> dict[str, Any]:
        """Memory that grows with each attempt, and a constant time, because training resumes."""
        return {
            "mem_mb": growing(self.memory_mb),
            "runtime": self.minutes,
            "mpi": "",
            "step": "",
        }

    def threads(self, wc: Wildcards) -> int:
        """Return the number of threads in the recipe."""
        return self.grid.recipes[wc.recipe].threads

    @staticmethod
    def run(job: Job) -> dict[str, Any]:
        """Train the model."""
        from poshgrid.models.training import signals
        from poshgrid.models.training.train import train

        distances, name = job.file("distances"), RUN.format(**job.wildcards)
        try:
            return train(
                job.spec,
                job.folder("tokens"),
                job.folder("tokenizer"),
                Path(job.paths.checkpoints(name)),
                job.output,
                distances.parent if distances else None,
            )
        except signals.StoppedError as signal:
            from poshgrid.planning.slurm import requeue

            requeue(signal)
            raise

    @staticmethod
    def finished(job: Job) -> None:
        """Remove the run's checkpoints."""
        from poshgrid.models.training import checkpoint

        checkpoint.remove(Path(job.paths.checkpoints(RUN.format(**job.wildcards))))


class Count(Stage):
    """Count the words of a condition: a unigram, n-gram or class n-gram baseline."""

    function = "poshgrid.models.ngram.count"
    output = PATHS.model(COUNTED_RUN)
    outputs = ("config.json", "model.safetensors", "statistics.json")
    memory_mb = 16000
    minutes = 120
    takes = lambda job: (
        job.path("sentences"), job.output, job.spec.order, job.spec.size, job.spec.classes,
    )  # fmt: skip

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the training sentences."""
        return {"sentences": f"{self.paths.condition(wc.condition, wc.size)}/train.parquet"}

    def spec(self, wc: Wildcards) -> specs.CountSpec:
        """Return the order of the n-grams, and whether they are over word classes."""
        return specs.CountSpec(**counting(wc.model))


class Ngrams(Count):
    """Count the n-grams of a corpus, which balance the items."""

    output = PATHS.ngrams("{corpus}", "{size}")

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the sentences of the corpus."""
        return {"sentences": self.paths.sentences(wc.corpus)}

    def spec(self, wc: Wildcards) -> specs.CountSpec:
        """Return the order, and the size whose sentences are counted."""
        return specs.CountSpec(order=WORD_ORDER, size=wc.size)


STAGES = (Tokenizer, Tokens, Sweep, Distances, Train, Count, Ngrams)
