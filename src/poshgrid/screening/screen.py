"""Which sentences hold the words that a filter needs: the others need no parse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import ModuleType

from poshgrid import plugins

LEXICAL = "poshgrid.screening.lexical"
FILTERS = "poshgrid.evidence.filters"


def lexical(word: str) -> ModuleType:
    """Return the module that holds a filter's lexical tests, by the filter's config word.

    That is one of ``poshgrid.screening.lexical``, so that editing the filter's rule reruns no
    parse, or else the filter's own. It may have ``screen``, ``backstop`` and ``candidates``.
    """
    return plugins.load(LEXICAL if word in plugins.names(LEXICAL) else FILTERS, word)


def screens(filters: Iterable[str]) -> list[str]:
    """Return the filters whose screens together tell what to parse; none: parse everything.

    A filter that has no screen may remove any sentence.
    """
    words = sorted(filters)
    return words if all(hasattr(lexical(word), "screen") for word in words) else []


def screen(filters: Sequence[str]) -> Callable[[Sequence[str]], bool]:
    """Return the test of a sentence's words: whether any of the filters may remove it.

    Args:
        filters: what :func:`screens` returned.
    """
    tests = [lexical(word).screen for word in filters]
    return lambda words: any(test(words) for test in tests)
