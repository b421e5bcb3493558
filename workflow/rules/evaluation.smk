"""Log-probabilities of every member of every suite, one job for each model.

score   model and items    -> scores/{run}/{suite}.parquet    poshgrid score
"""


rule score:
    input:
        *[PATHS.items(suite) for suite in GRID.suites],
        model=f"{PATHS.model(RUN)}/model.safetensors",
    output:
        [PATHS.scores(RUN, suite) for suite in GRID.suites],
        manifest=Path(PATHS.scores(RUN, "x")).parent / "manifest.json",
    params:
        spec=GRID.score_spec(),
        code=code("poshgrid.evaluation.score"),
        suites=" ".join(f"--items {suite}={PATHS.items(suite)}" for suite in GRID.suites),
        model=PATHS.model(RUN),
        folder=Path(PATHS.scores(RUN, "x")).parent,
    log:
        PATHS.log("score", RUN),
    conda:
        "../envs/models.yaml"
    threads: CONFIG.scoring.threads
    resources:
        mem_mb=8000,
        runtime=120,
    shell:
        "poshgrid score --spec {params.spec:q} --code {params.code} --model {params.model:q}"
        " {params.suites} --output {params.folder:q} > {log:q} 2>&1"
