"""Perplexity of unfiltered text (FiCT, sections 4 and 5.1).

The dev and test splits of *all* conditions of a corpus lack everything that any of its filters
removes. The unfiltered test text is the test split of the corpus's own sentences.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from poshgrid.config import specs
from poshgrid.core import files, logs
from poshgrid.core.errors import PoshgridError
from poshgrid.corpora.schema import SENTENCES
from poshgrid.evaluation.engine import Request, tokenize
from poshgrid.evaluation.engines import load as engines
from poshgrid.evaluation.engines.causal import Causal
from poshgrid.evidence.schema import CONDITION

log = logs.get(__name__)
_TEXTS = 10_000  # sentences in memory as tokens


def perplexity(
    spec: specs.PerplexitySpec, model: Path, sentences: Path, output: Path
) -> dict[str, Any]:
    """Measure how well a causal model predicts test sentences.

    Each sentence is read by itself, as in training on sentences: the boundary is the context of its
    first token, and the boundary after its last token is predicted, too. A sentence that is longer
    than the model's context is read in windows, each of which begins with the last token of the
    window before, so that all models predict the same text.

    Args:
        spec: device, batch size and threads of the scoring, and the name of the text.
            ``scoring.bos`` is ignored, because the first token is always predicted.
        model: folder of a trained model, with its tokenizer.
        sentences: a corpus's sentences, of which the test split is read, or the test split of a
            condition.
        output: JSON file: tested (name of the text), sentences, words (separated by spaces), tokens
            (predicted, boundaries included), nats, loss (nats per token), perplexity (exp(loss)),
            word_perplexity (exp(nats per word), comparable between tokenizers), windowed (number of
            sentences that are longer than the context). A perplexity that overflows is null.

    Returns:
        The content of the file.

    Raises:
        PoshgridError: the model is masked or an n-gram model, cannot be loaded, or gives scores
            that are not numbers; a table is missing or broken, or has no test sentence.
    """
    texts = _texts(Path(sentences))
    engine = _load(Path(model), spec)
    ends = engine.tokenizer.bos_token_id, engine.tokenizer.eos_token_id
    parts: list[float] = []
    tokens, windowed = 0, 0
    for first in range(0, len(texts), _TEXTS):
        requests = [Request(text, str(sentences)) for text in texts[first : first + _TEXTS]]
        cuts = tokenize(engine.tokenizer, requests, special=False)
        rows = [[ends[0], *piece.ids, ends[1]] for piece in cuts]
        windows = [_windows(row, engine.context) for row in rows]
        pieces = [piece for cut in windows for piece in cut]
        windowed += sum(len(cut) > 1 for cut in windows)
        tokens += sum(len(row) - 1 for row in rows)
        parts += [-math.fsum(piece) for piece in engine.logprobs(pieces)]
    nats = math.fsum(parts)
    if not math.isfinite(nats):
        raise PoshgridError(
            f"{model}: its log-probabilities are not numbers; check that the run's training loss "
            "is finite, then train it again"
        )
    words = sum(len(text.split()) for text in texts)
    facts = {
        "tested": spec.tested,
        "sentences": len(texts),
        "words": words,
        "tokens": tokens,
        "nats": nats,
        "loss": nats / tokens,
        "perplexity": _exp(nats / tokens),
        "word_perplexity": _exp(nats / words),
        "windowed": windowed,
    }
    files.write_json(output, facts)
    log.info("%s: %.4f nats per token over %s sentences", model, nats / tokens, f"{len(texts):,}")
    return facts


def _load(model: Path, spec: specs.PerplexitySpec) -> Causal:
    """Load a causal model with tokens for the beginning and the end of sentences."""
    # Without bos: load checks the start token with rules that do not apply here.
    engine = engines.load(str(model), spec.scoring.model_copy(update={"bos": False}))
    if not isinstance(engine, Causal):
        raise PoshgridError(
            f"{model}: perplexity needs a model that predicts the next token; that of a masked or "
            "an n-gram model is not comparable: leave the run out"
        )
    if engine.tokenizer.bos_token_id is None or engine.tokenizer.eos_token_id is None:
        raise PoshgridError(
            f"{model}: the tokenizer has no bos or no eos token, so that sentences have no "
            "boundaries; name both in tokenizer_config.json"
        )
    return engine


def _texts(path: Path) -> list[str]:
    """Return the test sentences of a corpus's table, or all of a condition's test split."""
    if "split" in files.read_schema(path):
        rows = files.read_table(path, SENTENCES, ["text", "split"], only=("split", "test"))
    else:
        rows = files.read_table(path, CONDITION, ["text"])
    texts = rows["text"].to_list()
    if not any(text and text.split() for text in texts):
        raise PoshgridError(
            f"{path}: no test sentence; give more words (corpora.*.test_words) and make it again"
        )
    return texts


def _windows(row: list[int], context: int | None) -> list[list[int]]:
    """Split a row into windows that predict each of its tokens, except the first, once."""
    if context is None:
        return [row]
    return [row[start : start + context + 1] for start in range(0, len(row) - 1, context)]


def _exp(nats: float) -> float | None:
    try:
        return math.exp(nats)
    except OverflowError:
        return None
