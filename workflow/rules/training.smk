"""One model for each run of the grid, and the untrained nulls.

train   tokens and tokenizer    -> models/{condition}/{size}/{learner}/{regimen}/{bias}/seed{seed}/

Resumable checkpoints go to checkpoints/, which no rule declares: Snakemake deletes the declared
outputs of a job that fails.
"""


def bias_modules(run):
    """The modules of the biases that a run is trained with."""
    parts = [part for part in run.bias.split("+") if part != "none"]
    return [plugins.module_name("poshgrid.training.biases", part) for part in parts]


def training_threads(wildcards):
    """The threads that the run's regimen fixes."""
    return 1 if wildcards.regimen == UNTRAINED else GRID.regimens[wildcards.regimen].threads


rule train:
    input:
        f"{PATHS.tokens('{condition}', '{size}')}/train.bin",
        f"{PATHS.tokenizer('{condition}', '{size}')}/tokenizer.json",
    output:
        folder_files(
            PATHS.model(RUN),
            "config.json",
            "model.safetensors",
            "tokenizer.json",
            "training.jsonl",
            "statistics.json",
            "README.md",
        ),
    params:
        spec=lambda wc: GRID.train_spec(run_of(wc)),
        code=lambda wc: code(
            "poshgrid.training.train",
            plugins.module_name(
                "poshgrid.models.architectures", GRID.learners[wc.learner].architecture
            ),
            *bias_modules(run_of(wc)),
        ),
        tokens=PATHS.tokens("{condition}", "{size}"),
        tokenizer=PATHS.tokenizer("{condition}", "{size}"),
        folder=PATHS.model(RUN),
    log:
        PATHS.log("train", RUN),
    conda:
        "../envs/models.yaml"
    threads: training_threads
    resources:
        mem_mb=8000,
        runtime=1440,
    shell:
        "poshgrid train --spec {params.spec:q} --code {params.code} --tokens {params.tokens:q}"
        " --tokenizer {params.tokenizer:q} --checkpoints {RESULTS:q}/checkpoints"
        " --output {params.folder:q} > {log:q} 2>&1"
