"""The page of a target: tables, figures, corpora, runs, provenance.

report   statistics and every stage's own    -> report/{target}/index.html    poshgrid report
"""

ASSETS = relative(Path(plugins.__file__).parent / "report")


rule report:
    input:
        report_inputs,
        # The template and its styles are no Python: their digest is Snakemake's affair.
        page=sorted(map(str, ASSETS.glob("**/*.html"))),
        style=str(ASSETS / "page.css"),
    output:
        page=report(
            f"{PATHS.report('{target}')}/index.html",
            caption="../report/table3.rst",
            category="Report",
            labels={"target": "{target}"},
        ),
        figures=report(
            [f"{PATHS.report('{target}')}/figures/accuracy-{suite}.png" for suite in PAIRS],
            caption="../report/accuracy.rst",
            category="Figures",
            labels={"target": "{target}", "figure": "accuracy"},
        ),
        manifest=f"{PATHS.report('{target}')}/manifest.json",
    log:
        PATHS.log("report", "{target}"),
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        spec=lambda wc: short("--spec", SLICES.report(wc.target)),
        code=lambda wc: code("poshgrid.report.page"),
        results=lambda wc: RESULTS,
        folder=PATHS.report("{target}"),
    shell:
        "poshgrid report {params.spec} --code {params.code} --results {params.results:q}"
        " --output {params.folder:q} > {log:q} 2>&1"
