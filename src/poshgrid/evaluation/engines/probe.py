"""Tests of a model before it scores, because its files and its family may be misleading.

Each test is a few short forward passes, or a check of the files. The reasons: padding changes the
scores of MobileBERT, FNet, Funnel, ConvBERT and YOSO despite the attention mask; an encoder without
a masked model's name is loaded as a causal model; transformers adds a start token that the
vocabulary lacks, with an untrained embedding, and drops layers that the configuration does not
count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from poshgrid.core import logs
from poshgrid.core.errors import PoshgridError

if TYPE_CHECKING:
    import polars as pl
    from tokenizers import Tokenizer

log = logs.get(__name__)
TOLERANCE = 1e-5
"""Nats by which the log-probability of a token may depend on the rest of its batch."""
_ROUNDING = 4  # a difference up to so many times that between sentences of one length is rounding
_FAULT = 1e-3  # nats: a larger difference cannot be rounding in float32
_LONG = 24
UNKNOWN = 0.001
"""Share of a suite's tokens that may be unknown without a warning."""
_HARMLESS = re.compile(r"(attn|attention)\.(masked_)?bias$|inv_freq$|_ids$|pooler")
"""Surplus weights of a body that do not change scores: masks and positions of old files, poolers.
"""


def spread(model: Any, n: int) -> list[int]:  # noqa: ANN401
    """Return n token ids, spread evenly over a model's embeddings."""
    types = model.get_input_embeddings().num_embeddings
    return [(i * types) // (n + 1) for i in range(1, n + 1)]


def context(model: Any) -> int | None:  # noqa: ANN401
    """Return the longest input in tokens; None without a limit.

    RoBERTa and similar families count positions from the padding id plus 1.
    """
    names = ("max_position_embeddings", "n_positions")
    sizes = (getattr(model.config, name, None) for name in names)
    positions = next((size for size in sizes if isinstance(size, int) and size > 0), None)
    padding = getattr(getattr(model.base_model, "embeddings", None), "padding_idx", None)
    return positions if positions is None or padding is None else positions - padding - 1


def sees_later(model: Any) -> bool:  # noqa: ANN401
    """Return whether a later token changes the logits of an earlier position."""
    import torch

    first = spread(model, 8)
    ids = torch.tensor([first, first[:4] + first[:3:-1]], device=model.device)
    with torch.inference_mode():
        one, other = (
            model(input_ids=row[None], attention_mask=torch.ones_like(row[None])).logits[0, :4]
            for row in ids
        )
    # NaN counts as equal here: later stages refuse scores that are not numbers.
    return not torch.allclose(one, other, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)


def batches(
    together: Callable[[Sequence[list[int]]], list[np.ndarray]], ids: Sequence[int], longest: int
) -> bool:
    """Return whether sentences may be scored in one batch without changing each other's scores.

    Two sentences of one length are scored separately, together, and together with a longer one. A
    difference above ``TOLERANCE`` is an effect of padding, unless the sentences of equal length
    differ as much, which is rounding.

    Args:
        together: a function that returns the log-probabilities of sentences, computed in one batch.
        ids: tokens of the vocabulary, at least four.
        longest: the longest input, in tokens.
    """
    long = [ids[i % len(ids)] for i in range(min(_LONG, longest))]
    sentences = [list(ids[:4]), list(ids[3::-1]), long]
    apart = [np.concatenate(together([sentence])) for sentence in sentences]
    equal, padded = together(sentences[:2]), together(sentences)
    rounding = max(np.abs(a - b).max() for a, b in zip(apart[:2], equal, strict=True))
    difference = max(np.abs(a - b).max() for a, b in zip(apart, padded, strict=True))
    return bool(rounding <= _FAULT and difference <= max(TOLERANCE, _ROUNDING * rounding))


def check_weights(name: str, model: Any, missing: Iterable[str], surplus: Iterable[str]) -> None:  # noqa: ANN401
    """Raise if a model's weights do not match its configuration.

    Surplus weights outside the body are heads of other tasks and are accepted.

    Args:
        name: name of the model in messages.
        model: as transformers loaded it.
        missing: names of weights that the file lacks.
        surplus: names of weights in the file that the model does not use.

    Raises:
        PoshgridError: weights are missing, or the body has surplus weights.
    """
    if lacking := sorted(missing):
        raise PoshgridError(
            f"{name}: {len(lacking)} weights are missing, e.g. {lacking[0]}: the file is damaged, "
            "or the model was not made to score sentences; use the file that belongs to config.json"
        )
    prefix = model.base_model_prefix
    parts = {key.split(".")[0] for key in model.base_model.state_dict()} - {"pooler"}
    parts = {prefix} if model.base_model is not model else parts
    body = [key for key in sorted(surplus) if key.split(".")[0] in parts]
    if unused := [key for key in body if not _HARMLESS.search(key)]:
        raise PoshgridError(
            f"{name}: the file has {len(unused)} weights that config.json has no place for, e.g. "
            f"{unused[0]}: part of the network would be missing; use the config.json that belongs "
            "to the weights (number of layers, family)"
        )


def check_start(name: str, tokenizer: Any, saved: Tokenizer | None, model: Any) -> None:  # noqa: ANN401
    """Raise if the model was not trained with the start token of its tokenizer.

    Args:
        name: name of the model in messages.
        tokenizer: as transformers loaded it.
        saved: the tokenizer of ``tokenizer.json``; None for an older format.
        model: its configuration may name a start token, too. An id without an embedding is an
            unused default.

    Raises:
        PoshgridError: there is no start token, it is not in the saved vocabulary, or configuration
            and tokenizer name different ones.
    """
    token, number = tokenizer.bos_token, tokenizer.bos_token_id
    other = model.config.bos_token_id
    rows = model.get_input_embeddings().num_embeddings
    if number is None:
        fault = "the tokenizer has no bos token"
    elif saved is not None and saved.token_to_id(token) is None:
        fault = (
            f"the bos token {token!r} is not in the saved vocabulary: its embedding is untrained"
        )
    elif isinstance(other, int) and other != number and other < rows:
        fault = f"the bos token is {number} ({token!r}) in the tokenizer and {other} in config.json"
    else:
        return
    raise PoshgridError(
        f"{name}: {fault}; score without it (scoring.bos: false; poshgrid judge: --no-bos), or "
        "name the bos token of its training in tokenizer_config.json and config.json"
    )


def check_mask(name: str, tokenizer: Any, saved: Tokenizer | None) -> None:  # noqa: ANN401
    """Raise if a masked model has no mask token, or an untrained one."""
    token = tokenizer.mask_token
    if token is None or (saved is not None and saved.token_to_id(token) is None):
        raise PoshgridError(
            f"{name}: the mask token {token!r} is not in the saved vocabulary; name mask_token in "
            "tokenizer_config.json"
        )


def unknown(
    name: str,
    suite: str,
    items: pl.DataFrame,
    columns: Sequence[str],
    tokenizer: Any,  # noqa: ANN401
) -> float:
    """Return the share of unknown tokens in a suite; warn if it is large.

    Also warn if both members of a pair become the same tokens, which is always a tie.

    Args:
        name: name of the model in warnings.
        suite: the suite's name.
        items: its items.
        columns: the columns that the model reads; two columns are the members of a pair.
        tokenizer: with an unknown token.
    """
    texts = [text for column in columns for text in items[column]]
    rows = tokenizer(texts, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    tokens = sum(map(len, rows))
    unknown_tokens: int = sum(row.count(tokenizer.unk_token_id) for row in rows)
    share = unknown_tokens / max(tokens, 1)
    if share > UNKNOWN:
        log.warning(
            "%s: %.1f%% of the tokens (%s of %s) are unknown to %s",
            suite, 100 * share, f"{unknown_tokens:,}", f"{tokens:,}", name,
        )  # fmt: skip
    half = items.height
    ties = [i for i in range(len(rows) - half) if rows[i] == rows[half + i]]
    if ties := [i for i in ties if texts[i] != texts[half + i]]:
        log.warning(
            "%s: %d of %d pairs are ties, because %s reads both members as the same tokens; "
            "first item %s",
            suite, len(ties), half, name, items["item_id"][ties[0]],
        )  # fmt: skip
    return share
