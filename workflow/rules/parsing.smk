"""Dependency parsers, trained or given, and the parses of the bases that have filters.

treebank      CoNLL-U files or the toy grammar    -> treebanks/{parser}/             poshgrid treebank
train_parser  treebank                            -> parsers/{parser}/               poshgrid train-parser
parse         one shard of a base                 -> parses/{base}/{parser}/{shard}  poshgrid parse
"""


rule treebank:
    input:
        lambda wc: INPUTS.treebank(GRID.parsers[wc.parser].treebank),
    output:
        folder_files(PATHS.treebank("{parser}"), "train.conllu", "dev.conllu", "test.conllu"),
    log:
        PATHS.log("treebank", "{parser}"),
    priority: 50  # the longest chain of jobs: whatever is filtered waits for the parses
    conda:
        "../envs/parsing.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        data=lambda wc: CONFIG.data,
        spec=lambda wc: SLICES.treebank(wc.parser),
        code=lambda wc: code("poshgrid.parsing.treebank"),
        given=lambda wc: INPUTS.given(INPUTS.treebank(GRID.parsers[wc.parser].treebank)),
        folder=PATHS.treebank("{parser}"),
    shell:
        "poshgrid treebank --spec {params.spec:q} --code {params.code}-{params.given:q} --data {params.data:q}"
        " --output {params.folder:q} > {log:q} 2>&1"


rule train_parser:
    input:
        f"{PATHS.treebank('{parser}')}/train.conllu",
    output:
        folder_files(PATHS.parser("{parser}"), "evaluation.json"),
    log:
        PATHS.log("train_parser", "{parser}"),
    priority: 50
    conda:
        "../envs/parsing.yaml"
    resources:
        mem_mb=growing(8000),
        runtime=growing(240),
    params:
        spec=lambda wc: SLICES.parser(wc.parser),
        code=lambda wc: code("poshgrid.parsing.train", MODULES.engine(wc.parser)),
        treebank=lambda wc: PATHS.treebank(wc.parser),
        folder=PATHS.parser("{parser}"),
    shell:
        "poshgrid train-parser --spec {params.spec:q} --code {params.code}"
        " --treebank {params.treebank:q} --output {params.folder:q} > {log:q} 2>&1"


rule parse:
    input:
        lambda wc: INPUTS.trained_parser(wc.parser),
        lambda wc: INPUTS.given_parser(wc.parser),
        lambda wc: INPUTS.word_lists(GRID.screens(wc.base, wc.parser)),
        sentences=PATHS.sentences("{base}"),
    output:
        parses=PATHS.parses("{base}", "{parser}", "{shard}"),
        manifest=PATHS.parses("{base}", "{parser}", "{shard}").replace(".parquet", ".manifest.json"),
    log:
        PATHS.log("parse", "{base}/{parser}/{shard}"),
    priority: 50
    conda:
        "../envs/parsing.yaml"
    resources:
        mem_mb=growing(8000),
        runtime=growing(240),
    params:
        spec=lambda wc: SLICES.parse(wc.base, wc.parser, int(wc.shard)),
        code=lambda wc: code(
            "poshgrid.parsing.parse",
            "poshgrid.evidence.screening.screen",
            MODULES.engine(wc.parser),
            *MODULES.lexical(GRID.screens(wc.base, wc.parser)),
        ),
        given=lambda wc: INPUTS.given(
            INPUTS.given_parser(wc.parser),
            INPUTS.word_lists(GRID.screens(wc.base, wc.parser)),
        ),
        model=lambda wc: GRID.parsers[wc.parser].model or PATHS.parser(wc.parser),
    shell:
        "poshgrid parse --spec {params.spec:q} --code {params.code}-{params.given:q} --sentences {input.sentences:q}"
        " --model {params.model:q} --output {output.parses:q} > {log:q} 2>&1"
