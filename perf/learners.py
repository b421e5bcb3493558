"""Learners on equal words, tokens and seeds: best dev loss, steps and CPU seconds.

    python perf/learners.py TOKENS TOKENIZER RESULTS [--learners gpt2+adamw modern+muon ...]
        [--seeds 1 2] [--rate 3e-3] [--epochs 1]

`TOKENS` and `TOKENIZER` are folders that `poshgrid run --until tokens` makes. Each run adds a line
to the file `RESULTS`; at the end a table of all its lines is printed. Every learner has three
layers of width 128 and about as many weights; what changes is the architecture and the optimiser.
Dev loss is of each next token, also of a hybrid learner. "Steps" are those after which a learner's
dev loss is no longer above the best one of gpt2+adamw with the same seed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from poshgrid.config import Model, Recipe
from poshgrid.config.specs import TrainSpec
from poshgrid.models.training.train import train

SIZE = {"hidden_size": 128, "heads": 4, "layers": 3}
FIRST = "gpt2+adamw"


def main() -> None:
    """Train all, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tokens", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("results", type=Path)
    usual = [FIRST, "modern+adamw", "gpt2+muon", "modern+muon", "hybrid+adamw"]
    parser.add_argument("--learners", nargs="*", default=usual)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--every", type=int, default=50, help="steps between two dev losses")
    options = parser.parse_args()
    for learner in options.learners:
        for seed in options.seeds:
            line = json.dumps(run(options, learner, seed))
            with options.results.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
    table([json.loads(line) for line in options.results.read_text(encoding="utf-8").splitlines()])


def run(options: argparse.Namespace, learner: str, seed: int) -> dict[str, Any]:
    """Train a learner; return its losses by step, weights and CPU seconds."""
    architecture, optimizer = learner.split("+")
    recipe = Recipe(
        name="lab", context_length=64, batch_size=8, steps=None, epochs=options.epochs,
        learning_rate=options.rate, warmup_steps=50, optimizer=optimizer,
        evaluate_every=options.every, patience_steps=None,
    )  # fmt: skip
    model = Model(name="lab", architecture=architecture, options=SIZE)
    spec = TrainSpec(model=model, recipe=recipe, bias="none", options={}, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        began, output = time.process_time(), Path(folder) / "model"
        facts = train(spec, options.tokens, options.tokenizer, Path(folder) / "checkpoints", output)
        seconds = time.process_time() - began
        lines = (output / "training.jsonl").read_text(encoding="utf-8").splitlines()
    curve = {line["step"]: line["dev_loss"] for line in map(json.loads, lines)}
    return {"learner": learner, "rate": options.rate, "seed": seed, "seconds": seconds,
            "weights": facts["parameters"], "curve": curve}  # fmt: skip


def table(runs: list[dict[str, Any]]) -> None:
    """Print a row of each run."""
    goals: dict[int, float] = {}
    for entry in runs:
        if entry["learner"] == FIRST:
            best = min(entry["curve"].values())
            goals[entry["seed"]] = min(best, goals.get(entry["seed"], best))
    print("| learner | rate | seed | weights | best dev loss | steps | of | CPU s |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for entry in sorted(runs, key=lambda entry: (entry["learner"], entry["rate"], entry["seed"])):
        curve, goal = entry["curve"], goals.get(entry["seed"], 0.0)
        reached = next((step for step, loss in curve.items() if loss <= goal), "–")
        print(
            f"| {entry['learner']} | {entry['rate']:g} | {entry['seed']} | {entry['weights']:,} "
            f"| {min(curve.values()):.4f} | {reached} | {max(map(int, curve))} "
            f"| {entry['seconds']:.0f} |"
        )


if __name__ == "__main__":
    main()
