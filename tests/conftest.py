"""Fixtures that every test may use."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from poshgrid.config import Config

# A busy machine is no fault of the code, and a test that fails must fail again.
settings.register_profile("poshgrid", deadline=None, derandomize=True)
settings.load_profile("poshgrid")

# No test asks a SLURM that this machine may have; tests on a cluster start their own. Without
# this, tools that find no controller try for ten seconds.
os.environ["SLURM_CONF"] = os.devnull

ROOT = Path(__file__).resolve().parents[1]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests of the workflow: one of them takes longer than all others."""
    items.sort(key=lambda item: "workflow" not in item.path.parts)


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def paper() -> Config:
    """The configuration of the paper's experiments."""
    from poshgrid.grid import configfile

    return configfile.load(ROOT / "config/config.yaml")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real corpora, treebanks and suites, which the repository does not hold."""
    folder = Path(os.environ.get("POSHGRID_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip("real corpora are absent: set POSHGRID_SHARED to their folder")
    return folder
