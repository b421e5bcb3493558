"""Telephone conversations in Switchboard's transcript format (``A.1: Uh, do you have a pet?``)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field

from poshgrid import plugins
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import lines, listed
from poshgrid.errors import PoshgridError

SPLIT = True

_TURN = re.compile(r"@*([AB])@*\.(\d+):\s*(.*)")
_INLINE = re.compile(r"\s+(?=[AB]\.\d+: )")  # a turn that opens within a line
_EMPHATIC = "very|really|no|yes|yeah|many|much|so|far|long|bye"  # said twice on purpose
_RULES = [
    (re.compile(r"<<[^<>]*>>|<[^<>]*>"), " "),  # <laughter>, <<very faint>>
    (re.compile(r"\{[A-Z]\b|[\[\]{}]|(?<!\S)\+(?!\S)|\(\(|\)\)"), " "),  # annotators' brackets
    (re.compile(r"(?<!\S)-{1,2}(?!\S)"), " , "),  # restarts
    (re.compile(r"(?<![\w'])\w*[\w']-(?=[\s,.?!]|$)"), " "),  # words cut off: sh-, wh-
    (re.compile(r"(?<![\w'-])(?:uh|um|eh|er|hm)(?![\w'-])", re.IGNORECASE), " "),  # fillers
    (re.compile(r"\s+([,.?!])"), r"\1"),
    (re.compile(r"([,.?!])(?:\s*,)+"), r"\1"),
    (re.compile(r"^[\s,]+|(?<=[.?!])[\s]*,"), ""),
    (re.compile(r",(?=[.?!])"), ""),
    (re.compile(r"(?<=[.?!])\s*(?=[.?!])[.?!]"), ""),
    (re.compile(r"\s+"), " "),
]
_REPEAT = re.compile(
    rf"(?<![\w'])(?!(?:{_EMPHATIC})\b)([\w']+(?: [\w']+){{0,3}}), \1(?![\w'])", re.IGNORECASE
)
_SENTENCE_START = re.compile(r"(^|[.?!] )([a-z])")


class Options(plugins.Options):
    """How much of speech is left as it was spoken."""

    disfluencies: bool = Field(False, description="Keep uh, um, repeated and broken-off words")


def files(path: Path, options: Options) -> list[Path]:
    """Return the transcript; of a folder, its file ``transcript``."""
    if path.is_dir():
        path = path / "transcript"
    return listed(path, "")


def read(path: Path, options: Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (call, running text of one turn).

    A turn that breaks off at a comma or a dash is joined to the same speaker's next one: the
    other's "uh-huh" does not end a sentence.
    """
    for file in files(path, options):
        pending: dict[str, str] = {}
        document = ""
        for call, speaker, turn in _turns(file):
            report.lines += 1
            if call != document:
                yield from _finish(pending, document, options, report)
                pending, document = {}, call
            text = f"{pending.pop(speaker, '')} {turn}".strip()
            if text.endswith((",", "--")) or text[-1:].isalpha():
                pending[speaker] = text
            else:
                yield from _finish({speaker: text}, document, options, report)
        yield from _finish(pending, document, options, report)


def _turns(file: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (call, speaker, text); lines without a speaker go on with the turn before them."""
    call, last = 0, 0
    speaker, text = "", ""
    for line in itertools.chain.from_iterable(map(_INLINE.split, lines(file))):
        match = _TURN.match(line)
        if match:
            if speaker:
                yield f"call-{call:04d}", speaker, text
            number = int(match[2])
            # Turns count up within a call: a lower number opens the next one.
            if number <= last or call == 0:
                call += 1
            speaker, text, last = match[1], match[3].strip(), number
        elif speaker:
            text = f"{text} {line.strip()}".strip()
    if not speaker:
        raise PoshgridError(
            f"{file}: line 1: no turn such as 'A.1: Hello.'; give a Switchboard `transcript` file"
        )
    yield f"call-{call:04d}", speaker, text


def _finish(
    turns: dict[str, str], document: str, options: Options, report: Report
) -> Iterator[tuple[str, str]]:
    for _, text in sorted(turns.items()):
        fluent = mend(text) if not options.disfluencies else text
        if fluent.strip(" .,?!-"):
            yield document, fluent
        else:
            report.drop("only noise or fillers")


def mend(text: str) -> str:
    """Return a turn without noises, fillers, broken-off words and repetitions.

    ``"Uh, the, the <laughter> dog, wh-, um, ran. -"`` becomes ``"The dog, ran."``.
    """
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    text = text.strip()
    while (shorter := _REPEAT.sub(r"\1", text)) != text:
        text = shorter
    text = text.rstrip(" ,-")
    if text and text[-1] not in ".?!":
        text += "."
    return _SENTENCE_START.sub(lambda m: m[1] + m[2].upper(), text)
