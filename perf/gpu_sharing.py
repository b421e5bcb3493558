"""Models per hour when 1, 2, 3 runs share a GPU, each in a process of its own, as in one job.

    python perf/gpu_sharing.py [--together 1 2 3] [--learner gpt2-mini] [--regimen packed]
        [--steps 400] [--precision bf16] [--repeat 3]
    python perf/gpu_sharing.py --cpu      # a tiny learner: shows that it works, nothing else

Every process is `poshgrid train` on made-up words, with the learner and the regimen of
config/config.yaml, another seed, and its share of the GPU's memory. Speed is what the run itself
books: predicted tokens per second between its first step and its last, without loading, compiling
or writing; the slowest starter would otherwise decide. Processes begin together, and one whose
steps overlap those of its neighbours by less than nine tenths is said so: take more --steps.
A model is as many tokens as the regimen's steps predict. Numbers of processes take turns, --repeat
times; the median is shown.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

from poshgrid import config
from poshgrid.config import specs

ROOT = Path(__file__).parent.parent
COMMAND = [sys.executable, "-c", "from poshgrid.cli import main; main()"]
TINY = {"hidden_size": 32, "heads": 2, "layers": 1, "ffn": 64}
WORDS = 1_000_000


def main() -> None:
    """Train side by side, as many at once as asked, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--together", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--learner", default="gpt2-mini", help="of config/config.yaml")
    parser.add_argument("--regimen", default="packed", help="of config/config.yaml")
    parser.add_argument("--precision", choices=["float32", "bf16"], default="bf16")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--cpu", action="store_true", help="without a GPU, a tiny learner")
    given = parser.parse_args()
    if given.cpu:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        device = "CPU: the mechanism alone"
    else:
        import torch

        if not torch.cuda.is_available():
            sys.exit("error: no GPU here; --cpu shows the mechanism with a tiny learner")
        device = torch.cuda.get_device_name()
    learner, regimen, model_tokens = _settings(given)
    found: dict[int, list[float]] = {number: [] for number in given.together}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _corpus(
            folder, vocabulary=300 if given.cpu else 32_768, words=WORDS // (20 if given.cpu else 1)
        )
        for turn in range(given.repeat):
            for number in given.together:
                at = folder / f"{turn}-{number}"
                found[number].append(_speed(folder, at, learner, regimen, number))
    _print(found, f"{given.learner}, {given.regimen}, {regimen.precision}, {device}", model_tokens)


def _settings(given: argparse.Namespace) -> tuple[config.Learner, config.Regimen, int]:
    """Return the learner, its regimen cut to so many steps, and the tokens of a whole model."""
    paper = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
    (regimen,) = (each for each in paper["regimens"] if each["name"] == given.regimen)
    (learner,) = (each for each in paper["learners"] if each["name"] == given.learner)
    whole = config.Regimen(**regimen)
    changes: dict[str, Any] = {
        "steps": given.steps, "epochs": None, "warmup_steps": 1, "patience_steps": None,
        "evaluate_every": given.steps, "checkpoint_every": given.steps, "checkpoints": [],
        "checkpoint_epochs": [], "precision": given.precision,
    }  # fmt: skip
    if given.cpu:
        learner = learner | {"options": TINY}
        changes |= {"context_length": 32, "batch_size": 8, "precision": "float32"}
    steps = whole.steps or given.steps
    cut = config.Regimen(**(regimen | changes))
    return config.Learner(**learner), cut, steps * cut.batch_size * cut.context_length


def _corpus(folder: Path, *, vocabulary: int, words: int) -> None:
    """Write a condition of words drawn by Zipf's law, its tokenizer and its tokens."""
    from ngram_scale import write

    from poshgrid.tokenization import encode, tokenizer

    for split, number in (("train", words), ("dev", words // 50), ("test", words // 50)):
        write(folder / f"{split}.parquet", "zipf", number)
    spec = specs.TokenizerSpec(tokenizer=config.Tokenizer(vocabulary_size=vocabulary))
    tokenizer.train(spec, [folder], folder / "tokenizer")
    encode.encode(folder, folder / "tokenizer", folder / "tokens")


def _speed(
    folder: Path, at: Path, learner: config.Learner, regimen: config.Regimen, number: int
) -> float:
    """Train so many runs side by side; return the tokens per second of all of them."""
    at.mkdir()
    processes = []
    for seed in range(number):
        spec = specs.TrainSpec(learner=learner, regimen=regimen, bias="none", options={}, seed=seed)
        command = [
            *COMMAND, "train", "--spec", specs.canonical(spec), "--tokens", str(folder / "tokens"),
            "--tokenizer", str(folder / "tokenizer"), "--checkpoints", str(at / "checkpoints"),
            "--output", str(at / str(seed)),
        ]  # fmt: skip
        command += ["--together", str(number)] if number > 1 else []
        with (at / f"{seed}.log").open("w", encoding="utf-8") as log:
            processes.append(subprocess.Popen(command, stdout=log, stderr=log))
    ended = [0.0] * number
    while not all(ended):
        for seed, process in enumerate(processes):
            if not ended[seed] and process.poll() is not None:
                ended[seed] = time.time()
        time.sleep(0.05)
    speeds, seconds = [], []
    for seed, process in enumerate(processes):
        if process.returncode:
            sys.exit(f"error: seed {seed} of {number}: {_last(at / f'{seed}.log')}")
        facts = json.loads((at / str(seed) / "statistics.json").read_text(encoding="utf-8"))
        speeds.append(facts["tokens_per_second"])
        seconds.append(facts["tokens"] / facts["tokens_per_second"])
    apart = max(ended) - min(ended)
    if apart > 0.1 * min(seconds):
        sys.stderr.write(
            f"{number} together: ended {apart:.1f} s apart after {min(seconds):.1f} s of steps; "
            "take more --steps\n"
        )
    return sum(speeds)


def _last(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[-1] if lines else "it said nothing"


def _print(found: dict[int, list[float]], title: str, model_tokens: int) -> None:
    alone = statistics.median(found[min(found)])
    print(f"\n{title}; a model of {model_tokens:,} tokens")
    print(
        f"{'together':>8} {'tokens/s':>12} {'models/hour':>12} {'to the first':>13} {'range':>13}"
    )
    for number, speeds in sorted(found.items()):
        middle = statistics.median(speeds)
        spread = f"{min(speeds) / alone:.2f}-{max(speeds) / alone:.2f}"
        hourly = 3_600 * middle / model_tokens
        print(f"{number:8} {middle:12,.0f} {hourly:12.3f} {middle / alone:13.2f} {spread:>13}")


if __name__ == "__main__":
    main()
