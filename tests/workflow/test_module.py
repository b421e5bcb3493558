"""poshgrid as a module of somebody's workflow, as snakedeploy writes it."""

import shutil

from tests import forks

DEPLOYED = """
configfile: "config/tiny.yaml"
module poshgrid:
    snakefile: "{snakefile}"
    config: config
use rule * from poshgrid
rule mine:  # a rule of one's own, on results of the module's
    input: "results/tiny/sources/toy-baby/statistics.json"
    output: "words.txt"
    shell: "grep -cw words {{input}} > {{output}}"
"""


def test_a_rule_of_ones_own_stands_on_the_modules_results(root, tmp_path):
    shutil.copytree(root / "config", tmp_path / "config")
    (tmp_path / "workflow").mkdir()
    text = DEPLOYED.format(snakefile=root / "Snakefile")
    (tmp_path / "workflow/Snakefile").write_text(text)
    done = forks.python(("-m", "snakemake", "--cores", "1", "mine"), tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "words.txt").read_text() == "1\n"
