"""Judgements, tests against chance, Bayesian mixed models, and results on the other suites.

accuracy     scores, words of conditions, what heuristics choose -> statistics/{target}/
curves       the same, at checkpoints            -> statistics/{target}/curves/
fit          counts of a target                  -> statistics/{target}/regressions/{regression}/
deltas       scores of runs that filtering tells apart -> statistics/{target}/deltas/
measures     scores of a suite                   -> statistics/{target}/measures/{suite}/
"""


rule accuracy:
    input:
        STAGE.accuracy.read,
    output:
        STAGE.accuracy.written(),
    log:
        STAGE.accuracy.log,
    conda:
        "../envs/statistics.yaml"
    resources:
        **STAGE.accuracy.resources,
    params:
        job=STAGE.accuracy.job,
    shell:
        "poshgrid stage accuracy {params.job:q} > {log:q} 2>&1"


rule curves:
    input:
        STAGE.curves.read,
    output:
        STAGE.curves.written(),
    log:
        STAGE.curves.log,
    conda:
        "../envs/statistics.yaml"
    resources:
        **STAGE.curves.resources,
    params:
        job=STAGE.curves.job,
    shell:
        "poshgrid stage curves {params.job:q} > {log:q} 2>&1"


rule fit:
    input:
        STAGE.fit.read,
    output:
        STAGE.fit.written(),
    log:
        STAGE.fit.log,
    conda:
        "../envs/statistics.yaml"
    threads: 2
    resources:
        **STAGE.fit.resources,
    params:
        job=STAGE.fit.job,
    shell:
        "poshgrid stage fit {params.job:q} --threads {threads} > {log:q} 2>&1"


rule deltas:
    input:
        STAGE.deltas.read,
    output:
        STAGE.deltas.written(),
    log:
        STAGE.deltas.log,
    conda:
        "../envs/statistics.yaml"
    resources:
        **STAGE.deltas.resources,
    params:
        job=STAGE.deltas.job,
    shell:
        "poshgrid stage deltas {params.job:q} > {log:q} 2>&1"


rule measures:
    input:
        STAGE.measures.read,
    output:
        STAGE.measures.written(),
    log:
        STAGE.measures.log,
    conda:
        "../envs/statistics.yaml"
    resources:
        **STAGE.measures.resources,
    params:
        job=STAGE.measures.job,
    shell:
        "poshgrid stage measures {params.job:q} > {log:q} 2>&1"
