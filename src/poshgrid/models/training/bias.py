"""What an inductive bias may do in training; each bias is one module of ``models.biases``.

A module declares ``Options`` and ``build(options) -> Bias``; ``build`` may be the class itself. It
may also declare:

* ``check(spec)``: raises, before any job runs, if this run cannot have the bias.
* ``ARCHITECTURES = ("gpt2",)``: the architectures that can have the bias; by default all.
* ``TREES = True``: the bias needs the trees of the training sentences. It must have an option
  ``parser``: the workflow then measures the distances in these trees
  (:mod:`poshgrid.models.distances.make`). The bias comes last in a combination.
* ``PRETRAINS = True``: the bias trains the model before step 0. It comes first in a combination.
* ``CONTROLS = "dyck"``: the module is a control: it is like that bias, but without the structure.
  Options that the configuration does not give are taken from that bias.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from poshgrid.config import specs
from poshgrid.config.runs import parts
from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError, invalid

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from transformers import PreTrainedModel

    from poshgrid.config import Recipe
    from poshgrid.models.tokenization.tokenizer import Vocabulary
    from poshgrid.models.training.checkpoint import Checkpoints
    from poshgrid.models.training.data import Batch


@dataclass(frozen=True)
class Setting:
    """The run that a bias is prepared for."""

    spec: specs.TrainSpec
    recipe: Recipe
    tokenizer: Path
    """Folder of the tokenizer."""
    distances: Path | None
    """Folder of the trees' distances; None if no bias of the run needs them."""
    checkpoints: Checkpoints
    """The checkpoints of this run; a bias that trains uses its own part of them."""
    vocabulary: Vocabulary
    device: torch.device


class Bias:
    """A bias that does nothing; a real one overrides what it needs.

    Its effect may depend only on its options, the seed and the step: a job that was killed calls
    :meth:`prepare` again and continues from the step of its last checkpoint.
    """

    def prepare(self, model: PreTrainedModel, setting: Setting) -> PreTrainedModel:
        """Change the initial weights or the model. It is called once, before step 0.

        Returns:
            The model to train, which may be another object, on the same device.

        Raises:
            PoshgridError: this model or recipe cannot have the bias.
        """
        return model

    def at(self, model: PreTrainedModel, epoch: int) -> None:
        """Set the bias of a model to its strength in an epoch, counted from 0.

        It is called before every step, before every dev loss, and before weights of that epoch are
        saved (then with a copy of the model).
        """

    def penalty(self, model: PreTrainedModel, batch: Batch) -> Tensor | None:
        """Return a term to add to the summed NLL (nats) of the last forward pass, or None."""
        return None

    def statistics(self) -> dict[str, Any]:
        """Return the entry of the bias in ``statistics.json``."""
        return {}


def check(spec: specs.TrainSpec) -> None:
    """Raise if a run cannot be trained; called before any job runs.

    Raises:
        PoshgridError: the run's model or recipe cannot have one of its biases, or a bias is
            combined with its control.
    """
    words = parts(spec.bias)
    of: dict[str, str] = {}
    for word in words:
        other = of.setdefault(bias_of_control(word) or word, word)
        if other != word:
            raise PoshgridError(
                f"biases: {spec.bias}: {other} and {word} are a bias and its control, or two "
                "controls of one; train each by itself"
            )
    build(spec.bias, spec.options)
    for word in words:
        module, architecture = plugins.load(plugins.BIASES, word), spec.model.architecture
        known = getattr(module, "ARCHITECTURES", (architecture,))
        if architecture not in known:
            raise PoshgridError(
                f"models: {spec.model.name}: the bias {word} is for {', '.join(known)}, not "
                f"for {architecture!r}; take either out of the experiment"
            )
        if hasattr(module, "check"):
            module.check(spec)


def options(part: str, biases: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the options of a bias. A control inherits the options that its bias has, too.

    Args:
        part: ``dyck``.
        biases: bias -> its options in the configuration.
    """
    model = getattr(plugins.load(plugins.BIASES, part), "Options", plugins.Options)
    shared = biases.get(bias_of_control(part) or part, {})
    return {k: v for k, v in shared.items() if k in model.model_fields} | biases.get(part, {})


def bias_of_control(part: str) -> str | None:
    """Return the bias that a control belongs to; ``None`` if the word names no control."""
    if part not in plugins.names(plugins.BIASES):  # the bias of a released model
        return None
    return getattr(plugins.load(plugins.BIASES, part), "CONTROLS", None)


def is_control(word: str, of: str) -> bool:
    """Return whether a combination is another one with one or more biases replaced by controls.

    Args:
        word: ``flat-brackets+recency``.
        of: ``dyck+recency``.
    """
    mine, others = parts(word), parts(of)
    return (
        word != of
        and len(mine) == len(others)
        and all(
            one == two or bias_of_control(one) == two for one, two in zip(mine, others, strict=True)
        )
    )


def at(biases: Iterable[Bias], model: PreTrainedModel, epoch: int) -> None:
    """Set all biases of a model to their strength in this epoch; see :meth:`Bias.at`."""
    for part in biases:
        part.at(model, epoch)


def build(word: str, options: dict[str, dict[str, Any]]) -> dict[str, Bias]:
    """Return the biases that a word of the grid names, in the order in which they are prepared.

    Biases that pre-train come first, because they change the initial weights. Biases that read
    attention come last, because no later bias may replace it.

    Args:
        word: ``none``, ``dyck``, ``dyck+recency`` ...
        options: the options of each bias.

    Raises:
        PoshgridError: a bias is unknown or has wrong options.
    """
    modules = {part: plugins.load(plugins.BIASES, part) for part in parts(word)}
    biases = {}
    for part, module in sorted(modules.items(), key=lambda item: _rank(item[1])):
        try:
            chosen = plugins.options(plugins.BIASES, part, options.get(part, {}))
        except ValidationError as error:
            wrong = invalid(error, "biases", part)
            raise PoshgridError(f"{wrong}; correct it in the config") from error
        biases[part] = module.build(chosen)
    return biases


def _rank(module: ModuleType) -> int:
    if getattr(module, "PRETRAINS", False):
        return 0
    return 2 if getattr(module, "TREES", False) else 1
