"""The colours of pages, figures and tables.

They come in pairs, one for light and one for dark backgrounds.
"""

from __future__ import annotations

from dataclasses import dataclass


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
