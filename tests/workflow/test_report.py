"""The page in Snakemake's own report: unpacked anywhere, every link of it works."""

from __future__ import annotations

import html
import re
import zipfile
from pathlib import Path
from urllib.parse import unquote

import pytest

from poshgrid.report.page import write
from tests.unit.report import report_results

from .conftest import Checkout


def dead(page: Path) -> list[str]:
    """Return the links of a page that lead to no file beside or below it, and to no anchor."""
    text = page.read_text(encoding="utf-8")
    anchors = {f"#{name}" for name in re.findall(r'\bid="([^"]*)"', text)}
    found = [html.unescape(url) for url in re.findall(r'<a\b[^>]*?href="([^"]*)"', text)]
    assert len(found) > 50
    inside = [url for url in found if not re.match(r"#|https://", url)]
    return [url for url in found if url.startswith("#") and url not in anchors] + [
        url for url in inside if ".." in url or not (page.parent / unquote(url)).is_file()
    ]


@pytest.fixture(scope="module")
def unpacked(root, tmp_path_factory, tiny_configuration):
    """The zip of ``--report`` of a grid with a fabricated page of every section, unpacked."""
    configuration = tiny_configuration | {"models": []}
    configuration["experiments"] = tiny_configuration["experiments"][:1]
    checkout = Checkout(root, tmp_path_factory.mktemp("checkout"), configuration)
    checkout.complete("all")
    results = tmp_path_factory.mktemp("fabricated")
    with report_results.undrawn():
        write(
            report_results.build(results),
            results,
            checkout.folder / "results/posh-bench-toy/report/all",
        )
    checkout.snakemake("--report", "sent.zip", "--", "all")
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(checkout.folder / "sent.zip") as packed:
        packed.extractall(folder)
    return folder


def test_every_link_of_the_page_works_where_the_zip_is_unpacked(unpacked):
    (page,) = unpacked.rglob("index.html")
    assert dead(page) == []
    listed = (unpacked / "sent/report.html").read_text(encoding="utf-8")
    assert page.relative_to(unpacked / "sent").as_posix() in listed


def test_a_table_that_stayed_behind_is_seen(unpacked, tmp_path):
    (page,) = unpacked.rglob("index.html")
    text = page.read_text(encoding="utf-8")
    (tmp_path / "index.html").write_text(text.replace("</main>", '<a href="#nowhere"></a></main>'))
    assert {"#nowhere", "tables/exposure.csv"} <= set(dead(tmp_path / "index.html"))
