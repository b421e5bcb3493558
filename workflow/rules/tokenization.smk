"""One tokenizer for each condition and size, or one that they share, and its tokens.

tokenizer  train.parquet of conditions     -> tokenizers/{condition}/{size}/
tokens     condition and tokenizer         -> tokens/{condition}/{size}/
sweep      train.parquet of a condition    -> sweeps/{condition}/{size}/sweep.json
"""


rule tokenizer:
    input:
        STAGE.tokenizer.read,
    output:
        STAGE.tokenizer.written(),
    log:
        STAGE.tokenizer.log,
    conda:
        "../envs/models.yaml"
    resources:
        **STAGE.tokenizer.resources,
    params:
        job=STAGE.tokenizer.job,
    shell:
        "poshgrid stage tokenizer {params.job:q} > {log:q} 2>&1"


rule tokens:
    input:
        STAGE.tokens.read,
    output:
        STAGE.tokens.written(),
    log:
        STAGE.tokens.log,
    conda:
        "../envs/models.yaml"
    resources:
        **STAGE.tokens.resources,
    params:
        job=STAGE.tokens.job,
    shell:
        "poshgrid stage tokens {params.job:q} > {log:q} 2>&1"


rule sweep:
    input:
        STAGE.sweep.read,
    output:
        STAGE.sweep.written(),
    log:
        STAGE.sweep.log,
    conda:
        "../envs/models.yaml"
    resources:
        **STAGE.sweep.resources,
    params:
        job=STAGE.sweep.job,
    shell:
        "poshgrid stage sweep {params.job:q} > {log:q} 2>&1"
