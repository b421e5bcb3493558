"""The configuration, the grid and the fingerprints that every rule file uses.

A job's command line holds the slice of the configuration that it reads (``params.spec``) and the
fingerprint of its code (``params.code``); Snakemake compares both: a change reruns exactly
the cells that it can change.
"""

import functools
import gc
import sys
from pathlib import Path
from shlex import quote

from snakemake.io import IOFile

from poshgrid import plugins
from poshgrid.grid import arguments, configfile as configuration, filtering
from poshgrid.provenance import fingerprint
from poshgrid.benchmark.lexicon import LEXICON
from poshgrid.errors import PoshgridError
from poshgrid.evidence import patterns
from poshgrid.files import write_text
from poshgrid.planning import stale
from poshgrid.grid.runs import COUNTED, PRETRAINED, SPLITS, UNTRAINED, WORD_NULLS
from poshgrid.screening.screen import lexical
from poshgrid.grid.slices import Slices
from poshgrid.training import together

# A configuration given on the command line replaces the paper's instead of being merged into it.
if "experiments" not in config:

    configfile: "config/config.yaml"


try:
    GRID = configuration.validate(config, workflow.overwrite_configfiles or ["config/config.yaml"])
    configuration.check_results(GRID.config.results)
except PoshgridError as error:
    for line in str(error).splitlines():
        print(f"error: {line}", file=sys.stderr)
    sys.exit(1)

# Asked only when a job needs it: a job on a cluster parses this file, too, and needs one.
code = functools.cache(fingerprint.code)

# A grid makes millions of objects that stay: looking through them less often saves a tenth.
gc.set_threshold(50_000, 20, 20)

SLICES = Slices(GRID)
NULLS = {target: GRID.nulls(runs) for target, runs in GRID.targets.items()}
PATHS = GRID.paths
CONFIG = GRID.config
DATA = CONFIG.data
RESULTS = CONFIG.results
PAIRS = [suite for suite, task in GRID.tasks.items() if task == "pairs"]
MEASURED = [suite for suite in GRID.suites if suite not in PAIRS]
RUN = "{condition}/{size}/{learner}/{regimen}/{bias}/seed{seed}"
COUNTED_RUN = f"{{condition}}/{{size}}/{{learner}}/{COUNTED}/none/seed0"
DISTANCES = ("distances.bin", "words.bin", "offsets.npy", "statistics.json")
NGRAM_FILES = ("config.json", "model.safetensors", "statistics.json", "README.md")


wildcard_constraints:
    source="[^/]+",
    base="[^/]+",
    parser="[^/]+",
    shard=r"\d+",
    condition="[^/]+",
    size="[^/]+",
    learner="[^/]+",
    regimen="[^/]+",
    bias="[^/]+",
    seed=r"\d+",
    suite="[^/]+",
    part=r"\d+",
    target="[^/]+",
    model="[^/]+",


def short(*given):
    """Arguments that grow with the grid, as text for a shell: in a file once they are long."""
    return arguments.short(given, PATHS.arguments(), write=not workflow.dryrun)


def relative(path):
    """A path seen from here, where it can be: a checkout that is moved keeps its results."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def target_files(target):
    """The report of a target, or nothing where `only` leaves it without a run.

    Asked by Snakemake's own process alone, for the targets that it was given: it says where models
    are of another configuration, and Snakemake would not train them again.
    """
    found = stale.models(
        SLICES,
        target,
        lambda path: workflow.persistence.params(IOFile(path)),
        workflow.dag_settings.forcerun,
    )
    if found:
        print(
            f"warning: {target}: {len(found):,} models were trained with another configuration, of "
            f"which Snakemake has no record: {found[0].name} ...; `poshgrid plan --target {target}` "
            "says how to train them again",
            file=sys.stderr,
        )
    return f"{PATHS.report(target)}/index.html" if target in GRID.targets else []


def folder_files(folder, *names):
    """Named files of a folder and its manifest."""
    return [f"{folder}/{name}" for name in (*names, "manifest.json")]


def growing(amount):
    """A resource that a job gets more of each time it is tried again."""
    return lambda wildcards, attempt: amount * attempt


def run_of(wildcards):
    """The run that a job's wildcards name."""
    return GRID.run(RUN.format(**wildcards))


def plugin_files(package, word, path, options):
    """The files that a plug-in reads. Where they are missing, the job itself says so."""
    plugin = plugins.load(package, word)
    if not hasattr(plugin, "files"):
        return []
    folder = Path(DATA, path or "")
    try:
        found = plugin.files(folder, plugins.options(package, word, options))
    except (OSError, PoshgridError):
        return []
    return [str(relative(file)) for file in found]


def treebank_files(wildcards):
    """The files that a parser's gold trees come from."""
    return files_of(GRID.parsers[wildcards.parser].treebank)


def files_of(treebank):
    """The files of a treebank."""
    paths = [Path(DATA, part.path) for part in treebank.parts]
    found = [[path] if path.is_file() else path.glob("*.conllu") for path in paths]
    return sorted({str(path) for files in found for path in files})


def parser_manifest(wildcards):
    """The parser that a job waits for: none if its model is given by path."""
    given = GRID.parsers[wildcards.parser].model
    return [] if given else f"{PATHS.parser(wildcards.parser)}/manifest.json"


def given_parser(wildcards):
    """The files of a parser's model that is given by path. Missing, the job itself says so."""
    given = GRID.parsers[wildcards.parser].model
    return sorted(str(p) for p in Path(given).rglob("*") if p.is_file()) if given else []


def seen_trees(wildcards):
    """The gold trees that a parser has learned from: none if its model is given by path."""
    folder = None if GRID.parsers[wildcards.parser].model else PATHS.treebank(wildcards.parser)
    return [f"{folder}/{split}.conllu" for split in ("train", "dev")] if folder else []


def gold_files(wildcards):
    """The gold trees that parsers are set beside."""
    paths = [Path(DATA, name) for name in CONFIG.evidence.gold]
    found = [[path] if path.is_file() else path.glob("*.conllu") for path in paths]
    return sorted({str(path) for each in found for path in each})


def shard_files(wildcards):
    """All shards of a base."""
    shards = range(GRID.shards(wildcards.base))
    return [PATHS.parses(wildcards.base, wildcards.parser, shard) for shard in shards]


def labels(wildcards):
    """The labels that a condition is built with: the deciding parser's, or none."""
    if not GRID.needs_evidence(wildcards.condition):
        return []
    base = GRID.base_of(wildcards.condition).name
    return PATHS.evidence(base, GRID.evidence_parsers()[0])


def lexical_modules(filters):
    """The modules of the filters' lexical tests."""
    return [lexical(word).__name__ for word in filters]


def word_lists(filters):
    """The lists of words that filters look for."""
    found = [plugins.load("poshgrid.evidence.filters", word) for word in filters]
    return [path for each in found for path in patterns.word_lists(getattr(each, "PATTERNS", {}))]


def prebuilt_folder(wildcards):
    """The folder of a condition's ready files, or nothing."""
    found = GRID.conditions[wildcards.condition].prebuilt
    return Path(DATA, found, wildcards.size) if found else None


def condition_sources(wildcards):
    """What a condition is made of: its base's sentences, or ready files."""
    folder = prebuilt_folder(wildcards)
    if folder:
        return [str(relative(path)) for path in sorted(folder.glob("*.txt"))]
    return PATHS.sentences(GRID.base_of(wildcards.condition).name)


def condition_module(wildcards):
    """The module that makes a condition."""
    return f"poshgrid.evidence.{'prebuilt' if prebuilt_folder(wildcards) else 'condition'}"


def condition_origin(wildcards):
    """Where a condition comes from, as options of its command."""
    folder = prebuilt_folder(wildcards)
    if folder:
        return f"--prebuilt {quote(str(folder))}"
    given = f"--sentences {quote(condition_sources(wildcards))}"
    return f"{given} --evidence {quote(labels(wildcards))}" if labels(wildcards) else given


def beside(wildcards):
    """The file of the conditions that one must differ from: no input, as it changes no result."""
    path = Path(PATHS.beside(wildcards.condition, wildcards.size))
    content = SLICES.beside(wildcards.condition, wildcards.size)
    if not workflow.dryrun and not (path.exists() and path.read_text() == content):
        write_text(path, content)
    return str(path)


def given_folder(run):
    """The folder of a pretrained model, or nothing: its name is an id on a hub."""
    model = GRID.pretrained[run.learner].model
    return next((folder for folder in (Path(DATA, model), Path(model)) if folder.is_dir()), None)


def model_place(run):
    """The folder of a run's model, or the id of a pretrained one."""
    if run.regimen != PRETRAINED:
        return PATHS.model(run.name)
    return given_folder(run) or GRID.pretrained[run.learner].model


def scored_model(wildcards):
    """The files of a model that its scores depend on."""
    run = run_of(wildcards)
    if run.regimen != PRETRAINED:
        return [f"{PATHS.model(run.name)}/{name}" for name in ("model.safetensors", "config.json")]
    folder = given_folder(run)
    return sorted(str(relative(p)) for p in folder.iterdir() if p.is_file()) if folder else []


def kept(wildcards):
    """The checkpoints that a run's folder holds beside its model: they are scored, too."""
    regimen = GRID.regimens.get(wildcards.regimen)
    return [regimen.checkpoints, regimen.checkpoint_epochs] if regimen else []


def norms(suite):
    """The norm table of a suite of choices, or nothing."""
    found = GRID.suites[suite].norms
    return str(relative(Path(DATA, found))) if found else []


def target_nulls(target):
    """The nulls of a target's runs."""
    return NULLS[target]


def corpora_files():
    """What items are generated from: the bases' sentences and their n-gram models."""
    ngrams = [f"{PATHS.ngrams(*name.split('/'))}/model.safetensors" for name in GRID.corpora()]
    return [*GRID.vocabularies().values(), *ngrams]


def bases_options():
    """The bases' sentences as options of a command."""
    return " ".join(f"--base {base}={path}" for base, path in GRID.vocabularies().items())


def corpora_options():
    """What items are generated from, as options of a command."""
    ngrams = (f"--ngrams {name}={PATHS.ngrams(*name.split('/'))}" for name in GRID.corpora())
    return " ".join([bases_options(), *ngrams])


def bias_modules(run):
    """The modules of the biases that a run is trained with."""
    return [plugins.module_name("poshgrid.training.biases", part) for part in run.biases]


def run_distances(wildcards):
    """The folder of distances that a run's bias is trained with, or nothing."""
    parser = GRID.trees(run_of(wildcards))
    return PATHS.distances(wildcards.condition, wildcards.size, parser) if parser else None


def condition_parses(wildcards):
    """The shards of a parser's trees that hold a condition's sentences."""
    base = GRID.base_of(wildcards.condition).name
    return [PATHS.parses(base, wildcards.parser, shard) for shard in range(GRID.shards(base))]


TOGETHER_CELL = "{condition}/{size}/{learner}/{regimen}/{bias}"
TOGETHER = {name: regimen.together for name, regimen in GRID.regimens.items()}
SHARED = together.cells((run for runs in GRID.targets.values() for run in runs), TOGETHER)


def together_runs(wildcards):
    """The runs that share a GPU."""
    return SHARED[f"{TOGETHER_CELL.format(**wildcards)}/{wildcards.part}"]


def together_files(target):
    """What says that the runs of a target which share GPUs are all trained."""
    wanted = set(GRID.targets.get(target, ()))
    return [
        PATHS.together(*cell.rsplit("/", 1)) for cell, runs in SHARED.items() if wanted & set(runs)
    ]


def lengths_files(target):
    """What says that the models of a target can read the items of all suites."""
    return [f"{PATHS.lengths(*cell)}/lengths.json" for cell in GRID.cells(target)]


def together_group(wildcards):
    """The group of a run: one if it shares a GPU, else none."""
    return "together" if TOGETHER.get(wildcards.regimen, 1) > 1 else None


def sharing(wildcards):
    """How many runs share a GPU, as an option: a resource, since it changes no result."""
    number = TOGETHER.get(wildcards.regimen, 1)
    return f"--together {number}" if number > 1 else ""


def training_threads(wildcards):
    """The threads that the run's regimen fixes."""
    return GRID.regimens[wildcards.regimen].threads


def report_inputs(wildcards):
    """Everything that the page shows."""
    target = wildcards.target
    cells = GRID.cells(target)
    parsed = GRID.parsed_bases(target)
    parsers = GRID.evidence_parsers() if parsed else []
    return [
        *(f"{PATHS.statistics(target)}/accuracy.parquet" for _ in PAIRS[:1]),
        *(f"{PATHS.rule_shares(target)}/shares.parquet" for _ in PAIRS[:1]),
        *(f"{PATHS.quality(target, suite)}/quality.json" for suite in PAIRS),
        *(f"{PATHS.measures(target, suite)}/measures.parquet" for suite in MEASURED),
        f"{PATHS.curves(target)}/curves_mean.parquet",
        *(f"{PATHS.deltas(target)}/deltas.parquet" for _ in filtering.pairs(GRID, target)[:1]),
        *(f"{PATHS.fit(target, model)}/diagnostics.json" for model in GRID.fitted(target)),
        *(PATHS.evidence(base, parser) for base in parsed for parser in parsers),
        *(f"{PATHS.parser(p)}/evaluation.json" for p in parsers if not GRID.parsers[p].model),
        *(PATHS.recall(parser) for parser in parsers if CONFIG.evidence.gold),
        *(f"{PATHS.tokens(*cell)}/statistics.json" for cell in cells),
        *(PATHS.sweep(*cell) for cell in cells if CONFIG.tokenizer.sweep),
        *(f"{PATHS.collateral(*cell)}/collateral.parquet" for cell in GRID.removals(target)),
        *(f"{PATHS.audit(*cell)}/statistics.json" for cell in GRID.audits(target)),
        *(f"{PATHS.model(run.name)}/statistics.json" for run in GRID.made(target)),
    ]
