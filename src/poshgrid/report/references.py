"""The works that the methods cite (works.bib): citations in the text, a list, and BibTeX.

The list has only works that the text cites. Entries have a DOI or address only if it is certain.
"""

from __future__ import annotations

import importlib.resources
import re
from dataclasses import dataclass
from functools import cache, cached_property

from markupsafe import Markup
from pybtex.backends.html import Backend
from pybtex.database import Entry, parse_string
from pybtex.style.formatting.unsrt import Style

BIBLIOGRAPHY = "references.bib"
_ENTRY = re.compile(r"^@\w+\{(\w+),\n.*?^\}\n", re.MULTILINE | re.DOTALL)


_style, _backend = cache(Style), cache(Backend)  # slow: they search all packages for plug-ins


@dataclass(frozen=True)
class Work:
    """A work of the bibliography."""

    key: str
    bibtex: str  # its entry, as in works.bib

    @cached_property
    def entry(self) -> Entry:
        """The parsed entry."""
        return parse_string(self.bibtex, "bibtex").entries[self.key]

    @property
    def families(self) -> list[str]:
        """The authors' family names, or names of organisations."""
        return [
            " ".join(map(str, person.rich_prelast_names + person.rich_last_names))
            for person in self.entry.persons["author"]
        ]

    @property
    def names(self) -> str:
        """The authors as a text cites them: ``Hu et al.``."""
        families = self.families
        return f"{families[0]} et al." if len(families) > 2 else " and ".join(families)

    @property
    def date(self) -> str:
        """The year, or ``n.d.``."""
        return str(self.entry.fields.get("year", "n.d."))

    @property
    def html(self) -> Markup:
        """The list's entry, with its address, in BibTeX's own style ``unsrt``."""
        (entry,) = _style().format_entries([self.entry])
        return Markup(re.sub(r"\$\\widehat\b.*?\$", "R\u0302", entry.text.render(_backend())))


class Citations:
    """Cites works in a text and collects them."""

    def __init__(self) -> None:
        self._cited: dict[str, Work] = {}

    def __call__(self, *keys: str) -> str:
        """Return ``(Hu et al., 2025; Mita et al., 2025)``."""
        return f"({self.bare(*keys)})"

    def bare(self, *keys: str) -> str:
        """Return the citation without brackets, for a text that is in brackets already."""
        works = [self._cite(key) for key in dict.fromkeys(keys)]
        return "; ".join(f"{work.names}, {work.date}" for work in works)

    def named(self, key: str) -> str:
        """Return ``Hu et al. (2025)``."""
        work = self._cite(key)
        return f"{work.names} ({work.date})"

    def __contains__(self, key: str) -> bool:
        """Return whether a work has been cited."""
        return key in self._cited

    def _cite(self, key: str) -> Work:
        return self._cited.setdefault(key, WORKS[key])

    @property
    def works(self) -> list[Work]:
        """The cited works, sorted by author and year."""
        return sorted(self._cited.values(), key=lambda work: (*work.families, work.date))


def _load() -> dict[str, Work]:
    text = (importlib.resources.files("poshgrid.report") / "works.bib").read_text("utf-8")
    return {entry[1]: Work(entry[1], entry[0]) for entry in _ENTRY.finditer(text)}


WORKS = _load()
"""Key -> work, of works.bib."""
