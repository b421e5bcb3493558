"""Folders for other tools: models and items for the Hub and harnesses, tables as a data package."""

from __future__ import annotations


def card(name: str, **facts: object) -> str:
    """Return the card of an exported folder, Markdown after a head of YAML, from ``{name}.md``."""
    import jinja2

    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("poshgrid", "report/export"), autoescape=False,
        trim_blocks=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True,
    )  # fmt: skip
    templates.filters["percent"] = lambda share: "" if share is None else f"{100 * share:.1f}"
    return templates.get_template(f"{name}.md").render(facts)
