"""A sheet as a page for a browser: one file, no network, labels kept until they are exported."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import ModuleType

from poshgrid.audit.rows import Drawn
from poshgrid.audit.sheet import COLUMNS, LABELS, Kind, cells, digest, sheet_name
from poshgrid.config import Filter
from poshgrid.config.specs import AuditSpec


def spans(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Return where each word begins and ends in the text.

    Args:
        text: a sentence.
        words: its words in order, as :func:`poshgrid.parsing.words.tokenize` cuts them: nothing but
            white space stands between two of them.

    Raises:
        ValueError: the words are not those of the text.
    """
    found, end = [], 0
    for word in words:
        start = text.find(word, end)
        if start < 0 or text[end:start].strip():
            raise ValueError(f"{word!r} is not the next word of {text!r}")
        end = start + len(word)
        found.append((start, end))
    return found


def pieces(text: str, words: Sequence[str], places: Iterable[int]) -> list[tuple[str, bool]]:
    """Cut a text into pieces that are marked (``True``) or not; together they are the text.

    Args:
        text: a sentence.
        words: all its words.
        places: places of the words to mark, from 1.

    Raises:
        ValueError: the words are not those of the text, or it has no word at a place.
    """
    where = spans(text, words)
    cut: list[tuple[str, bool]] = []
    end = 0
    for place in sorted(set(places)):
        if not 1 <= place <= len(where):
            raise ValueError(f"{text!r} has no word {place}")
        start, stop = where[place - 1]
        cut += [(text[end:start], False), (text[start:stop], True)]
        end = stop
    return [(piece, marked) for piece, marked in [*cut, (text[end:], False)] if piece]


TITLES: dict[Kind, str] = {"leakage": "Leakage", "precision": "Precision"}
MEANING: dict[Kind, str] = {
    "leakage": "These sentences are in the corpus. Yes: the filter missed this evidence.",
    "precision": "The filter removed these sentences. Yes: it was right to.",
}


def question_of(module: ModuleType, filters: Sequence[Filter]) -> str:
    """Return what the sheets of a filter ask: the question of the condition's reading of it.

    Args:
        module: the filter's lexical tests; ``QUESTIONS`` has the question of each reading.
        filters: the filter in each of the condition's readings, mostly one.
    """
    known: dict[str, str] = getattr(module, "QUESTIONS", {})
    found = [known.get(each.reading) or general_question(each.name) for each in filters]
    return " Or: ".join(dict.fromkeys(found))


def general_question(word: str) -> str:
    """Return the question of a filter whose module asks none of its own."""
    return (
        f"Is this sentence direct evidence for {word.replace('-', ' ')}: would it tell a learner "
        "that the rule depends on structure, and not on the order of words?"
    )


def _from(kind: Kind, drawn: Drawn, *, whole: bool) -> str:
    """Say what the sentences of a sheet were drawn from."""
    number = f"{len(drawn.rows):,} of {drawn.candidates:,}"
    if kind == "precision":
        return f"{number} sentences that the filter removed."
    if whole:
        return (
            f"{number} sentences: all that the filter left in. Those that look like evidence to a "
            "detector are drawn more often; poshgrid leak-rate weights them down."
        )
    return (
        f"{number} candidates: sentences with words that evidence needs. Sentences without "
        "candidates' words were never looked at, and the rate says nothing of them."
    )


def render(
    spec: AuditSpec, word: str, kind: Kind, drawn: Drawn, question: str, *, whole: bool = False
) -> str:
    """Return the HTML of a sheet.

    Args:
        spec: the audit.
        word: the filter.
        kind: which of its sheets.
        drawn: the sample.
        question: what the reader answers for each sentence.
        whole: whether leaks were looked for in the whole condition.

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
        for number, row in enumerate(drawn.rows, start=1)
    ]
    sample = digest((number, row.sent_id, row.text) for number, row, _ in items)
    return environment.get_template("page.html").render(
        spec=spec, word=word, title=f"{TITLES[kind]}: {word}", meaning=MEANING[kind],
        question=question, drawn_from=_from(kind, drawn, whole=whole), items=items, labels=LABELS,
        css=css, script=script,
        data={
            # By the sample, too: labels of one grid must not turn up in another's sheet
            "file": f"{name}.csv",
            "store": f"poshgrid audit {spec.condition} {spec.size} {name} {sample}",
            "columns": COLUMNS, "rows": cells(drawn.rows),
        },
    )  # fmt: skip
