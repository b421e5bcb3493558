"""Tokens per CPU second of our training step, beside a plain torch loop without any of its care.

    python perf/training_speed.py [--hidden 128 --layers 3 --heads 4 --vocabulary 4096 ...]

The plain loop has the same model and batches, but no micro-batches, seeds, clipping, schedule or
accounting: what it is faster by is the price of ours.
"""

from __future__ import annotations

import argparse
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from poshgrid import config
from poshgrid.models.architectures import gpt2
from poshgrid.tokenization.encode import Tokens
from poshgrid.training import data, loop


def main() -> None:
    """Measure both loops on random tokens."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sizes = {
        "hidden": 128, "layers": 3, "heads": 4, "vocabulary": 4096,
        "context": 64, "batch": 8, "steps": 40, "threads": 1,
    }  # fmt: skip
    for name, default in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--precision", choices=["float32", "bf16"], default="float32")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.use_deterministic_algorithms(True)

    ids = np.random.default_rng(0).integers(2, given.vocabulary, 100_000).astype(np.uint16)
    rows = data.rows(
        "packed",
        Tokens(ids, np.array([0, len(ids) - 1])),
        context_length=given.context,
        batch_size=given.batch,
        padding_id=1,
        seed=1,
    )
    regimen = config.Regimen(
        name="speed",
        context_length=given.context,
        batch_size=given.batch,
        steps=10_000,
        dropout=given.dropout,
        precision=given.precision,
    )

    def model() -> torch.nn.Module:
        return gpt2.build(
            gpt2.Options(hidden_size=given.hidden, layers=given.layers, heads=given.heads),
            vocabulary_size=given.vocabulary,
            context_length=given.context,
            dropout=given.dropout,
            boundary_id=0,
            padding_id=1,
            seed=1,
        )

    ours, at = model(), loop.Progress()
    adam = loop.optimizer(ours, regimen)

    def our_step(_: int) -> None:
        loop._step(ours, adam, rows, 10_000, regimen=regimen, seed=1, biases=[], at=at)

    plain = model()
    plain_adam = torch.optim.AdamW(plain.parameters(), lr=1e-4)

    def plain_step(step: int) -> None:
        batch = rows.batch(step)
        with torch.autocast("cpu", torch.bfloat16, enabled=given.precision == "bf16"):
            logits = plain(input_ids=torch.from_numpy(batch.inputs), use_cache=False).logits
        loss = torch.nn.functional.cross_entropy(
            logits.float().flatten(0, 1), torch.from_numpy(batch.targets).flatten()
        )
        loss.backward()
        plain_adam.step()
        plain_adam.zero_grad()

    print(f"{ours.num_parameters():,} parameters")
    for name, step in (("poshgrid", our_step), ("plain loop", plain_step)):
        for i in range(3):
            step(i)
        started = time.process_time()
        for i in range(given.steps):
            step(i)
        speed = given.steps * given.batch * given.context / (time.process_time() - started)
        print(f"{name:12s} {speed:10,.0f} tokens per CPU second")


if __name__ == "__main__":
    main()
