"""Evidence that is put back into a condition, in place of other sentences."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from poshgrid.config import Condition, Filter, Reinsertion, specs
from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.evidence.matching import match, number_rows
from poshgrid.evidence.patterns import DIRECT
from poshgrid.evidence.removal import Chosen, direct
from poshgrid.evidence.schema import column
from poshgrid.evidence.sentences import Corpus


def pool(condition: Condition, item: Reinsertion) -> str:
    """Return the reading whose sentences a re-insertion puts back."""
    if item.pool:
        return item.pool
    own = next(rule.reading for rule in condition.filters if rule.name == item.filter)
    return DIRECT if DIRECT in plugins.load(plugins.FILTERS, item.filter).READINGS else own


def reinsert(
    corpus: Corpus, spec: specs.ConditionSpec, chosen: Chosen, *, allow: Sequence[str] = ()
) -> dict[str, dict[str, Any]]:
    """Choose the evidence that is put back into a condition: table ``swaps``.

    It is drawn from the sentences that the condition removes, those of its own size first: a
    sentence that the condition already contains is not put back again. Sentences that are also
    evidence for another filter of the condition are not used: they would raise the rate of both.

    Args:
        corpus: all sentences; the table is added, see :func:`poshgrid.evidence.matching.match`.
        spec: the condition.
        chosen: its sentences.
        allow: checks that may fail; `void`: nothing is put back.

    Returns:
        Facts for each filter.

    Raises:
        PoshgridError: there is no or too little evidence, or no exchange keeps the sources' words.
    """
    condition = spec.condition
    facts: dict[str, dict[str, Any]] = {}
    corpus.database.run(
        "create table swaps (place uinteger, sent_id uinteger, source varchar, n_words uinteger)"
    )
    if not condition.reinsert:
        return facts
    kept = corpus.by_source(f"train where {chosen.kept}")
    total, words = sum(n for n, _ in kept.values()), {s: used for s, (_, used) in kept.items()}
    whole = corpus.count(chosen.whole)
    for item in sorted(condition.reinsert, key=lambda item: item.filter):
        reading = pool(condition, item)
        others = [used for used in condition.filters if used.name != item.filter]
        mine = f'{chosen.gone} and "{column(item.filter, reading)}"'
        mine += f" and not {corpus.out(others)}"
        first = corpus.count(f"{mine} and {chosen.whole}")
        rest = corpus.count(f"{mine} and not {chosen.whole}")
        available = first + rest
        natural = item.rate == "natural"
        rate = first / whole if natural else float(item.rate)
        needed = round(rate * total)
        where = (
            f"condition {condition.name!r} at {spec.size}: re-insertion of {item.filter!r} at "
            f"{'the natural rate' if natural else 'rate'} {rate:g}"
        )
        if not needed and (rate or natural) and "void" not in allow:
            raise PoshgridError(
                f"{where} puts nothing back into {total:,} sentences; raise the rate, leave it "
                "out, or set allow: [void]"
            )
        if needed and not available:
            raise PoshgridError(
                f"{where}: the filter finds no sentence to put back; check the filter and its "
                "parser (poshgrid explain-filter), give the corpus more words, or leave it out"
            )
        if available < needed and not item.repeat:
            raise PoshgridError(
                f"{where} needs {needed:,} sentences with evidence, and the corpus has "
                f"{available:,}; lower the rate to {available / total:.8f}, give the "
                "corpus more words, or set repeat: true"
            )
        # Seeded by name, so that one filter's choice does not depend on the other filters
        generator = np.random.default_rng([condition.seed, zlib.crc32(item.filter.encode())])
        lots = np.concatenate([generator.permutation(first), first + generator.permutation(rest)])
        own_first = f"not {chosen.whole}, sent_id"
        number_rows(
            corpus.database, "shuffled", f"from train where {mine}", own_first, np.argsort(lots)
        )
        times = max(1, -(-needed // max(1, available)))
        best = (
            f"select * replace (nth + {available} * again as nth) "
            f"from shuffled, range({times}) times(again)"
        )
        free = f"select sent_id, source, n_words from train where {stays(chosen)}"
        try:
            gained = match(corpus.database, best, needed, free, words, item.tolerance, generator)
        except PoshgridError as error:
            raise PoshgridError(
                f"{where}: {error}; lower reinsert.rate, raise reinsert.tolerance, or give the "
                "corpus more words"
            ) from error
        corpus.database.run("insert into swaps from places")
        evidence = direct(corpus, item.filter)
        ((different, larger, own),) = corpus.database.rows(
            f"select count(distinct sent_id), count(*) filter (not {chosen.whole}), "
            f"count(*) filter ({evidence or 'false'}) from places join train using (sent_id)"
        )
        facts[item.filter] = {
            "sentences": needed,
            "rate": round(rate, 8),
            "pool": reading,
            "available": available,
            "different": different,
            **({"direct": own} if evidence else {}),
            "from_larger_sizes": larger,
            "words_difference": gained,
        }
    return facts


def trained(chosen: Chosen) -> str:
    """Return the query for the training sentences after the exchanges of :func:`reinsert`."""
    return (
        "select sent_id as place, sent_id, source, n_words "
        f"from train where {stays(chosen)} union all from swaps"
    )


def stays(chosen: Chosen) -> str:
    """Return the test for kept sentences that no re-inserted sentence replaces."""
    return f"{chosen.kept} and sent_id not in (select place from swaps)"


def put_back(spec: specs.ConditionSpec) -> list[Filter]:
    """Return the filters, each with the reading whose sentences a condition puts back."""
    condition = spec.condition
    return [Filter(name=item.filter, reading=pool(condition, item)) for item in condition.reinsert]
