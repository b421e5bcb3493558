"""poshgrid as a module of somebody's workflow, as snakedeploy writes it."""

from __future__ import annotations

import shutil

import pytest

from tests import forks

DEPLOYED = """
configfile: "config/tiny.yaml"

module poshgrid:
    snakefile: "{snakefile}"
    config: config

use rule * from poshgrid{prefix}

rule mine:  # a rule of one's own, on results of the module's
    input: "results/tiny/sources/toy-baby/statistics.json"
    output: "words.txt"
    shell: "grep -cw words {{input}} > {{output}}"
"""


def snakemake(folder, *arguments):
    return forks.python(("-m", "snakemake", "--cores", "1", *arguments), folder)


@pytest.fixture
def study(root, tmp_path):
    """A folder of somebody's with the module and its configuration, and where the checkout is."""
    shutil.copytree(root / "config", tmp_path / "config")
    (tmp_path / "workflow").mkdir()

    def write(prefix=""):
        text = DEPLOYED.format(snakefile=root / "Snakefile", prefix=prefix)
        (tmp_path / "workflow/Snakefile").write_text(text)
        return tmp_path

    return write


def test_a_rule_of_ones_own_stands_on_the_modules_results(study):
    folder = study()
    found = snakemake(folder, "mine")
    assert found.returncode == 0, found.stderr
    assert (folder / "words.txt").read_text() == "1\n"
