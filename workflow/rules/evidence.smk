"""Direct evidence, the conditions that differ in it, and sheets for people to label.

evidence   parses of a base                        -> evidence/{base}/{parser}.parquet
recall     gold trees, a parser                    -> recall/{parser}.parquet
condition  sentences (and labels), or ready files  -> conditions/{condition}/{size}/
collateral condition, its base and labels          -> collateral/{condition}/{size}/
audit      condition, its base and labels          -> audit/{condition}/{size}/
"""


rule evidence:
    input:
        STAGE.evidence.read,
    output:
        STAGE.evidence.written(),
    log:
        STAGE.evidence.log,
    conda:
        "../envs/corpora.yaml"
    resources:
        **STAGE.evidence.resources,
    params:
        job=STAGE.evidence.job,
    shell:
        "poshgrid stage evidence {params.job:q} --threads {threads} > {log:q} 2>&1"


rule recall:
    input:
        STAGE.recall.read,
    output:
        STAGE.recall.written(),
    log:
        STAGE.recall.log,
    conda:
        "../envs/parsing.yaml"
    resources:
        **STAGE.recall.resources,
    params:
        job=STAGE.recall.job,
    shell:
        "poshgrid stage recall {params.job:q} > {log:q} 2>&1"


rule condition:
    input:
        STAGE.condition.read,
    output:
        STAGE.condition.written(),
    log:
        STAGE.condition.log,
    # Before what else could run: a condition that is the same as another stops the run before training
    priority: 90
    conda:
        "../envs/corpora.yaml"
    resources:
        **STAGE.condition.resources,
    params:
        job=STAGE.condition.job,
    shell:
        "poshgrid stage condition {params.job:q} > {log:q} 2>&1"


rule collateral:
    input:
        STAGE.collateral.read,
    output:
        STAGE.collateral.written(),
    log:
        STAGE.collateral.log,
    conda:
        "../envs/corpora.yaml"
    resources:
        **STAGE.collateral.resources,
    params:
        job=STAGE.collateral.job,
    shell:
        "poshgrid stage collateral {params.job:q} > {log:q} 2>&1"


rule audit:
    input:
        STAGE.audit.read,
    output:
        STAGE.audit.written(),
    log:
        STAGE.audit.log,
    conda:
        "../envs/corpora.yaml"
    resources:
        **STAGE.audit.resources,
    params:
        job=STAGE.audit.job,
    shell:
        "poshgrid stage audit {params.job:q} > {log:q} 2>&1"
