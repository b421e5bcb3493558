"""One model for each run of the grid, and the untrained nulls.

train   tokens and tokenizer    -> models/{condition}/{size}/{learner}/{regimen}/{bias}/seed{seed}/

Resumable checkpoints go to checkpoints/, which no rule declares: Snakemake deletes the declared
outputs of a job that fails.
"""


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
    log:
        PATHS.log("train", RUN),
    conda:
        "../envs/models.yaml"
    threads: training_threads
    resources:
        mem_mb=8000,
        runtime=1440,
    params:
        spec=lambda wc: SLICES.train(run_of(wc)),
        code=lambda wc: code(
            "poshgrid.training.train",
            plugins.module_name(
                "poshgrid.models.architectures", GRID.learners[wc.learner].architecture
            ),
            *bias_modules(run_of(wc)),
        ),
        tokens=lambda wc: PATHS.tokens(wc.condition, wc.size),
        tokenizer=lambda wc: PATHS.tokenizer(wc.condition, wc.size),
        checkpoints=PATHS.checkpoints(),
        folder=PATHS.model(RUN),
    shell:
        "poshgrid train --spec {params.spec:q} --code {params.code} --tokens {params.tokens:q}"
        " --tokenizer {params.tokenizer:q} --checkpoints {params.checkpoints:q}"
        " --output {params.folder:q} > {log:q} 2>&1"
