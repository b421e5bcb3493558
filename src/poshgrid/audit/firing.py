"""Which sentences of a text a filter removes: totals by rule, and a sample of the sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import config
from poshgrid.audit.draw import sample
from poshgrid.config import Filter, Source, specs
from poshgrid.corpora.read import read_source
from poshgrid.corpora.schema import SENTENCES, SOURCE
from poshgrid.errors import PoshgridError, did_you_mean, plain
from poshgrid.evidence.label import label
from poshgrid.evidence.rewriting import rewritten
from poshgrid.evidence.schema import BACKSTOP, TOKENS, Labels, column
from poshgrid.evidence.screening.screen import screen, screens
from poshgrid.files import read_json, read_schema, read_table, table_batches, write_table
from poshgrid.parsing.parse import parse
from poshgrid.parsing.schema import PARSES
from poshgrid.parsing.words import tokenize

RULE = "rule"


def label_text(
    parser: config.Parser,
    model: Path,
    text: Path,
    filters: Sequence[str],
    folder: Path,
    *,
    whole: bool = False,
) -> tuple[Path, Path, list[Path]]:
    """Read, parse and label a text, as the workflow does with a source.

    Args:
        parser: a parser of the configuration.
        model: its folder.
        text: file, or folder of ``.txt`` files.
        filters: names of filters in the configuration.
        folder: to write to.
        whole: whether to parse every sentence, or only those with words that the filters need.

    Returns:
        The tables of sentences, of labels and of parses.

    Raises:
        PoshgridError: the text does not exist or has no sentence, or the parser has no model.
    """
    read, sentences, shard, labels = (
        folder / f"{name}.parquet" for name in ("source", "sentences", "0", "labels")
    )
    source = Source(name="text", reader="text", path=str(text), language=parser.language)
    read_source(specs.SourceSpec(source=source), Path(), read)
    rows = read_table(read, SOURCE).with_row_index("sent_id")
    corpus = rows.with_columns(
        source=pl.lit(source.name), split=pl.lit("train"), rank="sent_id", size=pl.lit("1K")
    ).select(pl.col(name).cast(kind) for name, kind in SENTENCES.items())
    write_table(corpus, sentences, SENTENCES)
    parse_spec = specs.ParseSpec(
        parser=parser, shard=0, shards=1, screens=[] if whole else screens(filters)
    )
    parse(parse_spec, sentences, model, shard, screen(parse_spec.screens))
    label(specs.EvidenceSpec(filters=list(filters)), sentences, [shard], labels)
    return sentences, labels, [shard]


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
    new: dict[int, str] = {}
    unsafe: Counter[str] = Counter()
    total = 0
    pieces = table_batches(sentences, SENTENCES)
    for piece in rewritten(pieces, parses, [name], write=True):
        total += piece.height
        unsafe.update(piece["unsafe"].explode().drop_nulls().to_list())
        hits = piece.filter(pl.col("changed").list.len() > 0)
        new |= dict(hits.select("sent_id", "text").iter_rows())
    parsed = sum(
        int((batch["form"].list.len() > 0).sum())
        for path in parses
        for batch in table_batches(path, PARSES, ["form"])
    )
    lacking = f" ({total - parsed:,} without a tree)" if parsed < total else ""
    reasons = "".join(f"; {why.partition(': ')[2]} {n:,}" for why, n in unsafe.most_common())
    share = f"{len(new) / total:.2%}"
    yield f"{name}: changes {len(new):,} of {total:,} sentences{lacking} ({share}){reasons}"
    texts = dict(read_table(sentences, SENTENCES, ["sent_id", "text"]).iter_rows())
    for sent_id in sample(new, size, seed, name):
        yield f"  before  {sent_id:>9}  {plain(texts[sent_id])}"
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
            "a condition of this corpus, or try it on a text of your own with --text FILE"
        )
    backstop = backstop and wanted.reading in known.backstops.get(wanted.name, ())
    yield f"{wanted}: {_totals(read_json(labels.with_suffix('.json')), wanted, backstop)}"
    removing = known.removing(wanted.name, wanted.reading, backstop=backstop)
    matched = column(wanted.name, wanted.reading, TOKENS)
    removed = read_table(labels, known.schema, ["sent_id", *removing, matched]).filter(
        pl.any_horizontal(removing)
    )
    chosen = sample(removed["sent_id"], size, seed, str(wanted))
    texts = read_table(sentences, SENTENCES, ["sent_id", "text"])
    rows = pl.DataFrame({"sent_id": chosen}, schema={"sent_id": pl.UInt32})
    rows = rows.join(removed, on="sent_id", how="left", maintain_order="left").join(
        texts, on="sent_id", maintain_order="left"
    )
    for by_rule, sent_id, matches, text in rows.select(
        removing[0], "sent_id", matched, "text"
    ).iter_rows():
        if max(matches, default=0) > len(tokenize(text, language)):
            raise PoshgridError(f"{labels}: labels of other sentences; label them again")
        why = RULE if by_rule else BACKSTOP
        yield f"  {why:8}  {sent_id:>9}  {plain(marked(text, matches, language))}"


def _totals(facts: dict[str, Any], wanted: Filter, backstop: bool) -> str:
    """Return how many sentences a filter removes, by rule and backstop, or why it removes none."""
    counts = facts["filters"][wanted.name][wanted.reading]
    rules, looks = counts["rules"], counts.get("backstop", 0) if backstop else 0
    removed, total = sum(rules.values()) + looks, facts["sentences"]
    lacking = f"no tree has {', '.join(counts['never'])}" if counts["never"] else ""
    if not removed:
        why = lacking or f"no match in those with a tree ({facts['parsed']:,})"
        return f"nothing fires in {total:,} sentences: {why}"
    parts = [f"{rule} {number:,}" for rule, number in sorted(rules.items(), key=lambda r: -r[1])]
    if backstop:
        parts.append(f"{BACKSTOP} alone {looks:,}")
    parts += [lacking] if lacking else []
    return f"{removed:,} of {total:,} sentences ({removed / total:.2%}): {'; '.join(parts)}"


def marked(text: str, matches: Sequence[int], language: str) -> str:
    """Return a sentence with the words of some numbers, counted from 1, in brackets."""
    parts, end = [], 0
    for number, word in enumerate(tokenize(text, language), start=1):
        start = text.index(word, end)  # only white space is between two words
        parts += [text[end:start], f"[{word}]" if number in matches else word]
        end = start + len(word)
    return "".join([*parts, text[end:]])
