"""Direct evidence, the conditions that differ in it, and sheets for people to judge both.

evidence   parses of a base                        -> evidence/{base}/{parser}.parquet  poshgrid evidence
recall     gold trees, a parser                    -> recall/{parser}.parquet           poshgrid recall
condition  sentences (and labels), or ready files  -> conditions/{condition}/{size}/    poshgrid condition
collateral condition, its base and labels          -> collateral/{condition}/{size}/    poshgrid measure-collateral
detector   CoNLL-U files or the toy grammar        -> detector/                         poshgrid detector
audit      condition, its base and labels          -> audit/{condition}/{size}/         poshgrid audit
"""


rule evidence:
    input:
        lambda wc: INPUTS.word_lists(GRID.filters(wc.base)),
        sentences=PATHS.sentences("{base}"),
        parses=lambda wc: INPUTS.shards(wc.base, wc.parser),
    output:
        labels=PATHS.evidence("{base}", "{parser}"),
        counts=PATHS.evidence("{base}", "{parser}").replace(".parquet", ".json"),
        manifest=PATHS.evidence("{base}", "{parser}").replace(".parquet", ".manifest.json"),
    log:
        PATHS.log("evidence", "{base}/{parser}"),
    conda:
        "../envs/corpora.yaml"
    threads: 1
    resources:
        mem_mb=growing(8000),
        runtime=growing(60),
    params:
        spec=lambda wc: SLICES.evidence(wc.base),
        code=lambda wc: code("poshgrid.evidence.label", *MODULES.filters(GRID.filters(wc.base))),
        given=lambda wc: INPUTS.given(INPUTS.word_lists(GRID.filters(wc.base))),
        parses=lambda wc: OPTIONS.parses(INPUTS.shards(wc.base, wc.parser)),
    shell:
        "poshgrid evidence --spec {params.spec:q} --code {params.code}-{params.given:q}"
        " --sentences {input.sentences:q} {params.parses} --threads {threads}"
        " --output {output.labels:q} > {log:q} 2>&1"


rule recall:
    input:
        lambda wc: INPUTS.trained_parser(wc.parser),
        lambda wc: INPUTS.given_parser(wc.parser),
        lambda wc: INPUTS.seen_trees(wc.parser),
        lambda wc: INPUTS.gold(),
        lambda wc: INPUTS.word_lists(GRID.every_filter),
    output:
        table=PATHS.recall("{parser}"),
        counts=PATHS.recall("{parser}").replace(".parquet", ".json"),
        manifest=PATHS.recall("{parser}").replace(".parquet", ".manifest.json"),
    log:
        PATHS.log("recall", "{parser}"),
    conda:
        "../envs/parsing.yaml"
    resources:
        mem_mb=growing(8000),
        runtime=growing(240),
    params:
        spec=lambda wc: SLICES.recall(wc.parser),
        code=lambda wc: code(
            "poshgrid.evidence.recall",
            MODULES.engine(wc.parser),
            *MODULES.filters(GRID.every_filter),
        ),
        given=lambda wc: INPUTS.given(
            INPUTS.given_parser(wc.parser),
            INPUTS.gold(),
            INPUTS.word_lists(GRID.every_filter),
        ),
        data=lambda wc: CONFIG.data,
        model=lambda wc: GRID.parsers[wc.parser].model or PATHS.parser(wc.parser),
        treebank=lambda wc: OPTIONS.treebank(wc.parser),
    shell:
        "poshgrid recall --spec {params.spec:q} --code {params.code}-{params.given:q} --data {params.data:q}"
        " --model {params.model:q} {params.treebank} --output {output.table:q} > {log:q} 2>&1"


rule condition:
    input:
        labels=lambda wc: INPUTS.labels(wc.condition),
        sentences=lambda wc: INPUTS.condition(wc.condition, wc.size),
    output:
        folder_files(
            PATHS.condition("{condition}", "{size}"),
            "train.parquet",
            "dev.parquet",
            "test.parquet",
            "statistics.json",
        ),
    log:
        PATHS.log("condition", "{condition}/{size}"),
    # Before what else could run: a condition that is the same as another is told before training.
    # A file that all of a base wait for would not do: behind ancient() Snakemake overlooks what else
    # has changed of a run while the file is made again, and without it one more condition trains all
    # models again.
    priority: 90
    conda:
        "../envs/corpora.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        spec=lambda wc: SLICES.condition(wc.condition, wc.size),
        code=lambda wc: code(MODULES.condition(wc.condition)),
        given=lambda wc: INPUTS.given(INPUTS.condition(wc.condition, wc.size)),
        origin=lambda wc: OPTIONS.origin(wc.condition, wc.size),
        beside=lambda wc: OPTIONS.beside(wc.condition, wc.size),
        folder=PATHS.condition("{condition}", "{size}"),
    shell:
        "poshgrid condition --spec {params.spec:q} --code {params.code}-{params.given:q} {params.origin}"
        " --beside {params.beside:q} --output {params.folder:q} > {log:q} 2>&1"


rule collateral:
    input:
        f"{PATHS.condition('{condition}', '{size}')}/train.parquet",
        f"{PATHS.condition('{condition}', '{size}')}/statistics.json",
        labels=lambda wc: INPUTS.labels(wc.condition),
        sentences=lambda wc: INPUTS.whole(wc.condition),
    output:
        folder_files(
            PATHS.collateral("{condition}", "{size}"), "collateral.parquet", "statistics.json"
        ),
    log:
        PATHS.log("collateral", "{condition}/{size}"),
    conda:
        "../envs/corpora.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        spec=lambda wc: SLICES.collateral(wc.condition, wc.size),
        code=lambda wc: code("poshgrid.evidence.collateral"),
        condition=lambda wc: PATHS.condition(wc.condition, wc.size),
        folder=PATHS.collateral("{condition}", "{size}"),
    shell:
        "poshgrid measure-collateral --spec {params.spec:q} --code {params.code}"
        " --condition {params.condition:q} --sentences {input.sentences:q}"
        " --evidence {input.labels:q} --output {params.folder:q} > {log:q} 2>&1"


rule detector:
    input:
        lambda wc: INPUTS.word_lists(GRID.detected_words()),
        lambda wc: INPUTS.treebank(CONFIG.evidence.detector),
    output:
        folder_files(PATHS.detector(), "detector.safetensors", "statistics.json"),
    log:
        PATHS.log("detector", "detector"),
    conda:
        "../envs/parsing.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        data=lambda wc: CONFIG.data,
        spec=lambda wc: SLICES.detector(),
        code=lambda wc: code(
            "poshgrid.evidence.screening.detector", *MODULES.filters(GRID.detected_words())
        ),
        given=lambda wc: INPUTS.given(
            INPUTS.word_lists(GRID.detected_words()),
            INPUTS.treebank(CONFIG.evidence.detector),
        ),
        folder=lambda wc: PATHS.detector(),
    shell:
        "poshgrid detector --spec {params.spec:q} --code {params.code}-{params.given:q} --data {params.data:q}"
        " --output {params.folder:q} > {log:q} 2>&1"


rule audit:
    input:
        f"{PATHS.condition('{condition}', '{size}')}/train.parquet",
        f"{PATHS.condition('{condition}', '{size}')}/statistics.json",
        lambda wc: INPUTS.word_lists(GRID.conditions[wc.condition].words),
        [f"{PATHS.detector()}/manifest.json"] if CONFIG.evidence.detector else [],
        labels=lambda wc: INPUTS.labels(wc.condition),
        sentences=lambda wc: INPUTS.whole(wc.condition),
    # The sheets are not declared: Snakemake would delete those that people have filled in.
    output:
        folder_files(PATHS.audit("{condition}", "{size}"), "statistics.json"),
    log:
        PATHS.log("audit", "{condition}/{size}"),
    conda:
        "../envs/corpora.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        spec=lambda wc: SLICES.audit(wc.condition, wc.size),
        code=lambda wc: code(
            "poshgrid.audit.draw", *MODULES.lexical(GRID.conditions[wc.condition].words)
        ),
        given=lambda wc: INPUTS.given(INPUTS.word_lists(GRID.conditions[wc.condition].words)),
        condition=lambda wc: PATHS.condition(wc.condition, wc.size),
        detector=lambda wc: OPTIONS.detector(),
        folder=PATHS.audit("{condition}", "{size}"),
    shell:
        "poshgrid audit --spec {params.spec:q} --code {params.code}-{params.given:q}"
        " --condition {params.condition:q} --sentences {input.sentences:q}"
        " --evidence {input.labels:q} {params.detector} --output {params.folder:q} > {log:q} 2>&1"
