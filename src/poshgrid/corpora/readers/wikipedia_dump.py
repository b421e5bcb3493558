"""A dump of Wikipedia as Wikimedia publishes it: ``simplewiki-*-pages-articles.xml.bz2``.

The pages are read one at a time from the XML export (any version of its schema; plain, ``.gz`` or
``.bz2``, one file or the parts of a large wiki). Articles are the pages of the main namespace that
are neither redirects nor disambiguation pages. Their wikitext is parsed with mwparserfromhell;
tables, references, galleries, files, categories, headings and lists are removed from the parse
before its text is read.

Of templates only the words of a few are shown. Citations vanish, and so does a template on a line
of its own or as an item in brackets: a pronunciation, a birthday. Any other drops its paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mwparserfromhell
from mwparserfromhell import nodes
from mwparserfromhell.wikicode import Wikicode

from poshgrid.core import plugins
from poshgrid.corpora.clean import running
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import elements, listed_below

SPLIT = True
ENGLISH = True

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
_SHOWN = {"nowrap": "1", "small": "1", "abbr": "1", "lang": "2"}
"""Template -> the parameter that it shows."""
_SILENT = re.compile(
    r"cit(?:e|ation)\b.*|sfn\w*|harv\w*|refn?|r|rp|efn.*|note\w*|cn|fact|.*\b(?:needed|inline)"
    r"|clarify.*|dubious.*|vague|when|who|which|by whom|dead link|verify.*|unreliable.*"
    r"|failed verification|refimprove.*|anchor.*|flagicon|short description"
    r"|use \w+ (?:dates|english)|(?:info|nav)box.*|.*taxobox|speciesbox"
)
"""Templates that show nothing in a sentence: citations and doubts; boxes, often before the first
word of an article."""
_HOLE = re.compile("\x01([^\x01]*)\x01")
"""Stands for a template without text; the group is its name. No XML file can hold the mark."""
_ITEM = re.compile("(?<=[(\\[;,])\\s*\x01[^\x01]*\x01\\s*(?=[;,)\\]])")
_BRACKETS = re.compile(r"\([^()]*\)")
_LISTS = {"*", "#", ";", ":"}
_NO_LINK = re.compile(  # pictures, categories and links to other languages are not in the text
    r"\s*(?:(?i:file|image|media|category)\s*:|(?:[a-z]{2,3}|simple|[a-z]{2,}-[a-z-]+):(?=\S))"
)
_UNPARSED = "wikitext that does not parse"
_MARK = "\x00"  # replaces a formula; no XML file can hold it
_RULES = [
    (re.compile(r"__[A-Z]+__"), ""),  # behaviour switches
    (re.compile(r"https?://\S+"), ""),
    # brackets that lost a template: ( ; , born 1900)
    (re.compile(r"([(\[])[\s;,:/]+"), r"\1"),
    (re.compile(r"(?<![\s;,:/])[\s;,:/]++(?=[)\]])"), ""),
    (re.compile(r"\(\)|\[\]"), ""),
    (re.compile(r"\s+"), " "),
    (re.compile(r" (?=[,.;:?!)](?:\s|$))"), ""),
]
_FINAL = re.compile(r"[.?!][\"'”’)\]]*$")


def files(path: Path, options: plugins.Options) -> list[Path]:
    """Return the dump: one file, or all ``.xml``, ``.xml.gz`` and ``.bz2`` of a folder."""
    files_below = listed_below(path, ".xml", ".xml.gz", ".bz2")
    return [file for file in files_below if file == path or _NAMES.search(file.name)]


def read(path: Path, options: plugins.Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (article, paragraph). Pages that are not articles are counted and left out.

    Raises:
        PoshgridError: a file is broken, not XML or not an export of MediaWiki.
    """
    for file in files(path, options):
        wiki = re.split(r"[-.]", file.name, maxsplit=1)[0]
        for _, element in elements(file, "mediawiki", "page"):
            # tag -> text of its first element: the page's own title, and its only revision
            page: dict[str, str] = {"title": "", "text": ""}
            for child in element.iter():
                page[child.tag] = page.get(child.tag) or child.text or ""
            reason = _no_article(page)
            kept, left_out = ([], []) if reason else _paragraphs(page["text"])
            if not reason and not kept:
                unparsed = (_UNPARSED, "") in left_out
                reason = _UNPARSED if unparsed else "article without running text"
            if reason:
                report.lines += 1
                report.drop(reason)
                continue
            report.lines += len(kept) + len(left_out)
            for fault, text in left_out:
                report.drop(fault, text)
            for text in kept:
                yield f"{wiki}-{page['title']}", text


def _no_article(page: dict[str, str]) -> str | None:
    """Return why a page is not an article, or ``None`` if it is one."""
    if page.get("ns", "0") != "0":
        return "page of another namespace"
    if "redirect" in page or _REDIRECT.match(page["text"]):
        return "redirect"
    if page.get("model", "wikitext") != "wikitext":
        return "page that is not wikitext"
    if _DISAMBIGUATION.search(page["text"]) or page["title"].endswith("(disambiguation)"):
        return "disambiguation page"
    return None


def _paragraphs(wikitext: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Return an article's paragraphs, and (reason, text) for each paragraph that is left out."""
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
        # lines with markup that the parser could not close are removed
        text = " ".join(line for line in lines if _running_line(line))
        text = _BRACKETS.sub(lambda brackets: _ITEM.sub("", brackets[0]), text)
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
        elif hole := _HOLE.search(text):
            fault = f"template {hole[1]}"
        elif any(mark in text for mark in ("{{", "}}", "[[", "]]", "{|", "|}")):
            fault = "broken wikitext"
        elif not running(text):
            fault = "no running text"
        if fault:
            left_out.append((fault, _HOLE.sub("", text)))
        else:
            kept.append(text)
    return kept, left_out


def _running_line(line: str) -> bool:
    """Return whether a line can be text: more than templates, and without unclosed markup."""
    unclosed = line.lstrip().startswith(("|", "{|", "!", "}}"))
    return not unclosed and _HOLE.sub("", line).strip() != ""


def _prune(code: Wikicode) -> None:
    """Remove everything but running text from a parse, in place."""
    kinds: list[tuple[type[nodes.Node], Callable[[Any], Any]]] = [
        (nodes.Text, lambda node: node),
        (nodes.HTMLEntity, lambda node: node),
        (nodes.Heading, lambda node: nodes.Text("\n\n")),
        (nodes.Template, lambda node: nodes.Text(_template(node))),
        (nodes.Argument, lambda node: nodes.Text("\x01argument\x01")),
        (nodes.Wikilink, _link),
        (nodes.ExternalLink, _external),
        (nodes.Tag, _tagged),
    ]
    kept: list[Any] = []
    in_list = False
    for node in code.nodes:
        if in_list:
            # an item has no end mark: it ends with its line
            end, rest = str(node).partition("\n")[1:] if isinstance(node, nodes.Text) else ("", "")
            in_list = not end
            if end:
                kept.append(nodes.Text("\n\n" + rest))
        elif isinstance(node, nodes.Tag) and node.wiki_markup in _LISTS:
            in_list = True
        else:
            kept.extend(
                replacement
                for kind, keep in kinds
                if isinstance(node, kind) and (replacement := keep(node)) is not None
            )
    code.nodes = kept


def _link(node: Any) -> Any:  # noqa: ANN401 - nodes of mwparserfromhell
    """Return a link with its text pruned, or ``None`` for pictures, categories and the like."""
    title = str(node.title).strip()
    if _NO_LINK.match(title):
        return None
    if node.text is None:
        return nodes.Text(title.lstrip(":"))
    _prune(node.text)
    return node


def _external(node: Any) -> Any:  # noqa: ANN401 - nodes of mwparserfromhell
    """Return an external link with its text pruned, or ``None`` if it has no text."""
    if node.title is None:
        return None
    _prune(node.title)
    return node


def _tagged(node: Any) -> Any:  # noqa: ANN401 - nodes of mwparserfromhell
    """Return the replacement of a tag, or ``None`` if it is removed."""
    name = str(node.tag).strip().lower()
    if name in _FORMULA:
        return nodes.Text(_MARK)
    if name in _NO_TEXT:
        return None
    if name in {"br", "hr"}:
        return nodes.Text(" " if name == "br" else "\n\n")
    if node.contents is not None:
        _prune(node.contents)
    return node


def _template(node: Any) -> str:  # noqa: ANN401 - a node of mwparserfromhell
    """Return the text that replaces a template."""
    name = " ".join(str(node.name.strip_code()).replace("_", " ").lower().split())
    name = name.removeprefix("template:").strip()
    if name in _FORMULA:
        return _MARK
    if _SILENT.fullmatch(name):
        return ""
    text = ""
    if name in _SHOWN and node.has(_SHOWN[name]):
        value = node.get(_SHOWN[name]).value
        _prune(value)
        text = str(value.strip_code()).strip()
    return text or f"\x01{name.partition(':')[0]}\x01"
