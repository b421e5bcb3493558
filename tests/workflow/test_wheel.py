"""The package without its checkout: a wheel, installed where no checkout is, plans a study."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
import yaml

BUILD = ("pyproject.toml", "README.md", "LICENSE", "Snakefile")
SHIPPED = ("src", "config", "docs", "profiles", "resources", "studies", "workflow")


def ask(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(word) for word in command], cwd=cwd, env=kept | environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def installed(root, tmp_path_factory) -> Path:
    """The commands of an environment with the wheel, and this environment's other packages."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in SHIPPED:
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(root / name, source / name, symlinks=True, ignore=ignored)
    for name in BUILD:
        shutil.copy(root / name, source)
    offline = ("--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")
    pip = (sys.executable, "-m", "pip")
    built = ask(*pip, "wheel", "--quiet", *offline, "--wheel-dir", folder, source, cwd=folder)
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("*.whl")
    shutil.rmtree(source)  # nothing is read from it any more
    venv.create(folder / "venv", with_pip=False)
    (packages,) = (folder / "venv/lib").glob("python*/site-packages")
    there = ("--python", folder / "venv/bin/python")
    put = ask(*pip, *there, "install", "--quiet", *offline[:2], wheel, cwd=folder)
    assert put.returncode == 0, put.stderr
    # After its own: those of the environment that runs this test, but not what is editable there
    others = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "others.pth").write_text("\n".join(others) + "\n")
    return folder / "venv/bin"


@pytest.fixture(scope="module")
def study(installed, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("empty")
    made = ask(installed / "poshgrid", "init", "mine", cwd=folder)
    assert made.returncode == 0, made.stderr
    return folder / "mine"


def test_an_empty_folder_plans_the_toy_grid(root, installed, study):
    """`poshgrid init`, then a dry-run: the whole graph of jobs, and no input is missing."""
    words = ("run", "--profile", "tiny", "-n", "--quiet", "rules")
    said = ask(installed / "poshgrid", *words, cwd=study)
    text = said.stdout + said.stderr
    assert said.returncode == 0, text
    assert re.search(r"^ready: all: \d+ found$", text, re.M)  # texts, trees, examples come along
    counts = {rule: int(n) for rule, n in re.findall(r"^ *(\w[\w ]*?) +(\d+) *$", text, re.M)}
    shipped = yaml.safe_load((root / "config/tiny.yaml").read_text(encoding="utf-8"))
    assert counts["read"] == len(shipped["sources"])
    assert counts["items"] == len(shipped["suites"])
    assert counts["report"] == counts["all"] == 1
    assert counts["total"] == sum(n for rule, n in counts.items() if rule != "total") > 50
    assert not (study / "results").exists()
