"""Sources to bases.

read   files of a source           -> sources/{source}/sentences.parquet    poshgrid read
mix    sentences of all sources    -> corpora/{base}/sentences.parquet      poshgrid mix
"""


rule read:
    input:
        lambda wc: INPUTS.source(wc.source),
    output:
        sentences=PATHS.source("{source}"),
        statistics=Path(PATHS.source("{source}")).parent / "statistics.json",
        manifest=Path(PATHS.source("{source}")).parent / "manifest.json",
    log:
        PATHS.log("read", "{source}"),
    conda:
        "../envs/corpora.yaml"
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        data=lambda wc: CONFIG.data,
        spec=lambda wc: SLICES.source(wc.source),
        code=lambda wc: code("poshgrid.corpora.read", MODULES.reader(wc.source)),
        given=lambda wc: INPUTS.given(INPUTS.source(wc.source)),
    shell:
        "poshgrid read --spec {params.spec:q} --code {params.code}-{params.given:q} --data {params.data:q}"
        " --threads {threads} --output {output.sentences:q} > {log:q} 2>&1"


rule mix:
    input:
        lambda wc: INPUTS.portions(wc.base),
    output:
        sentences=PATHS.sentences("{base}"),
        statistics=Path(PATHS.sentences("{base}")).parent / "statistics.json",
        manifest=Path(PATHS.sentences("{base}")).parent / "manifest.json",
    log:
        PATHS.log("mix", "{base}"),
    conda:
        "../envs/corpora.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        spec=lambda wc: SLICES.base(wc.base),
        sources=lambda wc: OPTIONS.sources(wc.base),
        code=lambda wc: code("poshgrid.corpora.mix"),
    shell:
        "poshgrid mix --spec {params.spec:q} --code {params.code} {params.sources}"
        " --output {output.sentences:q} > {log:q} 2>&1"
