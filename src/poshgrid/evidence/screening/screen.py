"""Decide by its words whether a sentence needs a parse: whether any filter may remove it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType

from poshgrid import plugins
from poshgrid.evidence import patterns
from poshgrid.plugins import FILTERS

LEXICAL = "poshgrid.evidence.screening.lexical"
Screen = Callable[[Sequence[str]], bool]


def lexical(word: str) -> ModuleType:
    """Return the module with a filter's lexical tests, by the filter's config word.

    It is a module of ``poshgrid.evidence.screening.lexical``, so that editing the filter's rule
    reruns no parse, or else the filter's own. It may have ``screen``, ``BACKSTOPS`` and
    ``candidates``.
    """
    return plugins.load(LEXICAL if word in plugins.names(LEXICAL) else FILTERS, word)


def screen_of(word: str) -> Screen | None:
    """Return a filter's test of a sentence's words; ``None`` if it may remove any sentence.

    Filters written in patterns have a test if each of their patterns names words.
    """
    module = lexical(word)
    written: Screen | None = getattr(module, "screen", None)
    written_patterns = getattr(module, "PATTERNS", None)
    if written is None and written_patterns and patterns.lexical(written_patterns):
        return functools.partial(patterns.possible, written_patterns)
    return written


def screens(filters: Iterable[str]) -> list[str]:
    """Return the filters whose screens together decide what to parse; [] if all must be parsed."""
    words = sorted(filters)
    return words if all(screen_of(word) for word in words) else []


def screen(filters: Sequence[str]) -> Screen:
    """Return the test of a sentence's words: whether any of the filters may remove it.

    Args:
        filters: result of :func:`screens`; []: all sentences with a word pass.
    """
    if not filters:
        return bool
    tests = [test for word in filters if (test := screen_of(word))]
    return lambda words: any(test(words) for test in tests)
