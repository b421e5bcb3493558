"""Learners on equal words, tokens and seeds: best dev loss, steps and CPU seconds.

    python perf/learners.py TOKENS TOKENIZER [--learners gpt2+adamw modern+muon ...] [--seeds 1 2]
        [--rates 1e-3 3e-3] [--epochs 3]

`TOKENS` and `TOKENIZER` are folders that `poshgrid run --until tokens` makes. Every learner has 128
wide layers, three of them, and about as many weights; what changes is the architecture and the
optimiser. Dev loss is of each next token, of the hybrid learner too. The steps are those after
which a learner's dev loss is no longer above the best one of the first learner of the same seed
(the least over its learning rates).
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from poshgrid.config import Model, Recipe
from poshgrid.config.specs import TrainSpec
from poshgrid.training.train import train

SIZE = {"hidden_size": 128, "heads": 4, "layers": 3}
LEARNERS = {
    "gpt2+adamw": ("gpt2", {}, "adamw"),
    "modern+adamw": ("modern", {}, "adamw"),
    "gpt2+muon": ("gpt2", {}, "muon"),
    "modern+muon": ("modern", {}, "muon"),
    "hybrid+adamw": ("hybrid", {}, "adamw"),
    "hybrid-0.75+adamw": ("hybrid", {"causal_share": 0.75}, "adamw"),
}


def main() -> None:
    """Train all, and print a row of each as it ends, and at last the steps."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tokens", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS)[:5], choices=LEARNERS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rates", type=float, nargs="+", default=[3e-3])
    parser.add_argument("--epochs", type=int, default=3)
    given = parser.parse_args()
    print("| learner | rate | seed | weights | best dev loss | at step | steps to first | CPU s |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    goals: dict[int, float] = {}
    for learner in given.learners:
        for rate in given.rates:
            for seed in given.seeds:
                curve, weights, seconds = run(given, learner, rate, seed)
                loss, step = min((line["dev_loss"], line["step"]) for line in curve)
                if learner == given.learners[0]:
                    goals[seed] = min(loss, goals.get(seed, loss))
                reached = [line["step"] for line in curve if line["dev_loss"] <= goals[seed]]
                first = f"{reached[0]:,}" if reached else "–"
                print(
                    f"| {learner} | {rate:g} | {seed} | {weights:,} | {loss:.4f} | {step:,} "
                    f"| {first} | {seconds:.0f} |",
                    flush=True,
                )


def run(
    given: argparse.Namespace, learner: str, rate: float, seed: int
) -> tuple[list[dict[str, float]], int, float]:
    """Return the lines of the training log, the number of weights and CPU seconds of a run."""
    architecture, options, optimizer = LEARNERS[learner]
    recipe = Recipe(
        name="lab", context_length=64, batch_size=8, steps=None, epochs=given.epochs,
        learning_rate=rate, warmup_steps=50, dropout=0.1, optimizer=optimizer,
        evaluate_every=100, patience_steps=None, checkpoint_every=100_000,
    )  # fmt: skip
    model = Model(name="lab", architecture=architecture, options=SIZE | options)
    spec = TrainSpec(model=model, recipe=recipe, bias="none", options={}, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        began, output = time.process_time(), Path(folder) / "model"
        found = train(spec, given.tokens, given.tokenizer, Path(folder) / "checkpoints", output)
        seconds = time.process_time() - began
        lines = (output / "training.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines], found["parameters"], seconds


if __name__ == "__main__":
    main()
