"""A sheet as a page for a browser: one file, no network, labels kept until they are exported."""

from __future__ import annotations

from collections.abc import Sequence

from poshgrid.audit.highlight import pieces
from poshgrid.audit.schema import COLUMNS, LABELS, Kind, sheet_name
from poshgrid.audit.sheet import Row, cells, digest
from poshgrid.specs import AuditSpec

TITLES: dict[Kind, str] = {"leakage": "Leakage", "precision": "Precision"}
MEANING: dict[Kind, str] = {
    "leakage": "These sentences are in the corpus. Yes: the filter missed this evidence.",
    "precision": "The filter removed these sentences. Yes: it was right to.",
}


def general_question(word: str) -> str:
    """Return the question of a filter whose module asks none of its own."""
    return (
        f"Is this sentence direct evidence for {word.replace('-', ' ')}: would it tell a learner "
        "that the rule depends on structure, and not on the order of words?"
    )


def render(
    spec: AuditSpec, word: str, kind: Kind, rows: Sequence[Row], candidates: int, question: str
) -> str:
    """Return the HTML of a sheet.

    Args:
        spec: the audit.
        word: the filter.
        kind: which of its sheets.
        rows: the sample.
        candidates: number of sentences that the sample was drawn from.
        question: what the reader answers for each sentence.

    Raises:
        ValueError: the words of a row are not those of its text.
    """
    import jinja2
    from markupsafe import Markup

    loader = jinja2.PackageLoader("poshgrid", "audit")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    css, script = (Markup(loader.get_source(environment, f"page.{e}")[0]) for e in ("css", "js"))
    name = sheet_name(word, kind)
    items = [
        (number, row, pieces(row.text, row.words, row.places))
        for number, row in enumerate(rows, start=1)
    ]
    sample = digest((number, row.sent_id) for number, row, _ in items)
    return environment.get_template("page.html").render(
        spec=spec, word=word, title=f"{TITLES[kind]}: {word}", meaning=MEANING[kind],
        question=question, candidates=candidates, items=items, labels=LABELS,
        css=css, script=script,
        data={
            # By the sample, too: labels of one grid must not turn up in another's sheet
            "file": f"{name}.csv",
            "store": f"poshgrid audit {spec.condition} {spec.size} {name} {sample}",
            "columns": COLUMNS, "rows": cells(rows),
        },
    )  # fmt: skip
