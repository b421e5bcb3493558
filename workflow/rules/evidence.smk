"""Direct evidence, the conditions that differ in it, and sheets for people to judge both.

evidence   parses of a base                        -> evidence/{base}/{parser}.parquet  poshgrid evidence
condition  sentences (and labels), or ready files  -> conditions/{condition}/{size}/    poshgrid condition
audit      condition, its base and labels          -> audit/{condition}/{size}/         poshgrid audit
"""


rule evidence:
    input:
        lambda wc: word_lists(GRID.filters(wc.base)),
        sentences=PATHS.sentences("{base}"),
        parses=shard_files,
    output:
        labels=PATHS.evidence("{base}", "{parser}"),
        manifest=PATHS.evidence("{base}", "{parser}").replace(".parquet", ".manifest.json"),
    log:
        PATHS.log("evidence", "{base}/{parser}"),
    conda:
        "../envs/corpora.yaml"
    resources:
        mem_mb=growing(8000),
        runtime=growing(60),
    params:
        spec=lambda wc: SLICES.evidence(wc.base),
        code=lambda wc: code(
            "poshgrid.evidence.label",
            *[plugins.module_name("poshgrid.evidence.filters", f) for f in GRID.filters(wc.base)],
            *lexical_modules(GRID.filters(wc.base)),
        ),
        parses=lambda wc: " ".join(f"--parses {path}" for path in shard_files(wc)),
    shell:
        "poshgrid evidence --spec {params.spec:q} --code {params.code}"
        " --sentences {input.sentences:q} {params.parses} --output {output.labels:q} > {log:q} 2>&1"


rule condition:
    input:
        labels=labels,
        sentences=condition_sources,
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
    conda:
        "../envs/corpora.yaml"
    resources:
        mem_mb=growing(8000),
        runtime=growing(60),
    params:
        spec=lambda wc: SLICES.condition(wc.condition, wc.size),
        code=lambda wc: code(condition_module(wc)),
        origin=condition_origin,
        folder=PATHS.condition("{condition}", "{size}"),
    shell:
        "poshgrid condition --spec {params.spec:q} --code {params.code} {params.origin}"
        " --output {params.folder:q} > {log:q} 2>&1"


rule audit:
    input:
        f"{PATHS.condition('{condition}', '{size}')}/train.parquet",
        f"{PATHS.condition('{condition}', '{size}')}/statistics.json",
        lambda wc: word_lists(GRID.conditions[wc.condition].filters),
        labels=labels,
        sentences=lambda wc: PATHS.sentences(GRID.base_of(wc.condition).name),
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
            "poshgrid.audit.draw",
            *lexical_modules(GRID.conditions[wc.condition].filters),
        ),
        condition=lambda wc: PATHS.condition(wc.condition, wc.size),
        folder=PATHS.audit("{condition}", "{size}"),
    shell:
        "poshgrid audit --spec {params.spec:q} --code {params.code}"
        " --condition {params.condition:q} --sentences {input.sentences:q}"
        " --evidence {input.labels:q} --output {params.folder:q} > {log:q} 2>&1"
