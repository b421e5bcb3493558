"""The works that the methods cite (works.yaml): citations in the text, a list, and BibTeX.

Only what a text cites is listed. A DOI or address is given where it is certain.
"""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Iterable
from dataclasses import dataclass

from poshgrid import files
from poshgrid.config import yamltext
from poshgrid.report.shelf import Shelf

BIBLIOGRAPHY = "references.bib"


@dataclass(frozen=True)
class Work:
    """A work, in the fields of BibTeX."""

    key: str
    kind: str  # BibTeX's entry type
    author: str  # "Family, Given and Family, Given and others"; {Organisation}
    year: int | None  # None: a thing that is not published once
    title: str
    venue: str = ""  # journal, proceedings, publisher, whatever says where
    volume: str = ""  # with the number: "12(3)"
    pages: str = ""
    doi: str = ""
    url: str = ""

    @property
    def authors(self) -> list[tuple[str, str]]:
        """(family, given) of every author; an organisation has no given name."""
        found = []
        for name in self.author.split(" and "):
            family, _, given = name.partition(", ")
            found.append((family.strip("{}"), given))
        return found

    @property
    def names(self) -> str:
        """The authors as a text cites them: ``Hu et al.``."""
        families = [family for family, _ in self.authors]
        if len(families) > 2:
            return f"{families[0]} et al."
        return " and ".join(families)

    @property
    def date(self) -> str:
        """The year, or ``n.d.``."""
        return str(self.year) if self.year else "n.d."

    @property
    def link(self) -> str:
        """An address of the work; "" if none is known."""
        return f"https://doi.org/{self.doi}" if self.doi else self.url

    @property
    def head(self) -> str:
        """The list's entry before the title: authors and year."""
        names = [f"{given} {family}".strip() for family, given in self.authors]
        if names[-1] == "others":
            joined = f"{', '.join(names[:-1])}, et al"
        elif len(names) > 1:
            joined = f"{', '.join(names[:-1])} and {names[-1]}"
        else:
            joined = names[0]
        return f"{joined}. {self.date}" + ("." if self.year else "")

    @property
    def tail(self) -> str:
        """The list's entry after the title: where it appeared."""
        parts = [self.venue]
        if self.volume:
            parts.append(f"{self.volume}:{self.pages}" if self.pages else self.volume)
        elif self.pages:
            parts.append(f"pages {self.pages}")
        text = ", ".join(part for part in parts if part)
        return f"{text}." if text else ""

    @property
    def text(self) -> str:
        """The list's entry as plain text, without its address."""
        title = self.title if self.title.endswith("?") else f"{self.title}."
        return " ".join(part for part in (self.head, title, self.tail) if part)

    def bibtex(self) -> str:
        """Return the entry, in UTF-8; capitals of the title are kept."""
        place = {"article": "journal", "inproceedings": "booktitle", "book": "publisher"}
        volume, _, number = self.volume.partition("(")
        fields = {
            "author": self.author,
            "year": str(self.year or ""),
            "title": f"{{{_tex(self.title)}}}",
            place.get(self.kind, "howpublished"): _tex(self.venue),
            "volume": volume,
            "number": number.rstrip(")"),
            "pages": self.pages.replace("–", "--"),
            "doi": self.doi,
            "url": "" if self.doi else self.url,
        }
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
        return f"@{self.kind}{{{self.key},\n{lines}}}\n"


class Citations:
    """Cites works in a text and remembers which."""

    def __init__(self) -> None:
        self._cited: dict[str, Work] = {}

    def __call__(self, *keys: str) -> str:
        """Return ``(Hu et al., 2025; Mita et al., 2025)``."""
        return f"({self.bare(*keys)})"

    def bare(self, *keys: str) -> str:
        """Return the same without brackets, for a text that stands in brackets."""
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
        """The works cited, by author and year."""
        return sorted(self._cited.values(), key=lambda w: (w.author.casefold(), w.year or 9999))


def write(works: Iterable[Work], shelf: Shelf) -> str | None:
    """Write the works as BibTeX beside the page's tables.

    Returns:
        The file's address relative to the page; ``None`` if there is nothing to write.
    """
    entries = [work.bibtex() for work in works]
    if not entries:
        return None
    files.write_text(shelf.output / "tables" / BIBLIOGRAPHY, "\n".join(entries))
    shelf.written["tables"].append(BIBLIOGRAPHY)
    return f"tables/{BIBLIOGRAPHY}"


def _tex(text: str) -> str:
    """Escape what BibTeX and LaTeX would take for commands."""
    return re.sub(r"([&%$#_])", r"\\\1", text).replace("R\u0302", r"$\widehat{R}$")


def _load() -> dict[str, Work]:
    text = (importlib.resources.files("poshgrid.report") / "works.yaml").read_text("utf-8")
    return {
        key: Work(key, **({"year": None} | fields)) for key, fields in yamltext.parse(text).items()
    }


WORKS = _load()
"""Key -> work: what works.yaml lists."""
