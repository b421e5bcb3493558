"""Masked models: what a sentence is worth to a model that sees both sides of a word.

``pseudo-log-likelihood``: each token is masked in turn and scored in the context of all others; the
sum over the sentence (Salazar et al., 2020, "Masked language model scoring", equation 1).
``holistic``: the whole sentence is shown, and the cross-entropy of each token with itself summed
(Huebner et al., 2021, section 4.2; their code takes the mean, which orders members of equal length
alike). The tokenizer's special tokens stay around the sentence and are neither masked nor scored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from poshgrid import logs
from poshgrid.errors import PoshgridError
from poshgrid.evaluation import cutting
from poshgrid.evaluation.engine import Request, Score, logprobs
from poshgrid.evaluation.engines import probe

if TYPE_CHECKING:
    import torch

    from poshgrid.config import Scoring

PROJECTED = 512  # positions whose scores over the vocabulary are held at a time
WHOLE = 1_024  # tokens of a batch where a model's logits cannot be had for some positions alone
PROBE = 1e-4  # largest difference between two ways to the logits
_HEADS = ("lm_head", "cls", "predictions")  # RoBERTa, BERT, ALBERT and their kin

Copy = tuple[int, list[int], list[int]]
"""A sentence as it is shown: its number, which of its own tokens are scored, which are masked."""


class Masked:
    """A masked language model and its tokenizer, ready to score.

    ``scoring.bos`` says nothing here: the special tokens that the model was trained with always
    stand around the sentence, and every token of the sentence is scored.

    Args:
        model: on its device, in evaluation mode, float32.
        tokenizer: the one that the model was trained with.
        scoring: ``masked``: which score; ``batch_tokens`` bounds a forward pass, padding included;
            ``precision`` bf16: the forward pass in bfloat16, the normalisation in float32.
        name: what an error message calls the model.
    """

    writes = False  # no completions

    def __init__(self, model: Any, tokenizer: Any, scoring: Scoring, *, name: str) -> None:  # noqa: ANN401
        self.model, self.tokenizer, self.name = model, tokenizer, name
        self.batch_tokens, self.holistic = scoring.batch_tokens, scoring.masked == "holistic"
        self.device = model.device.type
        self.passed = 0  # tokens that went through the model, padding included
        self.context = probe.context(model)
        self.mask_id = tokenizer.mask_token_id
        padding = tokenizer.pad_token_id
        padding = model.config.pad_token_id if padding is None else padding
        self.padding_id = 0 if padding is None else padding
        self.bf16 = False
        self.head = self._find_head()
        ids = probe.spread(model, 6)
        self.batching = probe.batching(self._tried, ids, self.context or len(ids) * 4)
        self.bf16, self.passed = scoring.precision == "bf16", 0

    def score(self, requests: Sequence[Request], *, per_token: bool = False) -> list[Score]:
        """Score sentences; see :class:`poshgrid.evaluation.engine.Engine`."""
        cuts = cutting.cut(self.tokenizer, requests, special=True)
        for cut, request in zip(cuts, requests, strict=True):
            if not cut.own:
                raise PoshgridError(
                    f"{request.name}: {request.text!r} has 0 tokens, so that none can be scored"
                )
        cutting.check_lengths(requests, [len(cut.ids) for cut in cuts], self.context, self.name)
        number: dict[tuple[int, ...], int] = {}  # each distinct sentence is shown once
        which = [number.setdefault(tuple(cut.ids), len(number)) for cut in cuts]
        shown = list({tuple(cut.ids): cut for cut in cuts}.values())
        found = self._logprobs(shown)
        return [
            cutting.total(
                request,
                cut.region,
                found[i].tolist(),
                self.tokenizer.convert_ids_to_tokens([cut.ids[k] for k in cut.own])
                if per_token
                else (),
            )
            for request, cut, i in zip(requests, cuts, which, strict=True)
        ]

    def complete(self, prompts: Sequence[str], *, beams: int, tokens: int) -> list[str]:
        """Refuse: a masked model does not continue sentences."""
        raise PoshgridError(
            f"{self.name}: a masked model does not continue sentences; leave it out of suites of "
            "completions"
        )

    def _logprobs(self, cuts: Sequence[cutting.Cut]) -> list[np.ndarray]:
        """Return the log-probability of every own token, for each sentence."""
        found = [np.zeros(len(cut.own)) for cut in cuts]
        for batch in logs.progress(self._batches(cuts), "scoring"):
            self._batch(batch, cuts, found)
        return found

    def _copies(self, cuts: Sequence[cutting.Cut]) -> Iterator[Copy]:
        """Yield what is shown of the sentences, the longest first."""
        for i in sorted(range(len(cuts)), key=lambda i: (-len(cuts[i].ids), i)):
            every = range(len(cuts[i].own))
            if self.holistic:
                yield i, list(every), []
            else:
                yield from ((i, [k], [k]) for k in every)

    def _batches(self, cuts: Sequence[cutting.Cut]) -> Iterator[list[Copy]]:
        bound = self.batch_tokens if self.head else min(self.batch_tokens, WHOLE)
        bound = 1 if self.batching == "one" else bound
        mixed = self.batching == "any"
        for _, group in groupby(self._copies(cuts), lambda copy: mixed or len(cuts[copy[0]].ids)):
            copies = iter(group)
            for first in copies:
                size = max(1, bound // len(cuts[first[0]].ids))
                yield [first, *islice(copies, size - 1)]

    def _tried(self, sentences: Sequence[list[int]]) -> list[np.ndarray]:
        """Return the log-probabilities of the tokens of sentences that are one batch."""
        cuts = [cutting.Cut(ids, list(range(len(ids))), []) for ids in sentences]
        found = [np.zeros(len(ids)) for ids in sentences]
        self._batch(list(self._copies(cuts)), cuts, found)
        return found

    def _batch(
        self, batch: list[Copy], cuts: Sequence[cutting.Cut], found: list[np.ndarray]
    ) -> None:
        import torch

        longest = len(cuts[batch[0][0]].ids)
        self.passed += longest * len(batch)
        ids = torch.full((len(batch), longest), self.padding_id)
        real = torch.zeros(len(batch), longest, dtype=torch.long)
        place: list[tuple[int, int]] = []  # row and position of each scored token
        targets: list[int] = []
        for row, (i, scored, masked) in enumerate(batch):
            cut = cuts[i]
            ids[row, : len(cut.ids)] = torch.tensor(cut.ids)
            real[row, : len(cut.ids)] = 1
            for k in masked:
                ids[row, cut.own[k]] = self.mask_id
            place += [(row, cut.own[k]) for k in scored]
            targets += [cut.ids[cut.own[k]] for k in scored]
        rows, columns = torch.tensor(place).T
        values = []
        with torch.inference_mode(), self._autocast():
            states, head = self._states(ids.to(self.device), real.to(self.device))
            states = states[rows, columns]
            wanted = torch.tensor(targets, device=states.device)
            for part, target in zip(states.split(PROJECTED), wanted.split(PROJECTED), strict=True):
                each = torch.arange(len(part), device=part.device)
                values.append(logprobs(head(part), each, target).cpu().numpy())
        flat = iter(np.concatenate(values))
        for i, scored, _ in batch:
            for k in scored:
                found[i][k] = next(flat)

    def _states(self, ids: torch.Tensor, real: torch.Tensor) -> tuple[torch.Tensor, Any]:
        """Return a state of each token and what makes logits of states."""
        import torch

        if self.head is None:
            return self.model(input_ids=ids, attention_mask=real).logits, torch.nn.Identity()
        found = self.model.base_model(input_ids=ids, attention_mask=real).last_hidden_state
        return found, self.head

    def _autocast(self) -> torch.autocast:
        import torch

        return torch.autocast(self.device, torch.bfloat16, enabled=self.bf16)

    def _find_head(self) -> Any:  # noqa: ANN401 - whatever module makes logits; None: not found
        import torch

        ids = torch.tensor([probe.spread(self.model, 4)], device=self.device)
        given = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        for name in _HEADS:
            head = getattr(self.model, name, None)
            if head is None:
                continue
            try:
                with torch.inference_mode():
                    apart = head(self.model.base_model(**given).last_hidden_state)
                    whole = self.model(**given).logits
            except (AttributeError, TypeError, RuntimeError):
                continue
            if apart.shape == whole.shape and torch.allclose(apart, whole, atol=PROBE, rtol=0):
                return head
        return None
