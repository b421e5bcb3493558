"""The page of a target: tables, figures, corpora, runs, provenance.

report   statistics and every stage's own    -> report/{target}/index.html    poshgrid report
"""

ASSETS = relative(Path(plugins.__file__).parent / "report")
_SECTIONS = "poshgrid.report.sections"
SECTIONS = [plugins.module_name(_SECTIONS, word) for word in plugins.names(_SECTIONS)]


rule report:
    input:
        report_inputs,
        # Templates, styles and the bibliography are no Python: their digest is Snakemake's affair.
        page=sorted(str(p) for kind in ("html", "css", "yaml") for p in ASSETS.glob(f"**/*.{kind}")),
        tables=str(ASSETS.parent / "tables" / "table.html"),
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
        code=lambda wc: code("poshgrid.report.page", *SECTIONS),
        results=lambda wc: RESULTS,
        folder=PATHS.report("{target}"),
    shell:
        "poshgrid report {params.spec} --code {params.code} --results {params.results:q}"
        " --output {params.folder:q} > {log:q} 2>&1"
