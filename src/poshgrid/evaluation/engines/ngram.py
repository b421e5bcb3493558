"""N-gram models: the baselines that know only word sequences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from poshgrid.core.errors import PoshgridError
from poshgrid.corpora.words import spans
from poshgrid.evaluation import engine
from poshgrid.evaluation.engine import Request, Score, in_region

if TYPE_CHECKING:
    from poshgrid.models.ngram import NGram


class Engine(engine.Engine):
    """Scores sentences with an n-gram model; see :class:`poshgrid.evaluation.engine.Engine`.

    Tokens are words, case-folded. Every word is scored, and the end of the sentence, ``</s>``. The
    first context is always ``<s>``; ``scoring.bos`` is ignored. It runs on the CPU, in double
    precision.

    Args:
        model: the n-gram model.
    """

    device = "cpu"
    writes = False  # no completions

    def __init__(self, model: NGram) -> None:
        self.model = model

    def score(self, requests: Sequence[Request]) -> list[Score]:
        """Score sentences, in the same order.

        Args:
            requests: sentences.

        Raises:
            PoshgridError: a sentence has no word, or a region does not begin and end at the borders
                of words.
        """
        cut = [spans(request.text) for request in requests]
        for request, words in zip(requests, cut, strict=True):
            if not words:
                raise PoshgridError(
                    f"{request.name}: {request.text!r} has no word to score; leave the item out"
                )
        values = self.model.each([[span.word for span in words] for words in cut])
        scores = []
        for request, words, row in zip(requests, cut, values, strict=True):
            inside = in_region([(span.start, span.end) for span in words], request)
            inner = [row[k] for k in inside]
            scores.append(Score(math.fsum(row), len(row), math.fsum(inner), len(inner)))
        return scores
