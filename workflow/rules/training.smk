"""One model for each run of the grid, and the baselines.

distances  parses, condition, tokens  -> distances/{condition}/{size}/{parser}/
train      tokens and tokenizer       -> models/{run}/
count      train.parquet              -> models/{condition}/{size}/{baseline}/counted/none/seed0/

A run is {condition}/{size}/{model}/{recipe}/{bias}/seed{seed}. Resumable checkpoints go to
checkpoints/, which no rule declares: Snakemake deletes the declared outputs of a job that fails.
"""


rule distances:
    input:
        STAGE.distances.read,
    output:
        STAGE.distances.written(),
    log:
        STAGE.distances.log,
    conda:
        "../envs/models.yaml"
    resources:
        **STAGE.distances.resources,
    params:
        job=STAGE.distances.job,
    shell:
        "poshgrid stage distances {params.job:q} > {log:q} 2>&1"


rule train:
    input:
        STAGE.train.read,
    output:
        STAGE.train.written(),
    log:
        STAGE.train.log,
    wildcard_constraints:
        recipe=f"(?!{COUNTED}/|{PRETRAINED}/|{UNTRAINED}/)[^/]+",
    conda:
        "../envs/models.yaml"
    threads: STAGE.train.threads
    resources:
        # On SLURM, `step` makes training a step of its own, which receives the signal before its end (profiles/slurm).
        **STAGE.train.resources,
    params:
        job=STAGE.train.job,
    shell:
        "{resources.step} poshgrid stage train {params.job:q} > {log:q} 2>&1"


rule count:
    input:
        STAGE.count.read,
    output:
        STAGE.count.written(),
    log:
        STAGE.count.log,
    wildcard_constraints:
        model="|".join(WORD_BASELINES),
    conda:
        "../envs/corpora.yaml"
    resources:
        **STAGE.count.resources,
    params:
        job=STAGE.count.job,
    shell:
        "poshgrid stage count {params.job:q} > {log:q} 2>&1"
