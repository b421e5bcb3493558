"""studies/posh-bench/toy.yaml, with some of its sections changed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from poshgrid.grid import configfile
from poshgrid.grid.grid import Grid
from poshgrid.stages import Stages
from tests import shipped


@pytest.fixture(scope="session")
def written() -> dict[str, Any]:
    """The file as data: copy it before a change."""
    return shipped.toy()


@pytest.fixture(scope="session")
def grid_of(written: dict[str, Any]) -> Callable[..., Grid]:
    """Make the grid after a function has changed the data, with sections replaced."""

    def make(change: Callable[[dict[str, Any]], object] | None = None, **sections: Any) -> Grid:
        data = copy.deepcopy(written) | {"results": "R"} | sections
        if change is not None:
            change(data)
        return configfile.validate(data)

    return make


@pytest.fixture(scope="session")
def stages_of(grid_of: Callable[..., Grid]) -> Callable[..., Stages]:
    """Make the stages of such a grid."""
    return lambda *change, **sections: Stages(grid_of(*change, **sections))


@pytest.fixture(scope="session")
def tiny(stages_of: Callable[..., Stages]) -> Stages:
    """The stages of the file as it is."""
    return stages_of()
