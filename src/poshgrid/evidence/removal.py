"""What a condition removes: the matches of its filters, or as much at random; and its refill.

A condition without its evidence also has fewer sentences, and its models may be worse for that
reason alone. A control therefore removes as many sentences of the same sources and lengths (and
kinds) at random. It keeps the sentences that the filters match, so that the two conditions differ
in these and in little else.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from poshgrid.config import Filter, specs
from poshgrid.core.errors import PoshgridError
from poshgrid.evidence.matching import match
from poshgrid.evidence.patterns import DIRECT
from poshgrid.evidence.schema import column
from poshgrid.evidence.sentences import Corpus, any_of

# Largest difference between control and condition, as a share of a source's words
_TOLERANCE = 0.001


def deciding(spec: specs.ConditionSpec) -> list[Filter]:
    """Return the filters that decide what a condition removes, or how much of it."""
    return spec.control_filters or spec.condition.filters


def control(corpus: Corpus, spec: specs.ConditionSpec, gone: str) -> None:
    """Make the table ``control``: ``place``, the sentences of a corpus that a control removes.

    The sentences that each size adds are matched separately: a sentence that is removed, or
    refills, at one size does so at every larger size.

    Args:
        corpus: its sentences.
        spec: the control.
        gone: SQL test for the sentences that the control's condition removes.

    Raises:
        PoshgridError: no choice has the same number of sentences or words.
    """
    # In this view ``source`` is a sentence's source and kind, ``whole_source`` its source
    kind = "".join(f" || if({name}, ', {name}', ', no {name}')" for name in spec.condition.match)
    corpus.database.run(
        f"create or replace view kinds as select sent_id, n_words, size, {gone} as gone, "
        f"source as whole_source, source{kind} as source from train"
    )
    corpus.database.run("create table control (place uinteger)")
    # Larger sizes and spare sentences ("") matter for the refill
    names = [*corpus.sizes(), ""] if spec.condition.refill else corpus.sizes(spec.size)
    for size in names:
        if corpus.database.rows(f"from kinds where gone and size = '{size}' limit 1"):
            _match(corpus, spec, size)
            corpus.database.run("insert into control select place from places")


def _match(corpus: Corpus, spec: specs.ConditionSpec, size: str) -> None:
    """Choose, among the sentences that a size adds, as many as are removed: table ``places``."""
    condition = spec.condition
    pool, rest = (
        f"select sent_id, source, n_words, 0 as nth from kinds where size = '{size}' and {test}"
        for test in ("gone", "not gone")
    )
    # The kinds of a source share its tolerance in words
    share = f"sum(n_words) over (partition by whole_source) // {2 ** len(condition.match)}"
    words = corpus.database.rows(
        f"select distinct source, {share} from kinds where size = '{size}'"
    )
    seeds = [condition.seed, zlib.crc32(b"control"), zlib.crc32(size.encode())]
    generator = np.random.default_rng(seeds)
    gone = corpus.database.rows(f"select count(*) from ({pool})")[0][0]
    try:
        match(corpus.database, pool, gone, rest, dict(words), _TOLERANCE, generator)
    except PoshgridError as error:
        raise PoshgridError(
            f"condition {condition.name!r} at {spec.size}: no control of {condition.control!r}: "
            f"{error}; give the corpus more words, or match by less"
        ) from error


@dataclass(frozen=True)
class Chosen:
    """The training sentences of a condition before re-insertion, as tests in SQL.

    Each test builds on the one before:

    Attributes:
        gone: the condition removes the sentence; tests sentences of all sizes and spare ones.
        whole: the sentence belongs to the size.
        left: it belongs to the size and is not removed.
        filled: it is left, or it refills the condition.
        kept: it is in ``filled``, and down-sampling keeps it.
    """

    gone: str
    whole: str
    left: str
    filled: str
    kept: str


def choose(corpus: Corpus, spec: specs.ConditionSpec) -> Chosen:
    """Choose the training sentences of a condition at a size.

    Args:
        corpus: all sentences.
        spec: the condition.

    Raises:
        PoshgridError: no sentence is left, or a control, a refill or a down-sampling lacks
            sentences.
    """
    gone = corpus.out(deciding(spec))
    if spec.control_filters:
        control(corpus, spec, gone)
        gone = "sent_id in (from control)"
    whole = any_of(f"size = '{size}'" for size in corpus.sizes(spec.size))
    left = f"({whole} and not {gone})"
    if not corpus.count(left):
        raise PoshgridError(
            f"condition {spec.condition.name!r} at {spec.size} has no train sentences; give corpus "
            f"{spec.condition.corpus!r} more words (corpora.sources)"
        )
    if spec.control_rewrite:
        _lose_words(corpus, gone)
        gone = f"({gone} or sent_id in (from lost))"
        left = f"({whole} and not {gone})"
    kept = filled = left
    if spec.condition.refill:
        _refill(corpus, spec, gone, whole)
        more = "select sent_id from refill where ends - n_words < lacking"
        kept = filled = f"(not {gone} and ({whole} or sent_id in ({more})))"
    if spec.condition.downsample != 1:
        _downsample(corpus, spec, filled, corpus.count(whole))
        kept = "sent_id in (from drawn)"
    return Chosen(gone, whole, left, filled, kept)


def _lose_words(corpus: Corpus, gone: str) -> None:
    """Choose sentences that a control removes for the words that rewriting drops: table ``lost``.

    For each source and size they have at most as many words as rewriting drops, and as nearly as
    many as whole sentences allow. If rewriting drops no words, the table is empty.

    Args:
        corpus: the sentences, with their words before and after rewriting.
        gone: SQL test for sentences that the control removes already.
    """
    corpus.database.run(
        "create table lost as select sent_id from (select sent_id, "
        "sum(n_words) over (partition by source, size order by draw, sent_id) as ends, "
        "sum(before::bigint - after::bigint) over (partition by source, size) as words "
        f"from train where not {gone}) where ends <= words"
    )


def _downsample(corpus: Corpus, spec: specs.ConditionSpec, filtered: str, total: int) -> None:
    """Keep a part of the corpus's sentences, the same in all conditions: table ``drawn``.

    Every sentence has a random rank that depends on the seed and its sent_id; the first are kept.

    Args:
        corpus: all sentences.
        spec: the condition.
        filtered: SQL test for the sentences that its filters leave.
        total: sentences of the corpus at the size.

    Raises:
        PoshgridError: the filters leave fewer sentences than are needed.
    """
    condition = spec.condition
    share, there = condition.downsample, corpus.count(filtered)
    number = int(share * total) if share < 1 else int(share)
    if there < number:
        possible = f"{int(there / total * 1000) / 1000:g}" if share < 1 else f"{there}"
        raise PoshgridError(
            f"condition {condition.name!r} at {spec.size}: {number:,} of {total:,} sentences must "
            f"be kept (downsample {share:,}), and its filters leave {there:,}; lower downsample, "
            f"for all conditions of the corpus, to {possible}"
        )
    corpus.database.run(
        f"create table drawn as select sent_id from train where {filtered} "
        f"order by draw, sent_id limit {number}"
    )


def _refill(corpus: Corpus, spec: specs.ConditionSpec, gone: str, whole: str) -> None:
    """Make the table ``refill``: sentences that may replace the removed ones of the same source.

    Besides ``sent_id``, ``source`` and ``n_words`` it has ``ends``, the words of the source up to
    and including the sentence, and ``lacking``, the words that the source lacks.

    The further sentences of a source, from larger sizes and the corpus's spare ones, are added in
    the order of choice until the source has as many words as in the corpus at this size. The
    removal applies to them, too: what is in a condition at a size is in it at every larger size.

    Args:
        corpus: all sentences.
        spec: the condition.
        gone: SQL test for the sentences that it removes.
        whole: SQL test for the corpus's sentences of the size.

    Raises:
        PoshgridError: a source has too few further sentences.
    """
    lacking = (
        f"select source, sum(before) - coalesce(sum(n_words) filter (not {gone}), 0) as lacking "
        f"from train where {whole} group by all"
    )
    corpus.database.run(
        "create table refill as select sent_id, source, n_words, lacking, "
        "sum(n_words) over (partition by source order by rank) as ends "
        f"from train join ({lacking}) using (source) where not {whole} and not {gone}"
    )
    for source, number, there in corpus.database.rows(
        f"select source, lacking, coalesce(sum(n_words), 0) as there from ({lacking}) "
        "left join refill using (source, lacking) group by all having there < lacking order by 1"
    ):
        raise PoshgridError(
            f"condition {spec.condition.name!r} at {spec.size}: source {source!r} lacks "
            f"{number - there:,} words to refill the {number:,} that are gone; raise "
            f"spare of corpus {spec.condition.corpus!r}, or give the source more text"
        )


def facts(
    corpus: Corpus, spec: specs.ConditionSpec, whole: str, labelled: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return what each filter of a condition removes: ``filter.reading`` -> counts.

    Args:
        corpus: all sentences.
        spec: the condition.
        whole: SQL test for the sentences that are counted.
        labelled: the counts written with the labels.

    Returns:
        ``rule``: sentences that the rule removes; ``backstop``: further sentences that only the
        backstop removes; ``words``: words in both; ``never``: labels that the reading needs and no
        tree has. If the filter has a reading ``direct``: ``direct``, how many of the removed
        sentences it matches, and ``direct_whole``, how many of the corpus's.
    """
    counts = {}
    for used in deciding(spec):
        rule, gone = f'"{column(used.name, used.reading)}"', corpus.out([used])
        evidence = direct(corpus, used.name) or "false"
        ((by_rule, by_words, number, own, there),) = corpus.database.rows(
            f"select count(*) filter ({rule}), count(*) filter ({gone} and not {rule}), "
            f"coalesce(sum(before) filter ({gone}), 0), count(*) filter ({gone} and {evidence}), "
            f"count(*) filter ({evidence}) from train where {whole}"
        )
        never = labelled["filters"][used.name][used.reading]["never"]
        counts[f"{used.name}.{used.reading}"] = {
            "rule": by_rule, "backstop": by_words, "words": number, "never": never,
            **({"direct": own, "direct_whole": there} if direct(corpus, used.name) else {}),
        }  # fmt: skip
    return counts


def direct(corpus: Corpus, word: str) -> str:
    """Return the SQL test for matches of a filter's reading ``direct``; "" if it has none."""
    known = DIRECT in corpus.labels.readings.get(word, ())
    return f'"{column(word, DIRECT)}"' if known else ""
