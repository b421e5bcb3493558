"""Predicted tokens per second of our training step, beside those of two other engines.

    python perf/training_speed.py [--precisions float32 bf16] [--threads 1] [--batch 8] [--biases]

The same model, optimiser, batch size, schedule and dropout in three engines: ours; the Trainer of
transformers; and a hand loop in the style of nanoGPT (a batch from a memmap, forward, loss,
backward, clip, step). Text is drawn by Zipf's law; sentences have 3 tokens and a negative binomial
number more, about 9 on average. Padding is never counted. The others get the micro-batches of
`--others` rows, and ours is compared with the best of them; in the sentence recipe the Trainer
groups sentences by length, and a second hand loop takes our micro-batches. `--against CHECKOUT`
compares ours with ours in another checkout instead.

Each engine is a process of its own and they take turns, one step each, so that whatever else the
machine does falls on all alike. A ratio is the median over the rounds of ours to each other's, and
the best of them is shown: of CPU time on a CPU (clock time stands beside it), of clock time on a
GPU. The Trainer needs `accelerate`, which minicons brings.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from poshgrid import config
from poshgrid.config import specs

ROOT = Path(__file__).parent.parent
TYPES, BOUNDARY, PADDING = 32_768, 0, 1


def main() -> None:
    """Measure every recipe and precision, and print a table of each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recipes", nargs="+", default=["packed", "sentence"])
    parser.add_argument("--precisions", nargs="+", default=["float32", "bf16"])
    parser.add_argument("--config", default="config/config.yaml", help="of model and recipes")
    parser.add_argument("--model", default="gpt2-mini", help="of that configuration")
    parser.add_argument("--batch", type=int, help="rows of a step; none: the recipe's")
    parser.add_argument("--others", type=int, nargs="+", help="rows at once; none: as many as ours")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5, help="after one that is not counted")
    parser.add_argument("--compile", choices=["auto", "on", "off"], default="auto")
    parser.add_argument("--biases", action="store_true", help="ours with each bias, beside without")
    parser.add_argument("--against", type=Path, help="a checkout; the other engines are left out")
    parser.add_argument("--engine", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.engine:
        _ENGINES[re.split("[:+@]", given.engine)[0]](given)
        return
    for recipe in given.recipes:
        for precision in given.precisions:
            _table(given, recipe, precision)


# ---- taking turns ------------------------------------------------------------


def _table(given: argparse.Namespace, name: str, precision: str) -> None:
    """Let the engines take turns and print what came of it."""
    recipe = _recipe(given, name, precision)
    sizes = given.others or [_at_once(recipe)]
    names = ["poshgrid", *(f"{kind}:{rows}" for rows in sizes for kind in ("trainer", "hand"))]
    if name == "sentence":
        names += [f"sorted:{rows}" for rows in sizes]
    if given.biases:
        names.append("poshgrid+recency")
        names += ["poshgrid+tree-planting"] if recipe.input == "sentence" else []
    if given.against:
        names = ["poshgrid", f"poshgrid@{given.against}"]
    command = [sys.executable, __file__, "--recipes", name, "--precisions", precision]
    for key in ("config", "model", "batch", "threads", "compile"):
        command += [f"--{key}", str(getattr(given, key))] if getattr(given, key) else []
    # A thread that waits for another one by spinning would be counted as CPU time.
    waiting = {"OMP_NUM_THREADS": str(given.threads), "OMP_WAIT_POLICY": "PASSIVE"}
    environment = os.environ | waiting
    engines = {
        each: subprocess.Popen(
            [*command, "--engine", each],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment | ({"PYTHONPATH": f"{given.against}/src"} if "@" in each else {}),
        )
        for each in names
    }  # fmt: skip
    found: dict[str, list[dict[str, float]]] = {each: [] for each in names}
    for turn in range(given.rounds + 1):
        first = turn % len(names)  # who comes after whom changes from round to round
        for each in names[first:] + names[:first]:
            process = engines[each]
            process.stdin.write("go\n")
            process.stdin.flush()
            line = process.stdout.readline()
            if not line:
                sys.exit(f"{each}: ended with status {process.wait()}")
            if turn:
                found[each].append(json.loads(line))
    for process in engines.values():
        process.kill()
        process.wait()
    _print(found, f"{name}, {precision}, {recipe.batch_size} rows a step, {given.threads} threads")


def _print(found: dict[str, list[dict[str, float]]], title: str) -> None:
    clock = "seconds" if found["poshgrid"][0]["gpu"] else "cpu"

    def speeds(name: str, clock: str) -> list[float]:
        return [turn["tokens"] / turn[clock] for turn in found[name]]

    def ratio(name: str, other: str) -> float:
        pairs = zip(speeds(name, clock), speeds(other, clock), strict=True)
        return statistics.median(one / two for one, two in pairs)

    print(f"\n{title}")
    print(f"{'engine':20} {'tokens/s':>10} {'per CPU s':>10} {'ours/it':>8} {'MB':>7}")
    for name, turns in found.items():
        print(
            f"{name:20} {statistics.median(speeds(name, 'seconds')):10,.0f} "
            f"{statistics.median(speeds(name, 'cpu')):10,.0f} {ratio('poshgrid', name):8.2f} "
            f"{turns[-1]['memory']:7,.0f}"
        )
    others = [name for name in found if not name.startswith("poshgrid") or "@" in name]
    best = min(ratio("poshgrid", name) for name in others)
    print(f"ours to the best other, by {'clock' if clock == 'seconds' else 'CPU'} time: {best:.2f}")
    sys.stdout.flush()


class _Turns:
    """The child's side: waits for its turn, measures its step, tells it."""

    def __init__(self) -> None:
        import torch

        self._gpu = torch.cuda.is_available()
        self._told = os.fdopen(os.dup(1), "w")  # whatever else is printed does not disturb
        os.dup2(2, 1)
        self._wait()

    def done(self, tokens: int) -> None:
        """Tell of a step that predicted so many tokens, and wait for the next turn."""
        import torch

        if self._gpu:
            torch.cuda.synchronize()
            memory = torch.cuda.max_memory_allocated() / 2**20
        else:
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        seconds, cpu = time.perf_counter() - self._began, time.process_time() - self._began_cpu
        line = {"tokens": tokens, "seconds": seconds, "cpu": cpu, "memory": memory,
                "gpu": self._gpu}  # fmt: skip
        print(json.dumps(line), file=self._told, flush=True)
        self._wait()

    def _wait(self) -> None:
        if not sys.stdin.readline():
            sys.exit()
        self._began, self._began_cpu = time.perf_counter(), time.process_time()


# ---- what all engines share ------------------------------------------------------------


def _recipe(given: argparse.Namespace, name: str, precision: str) -> config.Recipe:
    """Return the configuration's recipe with what the command line changes."""
    found = _section(given, "recipes", name)
    changes = {"precision": precision, "threads": given.threads, "compile": given.compile}
    changes |= {"batch_size": given.batch} if given.batch else {}
    # Long enough that no schedule ends while it is measured
    fixed = {"steps": 100_000, "epochs": None, "checkpoints": []}
    return config.Recipe(**(found | changes | fixed))


def _learner(given: argparse.Namespace) -> config.Model:
    return config.Model(**_section(given, "models", given.model))


def _section(given: argparse.Namespace, key: str, name: str) -> dict[str, Any]:
    sections = yaml.safe_load((ROOT / given.config).read_text(encoding="utf-8"))[key]
    return next(section for section in sections if section["name"] == name)


def _at_once(recipe: config.Recipe) -> int:
    from poshgrid.models.training import loop

    return loop.rows_at_once(recipe, _device().type)


def _device() -> Any:  # noqa: ANN401 - torch.device
    import torch

    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _model(given: argparse.Namespace, recipe: config.Recipe) -> Any:  # noqa: ANN401 - a model
    from poshgrid.models.tokenization.tokenizer import Vocabulary
    from poshgrid.models.training import builder

    return builder.build(
        _learner(given),
        Vocabulary(TYPES, BOUNDARY, PADDING),
        context_length=recipe.context_length,
        dropout=recipe.dropout,
        seed=1,
    ).to(_device())


def _text(sentences: int = 120_000) -> tuple[np.ndarray, np.ndarray]:
    """Return ids of sentences with both boundaries, and where each sentence begins."""
    random = np.random.default_rng(0)
    inside = 3 + random.negative_binomial(2, 0.25, sentences)
    offsets = np.concatenate([[0], np.cumsum(inside + 1)])
    shares = np.cumsum(1 / np.arange(2, TYPES))
    draws = random.random(int(offsets[-1]) + 1) * shares[-1]
    ids = (2 + np.searchsorted(shares, draws)).clip(max=TYPES - 1).astype(np.uint16)
    ids[offsets] = BOUNDARY
    return ids, offsets


def _distances(folder: Path) -> Path:
    """Write distances of every sentence, drawn at random: each token is a word."""
    from poshgrid.models.distances import folder as files
    from poshgrid.models.tokenization.tokenizer import digest

    (folder / "tokenizer.json").write_text("{}")
    ids, offsets = _text()
    words = np.diff(offsets)  # of a sentence, with the boundary after it
    starts = np.concatenate([[0], np.cumsum(words * (words + 1) // 2)])
    drawn = np.random.default_rng(1).integers(1, 8, starts[-1], dtype=np.uint8)
    drawn.tofile(folder / files.DISTANCES)
    np.ones(len(ids), np.uint8).tofile(folder / files.WORDS)
    np.save(folder / files.OFFSETS, np.stack([offsets, starts], 1))
    told = {"sentences": len(words), "tokenizer": digest(folder)}
    (folder / files.STATISTICS).write_text(json.dumps(told))
    return folder


# ---- the engines ------------------------------------------------------------


def _ours(given: argparse.Namespace) -> None:
    from poshgrid.models.tokenization.encode import Tokens
    from poshgrid.models.tokenization.tokenizer import Vocabulary
    from poshgrid.models.training import bias, builder, loop
    from poshgrid.models.training.checkpoint import Checkpoints
    from poshgrid.models.training.progress import Plan

    recipe = _recipe(given, given.recipes[0], given.precisions[0])
    device, model = builder.prepare_torch(recipe.threads), _model(given, recipe)
    word = given.engine.partition("+")[2] or "none"
    biases, folder = bias.build(word, {}), Path(tempfile.mkdtemp())
    setting = bias.Setting(
        spec=specs.TrainSpec(
            model=_learner(given), recipe=recipe, bias=word, options={}, seed=1
        ),
        recipe=recipe, tokenizer=folder, distances=_distances(folder),
        checkpoints=Checkpoints(Path(), "none"), device=device,
        vocabulary=Vocabulary(TYPES, BOUNDARY, PADDING),
    )  # fmt: skip
    for part in biases.values():
        model = part.prepare(model, setting)
    rows = builder.rows(
        _learner(given), recipe, Tokens(*_text()), Vocabulary(TYPES, BOUNDARY, PADDING), seed=1
    )
    plan, optimizers = Plan(recipe, rows.steps_per_epoch), loop.build_optimizers(model, recipe)
    turns = _Turns()
    with loop.training(model, recipe):
        for number in range(plan.total):
            tokens, *_ = loop.training_step(
                model, optimizers, rows, plan, number,
                seed=1, biases=list(biases.values()),
            )  # fmt: skip
            turns.done(tokens)


def _hand(given: argparse.Namespace) -> None:
    """A loop as one writes it on an afternoon; ``sorted``: with our batches."""
    import torch

    from poshgrid.models.tokenization.encode import Tokens
    from poshgrid.models.training import data, loop

    recipe = _recipe(given, given.recipes[0], given.precisions[0])
    kind, _, at_once = given.engine.partition(":")
    torch.manual_seed(1)
    torch.set_num_threads(recipe.threads)
    device, model = _device(), _model(given, recipe)
    if recipe.compile == "on" or (recipe.compile == "auto" and device.type == "cuda"):
        model = torch.compile(model)
    adam = torch.optim.AdamW(
        model.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay,
        fused=device.type == "cuda",
    )  # fmt: skip
    rate = torch.optim.lr_scheduler.LinearLR(adam, 1.0, 0.0, total_iters=100_000)
    ids, offsets = _text()
    ours = data.rows(recipe, Tokens(ids, offsets), padding_id=PADDING, seed=1)
    micro = _drawn(ids, offsets, recipe, int(at_once))

    def parts(step: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        if kind == "sorted":
            most = int(at_once) * recipe.context_length, loop.PADDING_AT_ONCE[device.type]
            yield from ((x.inputs, x.targets) for x in ours.batch(step).split(*most))
        else:
            for _ in range(-(-recipe.batch_size // int(at_once))):
                yield micro()

    turns = _Turns()
    for step in range(100_000):
        tokens, found = 0, list(parts(step))
        for inputs, targets in found:
            x, y = (torch.from_numpy(each).to(device) for each in (inputs, targets))
            with torch.autocast(device.type, torch.bfloat16, enabled=recipe.precision == "bf16"):
                logits = model(input_ids=x, use_cache=False).logits
                loss = torch.nn.functional.cross_entropy(
                    logits.view(-1, logits.size(-1)), y.view(-1), ignore_index=-100
                )
            (loss / len(found)).backward()
            tokens += int((targets != -100).sum())
        torch.nn.utils.clip_grad_norm_(model.parameters(), loop.MAX_NORM)
        adam.step()
        rate.step()
        adam.zero_grad(set_to_none=True)
        turns.done(tokens)


def _drawn(
    ids: np.ndarray, offsets: np.ndarray, recipe: config.Recipe, rows: int
) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    """Return a function that draws a micro-batch: windows from a memmap, or padded sentences."""
    path = Path(tempfile.mkdtemp()) / "train.bin"
    ids.tofile(path)
    kept = np.memmap(path, np.uint16, "r")
    path.unlink()
    random, length = np.random.default_rng(2), recipe.context_length

    def windows() -> tuple[np.ndarray, np.ndarray]:
        starts = random.integers(len(kept) - length - 1, size=rows)
        cut = np.stack([kept[i : i + length + 1].astype(np.int64) for i in starts])
        return cut[:, :-1].copy(), cut[:, 1:].copy()

    def sentences() -> tuple[np.ndarray, np.ndarray]:
        chosen = random.integers(len(offsets) - 1, size=rows)
        cut = [kept[offsets[i] : offsets[i + 1] + 1][: length + 1] for i in chosen]
        width = max(map(len, cut)) - 1
        inputs, targets = np.full((rows, width), PADDING), np.full((rows, width), -100)
        for row, each in enumerate(cut):
            inputs[row, : len(each) - 1], targets[row, : len(each) - 1] = each[:-1], each[1:]
        return inputs, targets

    return windows if recipe.input == "packed" else sentences


def _trainer(given: argparse.Namespace) -> None:
    import torch
    from transformers import Trainer, TrainerCallback, TrainingArguments

    from poshgrid.models.training import loop

    recipe = _recipe(given, given.recipes[0], given.precisions[0])
    at_once = int(given.engine.partition(":")[2])
    torch.set_num_threads(recipe.threads)
    ids, offsets = _text()
    length, packed = recipe.context_length, recipe.input == "packed"

    class Rows(torch.utils.data.Dataset):
        def __len__(self) -> int:
            return len(ids) // length if packed else len(offsets) - 1

        def __getitem__(self, i: int) -> dict[str, Any]:
            if packed:
                cut = ids[i * length : (i + 1) * length]
            else:
                cut = ids[offsets[i] : offsets[i + 1] + 1][:length]
            return {"input_ids": cut.astype(np.int64), "length": len(cut)}

    seen = [0]

    def collate(rows: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        width = max(len(row["input_ids"]) for row in rows)
        inputs = torch.full((len(rows), width), PADDING)
        labels = torch.full((len(rows), width), -100)
        for place, row in enumerate(rows):
            cut = torch.from_numpy(row["input_ids"])
            inputs[place, : len(cut)] = labels[place, : len(cut)] = cut
        seen[0] += int((labels[:, 1:] != -100).sum())  # the labels are shifted by the model
        mask = {} if packed else {"attention_mask": (labels != -100).long()}
        return {"input_ids": inputs, "labels": labels, **mask}

    class Told(TrainerCallback):
        def on_train_begin(self, *_: object, **__: object) -> None:
            self.turns = _Turns()

        def on_step_end(self, *_: object, **__: object) -> None:
            tokens, seen[0] = seen[0], 0
            self.turns.done(tokens)

    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        per_device_train_batch_size=at_once,
        gradient_accumulation_steps=-(-recipe.batch_size // at_once),
        max_steps=100_000,
        learning_rate=recipe.learning_rate,
        weight_decay=recipe.weight_decay,
        max_grad_norm=loop.MAX_NORM,
        lr_scheduler_type="linear",
        bf16=recipe.precision == "bf16",
        use_cpu=not torch.cuda.is_available(),
        train_sampling_strategy="random" if packed else "group_by_length",
        length_column_name="length",
        remove_unused_columns=False,
        logging_strategy="no",
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        seed=1,
        torch_compile=recipe.compile == "on"
        or (recipe.compile == "auto" and torch.cuda.is_available()),
    )
    Trainer(
        _model(given, recipe), arguments, train_dataset=Rows(), data_collator=collate,
        callbacks=[Told()],
    ).train()  # fmt: skip


_ENGINES = {"poshgrid": _ours, "trainer": _trainer, "hand": _hand, "sorted": _hand}

if __name__ == "__main__":
    main()
