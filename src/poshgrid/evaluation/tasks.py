"""Score the items of a suite with a model, one function for each task.

- Minimal pairs: the log-probability of both members, or of their part after a context.
- Paradigms, sets of filler × gap: the log-probability of the critical region, in the context before
  it. The surprisal of a region of several tokens is the sum over them (Pistotti et al., 2025; the
  earlier study, Lan et al., 2024, takes the mean).
- Choices, stimuli with options: the log-probability of the whole text with each option, or of the
  part after a context.
- Completions, beginnings of sentences (Capone et al., 2024): three tokens, by beam search with
  three beams. A completion is right if an accepted continuation is in it, ignoring case: as whole
  words ("were" is not accepted in "weren't"), or anywhere if the suite says so.

Each function takes a suite's name (for error messages), its items (columns of
``benchmark.schema.TASKS``), a model, and the step of the checkpoint (None: the kept model). It
returns scores (columns of ``schema.TASKS``) in the order of the items, and raises PoshgridError if
a text cannot be scored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import Schema
from poshgrid.evaluation import schema
from poshgrid.evaluation.engine import Engine, Request

MEMBERS = ("good", "bad")
TEXTS = {
    "pairs": MEMBERS,
    "paradigms": ("text",),
    "choices": ("text",),
    "completions": ("prompt",),
}
"""Task -> the columns with the texts that a model reads."""
BEAMS = 3
TOKENS_WRITTEN = 3
_WORD_BORDER = r"(?:(?<![\w'’-])|(?![\w'’-]))"


def pairs(suite: str, items: pl.DataFrame, engine: Engine, *, step: int | None) -> pl.DataFrame:
    """Score both members of every pair."""
    requests = [
        _request_after_context(
            pair[f"{member}_context"], pair[member], f"{suite}: item {pair['item_id']} ({member})"
        )
        for pair in items.iter_rows(named=True)
        for member in MEMBERS
    ]
    scores = _scores(engine, requests)
    values = {
        f"{member}_{what}": scores[what][index::2]
        for what in ("logprob", "tokens")
        for index, member in enumerate(MEMBERS)
    }
    return _table(items, schema.SCORES, step, values)


def _request_after_context(context: int | None, text: str, name: str) -> Request:
    """Return the request for the text after a context; without a context, for the whole text."""
    return Request(text, name, (context, len(text)) if context else None)


def _scores(engine: Engine, requests: Sequence[Request]) -> dict[str, list[float] | list[int]]:
    """Return log-probabilities and numbers of tokens: of the region, or of the whole text."""
    scores = [
        (score.region_logprob, score.region_tokens) if request.region else score[:2]
        for request, score in zip(requests, engine.score(requests), strict=True)
    ]
    return {"logprob": [logprob for logprob, _ in scores], "tokens": [n for _, n in scores]}


def _table(
    items: pl.DataFrame, contract: Schema, step: int | None, values: Mapping[str, Any]
) -> pl.DataFrame:
    """Return a table of scores: the new columns, and the columns of the items that it needs."""
    new = [pl.Series(name, column, contract[name]) for name, column in values.items()]
    step_column = pl.lit(step, contract["step"]).alias("step")
    return items.with_columns(step_column, *new).select(list(contract))


def paradigms(suite: str, items: pl.DataFrame, engine: Engine, *, step: int | None) -> pl.DataFrame:
    """Score the critical region of each sentence.

    Raises:
        PoshgridError: a region is empty or does not begin and end at the borders of tokens.
    """
    requests = []
    for item, filler, gap, text, start, end in items.select(
        "item_id", "filler", "gap", "text", "start", "end"
    ).iter_rows():
        name = f"{suite}: item {item} ({'+' if filler else '-'}filler {'+' if gap else '-'}gap)"
        if not text[start:end].strip():
            raise PoshgridError(f"{name}: the critical region of {text!r} is empty; correct it")
        requests.append(Request(text, name, (start, end)))
    return _table(items, schema.PARADIGM_SCORES, step, _scores(engine, requests))


def choices(suite: str, items: pl.DataFrame, engine: Engine, *, step: int | None) -> pl.DataFrame:
    """Score every option."""
    requests = [
        _request_after_context(context, text, f"{suite}: item {item} (option {option})")
        for item, option, context, text in items.select(
            "item_id", "option", "context", "text"
        ).iter_rows()
    ]
    return _table(items, schema.CHOICE_SCORES, step, _scores(engine, requests))


def completions(
    suite: str, items: pl.DataFrame, engine: Engine, *, step: int | None
) -> pl.DataFrame:
    """Complete every prompt and judge the completions.

    Raises:
        PoshgridError: the model cannot generate text, or a prompt is empty or too long for it.
    """
    del suite
    prompts = list(dict.fromkeys(items["prompt"]))
    written = engine.complete(prompts, beams=BEAMS, tokens=TOKENS_WRITTEN)
    known = dict(zip(prompts, written, strict=True))
    rows = items.select("prompt", "accepted", "anywhere").iter_rows()
    values = {
        "completion": [known[prompt] for prompt in items["prompt"]],
        "correct": [accepts(known[prompt], *rule) for prompt, *rule in rows],
    }
    return _table(items, schema.COMPLETION_SCORES, step, values)


def accepts(completion: str, accepted: Sequence[str], anywhere: bool = False) -> bool:
    """Return whether an accepted continuation is in a completion, ignoring case.

    Args:
        completion: the generated text.
        accepted: the continuations.
        anywhere: whether a continuation may be part of a word, not only whole words.
    """
    written, border = completion.strip().casefold(), "" if anywhere else _WORD_BORDER
    answers = filter(None, (answer.strip().casefold() for answer in accepted))
    return any(re.search(border + re.escape(answer) + border, written) for answer in answers)


BY_NAME = {
    "pairs": pairs,
    "paradigms": paradigms,
    "choices": choices,
    "completions": completions,
}
"""Task -> the function that scores its items."""
