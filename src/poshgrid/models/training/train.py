"""Stage ``train``: one run of the grid, from tokens to a Hugging Face folder.

The folder holds ``config.json``, ``model.safetensors``, ``tokenizer.json``,
``tokenizer_config.json``, ``training.jsonl`` and ``statistics.json``. It may also hold:

* ``generation_config.json``, if the model predicts the next token;
* the code of the model, if transformers does not have it;
* ``config.json`` and ``model.safetensors`` of each checkpoint of the recipe, in
  ``checkpoints/{step}/``.

The log, ``training.jsonl`` and ``statistics.json`` contain times or speeds. All other files of the
same run have the same bytes.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import shutil
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from transformers.utils import logging

from poshgrid.config import specs
from poshgrid.config.runs import SPLITS, parts
from poshgrid.core import logs, plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import atomic_folder, read_json, write_json, write_text
from poshgrid.core.fingerprint import code
from poshgrid.core.verification import sha256
from poshgrid.models.distances.folder import DISTANCES, OFFSETS, STATISTICS, WORDS
from poshgrid.models.tokenization import encode
from poshgrid.models.tokenization import tokenizer as tokenizers
from poshgrid.models.training import bias, builder, data, loop, losses
from poshgrid.models.training.checkpoint import Checkpoints
from poshgrid.models.training.progress import Plan
from poshgrid.models.training.schema import TRAINING

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from poshgrid.config import Recipe

log = logs.get(__name__)

CHECKPOINTS = "checkpoints"
LARGEST = 700.0
"""Largest loss, in nats, whose exponential fits into a float."""


def train(
    spec: specs.TrainSpec,
    tokens: Path,
    tokenizer: Path,
    checkpoints: Path,
    output: Path,
    distances: Path | None = None,
) -> dict[str, Any]:
    """Train one model.

    Args:
        spec: model, recipe, bias, seed.
        tokens: folder that :func:`poshgrid.models.tokenization.encode.encode` wrote.
        tokenizer: the tokenizer's folder; its files are copied into the model's.
        checkpoints: folder of this run's resumable checkpoints. They are removed when the model
            is on the disk (:func:`poshgrid.models.training.checkpoint.remove`).
        output: folder of the model.
        distances: folder that :mod:`poshgrid.models.distances.make` wrote, for a bias with trees.

    Returns:
        The content of ``statistics.json``.

    Raises:
        PoshgridError: model or recipe cannot have the bias, inputs do not fit together,
            training diverges, or a signal stopped it.
    """
    bias.check(spec)
    biases = bias.build(spec.bias, spec.options)
    recipe = spec.recipe
    facts = read_json(tokens / "statistics.json")
    if facts.get("tokenizer") != tokenizers.digest(tokenizer):
        raise PoshgridError(
            f"{tokens}: encoded with another tokenizer than {tokenizer}; encode them again"
        )
    trees = {}
    if distances:
        trees = {name: sha256(distances / name) for name in (DISTANCES, WORDS, OFFSETS)}
        if read_json(distances / STATISTICS)["tokens"] != facts["train"]["sha256"]:
            raise PoshgridError(
                f"{distances}: made from other tokens than {tokens}; run "
                "`poshgrid run -R distances`"
            )

    device = builder.prepare_torch(recipe.threads)
    vocabulary = tokenizers.vocabulary(tokenizer)
    rows = {
        split: builder.rows(spec.model, recipe, encode.load(tokens, split), vocabulary, spec.seed)
        for split in SPLITS
    }
    by_words = {}
    if recipe.checkpoints == "babylm":
        by_words = milestone_steps(recipe, rows["train"], facts["train"]["words"])
        recipe = recipe.model_copy(update={"checkpoints": sorted({*by_words.values()})})
    plan = Plan(recipe, rows["train"].steps_per_epoch)
    model = builder.build(
        spec.model,
        vocabulary,
        context_length=max(recipe.context_length, recipe.positions or 0),
        dropout=recipe.dropout,
        seed=spec.seed,
    ).to(device)  # type: ignore[arg-type]  # transformers' wrapper of it asks for self
    store = Checkpoints(checkpoints, fingerprint(spec, facts, trees, device.type))
    setting = bias.Setting(
        spec=spec,
        recipe=recipe,
        tokenizer=tokenizer,
        distances=distances,
        checkpoints=store,
        vocabulary=vocabulary,
        device=device,
    )
    log.info(
        f"{model.num_parameters():,} parameters, {facts['train']['tokens']:,} training tokens, "
        f"{plan.last:,} steps on {device}"
    )

    for part in biases.values():
        model = part.prepare(model, setting)
    statistics, evaluations = _train(model, rows, recipe, spec.seed, biases, store)
    kept = store.kept()
    if by_words:
        statistics["milestones"] = {name: step for name, step in by_words.items() if step in kept}
    statistics |= {
        "model": spec.model.name,
        "recipe": recipe.name,
        "bias": spec.bias,
        "biases": {name: part.statistics() for name, part in biases.items()},
        "seed": spec.seed,
        "steps_per_epoch": rows["train"].steps_per_epoch,
        "copies": rows["train"].copies,
        "truncated_sentences": rows["train"].truncated,
        "vocabulary_size": facts["vocabulary_size"],
        "device": device.type,
        "processor": torch.backends.cpu.get_cpu_capability(),
        "threads": recipe.threads,
    }
    logging.disable_progress_bar()  # "Writing model shards" in every job log
    with atomic_folder(output) as temporary:
        model.save_pretrained(temporary)
        for step, named in kept.items():
            earlier = copy.deepcopy(model)
            earlier.load_state_dict(named, strict=False)  # tied weights appear once
            bias.at(biases.values(), earlier, plan.epoch(step))
            earlier.save_pretrained(temporary / CHECKPOINTS / str(step))
        builder.write_tokenizer(spec.model, tokenizer, temporary)
        lines = [json.dumps({key: line[key] for key in TRAINING}) for line in evaluations]
        write_text(temporary / "training.jsonl", "".join(f"{line}\n" for line in lines))
        write_json(temporary / "statistics.json", statistics)
        shutil.rmtree(output / CHECKPOINTS, ignore_errors=True)  # those of an earlier training
    return statistics


def milestone_steps(recipe: Recipe, rows: data.Rows, words: int) -> dict[str, int]:
    """Return the step after which each milestone of BabyLM is reached.

    Args:
        recipe: says how long training is.
        rows: of the training split.
        words: number of words in the training split.

    Returns:
        Milestone ("1M") -> step, ascending.
    """
    last = Plan(recipe, rows.steps_per_epoch).last
    of_step = words * rows.copies / rows.steps_per_epoch
    return {
        f"{million}M": min(math.ceil(million * 1e6 / of_step), last)
        for million in data.milestones(of_step * last)
    }


def fingerprint(
    spec: specs.TrainSpec, facts: dict[str, Any], trees: dict[str, str], device: str
) -> str:
    """Return a digest, 16 digits, of everything that decides a run's weights.

    Args:
        spec: of the run.
        facts: statistics of the tokens, with the digests of ids and tokenizer.
        trees: digests of the files of distances; empty for a run without trees.
        device: ``cpu`` or ``cuda``; they round differently.
    """
    decisive = {
        "spec": specs.canonical(spec),
        "tokens": facts,
        "distances": trees,
        "code": code(
            __name__,
            plugins.module_name(plugins.ARCHITECTURES, spec.model.architecture),
            *(plugins.module_name(plugins.BIASES, part) for part in parts(spec.bias)),
        ),
        "torch": str(torch.__version__),
        "transformers": metadata.version("transformers"),
        "numpy": metadata.version("numpy"),
        "device": device,
    }
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:16]


def _train(
    model: PreTrainedModel,
    rows: dict[str, data.Rows],
    recipe: Recipe,
    seed: int,
    biases: dict[str, bias.Bias],
    store: Checkpoints,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run the loop and compute the test loss; return statistics and evaluations."""
    progress = loop.run(
        model,
        rows["train"],
        rows["dev"],
        recipe=recipe,
        seed=seed,
        biases=biases.values(),
        checkpoints=store,
    )
    kept = progress.kept(recipe.keep)
    test = rows["test"].in_order(loop.rows_at_once(recipe, model.device.type))
    test_loss = losses.mean(model, test, recipe.precision)
    return {
        "parameters": model.num_parameters(),
        "steps": progress.step,
        "best_step": kept["step"],
        "epochs": round(progress.step / rows["train"].steps_per_epoch, 6),
        "tokens": progress.tokens,
        "tokens_per_second": round(progress.tokens / progress.seconds, 1) if progress.step else 0.0,
        "initial_dev_loss": progress.evaluations[0]["dev_loss"],
        "dev_loss": kept["dev_loss"],
        "dev_perplexity": math.exp(min(kept["dev_loss"], LARGEST)),
        "test_loss": test_loss,
        "test_perplexity": math.exp(min(test_loss, LARGEST)),
        "stopped": progress.stopped,
    }, progress.evaluations
