"""Dependency parsers, trained or given, and the parses of the corpora that have filters.

treebank      CoNLL-U files or the toy grammar    -> treebanks/{parser}/
train_parser  treebank                            -> parsers/{parser}/
parse         one shard of a corpus                 -> parses/{corpus}/{parser}/{shard}/
"""


rule treebank:
    input:
        STAGE.treebank.read,
    output:
        STAGE.treebank.written(),
    log:
        STAGE.treebank.log,
    priority: 50  # the longest chain of jobs: whatever is filtered waits for the parses
    conda:
        "../envs/parsing.yaml"
    resources:
        **STAGE.treebank.resources,
    params:
        job=STAGE.treebank.job,
    shell:
        "poshgrid stage treebank {params.job:q} > {log:q} 2>&1"


rule train_parser:
    input:
        STAGE.train_parser.read,
    output:
        STAGE.train_parser.written(),
    log:
        STAGE.train_parser.log,
    priority: 50
    conda:
        "../envs/parsing.yaml"
    resources:
        **STAGE.train_parser.resources,
    params:
        job=STAGE.train_parser.job,
    shell:
        "poshgrid stage train_parser {params.job:q} > {log:q} 2>&1"


rule parse:
    input:
        STAGE.parse.read,
    output:
        STAGE.parse.written(),
    log:
        STAGE.parse.log,
    priority: 50
    conda:
        "../envs/parsing.yaml"
    resources:
        **STAGE.parse.resources,
    params:
        job=STAGE.parse.job,
    shell:
        "poshgrid stage parse {params.job:q} > {log:q} 2>&1"
