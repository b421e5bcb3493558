"""Utterance tables of childes-db: speech to children, without the children's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from poshgrid.corpora.readers.chat import Order as Options
from poshgrid.corpora.readers.chat import Turn, arranged, assemble, is_child
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import label, listed_below, rows

SPLIT = False
COLUMNS = ["gloss", "type", "speaker_code", "speaker_role", "transcript_id"]
AGE = "target_child_age"  # in days

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_ENDS = {"exclamation": "!", "imperative_emphatic": "!"}


def files(path: Path, options: Options) -> list[Path]:
    """Return the tables: one ``.csv`` file, or all below a folder."""
    return listed_below(path, ".csv", ".csv.gz")


def read(path: Path, options: Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (transcript, utterance); CHAT's final punctuation is restored from ``type``."""
    return arranged(_turns(path, options, report), options, report)


def _turns(path: Path, options: Options, report: Report) -> Iterator[Turn]:
    columns = [*COLUMNS, AGE] if options.by_age else COLUMNS
    for file in files(path, options):
        name = label(file, path)
        for row in rows(file, columns):
            report.lines += 1
            if is_child(row["speaker_code"], row["speaker_role"]):
                report.drop("child's utterance", row["gloss"])
            elif text := utterance(row["gloss"], row["type"], report):
                known = options.by_age and _NUMBER.fullmatch(row[AGE])
                age = float(row[AGE]) if known else None
                yield age, f"{name}-{row['transcript_id']}", text


def utterance(gloss: str, kind: str, report: Report) -> str | None:
    """Return the text of an utterance, or ``None`` if it is dropped.

    Args:
        gloss: words in CHAT, e.g. ``"the woof+woof has_to go"``.
        kind: childes-db's ``type``, e.g. ``"question"``, ``"trail off question"``.
        report: counts what is dropped.
    """
    # the table writes NA for an empty cell
    words = [word for word in gloss.split() if word != "NA"]
    return assemble(words, "?" if kind.endswith("question") else _ENDS.get(kind, "."), report)
