"""Direct evidence, the conditions that differ in it, and sheets for people to label.

evidence   parses of a corpus                        -> evidence/{corpus}/{parser}/
recall     gold trees, a parser                    -> recall/{parser}/
condition  sentences (and labels), or ready files  -> conditions/{condition}/{size}/
side_effects condition, its corpus and labels          -> side_effects/{condition}/{size}/
audit      condition, its corpus and labels          -> audit/{condition}/{size}/
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
        "poshgrid stage evidence {params.job:q} > {log:q} 2>&1"


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


rule side_effects:
    input:
        STAGE.side_effects.read,
    output:
        STAGE.side_effects.written(),
    log:
        STAGE.side_effects.log,
    conda:
        "../envs/corpora.yaml"
    resources:
        **STAGE.side_effects.resources,
    params:
        job=STAGE.side_effects.job,
    shell:
        "poshgrid stage side_effects {params.job:q} > {log:q} 2>&1"


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
