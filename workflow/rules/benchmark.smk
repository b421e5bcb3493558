"""Minimal pairs: generated from templates, or read from files.

items   templates, lexicon, words of the bases    -> benchmark/{suite}/items.parquet    poshgrid items
"""


rule items:
    input:
        lambda wc: plugin_files(
            "poshgrid.benchmark.suites",
            GRID.suites[wc.suite].reader,
            GRID.suites[wc.suite].path,
            GRID.suites[wc.suite].options,
        ),
        bases=list(GRID.vocabularies().values()),
    output:
        pairs=PATHS.items("{suite}"),
        manifest=Path(PATHS.items("{suite}")).parent / "manifest.json",
    log:
        PATHS.log("items", "{suite}"),
    conda:
        "../envs/corpora.yaml"
    resources:
        mem_mb=8000,
        runtime=30,
    params:
        data=DATA,
        spec=lambda wc: SLICES.items(wc.suite),
        code=lambda wc: code(
            "poshgrid.benchmark.items",
            plugins.module_name("poshgrid.benchmark.suites", GRID.suites[wc.suite].reader),
        ),
        bases=" ".join(f"--base {base}={path}" for base, path in GRID.vocabularies().items()),
    shell:
        "poshgrid items --spec {params.spec:q} --code {params.code} --data {params.data:q}"
        " {params.bases} --output {output.pairs:q} > {log:q} 2>&1"
