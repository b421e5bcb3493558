"""Probes of a model before it scores: what its files and its family promise is tried, not believed.

Each probe is a few short forward passes, or a look at the files. Padding changes the scores of
MobileBERT, FNet, Funnel, ConvBERT and YOSO, whatever their attention mask says; an encoder without
a masked model's name is loaded as if it read from left to right; transformers adds a start token
that the vocabulary lacks, with an untrained embedding, and leaves out layers that the configuration
does not count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from poshgrid import logs
from poshgrid.errors import PoshgridError

if TYPE_CHECKING:
    import polars as pl
    from tokenizers import Tokenizer

log = logs.get(__name__)
TOLERANCE = 1e-5
"""Nats by which the log-probability of a token may depend on the rest of its batch."""
_ROUNDING = 4  # times the difference that sentences of one length make: rounding, not padding
_FAULT = 1e-3  # nats: no rounding in float32
_LONG = 24
UNKNOWN = 0.001
"""Share of a suite's tokens that may be unknown without a warning."""
_HARMLESS = re.compile(r"(attn|attention)\.(masked_)?bias$|inv_freq$|_ids$|pooler")
"""Surplus weights of a body that change no score: masks and positions of old files, poolers."""


def spread(model: Any, n: int) -> list[int]:  # noqa: ANN401
    """Return n token ids, spread evenly over a model's embeddings."""
    types = model.get_input_embeddings().num_embeddings
    return [(i * types) // (n + 1) for i in range(1, n + 1)]


def context(model: Any) -> int | None:  # noqa: ANN401
    """Return the longest input in tokens; ``None`` if any length will do.

    RoBERTa and its relatives count positions from after the padding id.
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
    # Logits that are not numbers say nothing about this; who reads the scores refuses them.
    return not torch.allclose(one, other, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)


def batches(
    together: Callable[[Sequence[list[int]]], list[np.ndarray]], ids: Sequence[int], longest: int
) -> bool:
    """Return whether sentences may go through a model together: none changes another's score.

    Two sentences of one length are scored together and apart, and then with a longer one. A
    difference of more than ``TOLERANCE`` is padding, unless equal lengths differ as much: rounding.

    Args:
        together: returns the log-probabilities of sentences that go through the model in one batch.
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
    """Raise if a model's weights are not those that its configuration describes.

    Weights outside the body are heads of other tasks, and pass.

    Args:
        name: what the message calls the model.
        model: as transformers loaded it.
        missing: names of weights that the file lacks.
        surplus: names of weights in the file that the model has no place for.

    Raises:
        PoshgridError: weights are missing, or the body has surplus ones.
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
    if left := [key for key in body if not _HARMLESS.search(key)]:
        raise PoshgridError(
            f"{name}: the file holds {len(left)} weights that config.json has no place for, e.g. "
            f"{left[0]}: part of the network would not be scored; use the config.json that belongs "
            "to the weights (number of layers, family)"
        )


def check_start(name: str, tokenizer: Any, saved: Tokenizer | None, model: Any) -> None:  # noqa: ANN401
    """Raise if the token before the first word is not the one that the model was trained with.

    Args:
        name: what the message calls the model.
        tokenizer: as transformers loaded it.
        saved: the vocabulary as it was saved; ``None``: it is of an older format.
        model: whose configuration may name a start token, too. An id without an embedding is a
            default that was never used.

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
        "name the one that the model was trained with in tokenizer_config.json and config.json"
    )


def check_mask(name: str, tokenizer: Any, saved: Tokenizer | None) -> None:  # noqa: ANN401
    """Raise if a masked model has no mask token, or one that was never trained."""
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
    """Return the share of a suite's tokens that a model does not know; warn if it is large.

    Args:
        name: what the warning calls the model.
        suite: the suite's name.
        items: its items.
        columns: what the model reads of an item; two columns are the members of a pair, which tie
            if they become the same tokens.
        tokenizer: with an unknown token.
    """
    texts = [text for column in columns for text in items[column]]
    rows = tokenizer(texts, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    tokens = sum(map(len, rows))
    strange: int = sum(row.count(tokenizer.unk_token_id) for row in rows)
    share = strange / max(tokens, 1)
    if share > UNKNOWN:
        log.warning(
            "%s: %.1f%% of the tokens (%s of %s) are unknown to %s",
            suite, 100 * share, f"{strange:,}", f"{tokens:,}", name,
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
