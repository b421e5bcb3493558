"""minicons as the scorer (Misra 2022): the reference that our engines are compared with.

Sentences are tokenized and log-probabilities summed by our code; minicons computes the
log-probabilities. It reads one sentence at a time, which is slower (docs/benchmark.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from poshgrid.core import logs
from poshgrid.core.errors import PoshgridError
from poshgrid.evaluation.engine import Tokenized
from poshgrid.evaluation.engines.causal import Causal
from poshgrid.evaluation.engines.masked import Masked

if TYPE_CHECKING:
    from transformers import BatchEncoding

    from poshgrid.config import Scoring


class CausalMinicons(Causal):
    """A causal model that minicons' ``IncrementalLMScorer`` scores."""

    def __init__(self, model: Any, tokenizer: Any, scoring: Scoring, *, name: str) -> None:  # noqa: ANN401
        from minicons.scorer import IncrementalLMScorer

        self._scorer = IncrementalLMScorer(model, model.device.type, tokenizer=tokenizer)
        super().__init__(model, tokenizer, scoring, name=name)

    def logprobs(self, sentences: Sequence[list[int]]) -> list[np.ndarray]:
        """Return the log-probability of every token except the first, for each sentence."""
        logprobs = []
        for ids in logs.progress(sentences, "scoring"):
            (scores,) = self._scorer.compute_stats((_encoded(ids), [0]))
            logprobs.append(np.array(scores, float))
        return logprobs


class MaskedMinicons(Masked):
    """A masked model that minicons' ``MaskedLMScorer`` scores (Salazar et al., 2020)."""

    def __init__(self, model: Any, tokenizer: Any, scoring: Scoring, *, name: str) -> None:  # noqa: ANN401
        from minicons.scorer import MaskedLMScorer

        if scoring.masked != "pseudo-log-likelihood":
            raise PoshgridError(
                f"scoring.engine minicons: it has no scoring.masked {scoring.masked}; leave masked "
                "at its default, or set scoring.engine to poshgrid"
            )
        self._scorer = MaskedLMScorer(model, model.device.type, tokenizer=tokenizer)
        super().__init__(model, tokenizer, scoring, name=name)

    def logprobs(self, cuts: Sequence[Tokenized]) -> list[np.ndarray]:
        """Return the log-probability of every own token, for each sentence."""
        logprobs = []
        for cut in logs.progress(cuts, "scoring"):
            copies = list(self._scorer.prepare_text(_encoded(cut.ids)))
            values = np.array(self._scorer.compute_stats(copies)[0], float)
            if len(values) != len(cut.own):
                raise PoshgridError(
                    f"{self.name}: minicons scores {len(values)} tokens of a sentence of "
                    f"{len(cut.own)}, as the tokenizer names no cls and sep token; name them in "
                    "tokenizer_config.json, or set scoring.engine to poshgrid"
                )
            logprobs.append(values)
        return logprobs


def _encoded(ids: Sequence[int]) -> BatchEncoding:
    from transformers import BatchEncoding

    row: torch.Tensor = torch.tensor([list(ids)])
    return BatchEncoding({"input_ids": row, "attention_mask": torch.ones_like(row)})
