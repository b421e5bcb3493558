"""Judgements, tests against chance, Bayesian mixed models, and results on the other suites.

accuracy  scores, words of conditions -> statistics/{target}/                     poshgrid accuracy
curves    the same, at checkpoints     -> statistics/{target}/curves/              poshgrid curves
fit       counts of a target           -> statistics/{target}/models/{model}/      poshgrid fit
deltas    scores of a target's runs    -> statistics/{target}/deltas/              poshgrid deltas
measures  scores of a target's runs    -> statistics/{target}/measures/{suite}/    poshgrid measures
"""


rule accuracy:
    input:
        lambda wc: INPUTS.scores(GRID.runs(wc.target), *PAIRS),
        lambda wc: INPUTS.condition_statistics(wc.target),
        *(table(suite) for suite in PAIRS for table in (PATHS.items, PATHS.rules)),
    output:
        folder_files(
            PATHS.statistics("{target}"),
            "counts.parquet",
            "accuracy.parquet",
            "accuracy.csv",
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
        spec=lambda wc: OPTIONS.spec(SLICES.judgement(wc.target)),
        code=lambda wc: code("poshgrid.statistics.accuracy"),
        scores=lambda wc: PATHS.all_scores(),
        suites=lambda wc: OPTIONS.items_and_rules(PAIRS),
        conditions=PATHS.all_conditions(),
        folder=PATHS.statistics("{target}"),
    shell:
        "poshgrid accuracy {params.spec} --code {params.code} --scores {params.scores:q}"
        " {params.suites} --conditions {params.conditions:q} --output {params.folder:q} > {log:q} 2>&1"


rule curves:
    input:
        lambda wc: INPUTS.scores(INPUTS.stepped(wc.target), *PAIRS),
        lambda wc: INPUTS.training_logs(wc.target),
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
        spec=lambda wc: OPTIONS.spec(SLICES.judgement(wc.target)),
        code=lambda wc: code("poshgrid.statistics.curves"),
        scores=PATHS.all_scores(),
        models=PATHS.all_models(),
        suites=lambda wc: OPTIONS.items(PAIRS),
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
            "contrasts.parquet",
            "contrasts.csv",
            "predictive.parquet",
            "predictive.csv",
            "diagnostics.json",
        ),
    log:
        PATHS.log("fit", "{target}/{model}"),
    # The model with the most grouping terms takes longest: it should not be the last
    priority: lambda wc: GRID.models[wc.model].formula.count("|")
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
        lambda wc: INPUTS.scores(INPUTS.filtered(wc.target), *PAIRS),
        lambda wc: INPUTS.perplexities(wc.target),
        *(PATHS.items(suite) for suite in PAIRS),
    output:
        folder_files(
            PATHS.deltas("{target}"),
            "deltas.parquet",
            "deltas.csv",
            "delta_items.parquet",
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
        spec=lambda wc: OPTIONS.spec(SLICES.deltas(wc.target)),
        code=lambda wc: code("poshgrid.statistics.deltas"),
        scores=PATHS.all_scores(),
        perplexities=PATHS.all_perplexities(),
        suites=lambda wc: OPTIONS.items(PAIRS),
        folder=PATHS.deltas("{target}"),
    shell:
        "poshgrid deltas {params.spec} --code {params.code} --scores {params.scores:q}"
        " --perplexities {params.perplexities:q} {params.suites} --output {params.folder:q}"
        " > {log:q} 2>&1"


rule measures:
    input:
        lambda wc: INPUTS.scores(GRID.runs(wc.target), wc.suite),
        lambda wc: INPUTS.norms(wc.suite),
        table=PATHS.items("{suite}"),
    output:
        folder_files(
            PATHS.measures("{target}", "{suite}"),
            "measures.parquet",
            "measures.csv",
        ),
    log:
        PATHS.log("measures", "{target}/{suite}"),
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        spec=lambda wc: OPTIONS.spec(SLICES.measures(wc.target, wc.suite)),
        code=lambda wc: code(
            "poshgrid.statistics.measures.paradigms", "poshgrid.statistics.measures.choices"
        ),
        given=lambda wc: INPUTS.given(INPUTS.norms(wc.suite)),
        scores=lambda wc: PATHS.all_scores(),
        norms=lambda wc: OPTIONS.norms(wc.suite),
        folder=PATHS.measures("{target}", "{suite}"),
    shell:
        "poshgrid measures {params.spec} --code {params.code}-{params.given:q} --scores {params.scores:q}"
        " --items {input.table:q} {params.norms} --output {params.folder:q} > {log:q} 2>&1"
