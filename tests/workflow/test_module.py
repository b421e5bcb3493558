"""poshgrid as a module of somebody's workflow, as snakedeploy writes it."""

from __future__ import annotations

import re
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


def jobs(found):
    """Return rule -> jobs of a dry-run's table."""
    assert found.returncode == 0, found.stderr
    table = found.stdout.partition("count\n")[2].partition("\n\n")[0]
    return {name: int(n) for name, n in re.findall(r"^(\w+) +(\d+)$", table, re.M)}


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


@pytest.mark.slow
def test_a_module_plans_what_the_workflow_plans(root, study, tmp_path_factory):
    plain = tmp_path_factory.mktemp("plain")
    direct = snakemake(plain, "-s", root / "Snakefile", "--configfile", root / "config/tiny.yaml",
                       "-n", "--quiet", "rules", "--", "all")  # fmt: skip
    expected = jobs(direct)
    assert expected["train"] > 10
    assert jobs(snakemake(study(), "-n", "--quiet", "rules", "--", "all")) == expected
    named = jobs(snakemake(study(" as p_*"), "-n", "--quiet", "rules", "--", "p_all"))
    assert {name.removeprefix("p_"): count for name, count in named.items()} == expected


def test_a_rule_of_ones_own_stands_on_the_modules_results(study):
    folder = study()
    found = snakemake(folder, "mine")
    assert found.returncode == 0, found.stderr
    assert (folder / "words.txt").read_text() == "1\n"
