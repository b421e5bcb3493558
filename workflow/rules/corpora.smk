"""Sources to corpora.

read   files of a source           -> sources/{source}/sentences.parquet
mix    sentences of all sources    -> corpora/{corpus}/sentences.parquet
"""


rule read:
    input:
        STAGE.read.read,
    output:
        STAGE.read.written(),
    log:
        STAGE.read.log,
    conda:
        "../envs/corpora.yaml"
    resources:
        **STAGE.read.resources,
    params:
        job=STAGE.read.job,
    shell:
        "poshgrid stage read {params.job:q} > {log:q} 2>&1"


rule mix:
    input:
        STAGE.mix.read,
    output:
        STAGE.mix.written(),
    log:
        STAGE.mix.log,
    conda:
        "../envs/corpora.yaml"
    resources:
        **STAGE.mix.resources,
    params:
        job=STAGE.mix.job,
    shell:
        "poshgrid stage mix {params.job:q} > {log:q} 2>&1"
