"""What every model makes of every suite, one job for each model; and of unfiltered text.

score        model and items              -> scores/{run}/{suite}.parquet
untrained    tokens, tokenizer and items  -> the same, of a model that is only initialised
perplexity   model and sentences of a corpus -> perplexity/{run}/
"""


rule score:
    input:
        STAGE.score.read,
    output:
        STAGE.score.written(),
    log:
        STAGE.score.log,
    wildcard_constraints:
        recipe=f"(?!{UNTRAINED}/)[^/]+",
    conda:
        "../envs/models.yaml"
    threads: CONFIG.scoring.threads
    resources:
        **STAGE.score.resources,
    params:
        job=STAGE.score.job,
    shell:
        "poshgrid stage score {params.job:q} > {log:q} 2>&1"


rule untrained:
    input:
        STAGE.untrained.read,
    output:
        STAGE.untrained.written(),
    log:
        STAGE.untrained.log,
    wildcard_constraints:
        recipe=UNTRAINED,
    conda:
        "../envs/models.yaml"
    threads: CONFIG.scoring.threads
    resources:
        **STAGE.untrained.resources,
    params:
        job=STAGE.untrained.job,
    shell:
        "poshgrid stage untrained {params.job:q} > {log:q} 2>&1"


rule perplexity:
    input:
        STAGE.perplexity.read,
    output:
        STAGE.perplexity.written(),
    log:
        STAGE.perplexity.log,
    conda:
        "../envs/models.yaml"
    threads: CONFIG.scoring.threads
    resources:
        **STAGE.perplexity.resources,
    params:
        job=STAGE.perplexity.job,
    shell:
        "poshgrid stage perplexity {params.job:q} > {log:q} 2>&1"
