"""The texts of the report: captions, notes and sentences, each a macro of ``texts.txt``.

``tables.yaml`` has the titles of columns, ``methods.txt`` the methods.
"""

from __future__ import annotations

import importlib.resources
import re
from functools import cache
from typing import Any

import yaml

from poshgrid.core import writing

_FILTERS = ("count", "counted", "duration", "listed", "percent", "points", "probability", "signed")


@cache
def environment(*, escaped: bool = True, strict: bool = True) -> Any:  # noqa: ANN401 - imported late
    """Return the jinja2 environment of the page's templates.

    Args:
        escaped: whether values are escaped for HTML.
        strict: whether an unknown name is an error; otherwise it is an empty text.
    """
    import jinja2

    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("poshgrid", "report"),
        autoescape=escaped,
        undefined=jinja2.StrictUndefined if strict else jinja2.ChainableUndefined,
        extensions=["jinja2.ext.do"],
    )
    templates.filters |= {name: getattr(writing, name) for name in _FILTERS} | {"g": "{:g}".format}
    templates.globals |= {"say": say}
    return templates


def say(name: str, /, *facts: object, **named: object) -> str:
    """Return a text of ``texts.txt`` for these facts; ``-`` in its name becomes ``_``."""
    texts = environment(escaped=False).get_template("texts.txt").module
    return tidy(getattr(texts, name.replace("-", "_"))(*facts, **named))


def tidy(text: str) -> str:
    """Join the lines of a text with spaces, without a space before ``.,;:)``."""
    joined = re.sub(r"\s*\n\s*(?=[.,;:)])", "", text)
    return re.sub(r"\s*\n\s*| {2,}", " ", joined).strip()


@cache
def titles() -> dict[str, dict[str, str]]:
    """Return table -> column -> its title and format (:func:`poshgrid.core.table.of_frame`)."""
    text = (importlib.resources.files("poshgrid.report") / "tables.yaml").read_text("utf-8")
    content: dict[str, dict[str, str]] = yaml.safe_load(text)
    return content
