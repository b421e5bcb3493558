# poshgrid: text -> sentences -> parses -> evidence -> conditions -> tokens -> models -> scores
# -> statistics -> report. Each arrow is a rule file; this file holds only the targets.
from snakemake.utils import min_version

from poshgrid.warm import start as warm

min_version("9.0")


include: "workflow/rules/common.smk"


report: "workflow/report/workflow.rst"


# Jobs of this machine fork from processes that have imported the large libraries.
onstart:
    if workflow.local_exec and not workflow.touch:
        warm.start()


localrules:
    all,


# The first rule is what `snakemake` makes without a target.
rule all:
    input:
        lambda wc: target_files("all"),
        together_files("all"),
        lengths_files("all"),


# Each experiment of the configuration is a target: `snakemake exp1`.
for experiment in [name for name in GRID.targets if name != "all"]:

    rule:
        name:
            experiment
        input:
            lambda wc, target=experiment: target_files(target),
            together_files(experiment),
            lengths_files(experiment),
        localrule: True


# Models of somebody else's, scored alone.
if GRID.given:

    rule pretrained:
        input:
            [f"{PATHS.statistics(PRETRAINED)}/accuracy.parquet" for _ in PAIRS[:1]],
            [f"{PATHS.rule_shares(PRETRAINED)}/shares.parquet" for _ in PAIRS[:1]],
            [f"{PATHS.measures(PRETRAINED, suite)}/measures.parquet" for suite in MEASURED],
        localrule: True


include: "workflow/rules/corpora.smk"
include: "workflow/rules/parsing.smk"
include: "workflow/rules/evidence.smk"
include: "workflow/rules/tokenization.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/benchmark.smk"
include: "workflow/rules/evaluation.smk"
include: "workflow/rules/rules.smk"
include: "workflow/rules/statistics.smk"
include: "workflow/rules/report.smk"
