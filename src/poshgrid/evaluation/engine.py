"""What every engine of scoring takes and gives: the words of a request and of its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from poshgrid.errors import PoshgridError


class Request(NamedTuple):
    """A sentence to score."""

    text: str
    name: str  # what an error message calls it, e.g. "posh: item island-wh-0001 (good)"
    region: tuple[int, int] | None = None  # [start, end) in characters: score these tokens apart


class Score(NamedTuple):
    """What a sentence is worth."""

    logprob: float  # sum over the scored tokens, nats
    tokens: int  # scored tokens
    region_logprob: float = 0.0  # the same over the tokens of the region
    region_tokens: int = 0


class Engine(Protocol):
    """A model that scores sentences; a module of ``poshgrid.evaluation.engines`` makes it."""

    device: str
    writes: bool  # whether it can complete sentences

    def score(self, requests: Sequence[Request]) -> list[Score]:
        """Score sentences, in their order.

        Args:
            requests: sentences, without ``<bos>``.

        Raises:
            PoshgridError: a sentence has no token to score or does not fit the model's context, or
                a region does not begin and end where tokens do.
        """
        ...

    def complete(self, prompts: Sequence[str], *, beams: int, tokens: int) -> list[str]:
        """Continue sentences by beam search; who asks a model looks at ``writes`` first.

        Args:
            prompts: beginnings of sentences.
            beams: hypotheses kept at each step.
            tokens: new tokens of each continuation.

        Raises:
            PoshgridError: this kind of model writes nothing.
        """
        raise PoshgridError("this model does not continue sentences; leave completions out")
