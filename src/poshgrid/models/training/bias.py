"""What an inductive bias may do to training; each bias is one module of ``models.biases``.

A module declares ``Options`` and ``build(options) -> Bias``, which may be the class itself, and
where not every run can have the bias, ``check(spec)``, which says so before any job runs. One that
needs the trees of the training sentences declares ``TREES = True`` and has an option ``parser``:
the workflow then makes their distances (:mod:`poshgrid.models.distances.make`), and it comes last
in a combination. One that trains the model before step 0 declares ``PRETRAINS = True``, and comes
first. One for some architectures declares ``ARCHITECTURES = ("gpt2",)``. A control, which has all
of a bias but the structure, declares whose it is: ``CONTROLS = "dyck"``; where the configuration
says nothing of its options, they are those of its bias.
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
    """Of this run; a bias that trains takes a part of its own."""
    vocabulary: Vocabulary
    device: torch.device


class Bias:
    """A bias that does nothing; a real one overrides what it needs.

    Whatever it does must be a function of its options, the seed and the step alone: a job that is
    killed and resumed calls :meth:`prepare` again, and goes on from the step where it was.
    """

    def prepare(self, model: PreTrainedModel, setting: Setting) -> PreTrainedModel:
        """Change the initial weights or the model; called once, before step 0.

        Returns:
            The model to train, which may be another object, on the same device.

        Raises:
            PoshgridError: this model or recipe cannot have the bias.
        """
        return model

    def at(self, model: PreTrainedModel, epoch: int) -> None:
        """Give a model the bias that it has in an epoch, counted from 0.

        Called before every step, before a dev loss, and before weights of that epoch are written
        (then on a copy of the model).
        """

    def penalty(self, model: PreTrainedModel, batch: Batch) -> Tensor | None:
        """Return what is added to a batch's summed NLL (nats), after its forward pass."""
        return None

    def statistics(self) -> dict[str, Any]:
        """Return what ``statistics.json`` says of the bias, under its name."""
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
    """Return the options of a bias. A control inherits those of its bias that it also has.

    Args:
        part: ``dyck``.
        biases: what the configuration says of each.
    """
    model = getattr(plugins.load(plugins.BIASES, part), "Options", plugins.Options)
    shared = biases.get(bias_of_control(part) or part, {})
    return {k: v for k, v in shared.items() if k in model.model_fields} | biases.get(part, {})


def bias_of_control(part: str) -> str | None:
    """Return the bias that a control controls; ``None`` for a bias that is no control."""
    if part not in plugins.names(plugins.BIASES):  # of a released model
        return None
    return getattr(plugins.load(plugins.BIASES, part), "CONTROLS", None)


def is_control(word: str, of: str) -> bool:
    """Return whether a bias is another one with one or more parts replaced by their controls.

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
    """Give a model all its biases as they are in an epoch; see :meth:`Bias.at`."""
    for part in biases:
        part.at(model, epoch)


def build(word: str, options: dict[str, dict[str, Any]]) -> dict[str, Bias]:
    """Return the biases that a word of the grid names, in the order in which they are prepared.

    What pre-trains comes first, for it makes initial weights; what draws attention to trees last,
    for it finds no other attention after it.

    Args:
        word: ``none``, ``dyck``, ``dyck+recency`` ...
        options: the options of each bias.

    Raises:
        PoshgridError: a bias is unknown or has wrong options.
    """
    modules = {part: plugins.load(plugins.BIASES, part) for part in parts(word)}
    biases = {}
    for part, module in sorted(modules.items(), key=lambda item: _place(item[1])):
        try:
            chosen = plugins.options(plugins.BIASES, part, options.get(part, {}))
        except ValidationError as error:
            wrong = invalid(error, "biases", part)
            raise PoshgridError(f"{wrong}; correct it in the config") from error
        biases[part] = module.build(chosen)
    return biases


def _place(module: ModuleType) -> int:
    return getattr(module, "TREES", False) - getattr(module, "PRETRAINS", False)
