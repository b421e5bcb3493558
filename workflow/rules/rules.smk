"""Simple rules as rivals of what models do: what they say of pairs, and whom they explain.

rule_preferences  items of all suites of pairs, lexicon  -> rules/{suite}.parquet          poshgrid rules
rule_shares       the same, scores, unigram nulls        -> statistics/{target}/rules/     poshgrid rule-shares
"""

_RIVALS = "poshgrid.rules.rivals"
RIVALS = [plugins.module_name(_RIVALS, word) for word in plugins.names(_RIVALS)]


rule rule_preferences:
    input:
        *(PATHS.items(suite) for suite in PAIRS),
        lexicon=[str(relative(path)) for path in sorted(LEXICON.glob("*.tsv"))],
    output:
        [PATHS.rules(suite) for suite in PAIRS],
        manifest=f"{RESULTS}/rules/manifest.json",
    log:
        PATHS.log("rules", "rules"),
    conda:
        "../envs/corpora.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        code=lambda wc: code("poshgrid.rules.table", *RIVALS),
        suites=" ".join(f"--items {suite}={PATHS.items(suite)}" for suite in PAIRS),
        folder=lambda wc: f"{RESULTS}/rules",
    shell:
        "poshgrid rules --code {params.code} {params.suites} --output {params.folder:q} > {log:q} 2>&1"


rule rule_shares:
    input:
        lambda wc: [
            PATHS.scores(run.name, suite) for run in GRID.runs(wc.target) for suite in PAIRS
        ],
        lambda wc: [
            f"{PATHS.model(run.name)}/model.safetensors"
            for run in GRID.runs(wc.target)
            if (run.regimen, run.learner) == (COUNTED, "unigram")
        ],
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
        spec=lambda wc: short("--spec", SLICES.rule_shares(wc.target)),
        code=lambda wc: code("poshgrid.statistics.shares", *RIVALS),
        scores=lambda wc: PATHS.all_scores(),
        models=lambda wc: PATHS.all_models(),
        suites=" ".join(
            f"--items {suite}={PATHS.items(suite)} --rules {suite}={PATHS.rules(suite)}"
            for suite in PAIRS
        ),
        folder=PATHS.rule_shares("{target}"),
    shell:
        "poshgrid rule-shares {params.spec} --code {params.code} --scores {params.scores:q}"
        " --models {params.models:q} {params.suites} --output {params.folder:q} > {log:q} 2>&1"
