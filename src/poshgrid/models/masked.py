"""What a learner of masked tokens may be asked for, and in what regimens.

An architecture whose learner predicts masked tokens takes its ``Options`` from :class:`Masking` and
offers :func:`check`; the rows themselves are :mod:`poshgrid.training.masking`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator

from poshgrid import plugins
from poshgrid.errors import PoshgridError

if TYPE_CHECKING:
    from poshgrid.config import Regimen


class Masking(plugins.Options):
    """What is hidden, and how; base of the ``Options`` of masked learners."""

    mask: float = Field(
        0.15,
        gt=0,
        lt=1,
        description="share of a sentence's tokens that are asked for, at least one",
    )
    random: float = Field(
        0.1, ge=0, le=1, description="share of those that another token stands for"
    )
    unmask: float = Field(0.0, ge=0, le=1, description="share of those that are left as they are")
    unmask_end: float | None = Field(
        None,
        ge=0,
        le=1,
        description=(
            "the same at the last step of the regimen, where `unmask` is that of the first: a "
            "straight line between them; `null`: as at the first"
        ),
    )
    duplicates: int = Field(
        10,
        gt=0,
        le=10_000,
        description=(
            "masked copies of every sentence in an epoch; masks repeat once all different "
            "ones are used"
        ),
    )

    @model_validator(mode="after")
    def _shares(self) -> Self:
        for name in ("unmask", "unmask_end"):
            left = getattr(self, name) or 0.0
            if self.random + left > 1:
                raise ValueError(
                    f"random {self.random:g} and {name} {left:g} add up to more than 1"
                )
        return self


def check(regimen: Regimen) -> None:
    """Hold a regimen to what learners of masked tokens can be trained in.

    Raises:
        PoshgridError: its rows are not sentences, or it asks for padding.
    """
    if regimen.input != "sentence" or regimen.padding_in_loss:
        raise PoshgridError(
            f"regimens: {regimen.name}: a learner of masked tokens reads one sentence in a row and "
            "is asked for words only; set input to sentence and padding_in_loss to false, or give "
            "it another regimen"
        )
