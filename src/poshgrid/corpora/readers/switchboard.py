"""Telephone conversations in Switchboard's transcript format (``A.1: Uh, do you have a pet?``)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.corpora.joining import LONGEST, fluent
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import lines, listed_below

SPLIT = True
ENGLISH = True

_TURN = re.compile(r"@*([AB])@*\.(\d+):\s*(.*)")
_INLINE = re.compile(r"(?<=\s)(?=[AB]\.\d+: )")  # a turn that begins within a line


def files(path: Path, options: plugins.Options) -> list[Path]:
    """Return the transcript; of a folder, its file ``transcript``."""
    return listed_below(path / "transcript" if path.is_dir() else path)


def read(path: Path, options: plugins.Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (call, text of one turn).

    A turn that breaks off at a comma or a dash is joined with the same speaker's next turn: the
    other speaker's "uh-huh" does not end a sentence.
    """
    for file in files(path, options):
        pending: dict[str, str] = {}
        document = ""
        for call, speaker, turn in _turns(file):
            report.lines += 1
            if call != document:
                yield from _finish(pending, document, report)
                pending, document = {}, call
            text = f"{pending.pop(speaker, '')} {turn}".strip()
            if text.endswith((",", "--")) or text[-1:].isalpha():
                pending[speaker] = text
            else:
                yield from _finish({speaker: text}, document, report)
        yield from _finish(pending, document, report)


def _turns(file: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (call, speaker, text); lines without a speaker continue the previous turn."""
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


def _finish(turns: dict[str, str], document: str, report: Report) -> Iterator[tuple[str, str]]:
    for _, text in sorted(turns.items()):
        if len(text) > LONGEST:
            report.drop("too long", text)
        elif spoken := fluent(text, report):
            yield document, spoken
