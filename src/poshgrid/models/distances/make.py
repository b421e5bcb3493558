"""Stage ``distances``: compute the distances between the words of each training sentence.

The distance of two words is the number of arcs between them in the dependency tree. Both boundaries
count as dependents of the root, so that a word at depth ``k`` (root: 0) has the distance ``k + 1``
to each of them (Yoshida et al., 2024: "Tree-planted transformers", Findings of ACL).

The words of the parser are found in the text by their characters without white space. A token
belongs to the word of its first character that is not white space. A word in which no token begins
(*na* if *gonna* is one token) has no distances of its own, but is counted in paths.

:mod:`poshgrid.models.distances.folder` describes the files.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from poshgrid.core import database, logs
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import atomic_folder, read_json, table_batches, table_height, write_json
from poshgrid.evidence.schema import CONDITION
from poshgrid.models.distances.folder import DISTANCES, FARTHEST, OFFSETS, STATISTICS, WORDS
from poshgrid.models.tokenization import encode
from poshgrid.models.tokenization import tokenizer as tokenizers
from poshgrid.parsing.schema import PARSES

log = logs.get(__name__)

BATCH = 20_000  # sentences in memory at once
UNUSED = ("no_parse", "unmatched_words", "several_roots", "broken_heads", "too_short")
"""Reasons why a sentence is not used; the first that applies. ``no_parse``: it was not parsed.
``unmatched_words``: the parser's words are not those of the text. ``several_roots``: two or more
words have no head. ``broken_heads``: heads are circular, or not words of the sentence.
``too_short``: tokens begin in fewer than two words."""
SHORTEST = 2


def make(
    condition: Path, tokenizer: Path, tokens: Path, parses: list[Path], output: Path
) -> dict[str, Any]:
    """Measure the distances in the trees of a condition's training sentences.

    Args:
        condition: folder with ``train.parquet``.
        tokenizer: folder of the tokenizer.
        tokens: folder of the tokens of this condition, made with this tokenizer.
        parses: the shards of the corpus's parses, in any order.
        output: folder to write to; see :mod:`poshgrid.models.distances.folder`.

    Returns:
        The content of ``statistics.json``: ``sentences``, ``used``, ``unused`` (see
        :data:`UNUSED`) and ``tokens`` (digest of the tokens).

    Raises:
        PoshgridError: tables are missing, broken, or do not belong together, or no sentence is
            usable.
    """
    table, loaded = Path(condition) / "train.parquet", tokenizers.load(tokenizer)
    stream = encode.load(tokens, "train")
    number = len(stream.offsets) - 1
    if table_height(table) != number:
        raise _other_tokens(tokens, f"they have {number:,} sentences")
    faults = Counter[str | None]()
    offsets = np.zeros((number + 1, 2), np.int64)
    offsets[:, 0] = stream.offsets
    row = 0
    with atomic_folder(Path(output), last=STATISTICS) as temporary:
        with (temporary / DISTANCES).open("wb") as distances, (temporary / WORDS).open("wb") as out:
            out.write(b"\1")
            for batch in logs.progress(
                _with_trees(table, parses, temporary),
                f"measuring trees, {BATCH:,} sentences at a time",
                -(-number // BATCH),
            ):
                pieces = loaded.encode_batch(batch["text"].to_list(), add_special_tokens=False)
                for piece, (text, words, heads) in zip(pieces, batch.iter_rows(), strict=True):
                    first, last = stream.offsets[row : row + 2]
                    if not np.array_equal(stream.ids[first + 1 : last], piece.ids):
                        raise _other_tokens(tokens, f"they differ in sentence {row + 1:,}")
                    # Offsets refer to the original text, before the tokenizer normalises it.
                    tree = measure(text, [begin for begin, _ in piece.offsets], words, heads)
                    distances.write(tree.distances.tobytes())
                    out.write(tree.begins.tobytes() + b"\1")
                    offsets[row + 1, 1] = offsets[row, 1] + len(tree.distances)
                    faults[tree.fault] += 1
                    row += 1
        np.save(temporary / OFFSETS, offsets)
        statistics: dict[str, Any] = {
            "sentences": number,
            "used": faults[None],
            "unused": {reason: faults[reason] for reason in UNUSED},
            "tokens": read_json(Path(tokens) / "statistics.json")["train"]["sha256"],
        }
        reasons = ", ".join(f"{faults[word]:,} {word}" for word in UNUSED if faults[word]) or "none"
        if not faults[None]:
            raise PoshgridError(
                f"{table}: no sentence has a usable tree ({reasons}); check the parser"
            )
        write_json(temporary / STATISTICS, statistics)
    log.info("%s of %s sentences have a usable tree; not used: %s",
             f"{faults[None]:,}", f"{number:,}", reasons)  # fmt: skip
    return statistics


def _other_tokens(tokens: Path, why: str) -> PoshgridError:
    return PoshgridError(
        f"{tokens}: not the tokens of this condition by this tokenizer ({why}); "
        "run `poshgrid run -R tokens`"
    )


def _with_trees(table: Path, parses: list[Path], folder: Path) -> Iterator[pl.DataFrame]:
    """Yield ``text``, ``form`` and ``head`` of a condition's sentences, in their order.

    Args:
        table: the condition's sentences.
        parses: the shards of its corpus's parses.
        folder: for temporary files.
    """
    columns = ["sent_id", "form", "head"]
    with database.opened(folder) as tables:
        empty = pl.DataFrame(schema={name: PARSES[name] for name in columns})
        shards = (table_batches(path, PARSES, columns) for path in parses)
        tables.load("trees", itertools.chain([empty], *shards))
        tables.load("sentences", table_batches(table, CONDITION, ["sent_id", "text"]))
        yield from tables.pieces(
            "select text, form, head from sentences join trees using (sent_id) "
            "order by sentences.rowid",
            BATCH,
        )


# ---- one sentence --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """The distances of a sentence."""

    begins: np.ndarray
    """Whether a word begins with each token."""
    distances: np.ndarray
    """Row by row, each word's distances to the boundary and the words before it, uint8."""
    fault: str | None = None
    """Why the sentence is not used (of :data:`UNUSED`); None if it is used."""


def measure(
    text: str, begins: Sequence[int], words: Sequence[str], heads: Sequence[int]
) -> Measured:
    """Align the tokens and words of a sentence, and measure its tree.

    Args:
        text: the sentence.
        begins: index of each token's first character, which may be a space.
        words: the words of the parser.
        heads: 1-based index of each word's head, 0 for the root.
    """
    solid = ["".join(word.split()) for word in words]
    if not words:
        return _unused(begins, "no_parse")
    if "".join(solid) != "".join(text.split()):
        return _unused(begins, "unmatched_words")
    ends = np.cumsum([len(word) for word in solid])
    before = np.cumsum([0, *(not character.isspace() for character in text)])
    # White space at the end belongs to the last word
    characters = np.minimum(before[np.asarray(begins, np.int64)], ends[-1] - 1)
    word = np.searchsorted(ends, characters, side="right")
    first = np.diff(word, prepend=-1) != 0
    seen = np.unique(word)
    if heads.count(0) > 1:
        return _unused(begins, "several_roots")
    square = between(heads)
    if square is None:
        return _unused(begins, "broken_heads")
    if len(seen) < SHORTEST:
        return _unused(begins, "too_short")
    kept = [0, *(seen + 1), len(words) + 1]
    return Measured(first, square[np.ix_(kept, kept)][np.tril_indices(len(kept), -1)])


def _unused(begins: Sequence[int], fault: str) -> Measured:
    return Measured(np.zeros(len(begins), bool), np.zeros(0, np.uint8), fault)


def between(heads: Sequence[int]) -> np.ndarray | None:
    """Return the distances in a tree.

    Args:
        heads: 1-based index of each word's head, 0 for the root.

    Returns:
        Distances between opening boundary, words and closing boundary, uint8, [words + 2, words +
        2]; None if the heads do not form a tree with one root.
    """
    dependents: list[list[int]] = [[] for _ in range(len(heads) + 2)]
    for word, head in enumerate(heads, 1):
        if head > len(heads):
            return None
        dependents[head].append(word)
    roots = dependents[0]
    if len(roots) != 1:
        return None
    dependents[roots[0]] += [0, len(heads) + 1]  # the boundaries depend on the root
    dependents[0] = []
    order, above = roots, [0]  # nodes, heads before dependents; index of each node's head
    for index, governor in enumerate(order):
        order += dependents[governor]
        above += [index] * len(dependents[governor])
    if len(order) != len(dependents):
        return None
    distances = np.zeros((len(order), len(order)), np.int64)
    for index in range(1, len(order)):
        distances[index, :index] = distances[:index, index] = distances[above[index], :index] + 1
    by_word = np.argsort(order)
    return np.minimum(distances, FARTHEST).astype(np.uint8)[np.ix_(by_word, by_word)]
