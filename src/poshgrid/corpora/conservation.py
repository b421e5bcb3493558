"""Checks that no text is duplicated, leaked or wrongly named.

A failed check stops the run, unless the key ``allow`` of the corpus or condition names it. What was
allowed is recorded in ``statistics.json`` and shown at the top of the report.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from poshgrid.config import Corpus
from poshgrid.config.sizes import words
from poshgrid.core.errors import PoshgridError

if TYPE_CHECKING:  # a dry-run only checks sizes and needs no database
    from poshgrid.core.database import Database

LABEL = 0.10
"""Largest difference between a size's words and the number in its name, as a share of the
latter."""
WORDS = 0.01
"""Largest difference in words between texts compared at one size, as a share of the shorter one."""
LONG = 8
"""Words of a long sentence. Shorter ones ("what's that?") recur without being a copy."""
LEAKED = 0.15
"""Largest share of the long dev or test sentences that may occur in the training text.

By chance up to 10.4% do in 80 random splits of childes-db, up to 1% of a book, none of Wikipedia.
"""
COPIED = 0.05
"""Largest share of a source's words in documents that occur twice in a corpus; childes-db: .9%."""
Faults = list[tuple[str, str]]
"""Failed checks: the word for ``allow``, and the message."""


def settle(faults: Faults, allow: Collection[str]) -> dict[str, dict[str, str]]:
    """Return the failed checks as ``statistics.json`` records them: ``allowed``, check -> message.

    Without failed checks the result is empty.

    Raises:
        PoshgridError: a failed check is not allowed; one line for each.
    """
    messages = [f"{what}, or set allow: [{word}]" for word, what in faults if word not in allow]
    if messages:
        raise PoshgridError(*messages)
    return {"allowed": dict(faults)} if faults else {}


def words_at(corpus: Corpus, size: str) -> int | None:
    """Return the training words of a corpus at a size; ``None`` if it has no such size."""
    amounts = [portion.words.get(size, -1) for portion in corpus.sources]
    return None if -1 in amounts else sum(amounts)


def misnamed(where: str, size: str, number: int) -> str:
    """Return a message if a size's words differ from its name, else an empty text."""
    if abs(number / words(size) - 1) <= LABEL:
        return ""
    return f"{where}: size {size} has {number:,} words; name the size after its words"


def uneven(size: str, numbers: Mapping[str, float]) -> str:
    """Return a message if conditions of one size differ in words, else an empty text.

    Args:
        size: the size.
        numbers: condition -> words before its filters remove any.
    """
    few, many = (pick(numbers, key=lambda name: numbers[name]) for pick in (min, max))
    if numbers[many] <= numbers[few] * (1 + WORDS):
        return ""
    return (
        f"conditions {few!r} and {many!r} at {size} have {round(numbers[few]):,} and "
        f"{round(numbers[many]):,} words before any filter; give them the same"
    )


_COPIES = f"""
    create table copies as
    with repeated as (
        select normal from sentences where n_words >= {LONG} group by normal having count(*) > 1
    )
    select source, first, count(*) as long, count(repeated.normal) as again
    from sentences left join repeated using (normal)
    where n_words >= {LONG}
    group by source, first
    having long >= 5 and again >= .8 * long
"""
"""Documents whose long sentences occur again, in another document or in the same one."""


def copied(tables: Database, corpus: str, sources: Sequence[str]) -> Faults:
    """Return a failed check for each source with many words in documents that occur twice.

    Args:
        tables: the sentences of the corpus's sources, see :mod:`poshgrid.corpora.mix`.
        corpus: the corpus's name.
        sources: the sources' names, in the order of their numbers.
    """
    tables.run(_COPIES)
    copies = tables.rows(
        "select sentences.source, sum(sentences.n_words) filter (copies.first is not null) / "
        "sum(sentences.n_words) as share, "
        "arg_max(document, again) from sentences left join copies using (source, first) "
        "left join texts on texts.row = copies.first group by sentences.source "
        f"having share > {COPIED} order by sentences.source"
    )
    return [
        (
            "copies",
            f"corpora: {corpus}: source {sources[source]!r}: {share:.0%} of its words are in "
            f"documents that are there twice, such as {document}; remove one",
        )
        for source, share, document in copies
    ]


def leaked(tables: Database, corpus: str) -> Faults:
    """Return a failed check for each held-out split of a corpus whose text is also trained on.

    Args:
        tables: the corpus's sentences and the table of chosen ones.
        corpus: the corpus's name.
    """
    counts = tables.rows(
        f"with long as (select split, normal from chosen join sentences using (row) "
        f"where chosen.n_words >= {LONG}) "
        "select split, count(*), count(*) filter (normal in (select normal from long "
        "where split = 'train')) from long where split <> 'train' group by split order by split"
    )
    return [
        (
            "leak",
            f"corpora: {corpus}: {shared:,} of {number:,} {split} sentences of {LONG} words or "
            "more are trained on; keep one copy in the sources",
        )
        for split, number, shared in counts
        if shared > LEAKED * number
    ]
