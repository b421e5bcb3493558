"""The text that a template of Wikipedia produces in a sentence: a text, nothing, or unknown.

No text is computed (``{{convert|5|mi}}``): a template shows a sign or one of its parameters, or its
text counts as unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_SHOWN = {  # template -> the parameter that it shows
    **dict.fromkeys(("nowrap", "nobr", "small", "big", "smaller", "larger", "em", "strong"), "1"),
    **dict.fromkeys(("abbr", "tooltip", "nihongo", "quote", "sic", "not a typo"), "1"),
    **dict.fromkeys(("flag", "flagcountry", "sup", "sub", "mvar", "var"), "1"),
    **dict.fromkeys(("lang", "langx"), "2"),
}
_SIGNS = {
    "nowrap begin": "", "nowrap end": "", "shy": "", "ndash": "–", "mdash": "—",
    "spaced ndash": " – ", "snd": " – ", "-": " ", "'": "'", "'s": "'s", "\"'": "\"'", "'\"": "'\"",
    "!": "|", "=": "=", "nbsp": " ", "sp": " ",
}  # fmt: skip
_NO_TEXT = re.compile(
    r"cite\b.*|citation.*|cit\b.*|cn|fact|fn|fnb|sfn\w*|harv\w*|refn?|r|rp|efn.*|note\w*|reflist"
    r"|.*\b(?:needed|inline|stub|infobox|navbox|sidebar)|(?:infobox|taxobox|navbox)\b.*"
    r"|.*taxobox|speciesbox|main.*|see also|further.*|about|for|for2|other uses.*|redirect.*"
    r"|distinguish.*|hatnote|clear\w*|toc\w*|portal.*|commons.*|wikt.*|wikiquote"
    r"|sister project.*|authority control|defaultsort.*|persondata|clarify.*|who|when|where|which"
    r"|what|why|by whom|according to whom|whom|dead link|cbignore|dubious.*|vague|weasel.*"
    r"|peacock.*|failed verification|better source.*|unreliable.*|verif.*|update.*|unreferenced.*"
    r"|unsourced.*|refimprove.*|more citations.*|multiple image.*|image.*|flagicon.*|flag icon.*"
    r"|anchor|use \w+ dates|use .* english|short description|good article|featured article"
    r"|protected.*|pp\b.*|wikify.*|cleanup.*|complex.*|not simple|pov.*"
)

HOLE = re.compile("\x01([^\x01]*)\x01")
"""Marks a template whose text is unknown; the group is its name. No XML file can hold the mark."""

_ITEM = re.compile("(?<=[(\\[;,])\\s*\x01[^\x01]*\x01\\s*(?=[;,)\\]])")
_BRACKETS = re.compile(r"\([^()]*\)")


def text_of(name: str, parameter: Callable[[str], str]) -> str:
    """Return the text of a template: its words, "", or a :data:`HOLE` with its name if unknown.

    Args:
        name: as it is written, e.g. ``Nowrap``, ``lang``, ``formatnum:12345``.
        parameter: returns the text of a parameter (positional parameters are 1, 2 ...), or "".
    """
    key = " ".join(name.replace("_", " ").lower().split()).removeprefix("template:")
    if _NO_TEXT.fullmatch(key):
        return ""
    if key in _SIGNS:
        return _SIGNS[key]
    shown = "1" if key.startswith("lang-") else _SHOWN.get(key)
    text = parameter(shown) if shown else ""
    return text or f"\x01{key.partition(':')[0]}\x01"


def tidy(text: str) -> str:
    """Return a text without the holes that are an item in brackets: a pronunciation, a birthday."""
    return _BRACKETS.sub(lambda brackets: _ITEM.sub("", brackets[0]), text)
