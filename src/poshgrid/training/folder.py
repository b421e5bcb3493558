"""The folder of a trained model: plain Hugging Face, with its log and its statistics.

``config.json``, ``generation_config.json`` (of learners that predict the next token),
``model.safetensors``, ``tokenizer.json``, ``tokenizer_config.json``, ``training.jsonl``,
``statistics.json``; the code of a model that transformers does not have; where the regimen lists
checkpoints, ``config.json`` and ``model.safetensors`` of each in ``checkpoints/{step}/``.
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
        write_json(temporary / "statistics.json", statistics)
        shutil.rmtree(output / CHECKPOINTS, ignore_errors=True)  # those of an earlier training
