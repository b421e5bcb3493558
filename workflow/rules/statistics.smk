"""Judgements, tests against chance, and Bayesian mixed models.

accuracy  scores of a target's runs    -> statistics/{target}/            poshgrid accuracy
fit       counts of a target           -> statistics/{target}/{model}/    poshgrid fit
"""


rule accuracy:
    input:
        lambda wc: [
            PATHS.scores(run.name, suite) for run in GRID.runs(wc.target) for suite in GRID.suites
        ],
        suites=SUITE_FILES,
    output:
        folder_files(
            PATHS.statistics("{target}"),
            "counts.parquet",
            "accuracy.parquet",
            "accuracy.csv",
            "accuracy.tex",
        ),
    log:
        PATHS.log("accuracy", "{target}"),
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=8000,
        runtime=30,
    params:
        spec=lambda wc: SLICES.judgement(wc.target),
        code=code("poshgrid.statistics.accuracy"),
        scores=lambda wc: PATHS.all_scores(),
        suites=SUITE_OPTIONS,
        folder=PATHS.statistics("{target}"),
    shell:
        "poshgrid accuracy --spec {params.spec:q} --code {params.code} --scores {params.scores:q}"
        " {params.suites} --output {params.folder:q} > {log:q} 2>&1"


rule fit:
    input:
        counts=f"{PATHS.statistics('{target}')}/counts.parquet",
    output:
        folder_files(
            PATHS.fit("{target}", "{model}"),
            "posterior.nc",
            "summary.parquet",
            "summary.csv",
            "summary.tex",
            "diagnostics.json",
        ),
    log:
        PATHS.log("fit", "{target}/{model}"),
    conda:
        "../envs/statistics.yaml"
    threads: 2
    resources:
        mem_mb=8000,
        runtime=120,
    params:
        spec=lambda wc: SLICES.model(wc.model),
        code=code("poshgrid.statistics.fit"),
        folder=PATHS.fit("{target}", "{model}"),
    shell:
        "poshgrid fit --spec {params.spec:q} --code {params.code} --counts {input.counts:q}"
        " --threads {threads} --output {params.folder:q} > {log:q} 2>&1"
