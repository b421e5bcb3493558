"""What engines are asked and answer: sentences, scores, and the tokens of neural engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

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


# ---- tokens, in the same way for every neural engine --------------------------------------------


class Tokenized(NamedTuple):
    """A tokenized sentence."""

    ids: list[int]
    own: list[int]  # positions in ids of the sentence's own tokens; the others are special
    region: list[int]  # which of the own tokens are in the region


def tokenize(tokenizer: Any, requests: Sequence[Request], *, special: bool) -> list[Tokenized]:  # noqa: ANN401
    """Tokenize sentences.

    The text of a special token is tokenized like any other text, as in training, so that it cannot
    act as a boundary.

    Args:
        tokenizer: of transformers.
        requests: sentences.
        special: whether to add the tokenizer's special tokens, as in its template.

    Raises:
        PoshgridError: a region does not begin and end at the borders of tokens, or a sentence has a
            line break that the tokenizer cannot encode.
    """
    if not requests:
        return []
    if broken := next((request for request in requests if "\n" in request.text), None):
        _check_line_breaks(tokenizer, broken)
    regions = any(request.region for request in requests)
    if regions and not tokenizer.is_fast:
        raise PoshgridError(
            f"{requests[0].name}: {type(tokenizer).__name__} does not say where tokens begin; "
            "put a tokenizer.json into the model's folder"
        )
    encoded = tokenizer(
        [request.text for request in requests],
        add_special_tokens=special,
        split_special_tokens=True,
        return_special_tokens_mask=special,
        return_offsets_mapping=regions,
    )
    cuts: list[Tokenized] = []
    for i, request in enumerate(requests):
        ids = list(encoded["input_ids"][i])
        own = list(range(len(ids)))
        if special:
            own = [k for k in own if not encoded["special_tokens_mask"][i][k]]
        offsets = [encoded["offset_mapping"][i][k] for k in own] if regions else []
        cuts.append(Tokenized(ids, own, in_region(offsets, request)))
    return cuts


def _check_line_breaks(tokenizer: Any, request: Request) -> None:  # noqa: ANN401
    """Raise if the tokenizer turns a sentence's line break into a space or an unknown token."""
    texts = [request.text, request.text.replace("\n", " ")]
    encoded = tokenizer(texts, add_special_tokens=False, split_special_tokens=True)
    broken, spaced = encoded["input_ids"]
    unknown = tokenizer.unk_token_id
    if broken == spaced or broken.count(unknown) > spaced.count(unknown):
        raise PoshgridError(
            f"{request.name}: a line break, which the tokenizer cannot encode; to score a space "
            "instead, give the suite's option `spelling: corpora` (poshgrid judge: --option "
            "spelling=corpora)"
        )


def in_region(offsets: Sequence[tuple[int, int]], request: Request) -> list[int]:
    """Return which tokens are in a request's region; a space before a word belongs to the word.

    Args:
        offsets: of each token: characters [start, end).
        request: the sentence; without a region, or with an empty one, no token is in it.

    Raises:
        PoshgridError: the region does not begin and end at the borders of tokens.
    """
    text, (start, end) = request.text, request.region or (0, 0)
    if start == end:
        return []
    spans = [(a + len(text[a:b]) - len(text[a:b].lstrip()), b) for a, b in offsets]
    for k in reversed(range(len(spans) - 1)):
        if spans[k][0] == spans[k][1]:  # only a space: part of the next word
            spans[k] = spans[k + 1]
    region = text[start:end]
    start += len(region) - len(region.lstrip())
    end -= len(region) - len(region.rstrip())
    inside = [k for k, (a, b) in enumerate(spans) if start <= a < b <= end]
    if not inside or spans[inside[0]][0] != start or max(spans[k][1] for k in inside) != end:
        raise PoshgridError(
            f"{request.name}: the region {region!r} does not begin and end at the borders of "
            f"tokens of {text!r}; let regions begin and end with words"
        )
    return inside


def check_lengths(
    requests: Sequence[Request], lengths: Sequence[int], context: int | None, name: str
) -> None:
    """Raise if a sentence is longer than a model's context.

    Args:
        requests: sentences.
        lengths: tokens of each sentence, with special tokens.
        context: tokens that the model sees at a time; None: no limit.
        name: name of the model in messages.

    Raises:
        PoshgridError: with the longest sentence and the number of sentences that are too long.
    """
    over = [i for i, length in enumerate(lengths) if context is not None and length > context]
    if over:
        worst = max(over, key=lambda i: lengths[i])
        raise PoshgridError(
            f"{requests[worst].name}: {lengths[worst]} tokens, but {name} sees {context} at a "
            f"time; {len(over):,} of {len(requests):,} sentences are too long, and sentences are "
            "never cut: choose a model that sees more (of a run: set `positions` of its recipe "
            f"to {lengths[worst]}), or leave the items out"
        )


def total(request: Request, region: Sequence[int], logprobs: Sequence[float | None]) -> Score:
    """Sum the log-probabilities of a sentence's own tokens, in double precision.

    Args:
        request: the sentence.
        region: which tokens are in its region.
        logprobs: of each token, nats; None for a token that is only context.

    Raises:
        PoshgridError: the region has a token that is only context.
    """
    scored = [logprob for logprob in logprobs if logprob is not None]
    inside = [logprobs[k] for k in region]
    if None in inside:
        raise PoshgridError(
            f"{request.name}: its region has the first token of {request.text!r}, which is not "
            "scored without <bos>; set scoring.bos to true"
        )
    return Score(
        logprob=sum(scored),
        tokens=len(scored),
        region_logprob=sum(logprob for logprob in inside if logprob is not None),
        region_tokens=len(inside),
    )
