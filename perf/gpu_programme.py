"""Ten minutes of one GPU: seeds of several conditions, precisions, scoring, parsing, speed.

    poshgrid run perf/gpu_programme.yaml --config data=DATA --until tokens items -- gpu    # on CPUs
    python perf/gpu_programme.py perf/gpu_programme.yaml gpu --output FOLDER [--seconds 540]
        [--speed gpt2-small gpt2-mini]

Parts in this order, each of which prints its lines as it ends: tokens a second and share of the
peak of models in bf16; every run of the target in bf16, and those of its first condition in float32
too, each scored as soon as it is trained; float32 less bf16 beside the spread of seeds; words
parsed a second by each trained parser. What would begin after
`--seconds` is left out. The second run of a shape finds its kernels in `FOLDER/kernels`: its time
less that of its steps is a warm start. On a CPU all of it runs, too, and says nothing of a GPU.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
import torch

from poshgrid.benchmark.schema import PAIRS
from poshgrid.config import Scoring
from poshgrid.config.runs import Run
from poshgrid.core.files import read_table
from poshgrid.evaluation.engine import Request
from poshgrid.evaluation.engines.load import load
from poshgrid.evidence.schema import CONDITION
from poshgrid.grid import configfile
from poshgrid.grid.grid import Grid
from poshgrid.models.tokenization.encode import Tokens
from poshgrid.models.tokenization.tokenizer import Vocabulary
from poshgrid.models.training import builder, flops, loop
from poshgrid.models.training.progress import Plan
from poshgrid.models.training.train import train
from poshgrid.parsing.parse import parse_words
from poshgrid.parsing.tokenize import tokenize

PEAK = 989e12  # bf16 FLOP/s of an H100 and an H200, by their data sheet
STEPS = {"cuda": 30, "cpu": 1}  # that a speed is measured over
SPEED = {"input": "packed", "precision": "bf16", "steps": 100_000, "epochs": None,
         "context_length": 512, "batch_size": 32, "micro_batch_size": None}  # fmt: skip


def main() -> None:
    """Do all that there is time for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", type=Path)
    parser.add_argument("target")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--speed", nargs="*", default=[], help="models of the configuration")
    parser.add_argument("--suite", help="of pairs; default: the first")
    parser.add_argument("--sentences", type=int, default=20_000, help="that are parsed")
    given = parser.parse_args()
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str((given.output / "kernels").absolute())
    grid, end = Grid(configfile.load(given.config)), time.monotonic() + given.seconds
    runs = sorted(grid.targets[given.target], key=lambda run: (run.seed, run.condition))
    for name in given.speed:
        speed(grid, name, runs[0].recipe)
    first, results = runs[0].condition, {}
    for run in runs:
        for precision in ("bf16", "float32") if run.condition == first else ("bf16",):
            if time.monotonic() < end:
                results[run, precision] = one(grid, run, precision, given)
    compared(results, first)
    if time.monotonic() < end:
        parsed(grid, runs[0], given.sentences)


def speed(grid: Grid, name: str, recipe_name: str) -> None:
    """Print tokens a second and the share of the peak, 32 packed rows of 512 tokens in bf16."""
    recipe = grid.recipes[recipe_name].model_copy(update=SPEED)
    device, words = builder.prepare_torch(recipe.threads), Vocabulary(32_768, 0, 1)
    ids = np.random.default_rng(0).integers(2, 32_768, 2_000_000).astype(np.uint16)
    rows = builder.rows(grid.models[name], recipe, Tokens(ids, np.array([0, len(ids)])), words, 1)
    model = builder.build(grid.models[name], words, context_length=512, dropout=0.1, seed=1)
    plan, tokens = Plan(recipe, rows.steps_per_epoch), 0
    torch._dynamo.reset()
    model.to(device)  # type: ignore[arg-type]
    optimizers = loop.build_optimizers(model, recipe)
    steps, times = STEPS[device.type], [time.perf_counter()]
    with loop.training(model, recipe):
        for first in (0, steps):
            for step in range(first, first + steps):
                taken = loop.training_step(model, optimizers, rows, plan, step, seed=1, biases=[])
                tokens += taken[0]
            times.append(time.perf_counter())
    warm_up, seconds = np.diff(times)
    rate = tokens / 2 / seconds
    share = rate * flops.per_token(model, 512) / PEAK
    show("speed", name, f"{rate:,.0f} tokens/s", f"{share:.1%} of the peak",
         f"first {steps} steps {warm_up:.1f} s")  # fmt: skip


def one(grid: Grid, run: Run, precision: str, given: argparse.Namespace) -> tuple[float, float]:
    """Train and score a run; print a line; return its test loss and its accuracy in per cent."""
    recipe = grid.recipes[run.recipe].model_copy(update={"precision": precision})
    spec = grid.train_spec(run).model_copy(update={"recipe": recipe})
    folder = given.output / run.name / precision
    cell = grid.paths.tokens(run.condition, run.size), grid.paths.tokenizer(run.condition, run.size)
    torch._dynamo.reset()  # or the ninth model of a shape would not be compiled
    began = time.perf_counter()
    facts = train(spec, *map(Path, cell), folder / "checkpoints", folder / "model")
    seconds = time.perf_counter() - began
    suite = given.suite or next(iter(grid.suites))
    pairs = read_table(Path(grid.paths.items(suite)), PAIRS, ["good", "bad"])
    texts = [*pairs["good"], *pairs["bad"]]
    began = time.perf_counter()
    scores = load(str(folder / "model"), Scoring()).score([Request(text, text) for text in texts])
    scoring = time.perf_counter() - began
    good, bad = np.array([score.logprob for score in scores]).reshape(2, -1)
    accuracy = 100 * float(np.mean((good > bad) + 0.5 * (good == bad)))
    show("run", run.name, precision, f"test loss {facts['test_loss']:.4f}", f"{accuracy:.2f}%",
         f"{facts['tokens_per_second']:,.0f} tokens/s", f"all {seconds:.1f} s",
         f"scoring {len(pairs) / scoring:,.0f} pairs/s")  # fmt: skip
    return facts["test_loss"], accuracy


def compared(results: dict[tuple[Run, str], tuple[float, float]], condition: str) -> None:
    """Print float32 less bf16, mean over seeds, beside the SD of seeds in bf16."""
    both = [run for run, precision in results if precision == "float32"]
    for number, name in enumerate(("test loss", "accuracy")):
        apart = [results[run, "float32"][number] - results[run, "bf16"][number] for run in both]
        spread = [results[run, "bf16"][number] for run in both]
        if len(both) > 1:
            show("precision", condition, name, f"mean {np.mean(apart):+.4f}",
                 f"largest {np.abs(apart).max():.4f}",
                 f"SD of seeds {np.std(spread, ddof=1):.4f}")  # fmt: skip


def parsed(grid: Grid, run: Run, number: int) -> None:
    """Print words parsed a second by each trained parser."""
    path = Path(grid.paths.condition(run.condition, run.size)) / "train.parquet"
    texts = read_table(path, CONDITION, ["text"])["text"].unique(maintain_order=True)[:number]
    trained = {n: p for n, p in grid.parsers.items() if Path(grid.paths.parser(n)).is_dir()}
    for name, parser in trained.items():
        sentences = [words for text in texts if (words := tokenize(text, parser.language))]
        began = time.perf_counter()
        parse_words(parser, Path(grid.paths.parser(name)), sentences)
        rate = sum(map(len, sentences)) / (time.perf_counter() - began)
        show("parsing", name, f"{rate:,.0f} words/s")


def show(*cells: str) -> None:
    """Print a line at once: what has run is known even if the time is over."""
    print(" | ".join(cells), flush=True)


if __name__ == "__main__":
    main()
