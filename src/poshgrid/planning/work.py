"""How much a job has to do, and which jobs may be compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from poshgrid.config import words
from poshgrid.grid.grid import Grid
from poshgrid.grid.runs import COUNTED, Run

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


def _source(grid: Grid, wildcards: Mapping[str, str]) -> float:
    """The most words that any base takes of a source, or as many as it is stopped after."""
    name = wildcards["source"]
    stop = grid.sources[name].words
    if stop is not None:
        return stop / 1e6
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
    "read": _source, "mix": _base, "parse": _shard, "evidence": _base,
    **dict.fromkeys(("condition", "collateral", "audit", "tokenizer", "tokens", "sweep",
                     "distances", "ngrams", "count"), _cell),
    **dict.fromkeys(("score", "perplexity"), _checkpoints),
    **dict.fromkeys(("quality", "accuracy", "rule_shares", "curves", "deltas", "measures",
                     "report"), _models),
}  # fmt: skip
"""Rule -> its work; a rule that is not here does one job's."""
