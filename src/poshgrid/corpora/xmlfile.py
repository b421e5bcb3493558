"""Elements of XML files, one at a time, with errors to act on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from poshgrid.corpora.textfile import opened
from poshgrid.errors import PoshgridError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_CHUNK = 65_536  # bytes parsed at a time
_LONGEST = 100_000_000  # bytes of an element: no text, and it must fit in memory


def elements(path: Path, root: str, *names: str) -> Iterator[tuple[tuple[Element, ...], Element]]:
    """Yield the elements of an XML file that have a name, each with its ancestors, root first.

    Only one such element is in memory at a time. Tags are without their namespaces. The parser is
    the standard library's expat: it loads nothing that the file points to, and refuses entities
    that grow without bounds.

    Args:
        path: the file, packed or not.
        root: name that the root element must have.
        names: elements to yield; one inside another is part of the outer.

    Raises:
        PoshgridError: the file is no XML, was cut off, or has another root; or as
            :func:`poshgrid.corpora.textfile.opened`.
    """
    from xml.etree import ElementTree

    parser: ElementTree.XMLPullParser[Element] = ElementTree.XMLPullParser(("start", "end"))
    ancestors: list[Element] = []
    whole: Element | None = None  # the element to yield that is being read
    held = 0  # bytes that cannot be let go yet
    with opened(path) as stream:
        try:
            while True:
                chunk = stream.read(_CHUNK)
                parser.feed(chunk) if chunk else parser.close()
                held += len(chunk)
                # The two kinds of event that are asked for come with an element, no other
                events = cast("Iterator[tuple[str, Element]]", parser.read_events())
                for event, element in events:
                    if event == "start":
                        _enter(element, ancestors, root, path)
                        if whole is None and element.tag in names:
                            whole = element
                        continue
                    ancestors.pop()
                    if element is whole:
                        yield tuple(ancestors), element
                        whole = None
                    if whole is None:
                        held = 0
                        if ancestors:
                            del ancestors[-1][:]  # what has been read is let go
                if held > _LONGEST:
                    raise PoshgridError(
                        f"{path}: more than {_LONGEST:,} bytes in one element or tag; "
                        "check that the file is complete"
                    )
                if not chunk:
                    return
        except ElementTree.ParseError as error:
            line, column = error.position
            raise PoshgridError(
                f"{path}: line {line:,}, column {column + 1:,}: broken XML "
                f"({str(error).split(':')[0]}); download or convert it again"
            ) from error
        except (LookupError, ValueError) as error:  # an encoding that expat does not know
            raise PoshgridError(
                f"{path}: line 1: encoding not supported ({error}); convert it to UTF-8"
            ) from error


def _enter(element: Element, ancestors: list[Element], root: str, path: Path) -> None:
    """Take an element that begins among the open ones, its tag without the namespace."""
    element.tag = element.tag.rpartition("}")[2]
    if not ancestors and element.tag != root:
        raise PoshgridError(
            f"{path}: line 1: root element <{element.tag}>, not <{root}>; "
            "take the file out of the folder, or give the source another reader"
        )
    ancestors.append(element)
