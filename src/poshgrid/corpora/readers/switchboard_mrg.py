"""Telephone conversations as the Penn Treebank's Switchboard trees (``.mrg``): one tree a sentence.

What the annotators marked as taken back (EDITED) is left out, and so are traces, the codes of
speakers, and the marks of disfluency (Taylor, Marcus & Santorini 2003, *The Penn Treebank: An
Overview*; Meteer et al. 1995 for the disfluencies).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from poshgrid import plugins
from poshgrid.corpora.joining import LONGEST, fluent, joined
from poshgrid.corpora.listing import label, listed_below
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import lines
from poshgrid.errors import PoshgridError

SPLIT = False

_TOKEN = re.compile(r"[()]|[^\s()]+")
_BANNER = "*x*"  # the licence at the head of a file stands between rows of these
_MARKS = {"CODE", "-NONE-", "-DFL-", "-LRB-", "-RRB-"}  # nodes that hold no word
_UNINTELLIGIBLE = "MUMBLEx"


def files(path: Path, options: plugins.Options) -> list[Path]:
    """Return the files: one, or all ``.mrg`` and ``.mrg.gz`` of a folder's folders."""
    return listed_below(path, ".mrg", ".mrg.gz")


def read(path: Path, options: plugins.Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (conversation, sentence). Documents are named by their path below the source's.

    A sentence that holds a word which nobody understood is dropped.
    """
    for file in files(path, options):
        document = label(file, path)
        for tree in leaves(lines(file), str(file)):
            if not tree:  # a speaker's code, an empty tree
                continue
            report.lines += 1
            if text := sentence(tree, report):
                yield document, text


def sentence(tree: list[str], report: Report) -> str | None:
    """Return a tree's words as one would write them, or ``None`` if they are dropped.

    Args:
        tree: the words of a tree; "" stands for one that the speaker took back.
        report: counts what is dropped.
    """
    words = [word for word in tree if word]
    if _UNINTELLIGIBLE in words:
        report.drop("unintelligible", " ".join(words))
        return None
    if sum(map(len, words)) > LONGEST:
        report.drop("too long", " ".join(words))
        return None
    return fluent(joined(words), report) or None  # do n't and wan na are one word each again


def leaves(text: Iterable[str], place: str) -> Iterator[list[str]]:
    """Yield the words of each tree; those below :data:`_MARKS` are left out.

    Args:
        text: lines of bracketed trees, e.g. ``( (S (NP-SBJ (PRP I) ) (VP (VBP know) )))``.
        place: the file, for messages.

    Raises:
        PoshgridError: a bracket has no partner, or a word stands outside of brackets.
    """
    labels: list[str] = []  # of the open brackets
    hidden = edited = 0  # how many of them are marks, are EDITED
    words: list[str] = []
    opening = False  # the last token was "(": a label may follow
    number = start = 1
    seen = False
    for number, line in enumerate(text, 1):
        if not labels and line.lstrip().startswith(_BANNER):
            continue
        for match in _TOKEN.finditer(line):
            token = match[0]
            if token == "(":
                if not labels:
                    start = number
                labels.append("")
                opening = True
                continue
            if not labels:
                fault = "')' without '('" if token == ")" else f"{token[:20]!r} outside of brackets"
                raise PoshgridError(
                    f"{place}: line {number:,}: {fault}; give the treebank's bracketed .mrg files"
                )
            if token == ")":
                name = labels.pop()
                hidden -= name in _MARKS
                edited -= name == "EDITED"
                if not labels:
                    yield words
                    words, seen = [], True
            elif opening:
                name = labels[-1] = token if token in _MARKS else token.split("-")[0]
                hidden += name in _MARKS
                edited += name == "EDITED"
            elif not hidden:
                words.append("" if edited else token)
            opening = False
    if labels or not seen:
        raise PoshgridError(
            f"{place}: line {start if labels else number:,}: no whole tree; give the treebank's "
            "bracketed .mrg files, and fetch again what was cut"
        )
