"""What an inductive bias may do to training; each bias is one module of ``training.biases``.

A module declares ``Options`` and ``build(options) -> Bias``. A module without ``build`` is known to
the grid but cannot be trained: asking for it is an error, so that no model is trained without the
bias that its name claims.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from poshgrid import plugins
from poshgrid.errors import PoshgridError

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

    from poshgrid.training.data import Batch

PACKAGE = "poshgrid.training.biases"
NONE = "none"


class Bias:
    """A bias that does nothing; a real one overrides what it needs.

    Whatever it does must be a function of its options, the seed and the step alone: a job that is
    killed and resumed calls :meth:`before_step` again from the step where it resumes.
    """

    def prepare(self, model: PreTrainedModel, seed: int) -> None:
        """Change the initial weights or the model's modules; called once, before step 0."""

    def before_step(self, model: PreTrainedModel, epoch: float) -> None:
        """Change the model before each step; ``epoch`` is the passes made so far."""

    def penalty(self, model: PreTrainedModel, batch: Batch) -> Tensor | None:
        """Return what is added to the batch's summed NLL (nats), after its forward pass."""


def build(word: str, options: dict[str, dict[str, Any]]) -> list[Bias]:
    """Return the biases that a word of the grid names, in its order.

    Args:
        word: ``none``, ``dyck``, ``dyck+recency`` ...
        options: the options of each bias.

    Raises:
        PoshgridError: a bias is unknown, cannot be trained yet, or has wrong options.
    """
    found = []
    for part in word.split("+"):
        if part == NONE:
            continue
        module = plugins.load(PACKAGE, part)
        try:
            given = plugins.options(PACKAGE, part, options.get(part, {}))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(["biases", part, *map(str, first["loc"])])
            raise PoshgridError(f"{place}: {first['msg']}; correct it in the config") from error
        if not hasattr(module, "build"):
            raise PoshgridError(
                f"bias {part!r} is in the grid, but this version of poshgrid cannot train it yet; "
                "leave it out with --config only=bias=none"
            )
        found.append(module.build(given))
    return found
