"""The folder of a trained model: plain Hugging Face, with its log, its card and its statistics.

``config.json``, ``generation_config.json``, ``model.safetensors``, ``tokenizer.json``,
``tokenizer_config.json``, ``training.jsonl``, ``README.md``, ``statistics.json``; where the regimen
lists checkpoints, ``config.json`` and ``model.safetensors`` of each in ``checkpoints/{step}/``.
Times are in the log and the statistics only: the other files are the same bytes for the same run.
"""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poshgrid import specs
from poshgrid.files import atomic_folder, write_json, write_text
from poshgrid.training.schema import TRAINING

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

CHECKPOINTS = "checkpoints"
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")


def write(
    output: Path,
    *,
    model: PreTrainedModel,
    tokenizer: Path,
    spec: specs.TrainSpec,
    statistics: dict[str, Any],
    evaluations: list[dict[str, Any]],
    kept: dict[int, dict[str, Tensor]],
) -> None:
    """Write all files into a temporary folder, then rename each into place.

    Args:
        output: the model's folder.
        model: with its best weights.
        tokenizer: folder whose files are copied.
        spec: what was asked.
        statistics: what came of it.
        evaluations: lines of ``training.jsonl``; see :data:`poshgrid.training.schema.TRAINING`.
        kept: step -> weights by name, for learning curves; they go to ``checkpoints/{step}/``.

    Raises:
        PoshgridError: the folder cannot be written.
    """
    from transformers.utils import logging

    logging.disable_progress_bar()  # "Writing model shards" in every job log
    with atomic_folder(output) as temporary:
        model.save_pretrained(temporary)
        for step, named in kept.items():
            earlier = copy.deepcopy(model)
            earlier.load_state_dict(named, strict=False)  # tied weights appear once
            earlier.save_pretrained(temporary / CHECKPOINTS / str(step))
        for file in TOKENIZER_FILES:
            shutil.copyfile(tokenizer / file, temporary / file)
        lines = [json.dumps({key: line[key] for key in TRAINING}) for line in evaluations]
        write_text(temporary / "training.jsonl", "".join(f"{line}\n" for line in lines))
        write_text(temporary / "README.md", card(spec, statistics, output))
        write_json(temporary / "statistics.json", statistics)
        shutil.rmtree(output / CHECKPOINTS, ignore_errors=True)  # those of an earlier training


def card(spec: specs.TrainSpec, statistics: dict[str, Any], output: Path) -> str:
    """Return the model card: Markdown below a YAML head that Hugging Face reads."""
    regimen = spec.regimen
    how = (
        f"{regimen.input} rows of {regimen.context_length} tokens, batches of "
        f"{regimen.batch_size}, AdamW, learning rate {regimen.learning_rate:g} ({regimen.schedule} "
        f"after {regimen.warmup_steps:,} steps of warm-up), weight decay {regimen.weight_decay:g}, "
        f"dropout {regimen.dropout:g}"
        if regimen
        else "not trained: the initial weights, as a null"
    )
    rows = {
        "Learner": f"{spec.learner.name} ({spec.learner.architecture}, {spec.learner.options})",
        "Parameters": f"{statistics['parameters']:,}",
        "Vocabulary": f"{statistics['vocabulary_size']:,} types, byte-level BPE",
        "Training": how,
        "Inductive bias": spec.bias,
        "Seed": spec.seed,
        "Steps": f"{statistics['steps']:,} (stopped: {statistics['stopped']}); "
        f"weights of step {statistics['best_step']:,}",
        "Epochs": f"{statistics['epochs']:.2f}",
        "Dev loss": f"{statistics['dev_loss']:.4f} nats per token "
        f"(initially {statistics['initial_dev_loss']:.4f})",
        "Test loss": f"{statistics['test_loss']:.4f} nats per token "
        f"(perplexity {statistics['test_perplexity']:.2f})",
    }
    table = "\n".join(f"| {key} | {value} |" for key, value in rows.items())
    title = "/".join(output.parts[-6:])  # the run's name in the grid
    return f"""---
library_name: transformers
pipeline_tag: text-generation
language: en
tags: [poshgrid, poverty-of-the-stimulus, language-acquisition]
---
# {title}

A language model of the poshgrid grid: condition / size / learner / regimen / bias / seed.

| | |
|---|---|
{table}

Every sentence begins and ends with `<|endoftext|>`; score a sentence after that token. The
tokenizer puts a space before the first word, so that it is cut as inside a sentence.

```python
from transformers import AutoModelForCausalLM, AutoTokenizer

model = AutoModelForCausalLM.from_pretrained(folder)
tokenizer = AutoTokenizer.from_pretrained(folder)
```

`training.jsonl` holds the losses, `statistics.json` the numbers above.
"""
