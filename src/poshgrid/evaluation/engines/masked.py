"""Masked models: scores of sentences by models that see both sides of a word.

``pseudo-log-likelihood``: each token is masked in turn and scored in the context of all others;
these scores are summed (Salazar et al., 2020, "Masked language model scoring", equation 1).
``holistic``: the whole sentence is shown without masks, and the log-probability of each token at
its own position is summed (Huebner et al., 2021, section 4.2; their code takes the mean, which
gives the same order for members of equal length). The tokenizer's special tokens stay around the
sentence and are neither masked nor scored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from poshgrid.core import logs
from poshgrid.core.errors import PoshgridError
from poshgrid.evaluation.engine import Request, Score, Tokenized, check_lengths, tokenize, total
from poshgrid.evaluation.engines.neural import Neural

if TYPE_CHECKING:
    from poshgrid.config import MaskedScore, Scoring

_HEADS = ("lm_head", "cls", "predictions")  # of RoBERTa, BERT, ALBERT and similar families

Copy = tuple[int, list[int]]
"""One input of the model: number of the sentence, and the tokens that are scored in it."""


class Masked(Neural):
    """A masked language model and its tokenizer, ready to score.

    ``scoring.bos`` is ignored: the special tokens that the model was trained with are always around
    the sentence, and every token of the sentence is scored. ``scoring.masked`` selects the score.
    """

    writes = False  # no completions

    def __init__(self, model: Any, tokenizer: Any, scoring: Scoring, *, name: str) -> None:  # noqa: ANN401
        self.holistic = scoring.masked == "holistic"
        self.mask_id = tokenizer.mask_token_id
        known = (tokenizer.pad_token_id, model.config.pad_token_id, 0)
        self.padding_id = next(number for number in known if number is not None)
        super().__init__(model, tokenizer, scoring, name=name)

    def scoring_by(self, masked: MaskedScore) -> Masked:
        """Return an engine of the same model with another kind of score."""
        scoring = self.scoring.model_copy(update={"masked": masked})
        return type(self)(self.model, self.tokenizer, scoring, name=self.name)

    def score(self, requests: Sequence[Request]) -> list[Score]:
        """Score sentences; see :class:`poshgrid.evaluation.engine.Engine`."""
        cuts = tokenize(self.tokenizer, requests, special=True)
        for cut, request in zip(cuts, requests, strict=True):
            if not cut.own:
                raise PoshgridError(
                    f"{request.name}: {request.text!r} has 0 tokens, so that none can be scored"
                )
        check_lengths(requests, [len(cut.ids) for cut in cuts], self.context, self.name)
        shown = {tuple(cut.ids): cut for cut in cuts}  # score each distinct sentence once
        logprobs = dict(zip(shown, self.logprobs(list(shown.values())), strict=True))
        return [
            total(request, cut.region, logprobs[tuple(cut.ids)].tolist())
            for request, cut in zip(requests, cuts, strict=True)
        ]

    def logprobs(self, cuts: Sequence[Tokenized]) -> list[np.ndarray]:
        """Return the log-probability of every own token, for each sentence."""
        logprobs = [np.zeros(len(cut.own)) for cut in cuts]
        for batch in logs.progress(self._batches(cuts), "scoring"):
            self._batch(batch, cuts, logprobs)
        return logprobs

    def _in_one_batch(self, sentences: Sequence[list[int]]) -> list[np.ndarray]:
        cuts = [Tokenized(ids, list(range(len(ids))), []) for ids in sentences]
        logprobs = [np.zeros(len(ids)) for ids in sentences]
        self._batch(list(self._copies(cuts)), cuts, logprobs)
        return logprobs

    def _copies(self, cuts: Sequence[Tokenized]) -> Iterator[Copy]:
        """Yield the inputs of all sentences, those of the longest sentence first."""
        for i in sorted(range(len(cuts)), key=lambda i: (-len(cuts[i].ids), i)):
            every = range(len(cuts[i].own))
            if self.holistic:
                yield i, list(every)
            else:
                yield from ((i, [k]) for k in every)

    def _batches(self, cuts: Sequence[Tokenized]) -> Iterator[list[Copy]]:
        copies = self._copies(cuts)
        for first in copies:
            size = max(1, self.bound // len(cuts[first[0]].ids))
            yield [first, *islice(copies, size - 1)]

    def _batch(
        self, batch: list[Copy], cuts: Sequence[Tokenized], logprobs: list[np.ndarray]
    ) -> None:
        """Score one batch; write the log-probabilities of its scored tokens into ``logprobs``."""
        longest = len(cuts[batch[0][0]].ids)
        ids = torch.full((len(batch), longest), self.padding_id)
        real = torch.zeros(len(batch), longest, dtype=torch.long)
        positions: list[int] = []  # of each scored token
        targets: list[int] = []
        for row, (i, scored) in enumerate(batch):
            cut, places = cuts[i], [cuts[i].own[k] for k in scored]
            ids[row, : len(cut.ids)] = torch.tensor(cut.ids)
            real[row, : len(cut.ids)] = 1
            if not self.holistic:
                ids[row, places] = self.mask_id
            positions += [row * longest + place for place in places]
            targets += [cut.ids[place] for place in places]
        inputs = {"input_ids": ids.to(self.device), "attention_mask": real.to(self.device)}
        values = iter(self.project(np.array(positions), np.array(targets), **inputs))
        for i, scored in batch:
            for k in scored:
                logprobs[i][k] = next(values)

    def _heads(self) -> Iterator[Any]:
        heads = (getattr(self.model, name, None) for name in _HEADS)
        return (head for head in heads if head is not None)
