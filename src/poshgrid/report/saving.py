"""A figure as files that people take along, and as SVG in the page's own colours.

This is most of a page's time, so other processes do it while the page draws the next figure.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poshgrid import files
from poshgrid.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS: dict[str, dict[str, Any]] = {
    "pdf": {"metadata": {"CreationDate": None, "Producer": None, "Creator": None}},
    "png": {"metadata": {"Software": None}, "dpi": 200, "facecolor": "white"},
}
"""Ending of a figure's file -> how matplotlib saves it."""
TIP = "tip "
"""Begins the id of an unseen mark that the page shows a text over: no script, no other file."""


def finish(figure: Figure, folder: Path, name: str, label: str) -> str:
    """Save a figure and return it as inline SVG.

    Args:
        figure: to be saved.
        folder: of the files.
        name: of the files, unique on the page.
        label: what a screen reader says.
    """
    with style.drawing(name):
        save(settle(figure), folder, name)
        return svg(figure, name, label)


def settle(figure: Figure) -> Figure:
    """Lay a figure out once; otherwise each format that it is saved in would do so again.

    With any layout engine, "none" among them, each would also draw it twice.
    """
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)
    return figure


def svg(figure: Figure, name: str, label: str) -> str:
    """Return a figure as inline SVG whose colours are the page's CSS variables.

    Args:
        figure: a figure drawn inside :func:`poshgrid.report.style.drawing`.
        name: unique on the page; prefixed to every identifier.
        label: what a screen reader says, escaped by the caller's template engine or plain text.
    """
    from html import escape

    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(rf' id="{TIP}([^"]*)">', r"><title>\1</title>", text)
    used = set(re.findall(r'(?:xlink:href="|url\()#([^")]*)', text))
    text = re.sub(r' id="([^"]*)"', lambda m: f' id="{name}-{m[1]}"' if m[1] in used else "", text)
    text = re.sub(r'(xlink:href="|url\()#', rf"\1#{name}-", text)
    text = text.replace('xlink:href="', 'href="')
    text = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font-size: \1", text)
    text = re.sub(
        r"font: (?:bold|700) ([\d.]+px) [^;\"]*", r"font-size: \1; font-weight: 600", text
    )
    for colour in style.COLOURS:
        text = text.replace(colour.light, f"var(--{colour.name})")
    box = re.search(r'viewBox="([^"]*)"', text)
    if box is None:
        raise ValueError("the SVG has no viewBox")
    head = f'<svg viewBox="{box[1]}" role="img" aria-label="{escape(label)}" class="figure">'
    return re.sub(r"\s*\n\s*", "\n", head + text[text.index(">") + 1 :]).strip()


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write a figure in each of :data:`KINDS`, on white and without dates."""
    for kind, options in KINDS.items():
        drawn = io.BytesIO()  # the PDF writer fails in its own words where the disk is full
        figure.savefig(drawn, format=kind, **options)
        with files.atomic(folder / f"{name}.{kind}") as temporary:
            temporary.write_bytes(drawn.getvalue())
