"""Seeds of a cell in one process with their weights stacked, beside the same seeds in turn.

    python perf/stacked_seeds.py [--config config/tiny.yaml --model gpt2-tiny --recipe packed]
                                 [--seeds 3 --steps 40 --vocabulary 700 --rows 16]

The weights of all seeds are stacked (`torch.func.stack_module_state`), and one step of all is one
forward pass under `vmap`, one backward pass, a norm clipped seed by seed, and one step of AdamW.
In turn, each seed takes our own step. Both see the same rows, dropout is off (its draws could not
be the same), and they take turns, a step each, so that whatever else the machine does falls on
both alike. Printed: tokens per second of CPU time (of clock time on a GPU), their ratio, and the
largest difference between the losses of a seed, in nats a token, in all steps.

Stacking would have to be clearly faster to be worth a second training loop.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import torch
from torch.func import functional_call, stack_module_state, vmap

from poshgrid.config import Model, Recipe
from poshgrid.grid import configfile
from poshgrid.grid.grid import Grid
from poshgrid.models.tokenization.tokenizer import Vocabulary
from poshgrid.models.training import attention, builder, data, loop, losses


def main() -> None:
    """Measure, and print a line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", type=Path, default=Path("config/tiny.yaml"))
    parser.add_argument("--model", default="gpt2-tiny")
    parser.add_argument("--recipe", default="packed")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--vocabulary", type=int, default=700)
    parser.add_argument("--rows", type=int, help="of a step; none: the recipe's batch")
    given = parser.parse_args()
    grid = Grid(configfile.load(given.config))
    found = grid.recipes[given.recipe]
    recipe = found.model_copy(update={"dropout": 0.0, "batch_size": given.rows or found.batch_size})
    compare(grid.models[given.model], recipe, given.vocabulary, given.seeds, given.steps)


def compare(of: Model, recipe: Recipe, types: int, seeds: int, steps: int) -> None:
    """Train both ways, and print what was found.

    Args:
        of: whose architecture is GPT-2's.
        recipe: without dropout.
        types: size of the vocabulary.
        seeds: how many models.
        steps: how many steps each takes; the first five are not counted.
    """
    torch.set_num_threads(recipe.threads)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    clock = time.perf_counter if device.type == "cuda" else time.process_time
    rows, length = recipe.batch_size, recipe.context_length
    alone, together = [models(of, recipe, types, seeds, device) for _ in range(2)]
    draw = torch.Generator().manual_seed(0)
    seconds, apart = [0.0, 0.0], 0.0
    with ExitStack() as unmasked:
        for model in (*alone, *together):
            unmasked.enter_context(attention.causal(model))
        in_turn, stacked = turns(alone, recipe), stack(together, recipe)
        for at in range(steps):
            tokens = torch.randint(2, types, (seeds, rows, length + 1), generator=draw)
            found = []
            for way, take in enumerate((in_turn, stacked)):
                began = clock()
                found.append(take(tokens))
                if at >= 5:
                    seconds[way] += clock() - began
            differences = (abs(one - other) for one, other in zip(*found, strict=True))
            apart = max(apart, max(differences) / (rows * length))
    counted = (steps - 5) * seeds * rows * length
    speeds = [counted / each for each in seconds]
    print(
        f"{of.name}, {seeds} seeds, {rows} x {length}, {types:,} types, {device}: in turn "
        f"{speeds[0]:,.0f} tokens/s, stacked {speeds[1]:,.0f}, ratio {speeds[1] / speeds[0]:.2f}; "
        f"losses apart by {apart:.1e} nats a token at most"
    )


def models(
    of: Model, recipe: Recipe, types: int, seeds: int, device: torch.device
) -> list[torch.nn.Module]:
    """Return a model of each seed, in training."""
    made = []
    for seed in range(seeds):
        model = builder.build(
            of, Vocabulary(types, 0, 1), context_length=recipe.context_length, dropout=0.0,
            seed=seed,
        ).to(device)  # type: ignore[arg-type]  # fmt: skip
        model.train()
        made.append(model)
    return made


def turns(found: list[torch.nn.Module], recipe: Recipe) -> Callable[[torch.Tensor], list[float]]:
    """Return a step of all seeds in turn, as :mod:`poshgrid.models.training.loop` does."""
    adams = [loop.build_optimizers(model, recipe)[0] for model in found]

    def take(tokens: torch.Tensor) -> list[float]:
        told = []
        for model, adam, mine in zip(found, adams, tokens.numpy(), strict=True):
            batch = data.Batch(mine[:, :-1], mine[:, 1:])
            loss = losses.summed(model, batch, recipe.precision)
            (loss / batch.tokens).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), loop.MAX_NORM, foreach=True)
            adam.step()
            adam.zero_grad(set_to_none=True)
            told.append(loss.detach())
        return torch.stack(told).tolist()

    return take


class _Summed(torch.nn.Module):
    """A model whose forward pass ends in the summed NLL of its targets."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        hidden = self.model.base_model(inputs, use_cache=False).last_hidden_state
        scores = hidden @ self.model.get_output_embeddings().weight.T
        return torch.nn.functional.cross_entropy(
            scores.flatten(0, 1), targets.flatten(), reduction="sum"
        )


def stack(found: list[torch.nn.Module], recipe: Recipe) -> Callable[[torch.Tensor], list[float]]:
    """Return a step of all seeds at once."""
    whole = [_Summed(model) for model in found]
    weights, buffers = stack_module_state(whole)
    device = found[0].device
    groups = [
        {
            "params": [w for w in weights.values() if w.dim() > 2],
            "weight_decay": recipe.weight_decay,
        },
        {"params": [w for w in weights.values() if w.dim() <= 2], "weight_decay": 0.0},
    ]
    adam = torch.optim.AdamW(groups, lr=recipe.learning_rate, fused=True)

    def one(mine: dict, held: dict, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return functional_call(whole[0], (mine, held), (inputs, targets))

    every = vmap(one)

    def take(tokens: torch.Tensor) -> list[float]:
        tokens = tokens.to(device)
        loss = every(weights, buffers, tokens[..., :-1], tokens[..., 1:])
        (loss.sum() / tokens[0, :, 1:].numel()).backward()
        gradients = [w.grad for w in weights.values() if w.grad is not None]
        norm = sum(g.flatten(1).square().sum(1) for g in gradients).sqrt()
        share = (loop.MAX_NORM / (norm + 1e-6)).clamp(max=1.0)
        for gradient in gradients:
            gradient.mul_(share.view(-1, *[1] * (gradient.dim() - 1)))
        adam.step()
        adam.zero_grad(set_to_none=True)
        return loss.tolist()

    return take


if __name__ == "__main__":
    main()
