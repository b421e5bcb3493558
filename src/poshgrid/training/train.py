"""``poshgrid train``: one run of the grid, from tokens to a Hugging Face folder."""

from __future__ import annotations

import hashlib
import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poshgrid import fingerprint, logs, plugins, specs
from poshgrid.config import Regimen
from poshgrid.errors import PoshgridError
from poshgrid.files import read_json
from poshgrid.tokenization import encode
from poshgrid.tokenization import tokenizer as tokenizers
from poshgrid.training import bias, data, folder, loop, losses, schedule
from poshgrid.training.checkpoint import Checkpoints

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

log = logs.get(__name__)

ARCHITECTURES = "poshgrid.models.architectures"
# What the untrained null is evaluated with; its weights do not depend on it (models.initial).
UNTRAINED = Regimen(name="untrained", steps=0, warmup_steps=0, dropout=0.0, micro_batch_size=8)


def train(
    spec: specs.TrainSpec, tokens: Path, tokenizer: Path, checkpoints: Path, output: Path
) -> dict[str, Any]:
    """Train one model, or only initialise it if the regimen is none.

    Args:
        spec: learner, regimen, bias, seed.
        tokens: folder that :func:`poshgrid.tokenization.encode.encode` wrote.
        tokenizer: the tokenizer's folder; its files are copied into the model's.
        checkpoints: folder of all runs' resumable checkpoints; this run's is removed at the end.
        output: folder of the model; see :mod:`poshgrid.training.folder`.

    Returns:
        The content of ``statistics.json``.

    Raises:
        PoshgridError: the bias cannot be trained, inputs do not fit together, training diverges,
            another job trains the same run, or this one was told to end.
    """
    tokens, tokenizer, output = Path(tokens), Path(tokenizer), Path(output)
    biases = bias.build(spec.bias, spec.options)
    regimen = spec.regimen or UNTRAINED
    facts = _check_inputs(tokens, tokenizer)
    splits = {split: encode.load(tokens, split) for split in ("train", "dev", "test")}
    if spec.regimen:
        where = str(tokens / "train.bin")
        data.check_length(regimen.input, splits["train"], regimen.context_length, where)

    device = _prepare_torch(regimen.threads)
    cutter = tokenizers.load(tokenizer)
    boundary, padding = (
        cutter.token_to_id(token) for token in (tokenizers.BOUNDARY, tokenizers.PADDING)
    )
    rows = {
        split: data.rows(
            regimen.input,
            found,
            context_length=regimen.context_length,
            batch_size=regimen.batch_size,
            padding_id=padding,
            seed=spec.seed,
        )
        for split, found in splits.items()
    }
    total = schedule.total_steps(regimen, rows["train"].steps_per_epoch)
    model = plugins.load(ARCHITECTURES, spec.learner.architecture).build(
        plugins.options(ARCHITECTURES, spec.learner.architecture, spec.learner.options),
        vocabulary_size=facts["vocabulary_size"],
        context_length=regimen.context_length,
        dropout=regimen.dropout,
        boundary_id=boundary,
        padding_id=padding,
        seed=spec.seed,
    )
    model.to(device)
    for part in biases:
        part.prepare(model, spec.seed)
    store = Checkpoints(checkpoints, run_fingerprint(spec, facts, device))
    log.info(
        "%s parameters, %s training tokens, %s steps on %s",
        f"{model.num_parameters():,}",
        f"{facts['train']['tokens']:,}",
        f"{total:,}",
        device,
    )
    with store.locked():
        statistics, evaluations = _train(model, rows, spec, biases, store)
        statistics |= {
            "learner": spec.learner.name,
            "regimen": regimen.name,
            "bias": spec.bias,
            "seed": spec.seed,
            "truncated_sentences": rows["train"].truncated,
            "vocabulary_size": facts["vocabulary_size"],
            "device": device.type,
            "threads": regimen.threads,
        }
        folder.write(
            output,
            model=model,
            tokenizer=tokenizer,
            spec=spec,
            statistics=statistics,
            evaluations=evaluations,
            kept=store.kept(statistics["steps"]),
        )
        store.remove()
    return statistics


def _train(
    model: PreTrainedModel,
    rows: dict[str, data.Rows],
    spec: specs.TrainSpec,
    biases: list[bias.Bias],
    store: Checkpoints,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run the loop, take the test loss of the best weights, and say how it went."""
    regimen = spec.regimen or UNTRAINED
    progress = loop.run(
        model,
        rows["train"],
        rows["dev"],
        regimen=regimen,
        seed=spec.seed,
        biases=biases,
        checkpoints=store,
    )
    at_once, device = loop.rows_at_once(regimen), next(model.parameters()).device
    test_loss = losses.mean(model, rows["test"].in_order(at_once), device, regimen.precision)
    return {
        "parameters": model.num_parameters(),
        "steps": progress.step,
        "best_step": progress.best_step,
        "epochs": round(progress.step / rows["train"].steps_per_epoch, 6),
        "tokens": progress.tokens,
        "tokens_per_second": round(progress.tokens / progress.seconds, 1) if progress.step else 0.0,
        "initial_dev_loss": progress.evaluations[0]["dev_loss"],
        "dev_loss": progress.best_loss,
        "dev_perplexity": _perplexity(progress.best_loss),
        "test_loss": test_loss,
        "test_perplexity": _perplexity(test_loss),
        "stopped": progress.stopped if spec.regimen else UNTRAINED.name,
    }, progress.evaluations


def run_fingerprint(spec: specs.TrainSpec, facts: dict[str, Any], device: torch.device) -> str:
    """Return 16 digits that stand for all that decides a run's weights.

    Args:
        spec: what is asked.
        facts: statistics of the tokens, which hold the digests of ids and tokenizer.
        device: a CPU and a GPU round differently.
    """
    import torch

    parts = [
        specs.canonical(spec),
        json.dumps(facts, sort_keys=True),
        fingerprint.code(__name__, f"{ARCHITECTURES}.{spec.learner.architecture}"),
        str(torch.__version__),
        device.type,
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _check_inputs(tokens: Path, tokenizer: Path) -> dict[str, Any]:
    """Return the tokens' statistics after holding them to the tokenizer."""
    facts = read_json(tokens / "statistics.json")
    size = tokenizers.load(tokenizer).get_vocab_size()
    if facts.get("vocabulary_size") != size or facts.get("tokenizer") != tokenizers.digest(
        tokenizer
    ):
        raise PoshgridError(
            f"{tokens}: encoded with another tokenizer than {tokenizer} (vocabulary of "
            f"{facts.get('vocabulary_size')}, not {size}); run `poshgrid encode` again"
        )
    return facts


def _prepare_torch(threads: int) -> torch.device:
    """Ask torch for the same bits every time, and return the device that training runs on."""
    # cuBLAS reads it when the first matrix is multiplied
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    import torch

    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _perplexity(loss: float) -> float:
    return math.exp(loss) if loss < 700 else math.inf
