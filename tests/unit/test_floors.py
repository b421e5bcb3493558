"""The house has floors: every import goes down, and no room is without a floor."""

import pytest

from tests import shipped


@pytest.fixture(scope="module")
def census(root):
    return shipped.script(root / "perf/census.py")


@pytest.fixture
def house(census, tmp_path, monkeypatch):
    """Write modules of a package; return the census of it."""

    def write(**modules):
        root = tmp_path / "poshgrid"
        for name, text in modules.items():
            path = root.joinpath(*name.split("__")).with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        monkeypatch.setattr(census, "ROOT", root)
        return census

    return write


def test_no_import_goes_up(census):
    assert census.upward() == []


def test_every_room_has_a_floor(census):
    rooms = {census.room(name) for name in census.modules()} - {"poshgrid"}
    assert rooms == {room for floor in census.FLOORS for room in floor}


@pytest.mark.parametrize(
    "text",
    [
        "from poshgrid.report import page",
        "import poshgrid.report.page",
        "def f():\n    from poshgrid.report.page import write",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from poshgrid.report import page",
    ],
)
def test_an_import_that_goes_up_is_found(house, text):
    counted = house(report__page="def write(): ...", corpora__read=text)
    assert counted.upward() == ["poshgrid.corpora.read -> poshgrid.report.page"]
