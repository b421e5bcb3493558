"""The base class of causal and masked models: their logits and their batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from poshgrid.evaluation.engine import Engine
from poshgrid.evaluation.engines import probe

if TYPE_CHECKING:
    from poshgrid.config import Scoring

PROJECTED = 512  # positions whose logits are in memory at a time
WHOLE = 1_024  # largest batch in tokens, if a model gives logits for all positions only
PROBE = 1e-4  # largest difference between two ways to compute the same number


class Neural(Engine):
    """A language model and its tokenizer, ready to score.

    Args:
        model: on its device, in evaluation mode, float32.
        tokenizer: the one that the model was trained with.
        scoring: ``batch_tokens`` limits the tokens of a forward pass, padding included; it does not
            change scores.
        name: name of the model in error messages.
    """

    def __init__(self, model: Any, tokenizer: Any, scoring: Scoring, *, name: str) -> None:  # noqa: ANN401
        self.model, self.tokenizer, self.name = model, tokenizer, name
        self.scoring, self.batch_tokens = scoring, scoring.batch_tokens
        self.device = model.device.type
        self.context = probe.context(model)
        self.head = self._find_head(self._heads())
        self.ids = probe.spread(model, 6)
        self.batches = probe.batches(self._in_one_batch, self.ids, self.context or 24)

    def _heads(self) -> Iterable[Any]:
        """Return the modules that may turn the body's last states into logits."""
        raise NotImplementedError

    def _in_one_batch(self, sentences: Sequence[list[int]]) -> list[np.ndarray]:
        """Return the log-probabilities of sentences, computed in one batch."""
        raise NotImplementedError

    @property
    def bound(self) -> int:
        """Largest number of tokens in a batch."""
        if not self.batches:
            return 1
        return self.batch_tokens if self.head is not None else min(self.batch_tokens, WHOLE)

    def project(self, contexts: np.ndarray, targets: np.ndarray, **inputs: Any) -> np.ndarray:  # noqa: ANN401
        """Return the log-probabilities of tokens, float64; each context is projected once.

        Args:
            contexts: position of each token's context among all positions of the batch, row by row.
            targets: the tokens.
            inputs: inputs of the model.
        """
        order = np.argsort(contexts, kind="stable")
        positions, owner = np.unique(contexts[order], return_inverse=True)
        values = np.empty(len(order))
        with torch.inference_mode():
            if self.head is None:
                states, head = self.model(**inputs).logits, torch.nn.Identity()
            else:
                states, head = self.model.base_model(**inputs).last_hidden_state, self.head
            states = states.flatten(0, 1)
            for first in range(0, len(positions), PROJECTED):
                low, high = np.searchsorted(owner, [first, first + PROJECTED])
                chosen = torch.from_numpy(positions[first : first + PROJECTED]).to(states.device)
                rows, wanted = (
                    torch.from_numpy(array).to(states.device)
                    for array in (owner[low:high] - first, targets[order[low:high]])
                )
                values[order[low:high]] = logprobs(head(states[chosen]), rows, wanted).cpu().numpy()
        return values

    def _find_head(self, heads: Iterable[Any]) -> Any:  # noqa: ANN401 - whatever makes logits
        """Return the module that turns the body's states into the model's logits; None without one.

        Most families have one. Some scale or cap their logits; for these all positions are
        projected.
        """
        ids = torch.tensor([probe.spread(self.model, 4)], device=self.device)
        inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        for head in heads:
            try:
                with torch.inference_mode():
                    apart = head(self.model.base_model(**inputs).last_hidden_state)
                    whole = self.model(**inputs).logits
            except (AttributeError, TypeError, RuntimeError):
                continue
            if apart.shape == whole.shape and torch.allclose(apart, whole, atol=PROBE, rtol=0):
                return head
        return None


def logprobs(logits: torch.Tensor, rows: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the log-probability of some tokens, float64; the logits are overwritten.

    Exponentials are summed in float32 after the maximum is subtracted. Numbers of the size of the
    logits are added in float64, so that rounding errors do not add up over a sentence.

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
