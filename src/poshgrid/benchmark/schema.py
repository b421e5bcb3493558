"""The tables of items of each task (column -> type), and what readers receive and return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from poshgrid.core.files import Schema

if TYPE_CHECKING:
    from poshgrid.benchmark.lexicon import Vocabulary

PAIRS: Schema = {
    "item_id": pl.String,  # unique in its suite, e.g. "principle-a-locality-0001"
    "category": pl.String,  # island, question-formation, binding, wanna
    "phenomenon": pl.String,  # one of the nine subcategories, e.g. "island-adjunct"
    "template": pl.String,  # unique across phenomena, e.g. "island-adjunct-who"
    "lexical_set": pl.String,  # the content words, sorted, joined by "+": clusters of items
    "cell": pl.String,  # of a factorial design, e.g. "gap"; "" in a suite without one
    # whether the pairs of a lexical set and template are judged as one, with their margins added: a
    # difference in differences, which cancels the frequencies of the words in each pair
    "joint": pl.Boolean,
    "contrast": pl.String,  # how the two members differ, e.g. "reflexive-gender"
    "good": pl.String,  # the grammatical sentence
    "bad": pl.String,  # the ungrammatical sentence
    # characters at the beginning that are read and not scored; 0: the whole member is scored
    "good_context": pl.UInt32,
    "bad_context": pl.UInt32,  # the same for the bad sentence
}
"""``benchmark/{suite}/items.parquet`` of minimal pairs. A reader may leave out the columns of
``DESIGN``."""

DESIGN: dict[str, str | bool | int] = {
    "cell": "", "joint": False, "good_context": 0, "bad_context": 0,
}  # fmt: skip
"""Columns that a reader without a factorial design or context may leave out, and their values."""

PARADIGMS: Schema = {
    "item_id": pl.String,  # id of the set of four sentences; each sentence has a row
    "category": pl.String,  # e.g. "parasitic-gap"
    "phenomenon": pl.String,  # e.g. "parasitic-gap-subject"
    "template": pl.String,
    "lexical_set": pl.String,  # the content words, sorted, joined by "+"
    "ambiguous": pl.Boolean,  # "NAME's talking to": a clause as well as a noun phrase
    "filler": pl.Boolean,  # "who" rather than "that"
    "gap": pl.Boolean,  # whether the object is missing
    "text": pl.String,  # the sentence
    "start": pl.UInt32,  # the critical region, [start, end) in characters of text
    "end": pl.UInt32,  # its end
}
"""``benchmark/{suite}/items.parquet`` of paradigms: filler x gap, four rows an item (Lan et al.
2024; Pistotti et al. 2025, Table 1).
"""

CHOICES: Schema = {
    "item_id": pl.String,  # id of the stimulus; each option has a row
    "category": pl.String,  # the task, e.g. "sentence-comprehension"
    "phenomenon": pl.String,  # the structure, e.g. "passive"
    "block": pl.String,  # items that count together as passed or failed; "" without blocks
    "option": pl.UInt32,  # 0, 1, 2 ...
    "correct": pl.Boolean,  # exactly one option of an item
    "text": pl.String,  # stimulus, connective and option, joined
    # characters at the beginning that are read and not scored: then, and where people were asked,
    # the most probable option wins; 0: the text of lowest perplexity does
    "context": pl.UInt32,
    "people": pl.Float64,  # share of people who choose the option; null: they were not asked
    "tags": pl.List(pl.String),  # of the item, e.g. "negation": subsets across phenomena
}
"""``benchmark/{suite}/items.parquet`` of choices, a row for each option: the lowest perplexity wins
(Capone et al. 2024).
"""

COMPLETIONS: Schema = {
    "item_id": pl.String,
    "category": pl.String,
    "phenomenon": pl.String,
    "block": pl.String,  # "" without blocks
    "prompt": pl.String,  # the beginning of a sentence
    "accepted": pl.List(pl.String),  # continuations that count as right
    "anywhere": pl.Boolean,  # whether they may be inside a word
    "tags": pl.List(pl.String),  # e.g. "negation": subsets across phenomena
}
"""``benchmark/{suite}/items.parquet`` of completions (Capone et al. 2024)."""

TASKS: dict[str, Schema] = {
    "pairs": PAIRS,
    "paradigms": PARADIGMS,
    "choices": CHOICES,
    "completions": COMPLETIONS,
}
"""Task of a suite -> columns of its ``items.parquet``. A reader's ``TASK`` names it; default:
pairs."""

Baseline = Callable[[Sequence[str]], list[float]]
"""Returns the log-probabilities (nats) of sentences by an n-gram model."""


@dataclass(frozen=True)
class Context:
    """What items may use from the corpora. Readers with ``CORPORA = True`` receive it.

    Args:
        vocabulary: words and their frequency in every corpus.
        baselines: "corpus/size" -> an n-gram model of that corpus, against which items are
            balanced.
        heard: returns those of some sentences that occur in a corpus (ignoring case and
            punctuation).
    """

    vocabulary: Vocabulary
    baselines: Mapping[str, Baseline] = field(default_factory=dict)
    heard: Callable[[set[str]], set[str]] = lambda sentences: set()


class Loaded(NamedTuple):
    """The items of a suite, and facts about it."""

    items: pl.DataFrame  # the columns of its task: PAIRS, PARADIGMS, CHOICES or COMPLETIONS
    facts: dict[str, Any] = {}  # noqa: RUF012 - for the manifest: files, repeated pairs ...
