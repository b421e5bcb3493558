"""Judgements, tests against chance, Bayesian mixed models, and results on the other suites.

accuracy  scores, words of conditions -> statistics/{target}/                     poshgrid accuracy
curves    the same, at checkpoints     -> statistics/{target}/curves/              poshgrid curves
fit       counts of a target           -> statistics/{target}/models/{model}/      poshgrid fit
deltas    scores of a target's runs    -> statistics/{target}/deltas/              poshgrid deltas
measures  scores of a target's runs    -> statistics/{target}/measures/{suite}/    poshgrid measures
"""


rule accuracy:
    input:
        lambda wc: [
            PATHS.scores(run.name, suite) for run in GRID.runs(wc.target) for suite in PAIRS
        ],
        lambda wc: [f"{PATHS.condition(*cell)}/statistics.json" for cell in GRID.cells(wc.target)],
        *(table(suite) for suite in PAIRS for table in (PATHS.items, PATHS.rules)),
    output:
        folder_files(
            PATHS.statistics("{target}"),
            "counts.parquet",
            "accuracy.parquet",
            "accuracy.csv",
            "accuracy.tex",
            "nulls.parquet",
            "nulls.csv",
        ),
    log:
        PATHS.log("accuracy", "{target}"),
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=growing(8000),
        runtime=growing(30),
    params:
        spec=lambda wc: short("--spec", SLICES.judgement(wc.target)),
        code=lambda wc: code("poshgrid.statistics.accuracy"),
        scores=lambda wc: PATHS.all_scores(),
        suites=" ".join(
            f"--items {suite}={PATHS.items(suite)} --rules {suite}={PATHS.rules(suite)}"
            for suite in PAIRS
        ),
        conditions=PATHS.all_conditions(),
        folder=PATHS.statistics("{target}"),
    shell:
        "poshgrid accuracy {params.spec} --code {params.code} --scores {params.scores:q}"
        " {params.suites} --conditions {params.conditions:q} --output {params.folder:q} > {log:q} 2>&1"


rule curves:
    input:
        lambda wc: [
            PATHS.scores(run.name, suite)
            for run in GRID.made(wc.target)
            if run.regimen != COUNTED
            for suite in PAIRS
        ],
        lambda wc: [
            f"{PATHS.model(run.name)}/{name}"
            for run in GRID.targets.get(wc.target, [])
            for name in ("statistics.json", "training.jsonl")
        ],
        *(PATHS.items(suite) for suite in PAIRS),
    output:
        folder_files(
            PATHS.curves("{target}"),
            "curves.parquet",
            "curves.csv",
            "curves_mean.parquet",
            "curves_mean.csv",
            "training.parquet",
            "training.csv",
        ),
    log:
        PATHS.log("curves", "{target}"),
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        spec=lambda wc: short("--spec", SLICES.judgement(wc.target)),
        code=lambda wc: code("poshgrid.statistics.curves"),
        scores=PATHS.all_scores(),
        models=PATHS.all_models(),
        suites=" ".join(f"--items {suite}={PATHS.items(suite)}" for suite in PAIRS),
        folder=PATHS.curves("{target}"),
    shell:
        "poshgrid curves {params.spec} --code {params.code} --scores {params.scores:q}"
        " --models {params.models:q} {params.suites} --output {params.folder:q} > {log:q} 2>&1"


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
            "contrasts.parquet",
            "contrasts.csv",
            "contrasts.tex",
            "predictive.parquet",
            "predictive.csv",
            "diagnostics.json",
        ),
    log:
        PATHS.log("fit", "{target}/{model}"),
    conda:
        "../envs/statistics.yaml"
    threads: 2
    resources:
        mem_mb=growing(8000),
        runtime=growing(120),
    params:
        spec=lambda wc: SLICES.model(wc.model),
        code=lambda wc: code("poshgrid.statistics.fit"),
        folder=PATHS.fit("{target}", "{model}"),
    shell:
        "poshgrid fit --spec {params.spec:q} --code {params.code} --counts {input.counts:q}"
        " --threads {threads} --output {params.folder:q} > {log:q} 2>&1"


rule deltas:
    input:
        lambda wc: [
            PATHS.scores(run.name, suite)
            for run in filtering.runs(GRID, wc.target)
            for suite in PAIRS
        ],
        lambda wc: [PATHS.perplexity(run.name) for run in filtering.read(GRID, wc.target)],
        *(PATHS.items(suite) for suite in PAIRS),
    output:
        folder_files(
            PATHS.deltas("{target}"),
            "deltas.parquet",
            "deltas.csv",
            "deltas.tex",
            "delta_tests.parquet",
            "delta_tests.csv",
            "perplexity.parquet",
            "perplexity.csv",
        ),
    log:
        PATHS.log("deltas", "{target}"),
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        spec=lambda wc: short("--spec", SLICES.deltas(wc.target)),
        code=lambda wc: code("poshgrid.statistics.deltas"),
        scores=PATHS.all_scores(),
        perplexities=PATHS.all_perplexities(),
        suites=" ".join(f"--items {suite}={PATHS.items(suite)}" for suite in PAIRS),
        folder=PATHS.deltas("{target}"),
    shell:
        "poshgrid deltas {params.spec} --code {params.code} --scores {params.scores:q}"
        " --perplexities {params.perplexities:q} {params.suites} --output {params.folder:q}"
        " > {log:q} 2>&1"


rule measures:
    input:
        lambda wc: [PATHS.scores(run.name, wc.suite) for run in GRID.runs(wc.target)],
        lambda wc: norms(wc.suite),
        table=PATHS.items("{suite}"),
    output:
        folder_files(
            PATHS.measures("{target}", "{suite}"),
            "measures.parquet",
            "measures.csv",
            "measures.tex",
        ),
    log:
        PATHS.log("measures", "{target}/{suite}"),
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        spec=lambda wc: short("--spec", SLICES.measures(wc.target, wc.suite)),
        code=lambda wc: code(
            "poshgrid.statistics.measures.paradigms", "poshgrid.statistics.measures.choices"
        ),
        scores=lambda wc: PATHS.all_scores(),
        norms=lambda wc: f"--norms {quote(norms(wc.suite))}" if norms(wc.suite) else "",
        folder=PATHS.measures("{target}", "{suite}"),
    shell:
        "poshgrid measures {params.spec} --code {params.code} --scores {params.scores:q}"
        " --items {input.table:q} {params.norms} --output {params.folder:q} > {log:q} 2>&1"
