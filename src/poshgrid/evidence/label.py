"""Label the sentences of a corpus as evidence, with one parser's trees."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid.config import specs
from poshgrid.core import logs, plugins
from poshgrid.core.errors import PoshgridError, did_you_mean
from poshgrid.core.files import read_table, table_height, table_writer, write_json
from poshgrid.core.plugins import FILTERS
from poshgrid.evidence.constructions import BY_TREE
from poshgrid.evidence.match import Match, Rule
from poshgrid.evidence.patterns import Pattern, needed_labels
from poshgrid.evidence.schema import BACKSTOP, TOKENS, Labels, column
from poshgrid.parsing.schema import PARSES, first_sentence
from poshgrid.parsing.tree import Tree

Backstop = Callable[[Sequence[str]], tuple[int, ...] | None]
_READING = re.compile("[a-z0-9-]+")


@dataclass(frozen=True)
class Rules:
    """A filter's rules about trees, and about words alone, by reading."""

    readings: dict[str, Rule]
    backstops: dict[str, Backstop]


def rules_of(word: str) -> Rules:
    """Return the rules of a filter, by its config word.

    Raises:
        PoshgridError: a reading's name cannot be part of a column name, or a backstop belongs to a
            reading that does not exist.
    """
    module = plugins.load(FILTERS, word)
    readings, backstops = module.READINGS, getattr(module, "BACKSTOPS", {})
    for name in readings:
        if not _READING.fullmatch(name) or name in (BACKSTOP, TOKENS):
            raise PoshgridError(
                f"filter {word!r}: READINGS: {name!r} is not a valid name: use lower-case letters, "
                f"digits and hyphens, and neither {BACKSTOP} nor {TOKENS}"
            )
    for name in set(backstops) - set(readings):
        raise PoshgridError(
            f"filter {word!r}: BACKSTOPS: no reading {name!r}{did_you_mean(name, readings)}"
        )
    return Rules(
        {name: _checked(word, name, rule) for name, rule in readings.items()}, dict(backstops)
    )


def _checked(word: str, reading: str, rule: Rule) -> Rule:
    """Return a rule whose result is checked: a user's first filter may return ``True``."""

    def answer(tree: Tree) -> Match | None:
        match = rule(tree)
        if match is not None and not isinstance(match, Match):
            raise PoshgridError(
                f"filter {word!r}: reading {reading!r} returns {match!r}; return a Match for "
                "evidence, else None (docs/extending.md)"
            )
        return match

    return answer


def labels_of(words: Iterable[str]) -> Labels:
    """Return the labels that a table of evidence with these filters has."""
    rules = {word: rules_of(word) for word in words}
    return Labels(
        {word: tuple(rule.readings) for word, rule in rules.items()},
        {word: tuple(rule.backstops) for word, rule in rules.items() if rule.backstops},
    )


Fired = Counter[tuple[str, str, str]]
"""(Filter, reading, rule) -> matching sentences; rule "": only the backstop matched."""


def label(
    spec: specs.EvidenceSpec,
    sentences: Path,
    parses: list[Path],
    output: Path,
) -> dict[str, object]:
    """Write for every sentence of a corpus and every filter which of its readings match.

    All readings are in one table, so that a condition may change its reading without a new parse.
    Counts are written next to the table, as ``evidence.json``.

    Args:
        spec: the filters.
        sentences: the corpus's table.
        parses: the shards of its parses, in any order.
        output: table to write, in the order of the corpus.

    Returns:
        The counts: ``sentences``, and filter -> reading -> ``rules`` (rule -> matching
        sentences), ``backstop`` (sentences that only the backstop matches; absent without one) and
        ``never`` (parts of speech, relations and features that the reading needs and no tree has).

    Raises:
        PoshgridError: a sentence has no tree, or two, or a tree has no sentence.
    """
    rules = {word: rules_of(word) for word in sorted(spec.filters)}
    schema = labels_of(rules).schema
    labels: set[str] = set()
    fired = Fired()
    paths = sorted(parses, key=lambda path: (first_sentence(path), path))
    number, wanted = 0, table_height(sentences)
    unlike = PoshgridError(
        f"{sentences}: the shards do not have the trees of its {wanted:,} sentences in order; "
        "parse every shard of the corpus, and pass each once"
    )
    with table_writer(output, schema) as append:
        for path in logs.progress(paths, "labelling shards"):
            table = _shard(path, rules, labels, fired)
            due = pl.int_range(number, number + table.height, dtype=pl.UInt32, eager=True)
            if not table["sent_id"].equals(due):
                raise unlike
            append(table)
            number += table.height
        if number != wanted:
            raise unlike
    facts: dict[str, object] = {
        "sentences": number,
        "filters": {
            word: {name: _facts(word, name, rule, labels, fired) for name in rule.readings}
            for word, rule in rules.items()
        },
    }
    write_json(output.with_suffix(".json"), facts)
    logs.get(__name__).info("%s sentences: %s", f"{number:,}", facts["filters"])
    return facts


def _labels(parsed: pl.DataFrame) -> set[str]:
    """Return the parts of speech, relations (with and without subtype) and features in trees."""
    tags, relations, features = (
        parsed[name].explode().drop_nulls().unique() for name in ("upos", "deprel", "feats")
    )
    general = {relation.partition(":")[0] for relation in relations}
    return {*tags, *relations, *general, *features.str.split("|").explode()}


def _facts(word: str, reading: str, rule: Rules, labels: set[str], fired: Fired) -> dict[str, Any]:
    own = {r: number for (w, of, r), number in fired.items() if (w, of) == (word, reading)}
    alone = own.pop("", 0)
    return {
        "rules": own,
        **({"backstop": alone} if reading in rule.backstops else {}),
        "never": [need for need in needs(word, reading) if labels.isdisjoint(need.split("|"))],
    }


def needs(word: str, reading: str) -> list[str]:
    """Return the parts of speech, relations and features that a reading needs, sorted.

    They come from its patterns, or from ``NEEDS`` of a filter in Python; ``|`` separates
    alternatives.
    """
    module = plugins.load(FILTERS, word)
    patterns: dict[str, tuple[Pattern, ...]] = getattr(module, "PATTERNS", {})
    written: dict[str, tuple[str, ...]] = getattr(module, "NEEDS", {})
    return sorted({*needed_labels(patterns.get(reading, ())), *written.get(reading, ())})


def _shard(path: Path, rules: dict[str, Rules], labels: set[str], fired: Fired) -> pl.DataFrame:
    """Return a shard's decisions, and add the labels of its trees and the rules that matched."""
    frame = read_table(path, PARSES)
    schema = labels_of(rules).schema
    columns: dict[str, list[object]] = {name: [] for name in schema}
    labels |= _labels(frame)
    for sent_id, *lists in frame.iter_rows():
        tree = Tree(*lists)
        columns["sent_id"].append(sent_id)
        for name, has in BY_TREE.items():
            columns[name].append(has(tree))
        for word, rule in rules.items():
            for reading, fires in rule.readings.items():
                matched, looks = fires(tree), None
                if matched:
                    fired[word, reading, matched.rule] += 1
                if reading in rule.backstops:
                    looks = rule.backstops[reading](tree.form)
                    columns[column(word, reading, BACKSTOP)].append(looks is not None)
                    fired[word, reading, ""] += looks is not None and matched is None
                columns[column(word, reading)].append(matched is not None)
                places = matched.words if matched else looks or ()
                columns[column(word, reading, TOKENS)].append(list(places))
    return pl.DataFrame(columns, schema=schema).sort("sent_id")
