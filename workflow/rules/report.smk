"""The page of a target: tables, figures, corpora, runs, provenance.

report   statistics and every stage's own    -> report/{target}/index.html    poshgrid report
"""


def report_inputs(wildcards):
    """Everything that the page shows."""
    target = wildcards.target
    cells = GRID.cells(target)
    parsed = sorted({GRID.base_of(c).name for c, s in cells if GRID.needs_evidence(c, s)})
    parsers = GRID.evidence_parsers() if parsed else []
    return [
        f"{PATHS.statistics(target)}/accuracy.parquet",
        *(f"{PATHS.fit(target, model)}/diagnostics.json" for model in GRID.models),
        *(PATHS.evidence(base, parser) for base in parsed for parser in parsers),
        *(f"{PATHS.tokens(*cell)}/statistics.json" for cell in cells),
    ]


rule report:
    input:
        report_inputs,
    output:
        page=report(
            f"{PATHS.report('{target}')}/index.html",
            caption="../report/table3.rst",
            category="Report",
            labels={"target": "{target}"},
        ),
        manifest=f"{PATHS.report('{target}')}/manifest.json",
    params:
        spec=lambda wc: GRID.report_spec(wc.target),
        code=code("poshgrid.report.page"),
        folder=PATHS.report("{target}"),
    log:
        PATHS.log("report", "{target}"),
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=4000,
        runtime=30,
    shell:
        "poshgrid report --spec {params.spec:q} --code {params.code} --results {RESULTS:q}"
        " --output {params.folder:q} > {log:q} 2>&1"
