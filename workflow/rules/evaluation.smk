"""What every model makes of every suite, one job for each model.

score   model and items    -> scores/{run}/{suite}.parquet    poshgrid score
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
        mem_mb=8000,
        runtime=120,
    params:
        spec=lambda wc: SLICES.score(run_of(wc)),
        code=code("poshgrid.evaluation.score"),
        suites=" ".join(f"--items {suite}={PATHS.items(suite)}" for suite in GRID.suites),
        model=lambda wc: model_place(run_of(wc)),
        checkpoints=kept,
        folder=PATHS.score_folder(RUN),
    shell:
        "poshgrid score --spec {params.spec:q} --code {params.code} --model {params.model:q}"
        " {params.suites} --output {params.folder:q} > {log:q} 2>&1"
