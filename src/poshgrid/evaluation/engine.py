"""The interface of engines that score sentences: requests and scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from poshgrid.core.errors import PoshgridError


class Request(NamedTuple):
    """A sentence to score."""

    text: str
    name: str  # its name in error messages, e.g. "posh: item island-wh-0001 (good)"
    region: tuple[int, int] | None = None  # [start, end) in characters, which gets its own score


class Score(NamedTuple):
    """The log-probability of a sentence, and of its region."""

    logprob: float  # sum over the scored tokens, nats
    tokens: int  # number of scored tokens
    region_logprob: float = 0.0  # sum over the tokens of the region, nats
    region_tokens: int = 0


class Engine(Protocol):
    """A model that scores sentences; the modules of ``poshgrid.evaluation.engines`` have them."""

    device: str
    writes: bool  # whether it can generate text

    def score(self, requests: Sequence[Request]) -> list[Score]:
        """Score sentences, in their order.

        Args:
            requests: sentences, without ``<bos>``.

        Raises:
            PoshgridError: a sentence has no token to score or is longer than the model's context,
                or a region does not begin and end at the borders of tokens.
        """
        ...

    def complete(self, prompts: Sequence[str], *, beams: int, tokens: int) -> list[str]:
        """Continue sentences by beam search. Callers check ``writes`` first.

        Args:
            prompts: beginnings of sentences.
            beams: number of hypotheses at each step.
            tokens: number of new tokens in each continuation.

        Raises:
            PoshgridError: this kind of model cannot generate text.
        """
        raise PoshgridError("this model does not continue sentences; leave completions out")
