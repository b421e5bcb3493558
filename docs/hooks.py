"""What mkdocs needs for pages that are read on the forge, too.

README.md, CONTRIBUTING.md and the pages of studies/ lie outside docs/ and become pages of the book.
A link to any other file of the repository leads to the forge, which CITATION.cff names.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(\]\()(?!https?:|#)([^)#\s]+)")


def _added() -> list[str]:
    """Return the paths of pages outside docs/."""
    studies = sorted((ROOT / "studies").rglob("README.md"))
    return [
        "README.md",
        "CONTRIBUTING.md",
        *(path.relative_to(ROOT).as_posix() for path in studies),
    ]


def on_config(config: MkDocsConfig) -> None:
    """Take the address of the repository from CITATION.cff."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    config.repo_url = citation["repository-code"]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie outside docs/."""
    for path in _added():
        text = (ROOT / path).read_text(encoding="utf-8")
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Have each link lead to a page of the book, or to the forge."""
    here = page.file.src_uri
    added = _added()
    folder = posixpath.dirname(here if here in added else f"docs/{here}")

    def leads(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, match[2]))
        inside = target.removeprefix("docs/")
        book = target in added or (target != inside and files.get_file_from_path(inside))
        if book:
            return match[1] + posixpath.relpath(inside, posixpath.dirname(here) or ".")
        kind = "tree" if (ROOT / target).is_dir() else "blob"
        return f"{match[1]}{config.repo_url.rstrip('/')}/{kind}/main/{target}"

    return LINK.sub(leads, markdown)
