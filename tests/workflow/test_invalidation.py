"""A change reruns exactly the cells that it can change.

What of a configuration is in which job is tested in tests/unit/grid/test_stages.py, edit by edit;
here, what follows from it.
"""

import copy
import os
import shutil

import pytest

from tests import shipped
from tests.jobs import put

from .conftest import Checkout

LARGE = {"baby/40K", "baby-f/40K", "wiki/40K"}
CELLS = LARGE | {"baby-f/20K"}
PACKED = {f"{cell}/gpt2-tiny/packed/none/seed{seed}" for cell in LARGE for seed in (42, 53, 76)}
PACKED |= {"baby-f/20K/gpt2-tiny/packed/none/seed42"}
PACKED -= {f"wiki/40K/gpt2-tiny/packed/none/seed{seed}" for seed in (53, 76)}
BIASES = ("none", "tree-planting", "random-trees", "dyck+recency")
ARMS = {f"baby-f/20K/gpt2-tiny/sentence/{bias}/seed42" for bias in BIASES}
OTHERS = {f"baby-f/20K/{name}-tiny/sentence/none/seed42" for name in ("lstm", "babyberta")}
RUNS = PACKED | ARMS | OTHERS
UNTRAINED = {run.replace("packed", "untrained") for run in PACKED}
UNTRAINED |= {run.replace("sentence", "untrained") for run in OTHERS}
WORDS = ("unigram", "ngram")
COUNTED = {f"{cell}/{baseline}/counted/none/seed0" for cell in CELLS for baseline in WORDS}
SCORED = {"score": RUNS | COUNTED, "untrained": UNTRAINED}
MEASURED = {f"all/measures/{suite}" for suite in ("filler-gap", "choices", "completions")}
FITS = {f"all/regressions/{model}" for model in ("paper", "condition", "bias")}
AFTER_SCORES = {
    "accuracy": {"all"}, "curves": {"all/curves"}, "fit": FITS, "measures": MEASURED,
    "report": {"all"},
}  # fmt: skip
AFTER_TEXT = {**AFTER_SCORES, "quality": {"all/posh"}}
PAIRED = ("baby/40K", "baby-f/40K")  # filtered runs, and the full ones that they are compared with
READ = {run for run in PACKED if run.startswith(PAIRED)}
DELTAS = {"deltas": {"all/deltas"}}
LABELS = {"evidence": {"baby/spacy-long"}, "recall": {"spacy", "spacy-long"}}


@pytest.fixture(scope="module")
def checkout(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkout")
    configuration = shipped.toy()
    # Two sources in files of their own, so that one can change, with the words that are asked for.
    (folder / "data").mkdir()
    for suite in configuration["suites"]:  # those that are read, from where they lie
        for name in ("path", "norms"):
            if suite.get(name):
                (folder / "data" / suite[name]).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(root / "resources" / suite[name], folder / "data" / suite[name])
    for source in configuration["sources"]:
        source.update(reader="text", path=f"{source['name']}.txt", options={})
        (folder / "data" / source["path"]).write_text("The girl sees the dog.\n" * 14_000)
    configuration["data"] = "data"
    made = Checkout(root, folder, configuration)
    made.complete()
    return made


@pytest.fixture(autouse=True)
def restored(checkout):
    """Undo a test's edits, so that each starts from the completed grid."""
    kept = copy.deepcopy(checkout.configuration)
    files = {
        path: (path.read_bytes(), path.stat().st_mtime_ns)
        for top in ("src", "resources", "studies", "data")
        for path in (checkout.folder / top).rglob("*")
        if path.is_file()
    }
    yield
    checkout.configuration = kept
    for path, (content, time) in files.items():
        if path.read_bytes() != content:
            path.write_bytes(content)
            os.utime(path, ns=(time, time))


@pytest.fixture
def rerun(checkout):
    """After changes of the configuration, and lines for files: rule -> cells."""

    def run(*changes, **lines):
        for change in changes:
            change(checkout.configuration)
        for file, line in lines.items():
            checkout.append(file, line)
        targets = ("all", "exp1", "exp2", "exp3", "models")
        return {rule: cells for rule, cells in checkout.pending().items() if rule not in targets}

    return run


CODE = "_ADDED = 1"


def test_a_completed_grid_has_nothing_to_do(checkout, rerun):
    assert "Nothing to be done" in checkout.snakemake("-n").stdout
    assert rerun(**{"src/poshgrid/models/training/train.py": "# A remark."}) == {}


DYCK = {run for run in ARMS if "dyck" in run}
MODELS = {"train": RUNS, "score": RUNS, "untrained": UNTRAINED, "perplexity": READ}
RERUN = {
    "a training parameter": (
        put("recipes", 0, learning_rate="2e-3"), None,
        {"train": PACKED, "score": PACKED, "perplexity": READ, **DELTAS, **AFTER_SCORES},
    ),
    "the module of a bias": (
        None, "models/biases/dyck.py", {"train": DYCK, "score": DYCK, **AFTER_SCORES},
    ),
    "training code": (None, "models/training/data.py", {**MODELS, **DELTAS, **AFTER_SCORES}),
    # Heuristics are rivals in the table of accuracies, beside which the counts that are fitted lie
    "a heuristic": (
        None, "evaluation/heuristics/choices/first_auxiliary.py",
        {"heuristic_choices": {""}, "accuracy": {"all"}, "fit": FITS, "report": {"all"}},
    ),
}  # fmt: skip
"""Name -> change of the configuration, module that gets a line, what runs again."""


@pytest.mark.parametrize("name", RERUN)
def test_a_change_reruns_what_reads_it_and_what_follows(rerun, name):
    change, module, expected = RERUN[name]
    changes, lines = [change] * bool(change), {f"src/poshgrid/{module}": CODE} if module else {}
    assert rerun(*changes, **lines) == expected


@pytest.mark.parametrize(
    ("file", "rules"),
    [
        ("data/*.txt", {"read", "mix", "train", "report"}),
        ("resources/templates/*.yaml", {"items", "heuristic_choices", "quality", "deltas",
                                        *SCORED, *AFTER_SCORES}),
        ("resources/toy/grammar.yaml", {"treebank", "train_parser", "recall", "parse"}),
        ("studies/posh-bench/published/*/table3.csv", {"report"}),
    ],
)  # fmt: skip
def test_a_file_of_other_content_reruns_what_it_can_change(checkout, rerun, file, rules):
    """Though it is older."""
    changed = sorted(checkout.folder.glob(file))[0]
    changed.write_text(changed.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    os.utime(changed, (1e9, 1e9))
    jobs = rerun()
    assert rules <= set(jobs)
    if "items" in rules or rules == {"report"}:
        assert set(jobs) == rules
    if "treebank" in rules:
        assert "read" not in jobs  # its sources are of text


def after_labels():
    """What follows when the labels of the corpus baby change."""
    cells = {cell for cell in CELLS if not cell.startswith("wiki")}
    runs = {run for run in RUNS | UNTRAINED | COUNTED if not run.startswith("wiki")}
    return {
        **dict.fromkeys(("condition", "side_effects", "tokenizer", "sweep", "tokens"), cells),
        "audit": {"baby-f/40K"},
        "distances": {"baby-f/20K/spacy-long"},
        "train": runs & RUNS,
        "untrained": runs & UNTRAINED,
        "count": runs & COUNTED,
        "score": runs - UNTRAINED,
        "perplexity": READ,
        **DELTAS,
        **AFTER_TEXT,
    }


def test_a_filter_of_a_study_reruns_the_filtered_base_and_no_parse(checkout, rerun):
    name = "evidence/filters/binding.py"
    ours, plugin = (checkout.folder / top / name for top in ("src/poshgrid", "plugins"))
    plugin.parent.mkdir(parents=True)
    shutil.move(ours, plugin)
    try:
        assert rerun() == {}
        expected = {**LABELS, **after_labels()}
        assert rerun(**{f"plugins/{name}": CODE}) == expected
        checkout.append(f"plugins/{name}", "_ADDED = (")
        broken = checkout.snakemake("-n", check=False)
        assert broken.returncode == 1
        assert f"error: plugins/{name}:" in broken.stderr
        assert "Traceback" not in broken.stderr
    finally:
        shutil.move(plugin, ours)
        shutil.rmtree(checkout.folder / "plugins")


@pytest.mark.parametrize("kind", ["backstops", "filters"])
def test_a_filter_reruns_no_parse(rerun, kind):
    jobs = rerun(**{f"src/poshgrid/evidence/{kind}/binding.py": CODE})
    assert jobs == {**LABELS, **after_labels()}


def test_a_reading_reruns_its_condition_and_no_label(rerun):
    jobs = rerun(put("conditions", 0, filters=["question-formation.direct", "binding"]))
    expected = {
        rule: cells if rule in AFTER_TEXT else {c for c in cells if c.startswith("baby-f/")}
        for rule, cells in after_labels().items()
    }
    # the condition that puts back what the other reading removed is no longer its counterpart
    del expected["perplexity"], expected["deltas"]
    assert jobs == expected


def test_one_more_condition_makes_no_other_again(checkout, rerun):
    """Though every condition is compared with it."""
    direct = {"name": "baby-direct", "corpus": "baby", "filters": ["binding.direct"]}
    checkout.configuration["conditions"].append(direct)
    checkout.configuration["experiments"][1]["conditions"].append("baby-direct")
    jobs = rerun()
    cells = {"baby-direct/40K"}
    assert jobs["condition"] == jobs["tokenizer"] == jobs["tokens"] == cells
    for rule in ("train", "untrained", "count", "score"):
        assert {run.split("/")[0] for run in jobs[rule]} == {"baby-direct"}, rule
    assert not {"parse", "evidence", "mix", "items"} & set(jobs)


def test_a_shared_tokenizer_is_one_job_and_reruns_what_reads_tokens(rerun):
    jobs = rerun(put("tokenizer", trained_on=["wiki"], sweep=[]))
    assert jobs["tokenizer"] == {"shared/default"}
    assert jobs["tokens"] == CELLS
    assert (jobs["train"], jobs["untrained"]) == (RUNS, UNTRAINED)
    assert not {"condition", "parse", "evidence", "items", "count", "sweep"} & set(jobs)


def test_one_source_file_reruns_its_base_and_the_items(checkout, rerun):
    (checkout.folder / "data/toy-wiki.txt").write_text("A very different text.\n")
    jobs = rerun()
    every = {"train": RUNS, "count": COUNTED, **dict.fromkeys(("condition", "tokens"), CELLS)}
    wiki = {rule: {c for c in cells if c.startswith("wiki")} for rule, cells in every.items()}
    assert {rule: jobs[rule] for rule in wiki} == wiki
    assert jobs["untrained"] == UNTRAINED  # of new items
    assert (jobs["read"], jobs["mix"]) == ({"toy-wiki"}, {"wiki"})
    # The words that items may use come from both corpora.
    assert jobs["items"] == {"posh"}
    assert jobs["ngrams"] == {"ngrams/wiki/40K"}
    assert jobs["score"] == SCORED["score"]
    assert not {"parse", "evidence"} & set(jobs)


def test_a_new_seed_adds_its_runs_only(checkout, rerun):
    checkout.configuration["experiments"][1]["seeds"] = [42, 53, 76, 97]
    new = {f"{cell}/gpt2-tiny/packed/none/seed97" for cell in LARGE}
    untrained = {run.replace("packed", "untrained") for run in new}
    read = {run for run in new if run.startswith(PAIRED)}
    models = {"train": new, "untrained": untrained, "score": new, "perplexity": read}
    assert rerun() == {**models, **DELTAS, **AFTER_SCORES}


def test_a_prior_a_contrast_and_a_formula_rerun_their_fits_and_no_other(rerun):
    formula = "p(correct, n) ~ size_z + S(condition) + (1|seed)"
    jobs = rerun(
        put("regressions", 0, slope_sd=0.4, formula=formula),
        put("regressions", 1, "contrasts", 0, by=[], planted={}),
    )
    fits = {f"all/regressions/{name}" for name in ("paper", "condition")}
    assert jobs == {"fit": fits, "report": {"all"}}
