"""Make the network, the rows and the tokenizer of a model of the configuration.

:mod:`poshgrid.models.architectures` says what the module of an architecture declares. A masked or
hybrid model has one embedding more than the tokenizer has types: that of the mask.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poshgrid.config import Model, Recipe
from poshgrid.core import plugins
from poshgrid.models.training import data, masking

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

    from poshgrid.models.tokenization.encode import Tokens
    from poshgrid.models.tokenization.tokenizer import Vocabulary

UNTRAINED_CONTEXT = 512
"""Tokens in the longest text that an untrained model can score."""
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")


def build(
    model: Model, vocabulary: Vocabulary, *, context_length: int, dropout: float, seed: int
) -> PreTrainedModel:
    """Build a model with seeded initial weights, in training mode, on the CPU.

    Args:
        model: architecture and dimensions.
        vocabulary: of the tokenizer.
        context_length: the longest input, in tokens.
        dropout: rate, in all layers that have dropout.
        seed: of the initial weights; the global random state does not change.
    """
    module = plugins.load(plugins.ARCHITECTURES, model.architecture)
    return module.build(
        options(model), vocabulary, context_length=context_length, dropout=dropout, seed=seed
    )


def rows(
    model: Model, recipe: Recipe, tokens: Tokens, vocabulary: Vocabulary, seed: int
) -> data.Rows:
    """Cut a split into the rows that a model is trained on.

    Args:
        model: its objective decides which tokens are predicted.
        recipe: input, context, batch size and order.
        tokens: the split.
        vocabulary: of the tokenizer.
        seed: of the order and of the masks.

    Raises:
        PoshgridError: the model cannot be trained in this recipe.
    """
    of = objective(model)
    if of == "causal":
        return data.rows(recipe, tokens, vocabulary.padding_id, seed)
    kind = masking.Masked if of == "masked" else masking.Hybrid
    return kind(options(model), recipe, tokens, vocabulary, seed)


def write_tokenizer(model: Model, tokenizer: Path, folder: Path) -> None:
    """Copy the tokenizer into a model's folder; add the mask if the model needs one.

    Args:
        model: the model of the folder.
        tokenizer: folder of the condition's tokenizer.
        folder: folder of the model.
    """
    for file in TOKENIZER_FILES:
        shutil.copyfile(tokenizer / file, folder / file)
    if objective(model) != "causal":
        masking.add_mask(folder, around=masked(model))


def initialise(model: Model, seed: int, tokenizer: Path, folder: Path) -> None:
    """Write the folder of an untrained model: the initial weights that training starts from.

    Args:
        model: architecture and dimensions.
        seed: of the initial weights.
        tokenizer: folder of the condition's tokenizer.
        folder: folder of the model.
    """
    from poshgrid.models.tokenization.tokenizer import vocabulary

    prepare_torch(threads=1)
    network = build(
        model, vocabulary(tokenizer), context_length=UNTRAINED_CONTEXT, dropout=0.0, seed=seed
    )
    network.save_pretrained(folder)
    write_tokenizer(model, tokenizer, folder)


def prepare_torch(threads: int) -> torch.device:
    """Set up torch for training, and return the device to train on.

    On a CPU a run gives the same bits every time. On a GPU a resumed run has the same rows in the
    same steps, but not the same last bits: the deterministic kernels of GPUs are much slower.
    """
    import torch

    torch.set_num_threads(threads)
    # Under the recency bias, attention to far words is a denormal number; a processor is several
    # times slower with these. Threads that exist already would keep them, so this comes first.
    torch.set_flush_denormal(True)
    torch.backends.cudnn.allow_tf32 = False  # float32 stays float32, in LSTMs too
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.use_deterministic_algorithms(device.type == "cpu")
    # It would fill memory that is overwritten in any case.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]  # hidden by torch
    return device


def check(model: Model, recipe: Recipe) -> None:
    """Raise if a run cannot be trained; called before any job runs.

    Raises:
        PoshgridError: the model cannot be trained in this recipe.
    """
    if objective(model) != "causal":
        masking.check(recipe, hybrid=not masked(model))


def objective(model: Model) -> str:
    """Return what a model learns to predict: ``causal``, ``masked``, or ``hybrid`` (both)."""
    module = plugins.load(plugins.ARCHITECTURES, model.architecture)
    return getattr(module, "OBJECTIVE", "causal")


def masked(model: Model) -> bool:
    """Return whether a model predicts only masked tokens, never the next one."""
    return objective(model) == "masked"


def options(model: Model) -> Any:  # noqa: ANN401 - each architecture has its own
    """Return a model's options, with their defaults."""
    return plugins.options(plugins.ARCHITECTURES, model.architecture, model.options)
