"""The house has floors: every import goes down, and no room is without a floor."""

import importlib.util
import sys

import pytest


@pytest.fixture(scope="module")
def census(root):
    spec = importlib.util.spec_from_file_location("census", root / "perf" / "census.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["census"] = module  # a plain import would need perf/ on the path
    spec.loader.exec_module(module)
    return module


def test_no_import_goes_up(census):
    assert census.upward() == []


def test_every_room_has_a_floor(census):
    rooms = {census.room(name) for name in census.modules()} - {"poshgrid"}
    assert rooms == {room for floor in census.FLOORS for room in floor}
