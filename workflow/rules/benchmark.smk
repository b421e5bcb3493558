"""The suites: their items, what heuristics choose, and what is wrong with a suite.

ngrams            sentences of a corpus at a size               -> benchmark/ngrams/{corpus}/{size}/
items             templates, lexicon, corpora; or files       -> benchmark/{suite}/items.parquet
heuristic_choices  items of all suites of pairs, lexicon       -> heuristics/{suite}.parquet
quality           items, corpora, conditions                  -> quality/{target}/{suite}/
"""


rule ngrams:
    input:
        STAGE.ngrams.read,
    output:
        STAGE.ngrams.written(),
    log:
        STAGE.ngrams.log,
    conda:
        "../envs/corpora.yaml"
    resources:
        **STAGE.ngrams.resources,
    params:
        job=STAGE.ngrams.job,
    shell:
        "poshgrid stage ngrams {params.job:q} > {log:q} 2>&1"


rule items:
    input:
        STAGE.items.read,
    output:
        STAGE.items.written(),
    log:
        STAGE.items.log,
    conda:
        "../envs/corpora.yaml"
    resources:
        **STAGE.items.resources,
    params:
        job=STAGE.items.job,
    shell:
        "poshgrid stage items {params.job:q} > {log:q} 2>&1"


rule heuristic_choices:
    input:
        STAGE.heuristic_choices.read,
    output:
        STAGE.heuristic_choices.written(),
    log:
        STAGE.heuristic_choices.log,
    conda:
        "../envs/corpora.yaml"
    resources:
        **STAGE.heuristic_choices.resources,
    params:
        job=STAGE.heuristic_choices.job,
    shell:
        "poshgrid stage heuristic_choices {params.job:q} > {log:q} 2>&1"


rule quality:
    input:
        STAGE.quality.read,
    output:
        STAGE.quality.written(),
    log:
        STAGE.quality.log,
    conda:
        "../envs/statistics.yaml"
    resources:
        **STAGE.quality.resources,
    params:
        job=STAGE.quality.job,
    shell:
        "poshgrid stage quality {params.job:q} > {log:q} 2>&1"
