"""From next-token scores to log-probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def logprobs(logits: torch.Tensor, rows: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the log-probability of some tokens, float64; the logits are used up.

    Exponentials are summed in float32 after their maximum is taken off; what is near the size of
    the logits is added in float64, so that a sentence's sum does not collect its rounding.

    Args:
        logits: scores of all types in some contexts, (contexts, types).
        rows: context of each token.
        targets: the tokens.
    """
    logits = logits.float()
    chosen = logits[rows, targets].double()
    top = logits.amax(dim=1)
    total = logits.sub_(top[:, None]).exp_().sum(dim=1).double().log() + top.double()
    return chosen - total[rows]
