"""The look of the report: one palette, one set of type sizes, for the page and for the figures.

Colours come in pairs, one for light and one for dark backgrounds. Figures are drawn in the light
colours; inside the page each of them becomes a CSS variable, so that a figure follows the reader's
light or dark setting.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from poshgrid.tables.palette import (  # the look of figures has one door
    ABOVE,
    ACCENT,
    BELOW,
    COLOURS,
    INK,
    MUTED,
    PAGE,
    PANEL,
    RULE,
    SERIES,
    WARNING,
    Colour,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "ABOVE", "ACCENT", "BELOW", "COLOURS", "INK", "MUTED", "PAGE", "PANEL", "RULE", "SERIES",
    "WARNING", "Colour",
]  # fmt: skip

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))

WIDE = 9.6  # inches


def series(index: int) -> tuple[str, str, Any]:
    """Return colour, marker and dash pattern of a series; no two of the first 18 look alike."""
    colour = SERIES[index % len(SERIES)].light
    return colour, MARKERS[index % len(MARKERS)], DASHES[index // len(SERIES) % len(DASHES)]


def css_variables() -> str:
    """Return the palette as CSS custom properties, light by default and dark where asked for."""
    light = "".join(f"--{c.name}:{c.light};--{c.name}-rgb:{_rgb(c.light)};" for c in COLOURS)
    dark = "".join(f"--{c.name}:{c.dark};--{c.name}-rgb:{_rgb(c.dark)};" for c in COLOURS)
    return (
        f":root{{color-scheme:light dark;{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        f"@media print{{:root{{color-scheme:light;{light}}}}}\n"
    )


def _rgb(colour: str) -> str:
    return " ".join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))


@contextmanager
def drawing(salt: str) -> Iterator[None]:
    """Set matplotlib up for one figure: our type, no dates, and names that depend on ``salt`` only.

    Args:
        salt: the figure's name; it enters the identifiers inside the SVG.
    """
    import matplotlib as mpl

    settings: dict[str, Any] = {
        "svg.hashsalt": salt,
        "svg.fonttype": "none",  # text stays text: it takes the page's type and can be searched
        "pdf.fonttype": 42,
        "text.parse_math": False,  # names may hold dollar signs
        "font.family": "DejaVu Sans",
        "font.size": 8.5,
        "axes.titlesize": 9.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.titlecolor": INK.light,
        "axes.labelcolor": INK.light,
        "axes.edgecolor": RULE.light,
        "axes.facecolor": "none",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": RULE.light,
        "grid.linewidth": 0.6,
        "text.color": INK.light,
        "xtick.color": RULE.light,
        "ytick.color": RULE.light,
        "xtick.labelcolor": MUTED.light,
        "ytick.labelcolor": MUTED.light,
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
        "legend.frameon": False,
        "lines.linewidth": 1.7,
        "lines.markersize": 5,
        "path.simplify": False,
    }
    with mpl.rc_context(settings):
        yield


def panels(
    number: int,
    columns: int,
    heights: tuple[float, float],
    *,
    sharex: bool = False,
    sharey: bool = False,
) -> tuple[Figure, list[Axes], list[Axes]]:
    """Return a figure, its panels, and the first of each row; places beyond the last are empty.

    Args:
        number: of panels.
        columns: at most so many side by side.
        heights: inches: of legend and margins, and of a row.
        sharex: as matplotlib has it.
        sharey: as matplotlib has it.
    """
    from matplotlib.figure import Figure

    columns = min(columns, number)
    rows = -(-number // columns)
    around, each = heights
    size = (WIDE, around + each * rows)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharex=sharex, sharey=sharey)
    flat = [axes for row in grid for axes in row]
    for axes in flat[number:]:
        axes.set_axis_off()
    return figure, flat[:number], [row[0] for row in grid]


def legend(figure: Figure, handles: list[Any]) -> None:
    """Put a legend above the panels, in as many columns as the longest name lets fit.

    Args:
        figure: of a constrained layout.
        handles: lines and patches with their labels.
    """
    longest = max(len(handle.get_label()) for handle in handles)
    each = 0.55 + 0.058 * longest  # inches: the handle, and letters of about this width
    columns = int(figure.get_figwidth() // each)
    figure.legend(
        handles=handles, loc="outside upper left", ncols=min(len(handles), max(columns, 1), 6),
        borderaxespad=0.2, handlelength=2.6, columnspacing=1.6,
    )  # fmt: skip
