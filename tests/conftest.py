"""Fixtures that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real corpora, treebanks and suites, which the repository does not hold."""
    folder = Path(os.environ.get("POSHGRID_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip("real corpora are absent: set POSHGRID_SHARED to their folder")
    return folder
