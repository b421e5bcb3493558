"""CHILDES speech, whichever way it is held: whose utterances are read, and what CHAT's words mean.

Shared by the readers of childes-db's tables and of CHAT files, so that a transcript gives the same
sentences in both forms. The codes are those of the CHAT manual (MacWhinney 2000, *The CHILDES
Project*, part 1: https://talkbank.org/0info/manuals/CHAT.pdf).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from pydantic import Field

from poshgrid import plugins
from poshgrid.corpora.report import Report

LONGEST = 20_000
"""Characters of an utterance; whatever is longer is no utterance but a broken file."""

UNINTELLIGIBLE = r"(?:xxx?|yyy?|www?)(?:'s)?"
"""Words that nobody understood, as CHAT writes them, in any case."""

_UNINTELLIGIBLE = re.compile(UNINTELLIGIBLE, re.IGNORECASE)
_CODE = re.compile(r"[&0+\[<].*|.*[\d=/\\?#%*<>\[\]{}^~|].*|[^\w]+")  # events, omissions, overlaps
_SUFFIX = re.compile(r"@.*$")  # special form markers: kitty@f


class SpeechOptions(plugins.Options):
    """Whose speech is read, and what becomes of what nobody understood."""

    exclude_roles: tuple[str, ...] = Field(
        ("Target_Child", "Child"), description="Roles of speakers who are left out"
    )
    exclude_codes: tuple[str, ...] = Field(
        ("CHI",), description="Codes of speakers who are left out"
    )
    unintelligible: Literal["drop", "remove"] = Field(
        "drop", description="xxx, yyy, www: drop the utterance, or remove the word from it"
    )
    by_age: bool = Field(
        False,
        description="Transcripts stand in the order of the target child's age; those that do not "
        "give it are left out",
    )

    def excludes(self, code: str, role: str | None) -> bool:
        """Return whether a speaker's utterances are left out."""
        return code in self.exclude_codes or role in self.exclude_roles


def arranged(
    turns: Iterable[tuple[float | None, str, str]], options: SpeechOptions, report: Report
) -> Iterator[tuple[str, str]]:
    """Yield (transcript, utterance), by age if the options say so: then all are held in memory.

    Args:
        turns: age of the target child in days (none: not known), transcript, utterance.
        options: whether the order is that of ages; transcripts of one age stay in theirs.
        report: counts what is dropped.
    """
    held: dict[str, tuple[float, list[str]]] = {}
    for age, document, text in turns:
        if not options.by_age:
            yield document, text
        elif age is None:
            report.drop("age not known", text)
        else:
            held.setdefault(document, (age, []))[1].append(text)
    for document, (_, texts) in sorted(held.items(), key=lambda item: item[1][0]):
        yield from ((document, text) for text in texts)


def assemble(
    tokens: Iterable[str],
    end: str,
    options: SpeechOptions,
    report: Report,
    *,
    commas: bool = False,
) -> str | None:
    """Return an utterance as one would write it, or ``None`` if it is dropped.

    Args:
        tokens: words in CHAT, e.g. ``["the", "woof+woof", "has_to", "(be)cause", "kitty@f"]``;
            codes among them (``&-uh``, ``0is``, ``+^``) are left out.
        end: final punctuation.
        options: what becomes of the unintelligible.
        report: counts what is dropped.
        commas: keep tokens that are a comma, attached to the word before them.
    """
    tokens = list(tokens)
    if sum(map(len, tokens)) > LONGEST:
        report.drop("too long", " ".join(tokens))
        return None
    words: list[str] = []
    unintelligible = False
    for raw in tokens:
        if raw == ",":
            if commas and words and not words[-1].endswith(","):
                words[-1] += ","
            continue
        # compounds (bed+room) and phrases that CHAT ties together (have_to) are words to a reader
        word = _SUFFIX.sub("", raw).replace("(", "").replace(")", "").strip(".,!?")
        if _UNINTELLIGIBLE.fullmatch(word):
            unintelligible = True
        elif word and not _CODE.fullmatch(word):
            words.extend(w for w in re.split(r"[+_]", word) if w)
    if unintelligible and (not words or options.unintelligible == "drop"):
        report.drop("unintelligible", " ".join(tokens))
        return None
    if not words:
        report.drop("no words", " ".join(tokens))
        return None
    return " ".join(words).rstrip(",") + end
