"""From a model of the configuration to its model, its rows and its tokenizer.

What a module of an architecture declares: :mod:`poshgrid.models.architectures`. A model that is
asked for hidden tokens has one embedding more than the tokenizer has types: the mask's.
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
"""Tokens of the longest text that an untrained model can score."""
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")


def build(
    model: Model, vocabulary: Vocabulary, *, context_length: int, dropout: float, seed: int
) -> PreTrainedModel:
    """Build a model with seeded initial weights, in training mode, on the CPU.

    Args:
        model: architecture and dimensions.
        vocabulary: of the tokenizer.
        context_length: the longest input, in tokens.
        dropout: of all layers that have one.
        seed: of the initial weights; the global random state is left alone.
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
        model: whose objective decides what a row asks.
        recipe: input, context, batch size and order.
        tokens: the split.
        vocabulary: of the tokenizer.
        seed: of the order, and of whatever is drawn.

    Raises:
        PoshgridError: the model cannot be trained in this recipe.
    """
    of = objective(model)
    if of == "causal":
        return data.rows(recipe, tokens, vocabulary.padding_id, seed)
    kind = masking.Masked if of == "masked" else masking.Hybrid
    return kind(options(model), recipe, tokens, vocabulary, seed)


def write_tokenizer(model: Model, tokenizer: Path, folder: Path) -> None:
    """Put the tokenizer into a model's folder, with what the model adds to it.

    Args:
        model: whose folder it is.
        tokenizer: folder of the condition's tokenizer.
        folder: of the model.
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
        folder: of the model.
    """
    from poshgrid.models.tokenization.tokenizer import vocabulary

    prepare_torch(threads=1)
    network = build(
        model, vocabulary(tokenizer), context_length=UNTRAINED_CONTEXT, dropout=0.0, seed=seed
    )
    network.save_pretrained(folder)
    write_tokenizer(model, tokenizer, folder)


def prepare_torch(threads: int) -> torch.device:
    """Return the device that training runs on; on a CPU, ask for the same bits every time.

    On a GPU a resumed run has the same rows in the same steps, but not the same last bits: its
    deterministic kernels are much slower.
    """
    import torch

    torch.set_num_threads(threads)
    # Attention to far words is a denormal number under the recency bias, which a processor takes
    # several times as long for. Before the first parallel operation, or its threads keep them.
    torch.set_flush_denormal(True)
    torch.backends.cudnn.allow_tf32 = False  # float32 is float32, in an LSTM as in attention
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.use_deterministic_algorithms(device.type == "cpu")
    # That would fill memory that is written to in any case.
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
    """Return what a model is trained on: ``causal``, ``masked``, or ``hybrid``, which is both."""
    module = plugins.load(plugins.ARCHITECTURES, model.architecture)
    return getattr(module, "OBJECTIVE", "causal")


def masked(model: Model) -> bool:
    """Return whether a model predicts masked tokens and never the next one."""
    return objective(model) == "masked"


def options(model: Model) -> Any:  # noqa: ANN401 - each architecture has its own
    """Return a model's options, defaults filled in."""
    return plugins.options(plugins.ARCHITECTURES, model.architecture, model.options)
