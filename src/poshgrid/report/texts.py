"""The words of the report: captions, notes and sentences, each a macro of a template.

``texts.txt`` has plain texts, which the page escapes; ``html/parts.html`` has what needs markup.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from markupsafe import Markup

from poshgrid.tables import words

_FILTERS = ("count", "counted", "duration", "listed", "percent", "points", "probability", "signed")


@cache
def environment(*, escaped: bool = True, strict: bool = True) -> Any:  # noqa: ANN401 - imported late
    """Return what reads the page's templates.

    Args:
        escaped: whether values are escaped for HTML.
        strict: whether a name that is not known is an error, not an empty text.
    """
    import jinja2

    found = jinja2.Environment(
        loader=jinja2.PackageLoader("poshgrid", "report"),
        autoescape=escaped,
        undefined=jinja2.StrictUndefined if strict else jinja2.ChainableUndefined,
        extensions=["jinja2.ext.do"],
    )
    found.filters |= {name: getattr(words, name) for name in _FILTERS} | {"g": "{:g}".format}
    found.globals["kind_of"] = lambda block: type(block).__name__
    return found


def say(name: str, /, *facts: object, **named: object) -> str:
    """Return a text of ``texts.txt``, filled with facts."""
    return tidy(_macro("texts.txt", name, escaped=False)(*facts, **named))


def markup(name: str, /, *facts: object, **named: object) -> Markup:
    """Return a part of ``html/parts.html``, filled with facts."""
    return Markup(_macro("html/parts.html", name, escaped=True)(*facts, **named))


@cache
def _macro(template: str, name: str, *, escaped: bool) -> Any:  # noqa: ANN401 - imported late
    return getattr(environment(escaped=escaped).get_template(template).module, name)


def tidy(words: str) -> str:
    """Join the lines of a text: a new line is a space, and nothing before a closing mark."""
    joined = re.sub(r"\s*\n\s*(?=[.,;:)])", "", words)
    return re.sub(r"\s*\n\s*| {2,}", " ", joined).strip()
