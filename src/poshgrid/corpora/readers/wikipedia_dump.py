"""A dump of Wikipedia as Wikimedia publishes it: ``simplewiki-*-pages-articles.xml.bz2``.

The pages are read one at a time from the XML export (any version of its schema; plain, ``.gz`` or
``.bz2``, one file or the parts of a large wiki). Articles are the pages of the main namespace that
are neither redirects nor disambiguation pages. Their wikitext is parsed with mwparserfromhell;
what is no running text - tables, references, templates, galleries, files, categories, headings and
lists - is taken out of the parse before its text is read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field

from poshgrid import plugins
from poshgrid.config.base import Count, Positive
from poshgrid.corpora.clean import running
from poshgrid.corpora.listing import listed_below
from poshgrid.corpora.report import Report
from poshgrid.corpora.split import pieces
from poshgrid.corpora.wiki_templates import HOLE, text_of, tidy
from poshgrid.corpora.xmlfile import elements
from poshgrid.errors import PoshgridError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from mwparserfromhell.wikicode import Wikicode

SPLIT = True

_NAMES = re.compile(r"\.xml(?:-p\d+p\d+)?(?:\.gz|\.bz2)?$")
_REDIRECT = re.compile(r"\s*#REDIRECT", re.IGNORECASE)
_DISAMBIGUATION = re.compile(
    r"\{\{\s*(?:[\w -]+ )?(?:disambig(?:uation)?|disamb|dab|hndis|geodis|numberdis)(?: page)?"
    r"\s*[|}]|__DISAMBIG__",
    re.IGNORECASE,
)
_NO_TEXT = {
    "ref", "references", "gallery", "table", "timeline", "score", "hiero", "imagemap", "source",
    "syntaxhighlight", "pre", "templatestyles", "includeonly", "noinclude", "del", "s", "strike",
    "ul", "ol", "dl", "style", "script",
}  # fmt: skip
_FORMULA = {"math", "chem", "chem2", "ce"}  # tags and templates
_LISTS = {"*", "#", ";", ":"}
_NO_LINK = re.compile(  # pictures, categories and links to other languages are not in the text
    r"\s*(?:(?i:file|image|media|category)\s*:|(?:[a-z]{2,3}|simple|[a-z]{2,}-[a-z-]+):(?=\S))"
)
_UNPARSED = "wikitext that does not parse"
_MOST_OPEN = 100  # an article of Wikipedia has a handful at most
_OPENINGS = re.compile(
    r"""
    <!--(?P<comment>) | (?P<end_comment>-->)
    | <(?P<tag>[a-z][a-z0-9]*)\b | </(?P<end_tag>[a-z][a-z0-9]*) | (?P<end_empty>/>)
    | (?P<link>\[\[) | (?P<end_link>\]\]) | (?P<external>\[(?=\w+:|//)) | (?P<end_external>\])
    | (?P<table>\{\|) | (?P<end_table>\|\}(?!\})) | (?P<template>\{\{) | (?P<end_template>\}\})
    """,
    re.VERBOSE | re.IGNORECASE,
)
_EMPTY = {"br", "hr", "wbr", "p", "li", "dd", "dt", "tr", "td", "th", "img"}  # tags without an end
_MARK = "\x00"  # where a formula stood; no XML file can hold it
_RULES = [
    (re.compile(r"__[A-Z]+__"), ""),  # behaviour switches
    (re.compile(r"https?://\S+"), ""),
    # what is left of brackets whose templates are gone: ( ; , born 1900)
    (re.compile(r"([(\[])[\s;,:/]+"), r"\1"),
    (re.compile(r"(?<![\s;,:/])[\s;,:/]++(?=[)\]])"), ""),
    (re.compile(r"\(\)|\[\]"), ""),
    (re.compile(r"\s+"), " "),
    (re.compile(r" (?=[,.;:?!)](?:\s|$))"), ""),
]
_FINAL = re.compile(r"[.?!][\"'”’)\]]*$")


class Options(plugins.Options):
    """Which articles are read."""

    min_article_words: Count = Field(
        0, description="Articles with fewer words of running text are left out"
    )
    articles: Positive | None = Field(None, description="Read at most so many articles")


class Page(NamedTuple):
    """What the reader needs of a ``<page>``."""

    title: str
    namespace: str  # "0" is the main one
    redirect: bool
    model: str
    text: str


def files(path: Path, options: Options) -> list[Path]:
    """Return the dump: one file, or all ``.xml``, ``.xml.gz`` and ``.xml.bz2`` of a folder.

    Raises:
        PoshgridError: there is none, or a folder holds one dump twice, packed and unpacked.
    """
    found = listed_below(path, (".xml", ".xml.gz", ".bz2"))
    if path.is_dir():
        found = [file for file in found if _NAMES.search(file.name)]
    if not found:
        raise PoshgridError(f"{path}: holds no .xml or .xml.bz2 file; check sources[].path")
    names: dict[str, Path] = {}
    for file in found:
        name = re.sub(r"\.(?:gz|bz2)$", "", file.as_posix()).replace("-multistream", "")
        if name in names:
            raise PoshgridError(
                f"{path}: holds the same articles twice, {names[name].name} and {file.name}; "
                "give one of them in sources[].path"
            )
        names[name] = file
    return found


def read(path: Path, options: Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (article, paragraph). A page that is no article counts as one line that is dropped.

    Raises:
        PoshgridError: a file is broken XML or no export of MediaWiki.
    """
    articles = 0
    for file in files(path, options):
        wiki = re.split(r"[-.]", file.name, maxsplit=1)[0]
        for page in pages(file):
            if articles == options.articles:
                return
            reason = _no_article(page)
            kept, left_out = ([], []) if reason else _paragraphs(page.text)
            words = sum(len(text.split()) for text in kept)
            if not reason and (not kept or words < options.min_article_words):
                reason = "short article" if kept else "article without running text"
                if (_UNPARSED, "") in left_out:
                    reason = _UNPARSED
            if reason:
                report.lines += 1
                report.drop(reason, " ".join(kept))
                continue
            articles += 1
            report.lines += len(kept) + len(left_out)
            for fault, text in left_out:
                report.drop(fault, text)
            for text in kept:
                yield f"{wiki}-{page.title}", text


def pages(file: Path) -> Iterator[Page]:
    """Yield the pages of an export; each is forgotten before the next is read.

    Raises:
        PoshgridError: the file is broken (with line and column), or holds no ``<mediawiki>``.
    """
    prefixes: set[str] = set()
    for _, element in elements(file, "mediawiki", "namespace", "page"):
        if element.tag == "page":
            yield _page(element, prefixes)
        elif element.get("key") != "0" and element.text:
            prefixes.add(element.text)


def _page(element: Element, prefixes: set[str]) -> Page:
    found: dict[str, str] = {}
    for child in element.iter():
        # the first of each: a page's own title and its only revision
        found.setdefault(child.tag, child.text or "")
    title = found.get("title", "")
    # exports before version 0.6 do not give a page's namespace
    guessed = "other" if title.partition(":")[0] in prefixes and ":" in title else "0"
    return Page(
        title=title,
        namespace=found.get("ns", guessed),
        redirect="redirect" in found or _REDIRECT.match(found.get("text", "")) is not None,
        model=found.get("model", "wikitext"),
        text=found.get("text", ""),
    )


def _no_article(page: Page) -> str | None:
    """Return why a page is no article, or ``None`` if it is one."""
    if page.namespace != "0":
        return "page of another namespace"
    if page.redirect:
        return "redirect"
    if page.model != "wikitext":
        return "page that is not wikitext"
    if _DISAMBIGUATION.search(page.text) or page.title.endswith("(disambiguation)"):
        return "disambiguation page"
    return None


def _paragraphs(wikitext: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Return an article's paragraphs, and of each of the others why it is left out, and its text.

    A template whose words nobody knows leaves out its paragraph, unless it has lines of its own.
    """
    import mwparserfromhell

    if _unclosed(wikitext) > _MOST_OPEN:
        return [], [(_UNPARSED, "")]
    try:
        code = mwparserfromhell.parse(wikitext)
        _prune(code)
        plain = str(code.strip_code(normalize=True, collapse=False))
    except (mwparserfromhell.parser.ParserError, RecursionError):
        return [], [(_UNPARSED, "")]
    kept: list[str] = []
    left_out: list[tuple[str, str]] = []
    for block in re.split(r"\n\s*\n", plain):
        lines = block.splitlines()
        # what the parser could not close is left as it was typed
        text = tidy(" ".join(line for line in lines if _running_line(line)))
        for pattern, replacement in _RULES:
            text = pattern.sub(replacement, text)
        text = text.strip()
        if not text:
            continue
        fault = None
        if _MARK in text:
            fault = "formula"
        elif not _FINAL.search(text):
            fault = "no final punctuation"
        elif hole := HOLE.search(text):
            fault = f"template {hole[1]}"
        elif any(mark in text for mark in ("{{", "}}", "[[", "]]", "{|", "|}")):
            fault = "broken wikitext"
        elif not running(text):
            fault = "no running text"
        if fault:
            left_out.append((fault, HOLE.sub("", text)))
        else:
            kept.extend(pieces(text, ""))
    return kept, left_out


def _running_line(line: str) -> bool:
    """Say whether a line may be text: neither templates alone nor what the parser left open."""
    return not line.lstrip().startswith(("|", "{|", "!", "}}")) and HOLE.sub("", line).strip() != ""


def _unclosed(wikitext: str) -> int:
    """Return how many tags, links, tables and templates are opened and never closed.

    The parser looks for the end of each to the end of the text: its time grows with their square.
    """
    depths: Counter[str] = Counter()
    tags: list[str] = []  # those that "/>" may still end: the last one
    for found in _OPENINGS.finditer(wikitext):
        kind, name = found.lastgroup or "", found[0].lower().lstrip("</")
        if kind == "tag" and name not in _EMPTY:
            depths[name] += 1
            tags = [name]
        elif kind == "end_empty" and tags:
            depths[tags.pop()] -= 1
        elif kind.startswith("end_"):
            kind = name if kind == "end_tag" else kind.removeprefix("end_")
            depths[kind] = max(depths[kind] - 1, 0)
        elif kind != "tag":
            depths[kind] += 1
    return depths.total()


def _prune(code: Wikicode) -> None:
    """Take out of a parse, in place, what is no running text."""
    from mwparserfromhell import nodes

    kinds: list[tuple[type[nodes.Node], Callable[[Any], Any]]] = [
        (nodes.Text, lambda node: node),
        (nodes.HTMLEntity, lambda node: node),
        (nodes.Heading, lambda node: nodes.Text("\n\n")),
        (nodes.Template, lambda node: nodes.Text(_template(node))),
        (nodes.Argument, lambda node: nodes.Text(text_of("argument", dict))),
        (nodes.Wikilink, _link),
        (nodes.ExternalLink, _external),
        (nodes.Tag, _tagged),
    ]
    kept: list[Any] = []
    in_list = False
    for node in code.nodes:
        if in_list:
            # an item has no end of its own: it goes to the end of its line
            end, rest = str(node).partition("\n")[1:] if isinstance(node, nodes.Text) else ("", "")
            in_list = not end
            if end:
                kept.append(nodes.Text("\n\n" + rest))
        elif isinstance(node, nodes.Tag) and node.wiki_markup in _LISTS:
            in_list = True
        else:
            kept.extend(
                found
                for kind, keep in kinds
                if isinstance(node, kind) and (found := keep(node)) is not None
            )
    code.nodes = kept


def _link(node: Any) -> Any:  # noqa: ANN401 - nodes of mwparserfromhell
    """Return a link whose text is pruned, or ``None`` for a picture and the like."""
    from mwparserfromhell.nodes import Text

    title = str(node.title).strip()
    if _NO_LINK.match(title):
        return None
    if node.text is None:
        return Text(title.lstrip(":"))
    _prune(node.text)
    return node


def _external(node: Any) -> Any:  # noqa: ANN401 - nodes of mwparserfromhell
    """Return an external link that has a text."""
    if node.title is None:
        return None
    _prune(node.title)
    return node


def _tagged(node: Any) -> Any:  # noqa: ANN401 - nodes of mwparserfromhell
    """Return what a tag leaves of itself."""
    from mwparserfromhell.nodes import Text

    name = str(node.tag).strip().lower()
    if name in _FORMULA:
        return Text(_MARK)
    if name in _NO_TEXT:
        return None
    if name in {"br", "hr"}:
        return Text(" " if name == "br" else "\n\n")
    if node.contents is not None:
        _prune(node.contents)
    return node


def _template(node: Any) -> str:  # noqa: ANN401 - a node of mwparserfromhell
    """Return what a template stands for in its sentence."""
    name = str(node.name.strip_code()).strip()
    if name.lower() in _FORMULA:
        return _MARK

    def parameters() -> dict[str, str]:
        values = {}
        for parameter in node.params:
            _prune(parameter.value)
            values[str(parameter.name).strip()] = str(parameter.value.strip_code()).strip()
        return values

    return text_of(name, parameters)
