"""The look of the report: one palette and one set of type sizes, for the page and the figures.

Colours come in pairs, one for light and one for dark backgrounds. Figures are drawn in the light
colours; on the page each colour becomes a CSS variable, so that figures follow the reader's light
or dark setting.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from poshgrid.core import files

if TYPE_CHECKING:  # matplotlib is imported when a figure is drawn
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

__all__ = ["Axes", "Figure", "Line2D"]  # types that other modules import from here


@dataclass(frozen=True)
class Colour:
    """A colour on a light and on a dark background, as lower-case ``#rrggbb``."""

    name: str
    light: str
    dark: str


# Six hues after Okabe and Ito, darkened (lightened) to reach a contrast of 3:1 on the page; a test
# keeps them apart for readers with protanopia and deuteranopia.
SERIES = (
    Colour("series-0", "#006ab3", "#4aa3e8"),  # blue
    Colour("series-1", "#df6100", "#ff7f3f"),  # vermillion
    Colour("series-2", "#009a72", "#2fc49a"),  # bluish green
    Colour("series-3", "#d36cb3", "#f3b6e0"),  # pink
    Colour("series-4", "#2b2350", "#fbf3c4"),  # near-black violet, near-white cream
    Colour("series-5", "#553a08", "#9a7b4f"),  # brown
)
PAGE = Colour("page", "#fdfdfc", "#15181c")
INK = Colour("ink", "#1c1e21", "#e8e6e1")
MUTED = Colour("muted", "#5e6268", "#a3a8ae")
RULE = Colour("rule", "#d9d9d5", "#383d44")
PANEL = Colour("panel", "#f4f4f1", "#1e2227")
ACCENT = Colour("accent", "#0b5a92", "#7cc0f5")
ABOVE = Colour("above", "#3f8fc9", "#2f7fb9")  # cells above chance; opacity grows with distance
BELOW = Colour("below", "#e08a3c", "#b0651c")  # cells below chance
WARNING = Colour("warning", "#9a3b00", "#ffb27a")
COLOURS = (*SERIES, PAGE, INK, MUTED, RULE, PANEL, ACCENT, ABOVE, BELOW, WARNING)

CHANCE: dict[str, Any] = {"color": MUTED.light, "linewidth": 1, "linestyle": (0, (4, 3))}
"""The line of 50%, and of other references."""
WIDE = 9.6  # inches
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))


class Look(NamedTuple):
    """How a series is drawn."""

    colour: str
    marker: str
    dashes: Any

    def line(self, **other: Any) -> dict[str, Any]:  # noqa: ANN401 - matplotlib's
        """Return matplotlib's options of a line."""
        own = {"color": self.colour, "marker": self.marker, "linestyle": self.dashes}
        return own | other


class Palette:
    """Give each name one colour, mark and dash pattern on the whole page, by order of first use."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, name: str) -> Look:
        """Return the look of a name, with or without a remark in brackets; no name is blue."""
        name = name.partition(" (")[0]
        number = self._numbers.setdefault(name, len(self._numbers)) if name else 0
        dashes = _DASHES[number // len(SERIES) % len(_DASHES)]
        return Look(SERIES[number % len(SERIES)].light, _MARKERS[number % len(_MARKERS)], dashes)


def css_variables() -> str:
    """Return the palette as CSS custom properties, light or dark as the reader's setting."""

    def variables(kind: str) -> str:
        pairs = ((c.name, getattr(c, kind)) for c in COLOURS)
        return "".join(f"--{name}:{code};--{name}-rgb:{_rgb(code)};" for name, code in pairs)

    return (
        f":root{{color-scheme:light dark;{variables('light')}}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{{variables('dark')}}}}}\n"
        f"@media print{{:root{{color-scheme:light;{variables('light')}}}}}\n"
    )


def _rgb(colour: str) -> str:
    return " ".join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))


@contextmanager
def drawing(salt: str) -> Iterator[None]:
    """Set matplotlib up for one figure: our fonts, and the same bytes in every run.

    Args:
        salt: the figure's name, from which the identifiers in the SVG are made.
    """
    import matplotlib as mpl

    look = Path(__file__).with_name("figures.mplstyle")
    with mpl.rc_context({"svg.hashsalt": salt}, fname=look):
        yield


def figure(height: float) -> Figure:
    """Return a figure as wide as the page; ``height`` is in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDE, height), layout="constrained")


def handle(label: str, **look: Any) -> Line2D:  # noqa: ANN401 - matplotlib's
    """Return a line or mark of a legend; default: grey."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **({"color": MUTED.light, "label": label} | look))


def legend(drawn: Figure, handles: Sequence[Any]) -> None:
    """Put a legend above the panels, in as many columns as fit.

    Args:
        drawn: a figure with a constrained layout.
        handles: lines and patches with their labels; empty: no legend.
    """
    longest = max((len(handle.get_label()) for handle in handles), default=0)
    width = 0.55 + 0.058 * longest  # inches: the handle, and letters of about this width
    columns = int(WIDE // width)
    if handles:
        drawn.legend(
            handles=list(handles), loc="outside upper left", borderaxespad=0.2, handlelength=2.6,
            columnspacing=1.6, ncols=min(len(handles), max(columns, 1), 6),
        )  # fmt: skip


# ---- files of figures ----------------------------------------------------------------------------

KINDS: dict[str, dict[str, Any]] = {
    "pdf": {"metadata": {"CreationDate": None, "Producer": None, "Creator": None}},
    "png": {"metadata": {"Software": None}, "dpi": 200, "facecolor": "white"},
}
"""Ending of a figure's file -> how matplotlib saves it."""
TIP = "tip "
"""Prefix of the id of an invisible mark. The page turns the rest of the id into its tooltip, which
needs no script."""


def finish(drawn: Figure, folder: Path, name: str, label: str) -> str:
    """Save a figure in each format of :data:`KINDS`, without dates; return it as inline SVG.

    Args:
        drawn: the figure.
        folder: of the files.
        name: of the files, unique on the page.
        label: text for screen readers.
    """
    with drawing(name):
        engine = drawn.get_layout_engine()
        if engine is not None:  # lay the figure out once, not again for each format
            engine.execute(drawn)
            drawn.set_layout_engine(None)
        for kind, options in KINDS.items():
            content = io.BytesIO()  # files.atomic reports a full disk better than the PDF writer
            drawn.savefig(content, format=kind, **options)
            with files.atomic(folder / f"{name}.{kind}") as temporary:
                temporary.write_bytes(content.getvalue())
        return _svg(drawn, name, label)


def _svg(drawn: Figure, name: str, label: str) -> str:
    """Return a figure as inline SVG whose colours are the page's CSS variables."""
    buffer = io.StringIO()
    drawn.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(rf' id="{TIP}([^"]*)">', r"><title>\1</title>", text)
    used = set(re.findall(r'(?:xlink:href="|url\()#([^")]*)', text))
    text = re.sub(r' id="([^"]*)"', lambda m: f' id="{name}-{m[1]}"' if m[1] in used else "", text)
    text = re.sub(r'(xlink:href="|url\()#', rf"\1#{name}-", text)
    text = text.replace('xlink:href="', 'href="')
    text = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font-size: \1", text)
    bold = r"font-size: \1; font-weight: 600"
    text = re.sub(r"font: (?:bold|700) ([\d.]+px) [^;\"]*", bold, text)
    for colour in COLOURS:
        text = text.replace(colour.light, f"var(--{colour.name})")
    box = text.partition('viewBox="')[2].partition('"')[0]
    head = f'<svg viewBox="{box}" role="img" aria-label="{escape(label)}" class="figure">'
    return re.sub(r"\s*\n\s*", "\n", head + text[text.index(">") + 1 :]).strip()
