"""The folder of a trained model: plain Hugging Face, with its log, its card and its statistics.

``config.json``, ``generation_config.json`` (of learners that predict the next token),
``model.safetensors``, ``tokenizer.json``, ``tokenizer_config.json``, ``training.jsonl``,
``README.md``, ``statistics.json``; the code of a model that transformers does not have; where the
regimen lists checkpoints, ``config.json`` and ``model.safetensors`` of each in
``checkpoints/{step}/``.
Times are in the log and the statistics only: the other files are the same bytes for the same run.
"""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poshgrid.config import specs
from poshgrid.files import atomic_folder, write_json, write_text
from poshgrid.training import learner
from poshgrid.training.schema import TRAINING

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

CHECKPOINTS = "checkpoints"
SHOWN = ("parameters", "vocabulary_size", "steps", "best_step", "dev_loss", "test_loss")
"""Of the statistics, in the model card."""
CARD = """---
library_name: transformers
pipeline_tag: {pipeline}
language: en
tags: [poshgrid, poverty-of-the-stimulus, language-acquisition]
---
# {name}

A language model of the poshgrid grid: condition / size / learner / regimen / bias / seed. Losses
are nats per token; `statistics.json` and `training.jsonl` hold more.

| | |
|---|---|
{table}

Every sentence begins and ends with `<|endoftext|>`. The tokenizer puts a space before the first
word, so that it is cut as inside a sentence.

```python
from transformers import {family}, AutoTokenizer

model = {family}.from_pretrained(folder{remote})
tokenizer = AutoTokenizer.from_pretrained(folder)
```
"""


def write(
    output: Path,
    *,
    model: PreTrainedModel,
    tokenizer: Path,
    spec: specs.TrainSpec,
    statistics: dict[str, Any],
    evaluations: list[dict[str, Any]],
    kept: dict[int, dict[str, Tensor]],
    at: Callable[[PreTrainedModel, int], None],
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
        at: gives a model the bias that it has after so many steps.

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
            at(earlier, step)
            earlier.save_pretrained(temporary / CHECKPOINTS / str(step))
        learner.write_tokenizer(spec.learner, tokenizer, temporary)
        lines = [json.dumps({key: line[key] for key in TRAINING}) for line in evaluations]
        write_text(temporary / "training.jsonl", "".join(f"{line}\n" for line in lines))
        own_code = any(temporary.glob("*.py"))
        write_text(temporary / "README.md", card(spec, statistics, output, own_code=own_code))
        write_json(temporary / "statistics.json", statistics)
        shutil.rmtree(output / CHECKPOINTS, ignore_errors=True)  # those of an earlier training


def card(
    spec: specs.TrainSpec, statistics: dict[str, Any], output: Path, *, own_code: bool = False
) -> str:
    """Return the model card: Markdown below a YAML head that Hugging Face reads.

    Args:
        spec: what was asked.
        statistics: what came of it.
        output: the model's folder.
        own_code: the folder holds the code of its model, which transformers does not have.
    """
    masked = learner.masked(spec.learner)
    rows = {"Learner": f"{spec.learner.architecture} {spec.learner.options}"}
    rows |= {key: statistics[key] for key in SHOWN}
    return CARD.format(
        name="/".join(output.parts[-6:]),
        pipeline="fill-mask" if masked else "text-generation",
        family="AutoModelForMaskedLM" if masked else "AutoModelForCausalLM",
        remote=", trust_remote_code=True" if own_code else "",
        table="\n".join(f"| {key} | {value} |" for key, value in rows.items()),
    )
