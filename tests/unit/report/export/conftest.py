import pytest

import poshgrid
from tests.unit.report.export import small_results


@pytest.fixture(scope="session")
def paths(tmp_path_factory):
    return small_results.build(tmp_path_factory.mktemp("small") / "results")


@pytest.fixture
def opened(paths):
    return poshgrid.open(paths.results)
