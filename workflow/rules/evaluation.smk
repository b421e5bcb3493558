"""Log-probabilities of every member of every suite, one job for each model.

score   model and items    -> scores/{run}/{suite}.parquet    poshgrid score
"""


rule score:
    input:
        *SUITE_FILES,
        model=f"{PATHS.model(RUN)}/model.safetensors",
    output:
        [PATHS.scores(RUN, suite) for suite in GRID.suites],
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
        spec=SLICES.score(),
        code=code("poshgrid.evaluation.score"),
        suites=SUITE_OPTIONS,
        model=lambda wc: PATHS.model(run_of(wc).name),
        folder=PATHS.score_folder(RUN),
    shell:
        "poshgrid score --spec {params.spec:q} --code {params.code} --model {params.model:q}"
        " {params.suites} --output {params.folder:q} > {log:q} 2>&1"
