"""The configuration, the grid and the fingerprints that every rule file uses.

A job's command line holds the slice of the configuration that it reads (``params.spec``) and the
fingerprint of its code (``params.code``); Snakemake compares both, so that a change reruns exactly
the cells that it can change. Folders are globals, not params: moving the data reruns nothing.
"""

import sys
from pathlib import Path

from poshgrid import configfile as configuration, plugins
from poshgrid.errors import PoshgridError
from poshgrid.fingerprint import code
from poshgrid.grid import SPLITS, UNTRAINED, Grid

# A configuration given on the command line replaces the paper's instead of being merged into it.
if "experiments" not in config:

    configfile: workflow.source_path("../../config/config.yaml")


try:
    GRID = Grid(configuration.validate(config, workflow.overwrite_configfiles or ["config/config.yaml"]))
except PoshgridError as error:
    for line in str(error).splitlines():
        print(f"error: {line}", file=sys.stderr)
    sys.exit(1)

PATHS = GRID.paths
CONFIG = GRID.config
DATA = CONFIG.data
RESULTS = CONFIG.results
RUN = "{condition}/{size}/{learner}/{regimen}/{bias}/seed{seed}"


wildcard_constraints:
    source="[^/]+",
    base="[^/]+",
    parser="[^/]+",
    shard=r"\d+",
    condition="[^/]+",
    size="[^/]+",
    learner="[^/]+",
    regimen="[^/]+",
    bias="[^/]+",
    seed=r"\d+",
    suite="[^/]+",
    target="[^/]+",
    model="[^/]+",


def target_files(target):
    """The report of a target, or nothing where `only` leaves it without a run."""
    return f"{PATHS.report(target)}/index.html" if target in GRID.targets else []


def folder_files(folder, *names):
    """Named files of a folder and its manifest."""
    return [f"{folder}/{name}" for name in (*names, "manifest.json")]


def run_of(wildcards):
    """The run that a job's wildcards name."""
    return GRID.run(RUN.format(**wildcards))


def plugin_code(package, word):
    """The fingerprint of the module behind a config word."""
    return code(plugins.module_name(package, word))


def plugin_files(package, word, path, options):
    """The files that a plug-in reads, as far as they are there: a job whose data are missing says so."""
    plugin = plugins.load(package, word)
    if not hasattr(plugin, "files"):
        return []
    folder = Path(DATA, path or "")
    try:
        return [str(file) for file in plugin.files(folder, plugins.options(package, word, options))]
    except (OSError, PoshgridError):
        return []
