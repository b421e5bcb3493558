"""What filters remove, and rewriters change, in a corpus: totals, and a sample of sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid.config import Filter
from poshgrid.core.errors import PoshgridError, did_you_mean, plain
from poshgrid.core.files import read_json, read_schema, read_table, table_batches
from poshgrid.corpora.schema import SENTENCES
from poshgrid.evidence.rewriting import rewritten
from poshgrid.evidence.schema import BACKSTOP, TOKENS, Labels, column
from poshgrid.parsing.words import tokenize
from poshgrid.quality.audit.draw import sample

RULE = "rule"


def changes(
    name: str, sentences: Path, parses: Sequence[Path], *, size: int, seed: int
) -> Iterator[str]:
    """Yield a line of totals, then a sample of changed sentences, before and after a rewriter.

    Args:
        name: the rewriter.
        sentences: the corpus's table.
        parses: the shards of its parses.
        size: of the sample; a larger sample begins with the smaller one.
        seed: of the sample.
    """
    texts = read_table(sentences, SENTENCES, ["sent_id", "text"])
    new: dict[int, str] = {}
    unsafe: Counter[str] = Counter()
    for piece in rewritten(table_batches(sentences, SENTENCES), parses, [name], write=True):
        unsafe.update(piece["unsafe"].explode().drop_nulls().to_list())
        hits = piece.filter(pl.col("changed").list.len() > 0)
        new |= dict(hits.select("sent_id", "text").iter_rows())
    reasons = "".join(f"; {why.partition(': ')[2]} {n:,}" for why, n in unsafe.most_common())
    share = f"{len(new) / texts.height:.2%}"
    yield f"{name}: changes {len(new):,} of {texts.height:,} sentences ({share}){reasons}"
    for sent_id in sample(new, size, seed, name):
        yield f"  before  {sent_id:>9}  {plain(texts['text'][sent_id])}"
        yield f"  after   {'':9}  {plain(new[sent_id])}"


def fires(
    wanted: Filter,
    sentences: Path,
    labels: Path,
    *,
    language: str,
    backstop: bool,
    size: int,
    seed: int,
) -> Iterator[str]:
    """Yield a line of totals, then a line for each sentence of a sample of the removed sentences.

    The line of a sentence has the reason (``rule``, or ``backstop`` if only the backstop removes
    it), its number, and its text with the matched words in brackets.

    Args:
        wanted: the filter and its reading.
        sentences: the corpus's table.
        labels: its table of evidence; its counts are in a JSON file of the same name.
        language: of the text.
        backstop: whether to use the backstop of a reading that has one.
        size: of the sample; a larger sample begins with the smaller one.
        seed: of the sample.

    Raises:
        PoshgridError: the filter is not among the labels, or the labels belong to other sentences.
    """
    known = Labels.of(read_schema(labels))
    if wanted.reading not in known.readings.get(wanted.name, ()):
        have = [f"{word}.{reading}" for word, own in known.readings.items() for reading in own]
        raise PoshgridError(
            f"{labels}: no labels of {wanted}{did_you_mean(str(wanted), have)}; name the filter in "
            "a condition of this corpus"
        )
    backstop = backstop and wanted.reading in known.backstops.get(wanted.name, ())
    yield f"{wanted}: {_totals(read_json(labels.with_suffix('.json')), wanted, backstop)}"
    removing = known.removing(wanted.name, wanted.reading, backstop=backstop)
    matched = column(wanted.name, wanted.reading, TOKENS)
    table = read_table(labels, known.schema, [*removing, matched])
    texts = read_table(sentences, SENTENCES, ["text"])["text"]
    removed = table.select(pl.any_horizontal(removing)).to_series().arg_true()
    for sent_id in sample(removed, size, seed, str(wanted)):
        by_rule, matches = table[sent_id, removing[0]], table[sent_id, matched]
        if max(matches, default=0) > len(tokenize(texts[sent_id], language)):
            raise PoshgridError(f"{labels}: labels of other sentences; label them again")
        why = RULE if by_rule else BACKSTOP
        yield f"  {why:8}  {sent_id:>9}  {plain(marked(texts[sent_id], matches, language))}"


def _totals(facts: dict[str, Any], wanted: Filter, backstop: bool) -> str:
    """Return how many sentences a filter removes, by rule and backstop, or why it removes none."""
    counts = facts["filters"][wanted.name][wanted.reading]
    rules, looks = counts["rules"], counts.get("backstop", 0) if backstop else 0
    removed, total = sum(rules.values()) + looks, facts["sentences"]
    parts = [f"{rule} {number:,}" for rule, number in sorted(rules.items(), key=lambda r: -r[1])]
    parts += [f"{BACKSTOP} alone {looks:,}"] if backstop else []
    parts += [f"no tree has {', '.join(counts['never'])}"] if counts["never"] else []
    why = "; ".join(parts) or "no match"
    return f"{removed:,} of {total:,} sentences ({removed / total:.2%}): {why}"


def marked(text: str, matches: Sequence[int], language: str) -> str:
    """Return a sentence with the words of some numbers, counted from 1, in brackets."""
    parts, end = [], 0
    for number, word in enumerate(tokenize(text, language), start=1):
        start = text.index(word, end)  # only white space is between two words
        parts += [text[end:start], f"[{word}]" if number in matches else word]
        end = start + len(word)
    return "".join([*parts, text[end:]])
