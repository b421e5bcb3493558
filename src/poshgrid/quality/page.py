"""What the gate found, as a page for a browser: one file, no network, no script.

It shows some pairs of each phenomenon, drawn at random, their critical regions marked.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import polars as pl

Pieces = list[tuple[str, bool]]
"""A sentence cut up: text, and whether it is in the critical region."""


def _example(row: dict[str, Any]) -> dict[str, Any]:
    """Return an item (``ITEMS``) as the page shows it: its members cut up."""
    pieces = {m: _pieces(row[m], row[f"{m}_start"], row[f"{m}_end"]) for m in ("good", "bad")}
    return {**row, **pieces}


def _pieces(text: str, start: int, end: int) -> Pieces:
    parts = ((text[:start], False), (text[start:end], True), (text[end:], False))
    return [(part, inside) for part, inside in parts if part]


_DRAWN = 5  # pairs of a phenomenon that are shown; the same suite shows the same
_SHOWN = 5  # faults of a check that are shown with their pair
VERDICTS = {
    "passed": "All checks passed.",
    "flagged": "Usable, with flags: read them before you read an accuracy.",
    "failed": "Refused: items have faults. Mend them and make the suite again.",
}
NULLS = {"untrained": "Untrained", "unigram": "Unigram", "ngram": "n-gram"}


def render(found: dict[str, Any], items: pl.DataFrame) -> str:
    """Return the HTML of a suite's quality page.

    Args:
        found: what ``quality.json`` holds.
        items: the suite (``ITEMS``).
    """
    import jinja2
    from markupsafe import Markup

    loader = jinja2.PackageLoader("poshgrid", "quality")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    shown = {fault["item"] for check in found["checks"] for fault in check["first"][:_SHOWN]}
    rows = items.filter(pl.col("item_id").is_in(sorted(shown))).unique("item_id", keep="first")
    measures = list(dict.fromkeys(each["measure"] for each in found["differences"]))
    return environment.get_template("page.html").render(
        css=Markup(loader.get_source(environment, "page.css")[0]),
        found=found,
        verdict=VERDICTS[found["verdict"]],
        checks=[{**check, "first": check["first"][:_SHOWN]} for check in found["checks"]],
        faulty={row["item_id"]: _example(row) for row in rows.iter_rows(named=True)},
        kinds=[kind for kind in NULLS if any(n["null"] == kind for n in found["nulls"])],
        names=NULLS,
        nulls=_by_phenomenon(found["nulls"], "null"),
        measures=measures,
        differences=_by_phenomenon(found["differences"], "measure"),
        examples={
            phenomenon: [_example(row) for row in some.iter_rows(named=True)]
            for phenomenon, some in _drawn(items)
        },
    )


def _by_phenomenon(rows: list[dict[str, Any]], key: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Return phenomenon -> value of ``key`` -> row."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["phenomenon"], {})[row[key]] = row
    return found


def _drawn(items: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield each phenomenon and some of its pairs, whatever the other phenomena are."""
    for (name,), part in items.group_by("phenomenon", maintain_order=True):
        rng = random.Random(f"0/{name}")
        yield str(name), part[sorted(rng.sample(range(part.height), min(_DRAWN, part.height)))]
