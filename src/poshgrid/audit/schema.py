"""The sheets of an audit, which people fill in."""

from __future__ import annotations

from typing import Literal

WEIGHTS = ("stratum", "weight")
"""Columns that a sheet of an earlier version lacks: its sentences all weigh the same."""

COLUMNS = (
    "number", "sent_id", "source", "document", "text", "words", *WEIGHTS, "label", "note"
)  # fmt: skip
"""Columns of ``{filter}.{kind}.csv``: place in the sample from 1, row of the base, where the
sentence is from, its text, the words that made it a candidate, its stratum and the number of
sentences that it stands for; ``label`` and ``note`` are blank."""

LABELS = ("yes", "no", "unsure")
"""What a person may write in the column ``label``; blank: not labelled yet."""

Kind = Literal["leakage", "precision"]
KINDS: tuple[Kind, ...] = ("leakage", "precision")
"""Leakage: sentences that a filter left in. Precision: sentences that it removed."""


def sheet_name(word: str, kind: Kind) -> str:
    """Return the name that a filter's sheet has without its ending: ``binding.leakage``."""
    return f"{word}.{kind}"
