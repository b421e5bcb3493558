"""The look of the report: one palette, one set of type sizes, for the page and for the figures.

Colours come in pairs, one for light and one for dark backgrounds. Figures are drawn in the light
colours; inside the page each of them becomes a CSS variable, so that a figure follows the reader's
light or dark setting.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:  # matplotlib is imported when a figure is drawn
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

__all__ = ["Axes", "Figure", "Line2D", "Patch"]  # what others take from here as types


@dataclass(frozen=True)
class Colour:
    """A colour on a light and on a dark background, as lower-case ``#rrggbb``."""

    name: str
    light: str
    dark: str


# Six hues after Okabe and Ito, darkened (lightened) to reach a contrast of 3:1 on the page; a test
# holds them apart for readers with protanopia and deuteranopia.
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

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
CHANCE: dict[str, Any] = {"color": MUTED.light, "linewidth": 1, "linestyle": (0, (4, 3))}
"""The line of 50%."""

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

    look = Path(__file__).with_name("figures.mplstyle")
    with mpl.rc_context({"svg.hashsalt": salt}, fname=look):
        yield


# ---- figures and panels --------------------------------------------------------------------------


def figure(height: float, **options: Any) -> Figure:  # noqa: ANN401 - matplotlib's
    """Return a figure as wide as the page, of so many inches."""
    from matplotlib.figure import Figure

    return Figure(**{"figsize": (WIDE, height), "layout": "constrained", **options})


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
    columns = min(columns, number)
    rows = -(-number // columns)
    drawn = figure(heights[0] + heights[1] * rows)
    grid = drawn.subplots(rows, columns, squeeze=False, sharex=sharex, sharey=sharey)
    for axes in grid.flat[number:]:
        axes.set_axis_off()
    return drawn, list(grid.flat[:number]), list(grid[:, 0])


def facets(
    frame: pl.DataFrame, most: int, heights: tuple[float, float], *, sharex: bool = False
) -> tuple[Figure, dict[tuple[str, str], Axes]]:
    """Return a figure of accuracies, and the axes of each facet and panel of a frame.

    Each facet starts a row of its own. Panels stand below each other's like; where a facet has more
    than a row, gaps are closed.

    Args:
        frame: columns facet ("": there is one) and panel, in the order of the figure.
        most: panels side by side.
        heights: inches: of legend and margins, and of a row.
        sharex: as matplotlib has it.
    """
    names = frame["panel"].unique(maintain_order=True).to_list()
    known = set(frame.select("facet", "panel").iter_rows())
    columns = min(most, len(names))
    places: dict[tuple[str, str], tuple[int, int]] = {}
    rows = 0
    for facet in frame["facet"].unique(maintain_order=True):
        own = [name for name in names if (facet, name) in known]
        aligned = names if len(names) <= columns else own
        for index, name in enumerate(aligned):
            if name in own:
                places[facet, name] = (rows + index // columns, index % columns)
        rows += -(-len(aligned) // columns)
    drawn = figure(heights[0] + heights[1] * rows)
    grid = drawn.subplots(rows, columns, squeeze=False, sharex=sharex, sharey=True)
    for axes in grid.flat:
        axes.set_axis_off()
    for (facet, name), (row, column) in places.items():
        axes = grid[row][column]
        axes.set_axis_on()
        axes.set_title(f"{facet}\n{name}" if facet else name)
        if not any((row, left) in places.values() for left in range(column)):
            axes.set_ylabel("Accuracy (%)")
            axes.tick_params(labelleft=True)
    return drawn, {key: grid[place] for key, place in places.items()}


def percent_axis(axes: Axes, low: float, high: float) -> None:
    """Give a vertical axis of percentages its ends and its ticks."""
    from matplotlib.ticker import MultipleLocator

    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(MultipleLocator(10 if high - low <= 60 else 20))


def names_axis(axes: Axes, names: Sequence[str] | None = None, **style: float) -> None:
    """Make the vertical axis one of names, from top to bottom, with no line and no grid."""
    if names is not None:
        axes.set_yticks(range(len(names)), list(names), **style)  # type: ignore[arg-type]
        axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", labelcolor=INK.light, length=0)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)


def estimate(
    axes: Axes, y: float, row: dict[str, Any], *, sure: bool, marker: str = "o", size: float = 6
) -> None:
    """Draw an estimate and its interval: blue above 0, orange below; grey and hollow if unsure."""
    colour = SERIES[0 if row["median"] > 0 else 1].light if sure else MUTED.light
    axes.plot([row["low"], row["high"]], [y, y], color=colour, linewidth=2.2)
    axes.plot(
        [row["median"]], [y], marker, color=colour, markersize=size,
        markerfacecolor=colour if sure else PAGE.light,
    )  # fmt: skip


# ---- legends -------------------------------------------------------------------------------------


def handle(label: str, **look: Any) -> Line2D:  # noqa: ANN401 - matplotlib's
    """Return a line or mark of a legend, grey unless the look has another colour."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **({"color": MUTED.light, "label": label} | look))


def patch(label: str, **look: Any) -> Patch:  # noqa: ANN401 - matplotlib's
    """Return a patch of a legend."""
    from matplotlib.patches import Patch

    return Patch(**({"facecolor": MUTED.light, "label": label} | look))


def series_handles(names: Sequence[str], **look: Any) -> list[Line2D]:  # noqa: ANN401 - of a line
    """Return the legend's entries of series, in the order of their colours.

    Args:
        names: of the series.
        look: of the lines, where it is not the series' own.
    """
    handles = []
    for index, name in enumerate(names):
        colour, marker, dashes = series(index)
        own = {"color": colour, "marker": marker, "linestyle": dashes}
        handles.append(handle(name, **(own | look)))
    return handles


def legend(figure: Figure, handles: Sequence[Any]) -> None:
    """Put a legend above the panels, in as many columns as the longest name lets fit.

    Args:
        figure: of a constrained layout.
        handles: lines and patches with their labels.
    """
    longest = max(len(handle.get_label()) for handle in handles)
    width = 0.55 + 0.058 * longest  # inches: the handle, and letters of about this width
    columns = int(figure.get_figwidth() // width)
    figure.legend(
        handles=list(handles), loc="outside upper left", borderaxespad=0.2,
        handlelength=2.6, columnspacing=1.6,
        ncols=min(len(handles), max(columns, 1), 6),
    )  # fmt: skip
