"""Direct evidence, and the conditions that differ in it.

evidence   parses of a base             -> evidence/{base}/{parser}.parquet    poshgrid evidence
condition  sentences (and labels)       -> conditions/{condition}/{size}/      poshgrid condition
"""


rule evidence:
    input:
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
        mem_mb=8000,
        runtime=60,
    params:
        spec=lambda wc: GRID.evidence_spec(wc.base),
        code=lambda wc: code(
            "poshgrid.evidence.label",
            *[plugins.module_name("poshgrid.evidence.filters", f) for f in GRID.filters(wc.base)],
        ),
        parses=lambda wc: " ".join(f"--parses {path}" for path in shard_files(wc)),
    shell:
        "poshgrid evidence --spec {params.spec:q} --code {params.code}"
        " --sentences {input.sentences:q} {params.parses} --output {output.labels:q} > {log:q} 2>&1"


rule condition:
    input:
        labels=labels,
        sentences=lambda wc: PATHS.sentences(GRID.base_of(wc.condition).name),
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
        mem_mb=8000,
        runtime=60,
    params:
        spec=lambda wc: GRID.condition_spec(wc.condition, wc.size),
        code=code("poshgrid.evidence.condition"),
        labels=lambda wc: f"--evidence {labels(wc)}" if labels(wc) else "",
        folder=PATHS.condition("{condition}", "{size}"),
    shell:
        "poshgrid condition --spec {params.spec:q} --code {params.code}"
        " --sentences {input.sentences:q} {params.labels} --output {params.folder:q} > {log:q} 2>&1"
