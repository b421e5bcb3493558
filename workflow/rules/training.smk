"""One model for each run of the grid, and the nulls.

distances  parses, condition, tokens  -> distances/{condition}/{size}/{parser}/         poshgrid distances
train      tokens and tokenizer       -> models/{run}/                                  poshgrid train
together   runs that share a GPU      -> together/{cell}/{part}.json                    poshgrid together
untrained  the same                   -> models/{run}/, the null of a learner           poshgrid train
count      train.parquet              -> models/{condition}/{size}/{null}/counted/none/seed0/  poshgrid count

A run is {condition}/{size}/{learner}/{regimen}/{bias}/seed{seed}. Distances are those in the trees of
the training sentences, for a bias that is trained with them.

Resumable checkpoints go to checkpoints/, which no rule declares: Snakemake deletes the declared
outputs of a job that fails.
"""


rule distances:
    input:
        f"{PATHS.condition('{condition}', '{size}')}/train.parquet",
        lambda wc: INPUTS.tokenizer(wc.condition, wc.size),
        f"{PATHS.tokens('{condition}', '{size}')}/train.bin",
        parses=lambda wc: INPUTS.condition_shards(wc.condition, wc.parser),
    output:
        folder_files(
            PATHS.distances("{condition}", "{size}", "{parser}"),
            "distances.bin",
            "words.bin",
            "offsets.npy",
            "statistics.json",
        ),
    log:
        PATHS.log("distances", "{condition}/{size}/{parser}"),
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=growing(8000),
        runtime=growing(120),
    params:
        code=lambda wc: code("poshgrid.distances.make"),
        condition=lambda wc: PATHS.condition(wc.condition, wc.size),
        tokenizer=lambda wc: INPUTS.tokenizer_folder(wc.condition, wc.size),
        tokens=lambda wc: PATHS.tokens(wc.condition, wc.size),
        parses=lambda wc: OPTIONS.parses(INPUTS.condition_shards(wc.condition, wc.parser)),
        folder=PATHS.distances("{condition}", "{size}", "{parser}"),
    shell:
        "poshgrid distances --code {params.code} --condition {params.condition:q}"
        " --tokenizer {params.tokenizer:q} --tokens {params.tokens:q} {params.parses}"
        " --output {params.folder:q} > {log:q} 2>&1"


rule train:
    input:
        f"{PATHS.tokens('{condition}', '{size}')}/train.bin",
        lambda wc: INPUTS.tokenizer(wc.condition, wc.size),
        lambda wc: INPUTS.distances(run_of(wc)),
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
    wildcard_constraints:
        regimen=f"(?!{COUNTED}/|{PRETRAINED}/|{UNTRAINED}/)[^/]+",
    conda:
        "../envs/models.yaml"
    threads: lambda wc: GRID.regimens[wc.regimen].threads
    resources:
        mem_mb=growing(8000),
        runtime=1440,
        # On SLURM: training is a step of its own, and so is told of its end (profiles/slurm).
        mpi="",
        step="",
        # Options, not params: they change no result
        checkpoint_every=lambda wc: OPTIONS.checkpoint_every(wc.regimen),
        tracker=lambda wc: OPTIONS.tracker(),
    params:
        spec=lambda wc: SLICES.train(run_of(wc)),
        code=lambda wc: code("poshgrid.training.train", *MODULES.learner(run_of(wc))),
        tokens=lambda wc: PATHS.tokens(wc.condition, wc.size),
        tokenizer=lambda wc: INPUTS.tokenizer_folder(wc.condition, wc.size),
        checkpoints=PATHS.checkpoints(),
        distances=lambda wc: OPTIONS.distances(run_of(wc)),
        folder=PATHS.model(RUN),
    shell:
        "{resources.step} poshgrid train --spec {params.spec:q} --code {params.code} --tokens {params.tokens:q}"
        " --tokenizer {params.tokenizer:q} {params.distances} {resources.checkpoint_every} {resources.tracker} --checkpoints {params.checkpoints:q}"
        " --output {params.folder:q} > {log:q} 2>&1"


use rule train as untrained with:
    input:
        f"{PATHS.tokens('{condition}', '{size}')}/train.bin",
        lambda wc: INPUTS.tokenizer(wc.condition, wc.size),
    log:
        PATHS.log("untrained", RUN),
    wildcard_constraints:
        regimen=UNTRAINED,
    threads: 1
    resources:
        mem_mb=growing(8000),
        runtime=growing(30),
        mpi="",
        step="",
        checkpoint_every="",
        tracker="",


rule count:
    input:
        f"{PATHS.condition('{condition}', '{size}')}/train.parquet",
    output:
        folder_files(
            PATHS.model(COUNTED_RUN),
            "config.json",
            "model.safetensors",
            "statistics.json",
            "README.md",
        ),
    log:
        PATHS.log("count", COUNTED_RUN),
    wildcard_constraints:
        learner="|".join(WORD_NULLS),
    conda:
        "../envs/corpora.yaml"
    resources:
        mem_mb=growing(16000),
        runtime=growing(120),
    params:
        spec=lambda wc: SLICES.count(wc.learner),
        code=lambda wc: code("poshgrid.models.ngram"),
        folder=PATHS.model(COUNTED_RUN),
    shell:
        "poshgrid count --spec {params.spec:q} --code {params.code} --sentences {input:q}"
        " --output {params.folder:q} > {log:q} 2>&1"
