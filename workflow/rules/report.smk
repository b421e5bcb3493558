"""The page of a target: tables, figures, corpora, runs, provenance.

report   statistics and every stage's own    -> report/{target}/index.html    poshgrid report
"""


rule report:
    input:
        lambda wc: INPUTS.report(wc.target),
        # Templates, styles and the bibliography are no Python: their digest is Snakemake's affair.
        page=INPUTS.page(),
    output:
        page=f"{PATHS.report('{target}')}/index.html",
        manifest=f"{PATHS.report('{target}')}/manifest.json",
        # The page travels with the tables and figures that it links to: --report report.zip
        folder=report(
            directory(PATHS.report("{target}")),
            htmlindex="index.html",
            caption="../report/page.rst",
            category="Report",
            labels={"target": "{target}"},
        ),
    log:
        PATHS.log("report", "{target}"),
    conda:
        "../envs/statistics.yaml"
    threads: 2
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        spec=lambda wc: OPTIONS.spec(SLICES.report(wc.target)),
        code=lambda wc: code("poshgrid.report.page", *MODULES.sections()),
        given=lambda wc: INPUTS.given(INPUTS.page()),
        results=lambda wc: CONFIG.results,
    shell:
        "poshgrid report {params.spec} --code {params.code}-{params.given:q} --results {params.results:q}"
        " --threads {threads} --output {output.folder:q} > {log:q} 2>&1"
