"""Utterance tables of childes-db: speech to children, without the children's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from poshgrid import plugins
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import listed, rows

SPLIT = False
COLUMNS = ["gloss", "type", "speaker_code", "speaker_role", "transcript_id"]

_UNINTELLIGIBLE = {"xxx", "yyy", "www", "xx", "yy", "ww"}
_CODE = re.compile(r"[&0+\[<].*|.*[\d=/\\?#%*<>\[\]{}^~|].*|[^\w]+")  # events, omissions, overlaps
_SUFFIX = re.compile(r"@.*$")  # special form markers: kitty@f
_ENDS = {"question": "?", "exclamation": "!", "imperative_emphatic": "!"}


class Options(plugins.Options):
    """Whose speech is read, and what becomes of what nobody understood."""

    exclude_roles: tuple[str, ...] = Field(
        ("Target_Child", "Child"), description="Values of speaker_role that are left out"
    )
    exclude_codes: tuple[str, ...] = Field(
        ("CHI",), description="Values of speaker_code that are left out"
    )
    unintelligible: Literal["drop", "remove"] = Field(
        "drop", description="xxx, yyy, www: drop the utterance, or remove the word from it"
    )


def files(path: Path, options: Options) -> list[Path]:
    """Return the tables: one ``.csv`` file, or all of a folder."""
    return listed(path, ".csv")


def read(path: Path, options: Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (transcript, utterance); CHAT's final punctuation is restored from ``type``."""
    for file in files(path, options):
        for row in rows(file, COLUMNS):
            report.lines += 1
            if (
                row["speaker_role"] in options.exclude_roles
                or row["speaker_code"] in options.exclude_codes
            ):
                report.drop("child's utterance")
                continue
            text = utterance(row["gloss"], row["type"], options, report)
            if text:
                yield f"{file.stem}-{row['transcript_id']}", text


def utterance(gloss: str, kind: str, options: Options, report: Report) -> str | None:
    """Return an utterance as one would write it, or ``None`` if it is dropped.

    Args:
        gloss: words in CHAT, e.g. ``"the woof+woof has_to go"``.
        kind: childes-db's ``type``, e.g. ``"question"``, ``"trail off question"``.
        options: what becomes of the unintelligible.
        report: counts what is dropped.
    """
    words, unintelligible = [], False
    for raw in gloss.split():
        # compounds (bed+room) and phrases that CHAT ties together (have_to) are words to a reader
        word = _SUFFIX.sub("", raw).replace("(", "").replace(")", "").strip(".,!?")
        if word.lower() in _UNINTELLIGIBLE:
            unintelligible = True
        elif word and word != "NA" and not _CODE.fullmatch(word):
            words.extend(w for w in re.split(r"[+_]", word) if w)
    if unintelligible and (not words or options.unintelligible == "drop"):
        report.drop("unintelligible")
        return None
    if not words:
        report.drop("no words")
        return None
    end = "?" if kind.endswith("question") else _ENDS.get(kind, ".")
    return " ".join(words) + end
