"""Simple rules as rivals of what models do: what they say of pairs, and whom they explain.

rule_preferences  items of all suites of pairs, lexicon  -> rules/{suite}.parquet          poshgrid rules
rule_shares       the same, scores, unigram nulls        -> statistics/{target}/rules/     poshgrid rule-shares
"""


rule rule_preferences:
    input:
        *(PATHS.items(suite) for suite in PAIRS),
        lexicon=INPUTS.lexicon(),
    output:
        [PATHS.rules(suite) for suite in PAIRS],
        manifest=f"{PATHS.all_rules()}/manifest.json",
    log:
        PATHS.log("rules", "rules"),
    conda:
        "../envs/corpora.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        code=lambda wc: code("poshgrid.rules.table", *MODULES.rivals()),
        given=lambda wc: INPUTS.given(INPUTS.lexicon()),
        suites=lambda wc: OPTIONS.items(PAIRS),
        folder=lambda wc: PATHS.all_rules(),
    shell:
        "poshgrid rules --code {params.code}-{params.given:q} {params.suites} --output {params.folder:q} > {log:q} 2>&1"


rule rule_shares:
    input:
        lambda wc: INPUTS.scores(GRID.runs(wc.target), *PAIRS),
        lambda wc: INPUTS.unigrams(wc.target),
        INPUTS.lexicon(),
        *(table(suite) for suite in PAIRS for table in (PATHS.items, PATHS.rules)),
    output:
        folder_files(
            PATHS.rule_shares("{target}"),
            *(
                f"{name}.{kind}"
                for name in ("shares", "mixture", "identifiability")
                for kind in ("parquet", "csv")
            ),
        ),
    log:
        PATHS.log("rule_shares", "{target}"),
    conda:
        "../envs/corpora.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        spec=lambda wc: OPTIONS.spec(SLICES.rule_shares(wc.target)),
        code=lambda wc: code("poshgrid.statistics.shares", *MODULES.rivals()),
        given=lambda wc: INPUTS.given(INPUTS.lexicon()),
        scores=lambda wc: PATHS.all_scores(),
        models=lambda wc: PATHS.all_models(),
        suites=lambda wc: OPTIONS.items_and_rules(PAIRS),
        folder=PATHS.rule_shares("{target}"),
    shell:
        "poshgrid rule-shares {params.spec} --code {params.code}-{params.given:q} --scores {params.scores:q}"
        " --models {params.models:q} {params.suites} --output {params.folder:q} > {log:q} 2>&1"
