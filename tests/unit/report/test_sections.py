"""The protocol of sections: what each declares, and that adding one is adding a module."""

from __future__ import annotations

import sys
import types
from typing import get_args

import pytest

from poshgrid import plugins
from poshgrid.report import blocks
from poshgrid.report.page import render
from poshgrid.report.shelf import Shelf
from poshgrid.tables.table import Table, text

from . import report_results


def test_every_section_says_what_it_is_where_and_for_whom():
    found = blocks.sections()
    names = list(found)
    assert (names[0], names[-1]) == ("findings", "downloads")
    assert len({module.ORDER for module in found.values()}) == len(found)
    assert {module.AUDIENCE for module in found.values()} <= set(get_args(blocks.Audience))
    assert all(module.TITLE and callable(module.blocks) for module in found.values())


@pytest.mark.parametrize("audience", get_args(blocks.Audience))
def test_a_module_is_a_section(tmp_path, monkeypatch, audience):
    from poshgrid.report.collect import gather

    spec = report_results.build(
        tmp_path / "results", conditions=("baby",), sizes=("10K",), seeds=(1,), models=()
    )
    collected = gather(spec, tmp_path / "results")
    made = types.ModuleType("poshgrid.report.sections.mine")
    made.TITLE, made.ORDER, made.AUDIENCE = "<Mine>", 5, audience
    made.blocks = lambda page: ["said", page.shelf.table(Table("mine", "c", [text("a")], [["b"]]))]
    none = types.ModuleType("poshgrid.report.sections.none")
    none.TITLE, none.ORDER, none.AUDIENCE, none.blocks = "None", 6, audience, lambda page: None
    monkeypatch.setitem(sys.modules, made.__name__, made)
    monkeypatch.setitem(sys.modules, none.__name__, none)
    monkeypatch.setattr(plugins, "names", lambda package: ["none", "mine"])
    page = render(report_results.page(collected, Shelf(tmp_path / "page"), tmp_path / "results"))
    assert page.count("<section id=") == 1
    assert '<section id="mine">' in page and "&lt;Mine&gt;" in page and "<Mine>" not in page
    assert ("<details" in page.partition("<section")[2]) == (audience != "reader")
    assert "<p>said</p>" in page and (tmp_path / "page/tables/mine.csv").is_file()
