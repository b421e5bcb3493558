"""The page of a target: tables, figures, corpora, runs, provenance.

report   statistics and every stage's own    -> report/{target}/index.html
"""


rule report:
    input:
        STAGE.report.read,
    output:
        *STAGE.report.written(),
        # The page travels with the tables and figures that it links to: --report report.zip
        folder=report(
            directory(PATHS.report("{target}")),
            htmlindex="index.html",
            caption="../report/page.rst",
            category="Report",
            labels={"target": "{target}"},
        ),
    log:
        STAGE.report.log,
    conda:
        "../envs/statistics.yaml"
    resources:
        **STAGE.report.resources,
    params:
        job=STAGE.report.job,
    shell:
        "poshgrid stage report {params.job:q} > {log:q} 2>&1"
