"""What every model makes of every suite, one job for each model; and of unfiltered text.

score        model and items              -> scores/{run}/{suite}.parquet    poshgrid score
perplexity   model and a base's sentences -> perplexity/{run}.json           poshgrid perplexity
"""


rule score:
    input:
        *(PATHS.items(suite) for suite in GRID.suites),
        model=lambda wc: INPUTS.model(run_of(wc)),
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
        given=lambda wc: INPUTS.given(INPUTS.model(run_of(wc))),
        suites=lambda wc: OPTIONS.items(GRID.suites),
        model=lambda wc: INPUTS.model_place(run_of(wc)),
        # The run's folder holds them beside its model: they are scored, too.
        checkpoints=lambda wc: GRID.checkpoints(wc.regimen),
        folder=PATHS.score_folder(RUN),
    shell:
        "poshgrid score --spec {params.spec:q} --code {params.code}-{params.given:q} --model {params.model:q}"
        " {params.suites} --output {params.folder:q} > {log:q} 2>&1"


rule perplexity:
    input:
        model=lambda wc: INPUTS.model(run_of(wc)),
        sentences=lambda wc: INPUTS.whole(wc.condition),
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
