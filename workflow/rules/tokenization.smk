"""One tokenizer for each condition and size, or one that they share, and its tokens.

tokenizer  train.parquet of conditions     -> tokenizers/{condition}/{size}/    poshgrid tokenizer
tokens     condition and tokenizer         -> tokens/{condition}/{size}/        poshgrid tokens
sweep      train.parquet of a condition    -> tokenizers/{condition}/{size}/sweep.json  poshgrid sweep
"""


rule tokenizer:
    input:
        lambda wc: INPUTS.tokenizer_texts(wc.condition, wc.size),
    output:
        folder_files(
            PATHS.tokenizer("{condition}", "{size}"),
            "tokenizer.json",
            "tokenizer_config.json",
            "statistics.json",
        ),
    log:
        PATHS.log("tokenizer", "{condition}/{size}"),
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        spec=lambda wc: SLICES.tokenizer(wc.condition),
        code=lambda wc: code("poshgrid.tokenization.tokenizer"),
        given=lambda wc: INPUTS.given(INPUTS.tokenizer_texts(wc.condition, wc.size)),
        texts=lambda wc: OPTIONS.tokenizer_texts(wc.condition, wc.size),
        folder=PATHS.tokenizer("{condition}", "{size}"),
    shell:
        "poshgrid tokenizer --spec {params.spec:q} --code {params.code}-{params.given:q}"
        " {params.texts} --output {params.folder:q} > {log:q} 2>&1"


rule tokens:
    input:
        f"{PATHS.condition('{condition}', '{size}')}/train.parquet",
        lambda wc: INPUTS.tokenizer(wc.condition, wc.size),
    output:
        folder_files(
            PATHS.tokens("{condition}", "{size}"),
            *(f"{split}{kind}" for split in SPLITS for kind in (".bin", ".offsets.npy")),
            "statistics.json",
        ),
    log:
        PATHS.log("tokens", "{condition}/{size}"),
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        code=lambda wc: code("poshgrid.tokenization.encode"),
        condition=lambda wc: PATHS.condition(wc.condition, wc.size),
        tokenizer=lambda wc: INPUTS.tokenizer_folder(wc.condition, wc.size),
        folder=PATHS.tokens("{condition}", "{size}"),
    shell:
        "poshgrid tokens --code {params.code} --condition {params.condition:q}"
        " --tokenizer {params.tokenizer:q} --output {params.folder:q} > {log:q} 2>&1"


rule sweep:
    input:
        f"{PATHS.condition('{condition}', '{size}')}/train.parquet",
    output:
        sweep=PATHS.sweep("{condition}", "{size}"),
        manifest=PATHS.sweep("{condition}", "{size}").replace(".json", ".manifest.json"),
    log:
        PATHS.log("sweep", "{condition}/{size}"),
    conda:
        "../envs/models.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        spec=lambda wc: SLICES.sweep(),
        code=lambda wc: code("poshgrid.tokenization.sweep"),
        condition=lambda wc: PATHS.condition(wc.condition, wc.size),
    shell:
        "poshgrid sweep --spec {params.spec:q} --code {params.code}"
        " --condition {params.condition:q} --output {output.sweep:q} > {log:q} 2>&1"
