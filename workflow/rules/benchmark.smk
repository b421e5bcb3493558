"""The suites' items, what the nulls are counted from, and what is wrong with a suite.

ngrams   sentences of a base at a size                  -> benchmark/ngrams/{base}/{size}/    poshgrid count
items    templates, lexicon, corpora; or files          -> benchmark/{suite}/items.parquet    poshgrid items
quality  items, corpora, scores of a target's nulls     -> quality/{target}/{suite}/          poshgrid quality
"""


rule ngrams:
    input:
        lambda wc: GRID.corpora()[f"{wc.base}/{wc.size}"][0],
    output:
        folder_files(
            PATHS.ngrams("{base}", "{size}"),
            "config.json",
            "model.safetensors",
            "statistics.json",
            "README.md",
        ),
    log:
        PATHS.log("ngrams", "{base}/{size}"),
    conda:
        "../envs/corpora.yaml"
    resources:
        mem_mb=growing(16000),
        runtime=growing(120),
    params:
        spec=lambda wc: SLICES.count("ngram", GRID.corpora()[f"{wc.base}/{wc.size}"][1]),
        code=lambda wc: code("poshgrid.models.ngram"),
        folder=PATHS.ngrams("{base}", "{size}"),
    shell:
        "poshgrid count --spec {params.spec:q} --code {params.code} --sentences {input:q}"
        " --output {params.folder:q} > {log:q} 2>&1"


rule items:
    input:
        lambda wc: INPUTS.suite(wc.suite),
    output:
        table=PATHS.items("{suite}"),
        manifest=Path(PATHS.items("{suite}")).parent / "manifest.json",
    log:
        PATHS.log("items", "{suite}"),
    conda:
        "../envs/corpora.yaml"
    resources:
        # The n-gram models of the bases: 3 GB for 100M words
        mem_mb=lambda wc, attempt: attempt * (24000 if GRID.suites[wc.suite].generated else 4000),
        runtime=growing(60),
    params:
        data=lambda wc: CONFIG.data,
        spec=lambda wc: SLICES.items(wc.suite),
        code=lambda wc: code("poshgrid.benchmark.items", MODULES.suite(wc.suite)),
        given=lambda wc: INPUTS.given(INPUTS.suite(wc.suite)),
        corpora=lambda wc: OPTIONS.corpora(wc.suite),
    shell:
        "poshgrid items --spec {params.spec:q} --code {params.code}-{params.given:q} --data {params.data:q}"
        " {params.corpora} --output {output.table:q} > {log:q} 2>&1"


rule quality:
    input:
        list(GRID.vocabularies().values()),
        lambda wc: INPUTS.scores(INPUTS.nulls[wc.target], wc.suite),
        lambda wc: INPUTS.train_tables(wc.target),
        INPUTS.lexicon(),
        INPUTS.layout("quality"),
        table=PATHS.items("{suite}"),
    # The page is not declared: Snakemake would delete it where the gate fails and it is needed.
    output:
        folder_files(PATHS.quality("{target}", "{suite}"), "quality.json", "nulls.csv"),
    log:
        PATHS.log("quality", "{target}/{suite}"),
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=growing(8000),
        runtime=growing(60),
    params:
        spec=lambda wc: SLICES.quality(wc.target, wc.suite),
        code=lambda wc: code("poshgrid.quality.gate"),
        given=lambda wc: INPUTS.given(INPUTS.lexicon(), INPUTS.layout("quality")),
        bases=lambda wc: OPTIONS.bases(),
        train=lambda wc: OPTIONS.train(wc.target),
        scores=lambda wc: OPTIONS.scores(wc.suite, INPUTS.nulls[wc.target]),
        folder=PATHS.quality("{target}", "{suite}"),
    shell:
        "poshgrid quality --spec {params.spec:q} --code {params.code}-{params.given:q} --items {input.table:q}"
        " {params.bases} {params.train} {params.scores} --output {params.folder:q} > {log:q} 2>&1"
