"""One cluster for all drills, and after them what came of each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.slurm.cluster import Cluster, unavailable


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    reason = unavailable()
    if reason:
        pytest.skip(f"no SLURM: {reason}")
    made = Cluster(tmp_path_factory.mktemp("slurm"))
    made.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", made.environment["SLURM_CONF"])
        yield made
    made.stop()
    # Without cgroups SLURM loses a job's process whose parent has ended.
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if Path(process.cwd()).is_relative_to(tmp_path_factory.getbasetemp()):
                process.kill()
