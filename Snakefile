# poshgrid: text -> sentences -> parses -> evidence -> conditions -> tokens -> models -> scores
# -> statistics -> report. Each arrow is a rule file. This file reads the configuration, makes of it
# what rules ask for by name, and holds the targets.
#
# A stage is declared once, in poshgrid.stages. A job's command line (params.job) holds the slice of
# the configuration that it reads, the digest of its code, its inputs, and the digest of those that
# no job writes. Snakemake compares it: a change reruns exactly the cells that it can change. Where
# Snakemake has no record of a result, the result's manifest is compared.
import gc
import sys
from pathlib import Path

from snakemake.utils import min_version, update_config

from poshgrid.core.errors import PoshgridError
from poshgrid.grid import configfile as configuration
from poshgrid.config import PAPER
from poshgrid.config.runs import COUNTED, PRETRAINED, UNTRAINED, WORD_BASELINES
from poshgrid.stages import Stages
from poshgrid.planning import slurm
from poshgrid.planning import current, ready

min_version("9.0")

CONFIGFILES = workflow.overwrite_configfiles or [str(PAPER)]

try:
    # A configuration given on the command line replaces the paper's instead of being merged into
    # it. Snakemake's own `configfile:` would run the templates of a file.
    if "suites" not in config:
        written = configuration.read(PAPER)
        update_config(written, config)
        config.update(written)
    GRID = configuration.validate(config, CONFIGFILES)
    current.attach(workflow, GRID.config.results)
except PoshgridError as error:
    for line in str(error).splitlines():
        print(f"error: {line}", file=sys.stderr)
    sys.exit(1)

# A grid makes millions of objects that stay: looking through them less often saves a tenth.
gc.set_threshold(50_000, 20, 20)

CONFIG, PATHS = GRID.config, GRID.paths
STAGE = Stages(GRID, write=lambda: not workflow.dryrun)
PAIRS = GRID.pairs


wildcard_constraints:
    **GRID.wildcards(),
    shard=r"\d+",
    bias="[^/]+",
    seed=r"\d+",


report: "workflow/report/workflow.rst"


localrules:
    all,


# The first rule is what `snakemake` makes without a target.
rule all:
    input:
        lambda wc: ready.page(workflow, GRID, "all"),


# Each experiment of the configuration is a target: `snakemake exp1`.
for experiment in [name for name in GRID.targets if name != "all"]:

    rule:
        name:
            experiment
        input:
            lambda wc, target=experiment: ready.page(workflow, GRID, target),
        localrule: True


# Models of somebody else's, scored alone.
if GRID.pretrained_runs:

    rule pretrained:
        input:
            [f"{PATHS.statistics(PRETRAINED)}/accuracy.parquet" for _ in PAIRS[:1]],
            [f"{PATHS.measures(PRETRAINED, suite)}/measures.parquet" for suite in GRID.measured],
        localrule: True


include: "workflow/rules/corpora.smk"
include: "workflow/rules/parsing.smk"
include: "workflow/rules/evidence.smk"
include: "workflow/rules/tokenization.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/benchmark.smk"
include: "workflow/rules/evaluation.smk"
include: "workflow/rules/statistics.smk"
include: "workflow/rules/report.smk"


onstart:
    slurm.reach(workflow.executor_plugin.name)


onsuccess:
    ready.losses(workflow.dag)
    for job in workflow.dag.jobs:
        if job.rule.name == "report":
            print(f"report: {Path(job.output[0]).absolute()}", file=sys.stderr)


onerror:
    ready.losses(workflow.dag)
