"""How much a job has to do, and which jobs may be compared.

Of training it is the learner's size: its parameters, and the FLOPs of training it on a token,
counted from the options alone, so that a plan needs no torch; a test holds the counts to the models
themselves and to :func:`poshgrid.training.flops.per_token`, whose docstring names the sources. An
architecture that is not known here is built and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from poshgrid.config import Learner, Regimen, words
from poshgrid.config.runs import COUNTED, Run
from poshgrid.grid.grid import Grid
from poshgrid.training import learner as learners


@dataclass(frozen=True)
class LearnerSize:
    """Parameters of a learner, and FLOPs per token of its training, forward and backward."""

    parameters: int
    flops: float


def learner_size(learner: Learner, regimen: Regimen, vocabulary: int) -> LearnerSize:
    """Return the size of a learner.

    Args:
        learner: architecture and options.
        regimen: that it is trained in.
        vocabulary: number of token types.
    """
    context = regimen.context_length
    positions = regimen.positions or context
    count = _SHAPES.get(learner.architecture)
    if count is None:
        return _built(learner, vocabulary, context, positions)
    return count(learners.options(learner), vocabulary, context, positions)


def _gpt2(o: Any, vocabulary: int, context: int, positions: int) -> LearnerSize:  # noqa: ANN401
    width, ffn = o.hidden_size, o.ffn or 4 * o.hidden_size
    layer = 4 * width * width + 2 * width * ffn
    vectors = 9 * width + ffn  # of a layer: biases, and gains and biases of two norms
    matrices = o.layers * layer + vocabulary * width
    parameters = matrices + positions * width + o.layers * vectors + 2 * width
    return LearnerSize(parameters, 6.0 * matrices + 12.0 * o.layers * width * context / 2)


def _lstm(o: Any, vocabulary: int, context: int, positions: int) -> LearnerSize:  # noqa: ANN401
    layer = 8 * o.hidden_size * o.hidden_size
    matrices = o.layers * layer + vocabulary * o.hidden_size
    parameters = matrices + o.layers * 8 * o.hidden_size
    return LearnerSize(parameters, 6.0 * matrices)


def _babyberta(o: Any, vocabulary: int, context: int, positions: int) -> LearnerSize:  # noqa: ANN401
    width, types = o.hidden_size, vocabulary + 1  # the mask's embedding
    layer = 4 * width * width + 2 * width * o.ffn
    vectors = 9 * width + o.ffn
    matrices = o.layers * layer + width * width + types * width
    around = (positions + 3) * width + 5 * width + types
    return LearnerSize(
        matrices + o.layers * vectors + around, 6.0 * matrices + 12.0 * o.layers * width * context
    )


_SHAPES: dict[str, Callable[[Any, int, int, int], LearnerSize]] = {
    "gpt2": _gpt2,
    "lstm": _lstm,
    "babyberta": _babyberta,
}


def _built(learner: Learner, vocabulary: int, context: int, positions: int) -> LearnerSize:
    """Build the model without memory for its weights, and count."""
    import torch

    from poshgrid.training import flops

    with torch.device("meta"):
        model = learners.build(learner, vocabulary_size=vocabulary, context_length=positions,
                               dropout=0.0, boundary_id=0, padding_id=1, seed=0)  # fmt: skip
    found = sum(weight.numel() for weight in model.parameters())
    return LearnerSize(found, flops.per_token(model, context))


_KINDS = {
    "train": ("learner", "regimen"), "untrained": ("learner",), "count": ("learner",),
    "score": ("learner",), "perplexity": ("learner",), "items": ("suite",), "quality": ("suite",),
    "measures": ("suite",), "fit": ("model",),
}  # fmt: skip
"""Rule -> the wildcards of jobs that may be compared; of any other rule, all may."""


def kind(grid: Grid, rule: str, wildcards: Mapping[str, str]) -> str:
    """Return what jobs are compared by: the rule, and the engine or learner that it runs."""
    if rule in ("parse", "train_parser", "recall") and wildcards["parser"] in grid.parsers:
        return f"{rule}/{grid.parsers[wildcards['parser']].engine}"
    return "/".join([rule, *(wildcards[axis] for axis in _KINDS.get(rule, ()))])


def work(grid: Grid, rule: str, wildcards: Mapping[str, str]) -> float:
    """Return how much a job has to do, in the units of the table: million words, models ..."""
    return _WORK.get(rule, _one)(grid, wildcards)


def run_of(wildcards: Mapping[str, str]) -> Run:
    """Return the run of a job; a counted null has fewer wildcards."""
    axes = {"regimen": COUNTED, "bias": "none", "seed": "0"} | dict(wildcards)
    return Run(axes["condition"], axes["size"], axes["learner"], axes["regimen"], axes["bias"],
               int(axes["seed"]))  # fmt: skip


def kept(grid: Grid, name: str) -> int:
    """Return how many checkpoints a regimen keeps beside the model."""
    regimen = grid.regimens.get(name)
    if regimen is None:
        return 0
    epochs = regimen.checkpoint_epochs
    passes = (regimen.epochs or 0) if epochs == "every" else len(epochs)
    return len(regimen.checkpoints) + passes


def _one(_: Grid, __: Mapping[str, str]) -> float:
    return 1.0


def _cell(_: Grid, wildcards: Mapping[str, str]) -> float:
    return words(wildcards["size"]) / 1e6


def _texts(grid: Grid, wildcards: Mapping[str, str]) -> float:
    """The words that a tokenizer is trained on."""
    texts = grid.tokenizer_texts(wildcards["condition"], wildcards["size"])
    return sum(words(size) for _, size in texts) / 1e6


def _source(grid: Grid, wildcards: Mapping[str, str]) -> float:
    """The most words that any base takes of a source, or as many as it is stopped after."""
    name = wildcards["source"]
    stop = grid.sources[name].words
    if stop is not None:
        return float(stop) / 1e6
    taken = [w * (1 + base.spare) for base in grid.bases.values() for p in base.sources
             if p.source == name for w in p.words.values()]  # fmt: skip
    return max(taken, default=0) / 1e6


def _base(grid: Grid, wildcards: Mapping[str, str]) -> float:
    return grid.sentence_words(wildcards["base"]) / 1e6


def _shard(grid: Grid, wildcards: Mapping[str, str]) -> float:
    return _base(grid, wildcards) / grid.shards(wildcards["base"])


def _checkpoints(grid: Grid, wildcards: Mapping[str, str]) -> float:
    return 1.0 + kept(grid, wildcards.get("regimen", ""))


def _models(grid: Grid, wildcards: Mapping[str, str]) -> float:
    return float(len(grid.runs(wildcards["target"])))


_WORK: dict[str, Callable[[Grid, Mapping[str, str]], float]] = {
    "tokenizer": _texts, "read": _source, "mix": _base, "parse": _shard, "evidence": _base,
    **dict.fromkeys(("condition", "collateral", "audit", "tokens", "sweep",
                     "distances", "ngrams", "count"), _cell),
    **dict.fromkeys(("score", "perplexity"), _checkpoints),
    **dict.fromkeys(("quality", "accuracy", "rule_shares", "curves", "deltas", "measures",
                     "report"), _models),
}  # fmt: skip
"""Rule -> its work; a rule that is not here does one job's."""
