"""What every model makes of every suite, one job for each model; and of unfiltered text.

score        model and items              -> scores/{run}/{suite}.parquet    poshgrid score
perplexity   model and a base's sentences -> perplexity/{run}.json           poshgrid perplexity
"""


rule score:
    input:
        *(PATHS.items(suite) for suite in GRID.suites),
        model=scored_model,
    output:
        [PATHS.scores(RUN, suite) for suite in GRID.suites],
        [PATHS.token_scores(RUN, suite) for suite in PAIRS if CONFIG.scoring.per_token],
        manifest=f"{PATHS.score_folder(RUN)}/manifest.json",
    log:
        PATHS.log("score", RUN),
    conda:
        "../envs/models.yaml"
    threads: CONFIG.scoring.threads
    resources:
        mem_mb=growing(8000),
        runtime=growing(120),
    params:
        spec=lambda wc: SLICES.score(run_of(wc)),
        code=lambda wc: code("poshgrid.evaluation.score"),
        suites=" ".join(f"--items {suite}={PATHS.items(suite)}" for suite in GRID.suites),
        model=lambda wc: model_place(run_of(wc)),
        checkpoints=kept,
        folder=PATHS.score_folder(RUN),
    shell:
        "poshgrid score --spec {params.spec:q} --code {params.code} --model {params.model:q}"
        " {params.suites} --output {params.folder:q} > {log:q} 2>&1"


rule perplexity:
    input:
        model=scored_model,
        sentences=lambda wc: PATHS.sentences(GRID.base_of(wc.condition).name),
    output:
        result=PATHS.perplexity(RUN),
        manifest=f"{PATHS.all_perplexities()}/{RUN}.manifest.json",
    log:
        PATHS.log("perplexity", RUN),
    conda:
        "../envs/models.yaml"
    threads: CONFIG.scoring.threads
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        spec=lambda wc: SLICES.perplexity(run_of(wc)),
        code=lambda wc: code("poshgrid.evaluation.perplexity"),
        model=lambda wc: PATHS.model(run_of(wc).name),
    shell:
        "poshgrid perplexity --spec {params.spec:q} --code {params.code} --model {params.model:q}"
        " --sentences {input.sentences:q} --output {output.result:q} > {log:q} 2>&1"
