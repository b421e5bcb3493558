"""What stages run is part of their digest, or on the short list of what is left out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from poshgrid.stages import STAGES
from tests import tracing

EXPENSIVE = ("fit", "recall", "report")
"""Stages that take more than half of the time."""


@pytest.mark.slow
@pytest.mark.parametrize("omitted", [EXPENSIVE, ()], ids=["most", "all"])
def test_no_function_runs_that_is_not_digested(
    omitted: tuple[str, ...], root: Path, tmp_path: Path
) -> None:
    """Move what is named here into a room that its stages import."""
    jobs = tracing.run(root, tmp_path, omitted)
    assert {job.stage for job in jobs} == set(STAGES) - set(omitted)
    assert tracing.leaks(jobs) == {}


def test_a_function_outside_the_digest_is_found(root: Path, tmp_path: Path) -> None:
    """A stage of ``corpora.mix`` that calls another room, a method of the configuration, logs."""
    modules = ["poshgrid.corpora.mix"]
    (tmp_path / "digests").write_text(json.dumps(["0f", modules]) + "\n")
    program = (
        "import json, sys, poshgrid.cli;"
        "sys.argv = ['poshgrid', 'stage', 'planted', json.dumps({'code': '0f'})];"
        "from poshgrid.config import Tokenizer; from poshgrid.core import logs;"
        "from poshgrid.core.writing import count; from poshgrid.config.sizes import words;"
        "count(3); Tokenizer().shared; words('10M'); logs.get('x')"
    )
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(tracing.HERE), str(root / "src")]),
        "TRACED_SOURCE": str(root / "src"), "TRACED_LOG": str(tmp_path),
    }  # fmt: skip
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, cwd=root)
    (job,) = tracing.jobs(tmp_path)
    assert "poshgrid.config.sizes:words" in job.ran
    assert tracing.leaks([job]) == {
        "poshgrid.config.models:Tokenizer.shared": {"planted"},
        "poshgrid.core.writing:count": {"planted"},
    }
