"""The text that a template of Wikipedia produces in a sentence: a text, nothing, or unknown."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_TEXTS = {  # of several forms the first whose parameters all have a value
    **dict.fromkeys(("nowrap", "nobr", "small", "big", "smaller", "larger", "em", "strong"), "{1}"),
    **dict.fromkeys(("abbr", "tooltip", "nihongo", "quote", "sic", "not a typo"), "{1}"),
    **dict.fromkeys(("flag", "flagcountry", "sup", "sub", "mvar", "var"), "{1}"),
    **dict.fromkeys(("lang", "langx"), "{2}"),
    **dict.fromkeys(("transl", "transliteration"), "{3} | {2}"),
    **dict.fromkeys(("ill", "interlanguage link", "illm"), "{lt} | {1}"),
    **dict.fromkeys(("w", "visible anchor", "vanchor"), "{2} | {1}"),
    **dict.fromkeys(("circa", "c."), "c. {1}"),
    **dict.fromkeys(("frac", "fraction", "sfrac"), "{1} {2}/{3} | {1}/{2} | 1/{1}"),
    **dict.fromkeys(("us$", "usd"), "US${1}"),
    **dict.fromkeys(("gbp", "£"), "£{1}"),
    **dict.fromkeys(("bce", "bc", "ce"), "{1} {name} | {name}"),
    "as of": "{alt} | As of {1}", "val": "{1} {u} | {1} {ul} | {1}", "angbr": "⟨{1}⟩",
    "€": "€{1}", "a$": "A${1}", "¥": "¥{1}", "nowrap begin": "", "nowrap end": "", "shy": "",
    "ndash": "–", "mdash": "—", "spaced ndash": " – ", "snd": " – ", "-": " ", "'": "'",
    "'s": "'s", "\"'": "\"'", "'\"": "'\"", "!": "|", "=": "=", "nbsp": " ", "sp": " ",
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
_WITH_VALUES = re.compile(r"convert$|cvt$|nts$|number$|lang-|coord")
_RANGE = {"to", "and", "or", "-", "–", "x", "×", "by", "*", "+/-", "±"}
_NUMBER = re.compile(r"[-−+]?[\d.,/⁄+ ]*\d[\d.,/⁄]*(?:e[-−+]?\d+)?")

HOLE = re.compile("\x01([^\x01]*)\x01")
"""Marks a template whose text is unknown; the group is its name. No XML file can hold the mark."""

_ITEM = re.compile("(?<=[(\\[;,])\\s*\x01[^\x01]*\x01\\s*(?=[;,)\\]])")
_BRACKETS = re.compile(r"\([^()]*\)")


def text_of(name: str, parameters: Callable[[], Mapping[str, str]]) -> str:
    """Return the text of a template: its words, "", or a :data:`HOLE` with its name if unknown.

    Args:
        name: as it is written, e.g. ``Convert``, ``lang-la``, ``formatnum:12345``.
        parameters: returns parameter -> text (positional parameters are 1, 2 ...); called only if
            the values are needed.
    """
    key = " ".join(name.replace("_", " ").lower().split()).removeprefix("template:")
    if _NO_TEXT.fullmatch(key):
        return ""
    values = parameters() if key in _TEXTS or _WITH_VALUES.match(key) else {}
    text = None
    if key in {"convert", "cvt"}:
        text = _measure(values)
    elif key.startswith("formatnum:"):
        text = _grouped(key.partition(":")[2])
    elif key in {"nts", "number"}:
        text = _grouped(values.get("1", ""))
    elif key.startswith("lang-"):
        text = values.get("1")
    elif key in _TEXTS:
        text = _filled(_TEXTS[key], {**values, "name": name.strip()})
        if text and values.get("lc"):
            text = text[0].lower() + text[1:]
    elif key.startswith("coord") and "title" in values.get("display", ""):
        text = ""
    return f"\x01{key.partition(':')[0]}\x01" if text is None else text


def tidy(text: str) -> str:
    """Return a text without the holes that are an item in brackets: a pronunciation, a birthday."""
    return _BRACKETS.sub(lambda brackets: _ITEM.sub("", brackets[0]), text)


def _filled(forms: str, values: Mapping[str, str]) -> str | None:
    for form in forms.split(" | "):
        if all(values.get(key) for key in re.findall(r"\{(\w+)\}", form)):
            return re.sub(r"\{(\w+)\}", lambda key: values[key[1]], form)
    return None


def _grouped(number: str) -> str | None:
    """Return a number with commas between thousands, ``None`` if the text is not a number."""
    number = number.strip()
    if number.isdecimal():
        return f"{int(number):,}"
    return number if _NUMBER.fullmatch(number) else None


def _measure(values: Mapping[str, str]) -> str | None:
    """Return the numbers and units of ``convert`` up to the unit that it converts to."""
    if values.get("disp", "").startswith(("out", "unit", "number")):
        return None
    parts = [value for key, value in values.items() if key.isdecimal()]
    words: list[str] = []
    while len(parts) > 1 and _NUMBER.fullmatch(parts[0]) and not _NUMBER.fullmatch(parts[1]):
        words += [parts[0].replace("+", " "), parts[1]]
        parts = parts[2:]
    if not words or words[-1] in _RANGE:
        return None
    return " ".join(words).replace(" - ", "–")
