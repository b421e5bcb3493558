"""What tests of the report share: small studies, read once."""

import pytest

from poshgrid.report.page import write

from . import report_results


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    """Three conditions, three sizes and both models; wiki at 30M was not run."""
    return report_results.study(tmp_path_factory.mktemp("study"), missing=("wiki/30M",))


@pytest.fixture(scope="session")
def printed(study, tmp_path_factory):
    """The folder of the study's page, with its figures."""
    folder = tmp_path_factory.mktemp("page")
    write(study.spec, study.folder, folder)
    return folder


@pytest.fixture(scope="session")
def biased(tmp_path_factory):
    """Two conditions and biases at one size, and the model of biases."""
    return report_results.study(
        tmp_path_factory.mktemp("biased"), conditions=("baby", "baby-f"), sizes=("10K",),
        seeds=(1, 2), biases=("none", "recency"), regressions=("bias",),
    )  # fmt: skip
