"""What a public forge reads: workflows, the lock, the citation, and placeholders that are left."""

from __future__ import annotations

import re

import pytest
import yaml


def read(root, name):
    return (root / name).read_text(encoding="utf-8")


def pins(text):
    """Return name -> version of every line NAME==VERSION."""
    found = re.findall(r"^([A-Za-z0-9_.-]+)(?:\[.+\])?==([^\s\\;]+)", text, re.M)
    return {name.lower().replace("_", "-"): version for name, version in found}


@pytest.mark.parametrize("name", ["ci", "release"])
def test_workflows_are_pinned_and_name_no_secret(root, name):
    text = read(root, f".github/workflows/{name}.yml")
    jobs = yaml.safe_load(text)["jobs"]
    for job in jobs.values():
        needs = job.get("needs", [])
        assert {needs} <= set(jobs) if isinstance(needs, str) else set(needs) <= set(jobs)
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            if "uses" in step:
                assert re.search(r"@(v\d+|release/v\d+)$", step["uses"]), step["uses"]
    assert "secrets." not in text


def test_the_lock_has_the_versions_that_are_tested(root):
    """What the lock adds to constraints.txt: setuptools, and CUDA, which torch brings on Linux."""
    tested, locked = pins(read(root, "constraints.txt")), pins(read(root, "requirements.lock"))
    assert {n for n in locked if n in tested and locked[n] != tested[n]} == set()
    added = {name for name in locked if name not in tested}
    assert all(re.match(r"nvidia-|cuda-|triton$|setuptools$", name) for name in added), added
    assert "torch" in locked and locked["torch"] == tested["torch"]
    assert read(root, "requirements.lock").count("--hash=sha256:") > len(locked)
    assert "\nsmart-open[http]==" in read(root, "requirements.lock")  # pip asks for weasel's extra
