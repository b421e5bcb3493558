"""A change reruns exactly the cells that it can change."""

from __future__ import annotations

import copy
import os
import shutil

import pytest

from .conftest import Checkout

CELLS = {f"{c}/{s}" for c in ("baby", "baby-f", "wiki") for s in ("20K", "60K")}
PACKED = {f"{cell}/gpt2-tiny/packed/none/seed{seed}" for cell in CELLS for seed in (42, 53)}
BIASES = ("none", "dyck", "tree-planting", "random-trees", "recency", "dyck+recency")
ARMS = {f"baby-f/20K/gpt2-tiny/sentence/{bias}/seed42" for bias in BIASES}
OTHERS = {f"baby-f/20K/{name}-tiny/sentence/none/seed42" for name in ("lstm", "babyberta")}
RUNS = PACKED | ARMS | OTHERS
NULLS = {run.replace("packed", "untrained") for run in PACKED}
NULLS |= {run.replace("sentence", "untrained") for run in OTHERS}
COUNTED = {f"{cell}/{null}/counted/none/seed0" for cell in CELLS for null in ("unigram", "ngram")}
SCORED = RUNS | NULLS | COUNTED
MEASURED = {f"all/measures/{suite}" for suite in ("filler-gap", "choices", "completions")}
FITS = {f"all/models/{model}" for model in ("paper", "condition", "bias", "binding")}
AFTER_SCORES = {
    "accuracy": {"all"}, "curves": {"all/curves"}, "fit": FITS, "measures": MEASURED,
    "report": {"all"}, "rule_shares": {"all/rules"},
}  # fmt: skip
AFTER_NULLS = {**AFTER_SCORES, "quality": {"all/posh"}}
# Filtered runs and the full ones that they are set against; their files are named after the seed.
READ = {run.rpartition("/")[0] for run in PACKED if not run.startswith("wiki")}
DELTAS = {"deltas": {"all/deltas"}}
DETECTOR = {"detector": {""}}
RECALL = {"recall": {""}}  # of both parsers: their tables lie beside each other


@pytest.fixture(scope="module")
def checkout(root, tmp_path_factory, tiny_configuration):
    folder = tmp_path_factory.mktemp("checkout")
    configuration = copy.deepcopy(tiny_configuration)
    # Two sources in files of their own, so that one can change.
    (folder / "data").mkdir()
    for suite in configuration["suites"]:  # those that are read, from where they lie
        for name in ("path", "norms"):
            if suite.get(name):
                (folder / "data" / suite[name]).parent.mkdir(parents=True, exist_ok=True)
                (folder / "data" / suite[name]).write_text("")
    for source in configuration["sources"]:
        source.update(reader="text", path=f"{source['name']}.txt", options={})
        (folder / "data" / source["path"]).write_text("The girl sees the dog.\n")
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


def without_targets(jobs):
    targets = ("all", "exp1", "exp2", "exp3", "learners")
    return {rule: cells for rule, cells in jobs.items() if rule not in targets}


def test_a_completed_grid_has_nothing_to_do(checkout):
    assert "Nothing to be done" in checkout.snakemake("-n").stdout
    assert without_targets(checkout.pending()) == {}


def test_a_training_parameter_reruns_training_and_what_follows(checkout):
    checkout.configuration["regimens"][0]["learning_rate"] = "2e-3"
    jobs = without_targets(checkout.pending())
    read = {"perplexity": READ, **DELTAS}
    assert jobs == {"train": PACKED, "score": PACKED, **read, **AFTER_SCORES}


def test_an_option_of_a_bias_reruns_the_runs_that_have_it(checkout):
    checkout.configuration["biases"]["recency"] = {"decay": 0.7}
    jobs = without_targets(checkout.pending())
    mine = {run for run in ARMS if "recency" in run}
    assert len(mine) == 2
    assert jobs == {"train": mine, "score": mine, **AFTER_SCORES}


def test_the_module_of_a_bias_reruns_the_runs_that_have_it(checkout):
    checkout.append("src/poshgrid/training/biases/dyck.py", "_ADDED = 1")
    jobs = without_targets(checkout.pending())
    mine = {run for run in ARMS if "dyck" in run}
    assert jobs == {"train": mine, "score": mine, **AFTER_SCORES}


def test_another_parser_of_trees_is_parsed_whole(checkout):
    checkout.configuration["biases"]["tree-planting"] = {"parser": "stanza"}
    jobs = without_targets(checkout.pending())
    assert jobs["distances"] == {"baby-f/20K/stanza"}
    # What decides is parsed whole now: labels and all that follows; the other one is screened again
    assert jobs["parse"] and jobs["evidence"] == {"baby"}


def test_an_equal_value_written_otherwise_reruns_nothing(checkout):
    checkout.configuration["regimens"][0]["learning_rate"] = 0.00500
    checkout.configuration["regimens"][0]["dropout"] = "0e0"
    assert without_targets(checkout.pending()) == {}


def test_a_figure_module_reruns_the_report(checkout):
    checkout.append("src/poshgrid/report/figures.py", "_ADDED = 1")
    assert without_targets(checkout.pending()) == {"report": {"all"}}


def test_a_rule_reruns_what_rules_say_and_whom_they_explain(checkout):
    checkout.append("src/poshgrid/rules/rivals/first_auxiliary.py", "_ADDED = 1")
    said = {"rule_preferences": {""}, "rule_shares": {"all/rules"}}
    # rules are rivals in the table of accuracies, beside which the counts lie that are fitted
    after = {"accuracy": {"all"}, "fit": FITS, "report": {"all"}}
    assert without_targets(checkout.pending()) == {**said, **after}


def test_how_often_checkpoints_are_saved_reruns_nothing(checkout):
    checkout.configuration["regimens"][0]["checkpoint_every"] = 7
    assert without_targets(checkout.pending()) == {}


def test_the_toy_grammar_reruns_what_learns_from_its_trees(checkout):
    grammar = checkout.folder / "resources/toy/grammar.yaml"
    grammar.write_text(grammar.read_text() + "\n# changed\n")
    jobs = without_targets(checkout.pending())
    assert {"treebank", "train_parser", "recall", "detector", "parse"} <= jobs.keys()
    assert "read" not in jobs  # its sources are of text


def test_a_comment_reruns_nothing(checkout):
    checkout.append("src/poshgrid/training/train.py", "# A remark.")
    assert without_targets(checkout.pending()) == {}


def test_training_code_reruns_training(checkout):
    checkout.append("src/poshgrid/training/data.py", "_ADDED = 1")
    jobs = without_targets(checkout.pending())
    models = {"train": RUNS, "untrained": NULLS, "score": RUNS | NULLS, "perplexity": READ}
    assert jobs == {**models, **DELTAS, **AFTER_NULLS}


def test_a_template_reruns_items_and_scores(checkout):
    template = sorted((checkout.folder / "resources/templates").glob("*.yaml"))[0]
    template.write_text(template.read_text() + "\n# changed\n")
    jobs = without_targets(checkout.pending())
    items = {"items": {"posh"}, "rule_preferences": {""}}
    assert jobs == {**items, "score": SCORED, **DELTAS, **AFTER_NULLS}


@pytest.mark.parametrize(
    ("file", "rules"),
    [
        ("data/*.txt", {"read", "mix", "train", "report"}),
        ("resources/templates/*.yaml", {"items", "score", "report"}),
        ("src/poshgrid/report/*.css", {"report"}),
        ("studies/posh-bench/published/*/table3.csv", {"report"}),
    ],
)
def test_a_file_that_is_put_back_with_an_older_time_reruns_what_it_can_change(
    checkout, file, rules
):
    changed = sorted(checkout.folder.glob(file))[0]
    changed.write_text(changed.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    os.utime(changed, (1e9, 1e9))
    jobs = without_targets(checkout.pending())
    assert rules <= set(jobs)
    assert rules != {"report"} or set(jobs) == rules


def test_a_reader_of_a_suite_reruns_that_suite(checkout):
    checkout.append("src/poshgrid/benchmark/suites/completions.py", "_ADDED = 1")
    jobs = without_targets(checkout.pending())
    assert jobs == {"items": {"completions"}, "score": SCORED, **DELTAS, **AFTER_NULLS}


def test_how_scores_are_compared_reruns_no_score(checkout):
    checkout.configuration["scoring"] = {"reduction": "sum"}
    checkout.configuration["quality"] = {"tolerance": 0.1}
    jobs = without_targets(checkout.pending())
    assert "score" not in jobs
    after = {rule: cells for rule, cells in AFTER_NULLS.items() if rule != "measures"}
    assert jobs == {**after, **DELTAS}


def test_a_convention_of_measures_reruns_the_measures(checkout):
    checkout.configuration["measures"] = {"sign": "earlier"}
    assert without_targets(checkout.pending()) == {"measures": MEASURED, "report": {"all"}}


@pytest.mark.slow
def test_the_order_of_the_ngram_null_reruns_it_and_the_pairs(checkout):
    checkout.configuration["ngram"] = {"order": 3}
    jobs = without_targets(checkout.pending())
    assert jobs["count"] == {run for run in COUNTED if "/ngram/" in run}
    assert jobs["ngrams"] == {f"ngrams/{b}/{s}" for b in ("baby", "wiki") for s in ("20K", "60K")}
    assert jobs["items"] == {"posh", "filler-gap"}
    assert "train" not in jobs


def test_a_pretrained_model_adds_its_scores(checkout):
    checkout.configuration["pretrained"] = ["gpt2"]
    jobs = without_targets(checkout.pending())
    given = {"pretrained/given/gpt2/pretrained/none/seed0"}
    assert jobs == {"score": given, **AFTER_SCORES}


def after_labels():
    """What follows when the labels of the base baby change."""
    cells = {cell for cell in CELLS if not cell.startswith("wiki")}
    runs = {run for run in SCORED if not run.startswith("wiki")}
    return {
        **dict.fromkeys(("condition", "collateral", "tokenizer", "sweep", "tokens"), cells),
        "audit": {"baby-f/60K"},
        "distances": {"baby-f/20K/spacy"},
        "train": runs & RUNS,
        "untrained": runs & NULLS,
        "count": runs & COUNTED,
        "score": runs,
        "perplexity": READ,
        **DELTAS,
        **AFTER_NULLS,
    }


def test_a_filter_rule_reruns_the_filtered_base_and_no_parse(checkout):
    checkout.append("src/poshgrid/evidence/filters/binding.py", "_ADDED = 1")
    expected = {"evidence": {"baby"}, **RECALL, **DETECTOR, **after_labels()}
    assert without_targets(checkout.pending()) == expected


def test_a_filter_in_the_studys_own_folder_reruns_the_same(checkout):
    name = "evidence/filters/binding.py"
    ours, own = checkout.folder / "src/poshgrid" / name, checkout.folder / "plugins" / name
    own.parent.mkdir(parents=True)
    shutil.move(ours, own)
    try:
        assert without_targets(checkout.pending()) == {}
        checkout.append(f"plugins/{name}", "_ADDED = 1")
        expected = {"evidence": {"baby"}, **RECALL, **DETECTOR, **after_labels()}
        assert without_targets(checkout.pending()) == expected
        checkout.append(f"plugins/{name}", "_ADDED = (")
        broken = checkout.snakemake("-n", check=False)
        assert broken.returncode == 1
        assert f"error: plugins/{name}:" in broken.stderr
        assert "Traceback" not in broken.stderr
    finally:
        shutil.move(own, ours)
        shutil.rmtree(checkout.folder / "plugins")


def test_a_lexical_test_reruns_the_parses_too(checkout):
    checkout.append("src/poshgrid/evidence/screening/lexical/binding.py", "_ADDED = 1")
    jobs = without_targets(checkout.pending())
    # not those of the parser whose trees a bias is trained with: it parses everything
    assert jobs.pop("parse") == {"baby/stanza"}
    assert jobs == {"evidence": {"baby"}, **RECALL, **DETECTOR, **after_labels()}


def of(name):
    """What follows when a condition of the base baby changes, and no other does."""
    jobs = after_labels()
    mine = {
        rule: {cell for cell in cells if cell.startswith(f"{name}/")}
        for rule, cells in jobs.items()
        if rule not in {*DELTAS, *AFTER_NULLS}
    }
    after = {rule: cells for rule, cells in jobs.items() if rule in {*DELTAS, *AFTER_NULLS}}
    return {rule: cells for rule, cells in (mine | after).items() if cells}


def test_a_reading_reruns_its_condition_and_no_label(checkout):
    baby_f = checkout.configuration["conditions"][0]
    assert baby_f["name"] == "baby-f"
    baby_f["filters"] = ["question-formation.direct", "binding"]
    jobs = without_targets(checkout.pending())
    expected = of("baby-f")
    # the condition that puts back what the other reading removed is no longer its counterpart
    del expected["perplexity"], expected["deltas"]
    # the detector is learned for the readings that sheets are drawn for
    assert jobs == {**expected, **DETECTOR}


def test_one_more_condition_makes_no_other_again(checkout):
    """Though every condition is held to it."""
    direct = {"name": "baby-direct", "base": "baby", "filters": ["binding.direct"]}
    checkout.configuration["conditions"].append(direct)
    checkout.configuration["experiments"][1]["conditions"].append("baby-direct")
    jobs = without_targets(checkout.pending())
    cells = {"baby-direct/20K", "baby-direct/60K"}
    assert jobs["condition"] == jobs["tokenizer"] == jobs["tokens"] == cells
    for rule in ("train", "untrained", "count", "score"):
        assert {run.split("/")[0] for run in jobs[rule]} == {"baby-direct"}, rule
    assert not {"parse", "evidence", "mix", "items"} & set(jobs)


def test_allowing_what_is_void_reruns_nothing(checkout):
    for condition in checkout.configuration["conditions"]:
        condition["allow"] = ["void"]
    assert without_targets(checkout.pending()) == {}


@pytest.mark.slow
def test_the_backstop_reruns_conditions_and_no_label(checkout):
    checkout.configuration["evidence"]["backstop"] = False
    assert without_targets(checkout.pending()) == after_labels()


def test_gold_trees_rerun_the_recall_and_the_report(checkout):
    (checkout.folder / "data/gold.conllu").write_text("1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n")
    checkout.configuration["evidence"]["gold"] = ["toy", "gold.conllu"]
    assert without_targets(checkout.pending()) == {**RECALL, "report": {"all"}}
    checkout.configuration["evidence"]["gold"] = []
    assert without_targets(checkout.pending()) == {"report": {"all"}}


def test_a_sweep_and_an_audit_rerun_themselves_and_the_report(checkout):
    checkout.configuration["tokenizer"]["sweep"] = [500]
    checkout.configuration["audit"]["sample"] = 20
    jobs = without_targets(checkout.pending())
    assert jobs == {"sweep": CELLS, "audit": {"baby-f/60K"}, "report": {"all"}}


def test_a_shared_tokenizer_is_one_job_and_reruns_what_reads_tokens(checkout):
    checkout.configuration["tokenizer"] |= {"trained_on": ["wiki"], "sweep": []}
    jobs = without_targets(checkout.pending())
    assert jobs["tokenizer"] == {"shared/default"}
    assert jobs["tokens"] == CELLS
    assert jobs["train"] == RUNS
    assert not {"condition", "parse", "evidence", "items", "count", "sweep"} & set(jobs)


@pytest.mark.slow
def test_a_detector_reruns_the_sheets_and_the_report(checkout):
    checkout.configuration["evidence"]["detector"]["sentences"] = 1_000
    sheets = {"audit": {"baby-f/60K"}, "report": {"all"}}
    assert without_targets(checkout.pending()) == {**DETECTOR, **sheets}
    del checkout.configuration["evidence"]["detector"]
    assert without_targets(checkout.pending()) == sheets


def test_one_source_file_reruns_its_base_and_the_items(checkout):
    (checkout.folder / "data/toy-wiki.txt").write_text("A very different text.\n")
    jobs = without_targets(checkout.pending())
    wiki_cells = {cell for cell in CELLS if cell.startswith("wiki")}
    assert jobs["read"] == {"toy-wiki"}
    assert jobs["mix"] == {"wiki"}
    assert jobs["condition"] == jobs["tokenizer"] == jobs["tokens"] == wiki_cells
    assert jobs["train"] == {run for run in RUNS if run.startswith("wiki")}
    assert jobs["untrained"] == {run for run in NULLS if run.startswith("wiki")}
    # The words that items may use come from both bases.
    assert jobs["items"] == {"posh", "filler-gap"}
    assert jobs["ngrams"] == {"ngrams/wiki/20K", "ngrams/wiki/60K"}
    assert jobs["count"] == {run for run in COUNTED if run.startswith("wiki")}
    assert jobs["score"] == SCORED
    assert "parse" not in jobs
    assert "evidence" not in jobs


def test_a_new_seed_adds_its_runs_only(checkout):
    for experiment in checkout.configuration["experiments"][:2]:
        experiment["seeds"] = [42, 53, 76]
    jobs = without_targets(checkout.pending())
    new = {f"{cell}/gpt2-tiny/packed/none/seed76" for cell in CELLS}
    nulls = {run.replace("packed", "untrained") for run in new}
    models = {"train": new, "untrained": nulls, "score": new | nulls, "perplexity": READ}
    assert jobs == {**models, **DELTAS, **AFTER_NULLS}


def test_a_prior_a_contrast_and_a_formula_rerun_their_fits_and_no_other(checkout):
    paper, condition, _, binding = checkout.configuration["models"]
    paper["slope_sd"] = 0.4
    condition["contrasts"][0]["by"] = []
    binding["formula"] = "p(correct, n) ~ size_z + S(condition) + (1|seed) + (1|phenomenon)"
    fits = {f"all/models/{name}" for name in ("paper", "condition", "binding")}
    assert without_targets(checkout.pending()) == {"fit": fits, "report": {"all"}}


@pytest.mark.slow
def test_perplexity_is_measured_or_left_out(checkout):
    checkout.configuration["filtering"] = {"perplexity": False}
    assert without_targets(checkout.pending()) == {**DELTAS, "report": {"all"}}


@pytest.mark.slow
def test_one_learner_reruns_its_runs_and_nulls(checkout):
    checkout.configuration["learners"][1]["options"]["hidden_size"] = 64
    jobs = without_targets(checkout.pending())
    mine = {run for run in RUNS | NULLS if "/lstm-tiny/" in run}
    assert len(mine) == 2
    assert jobs["train"] | jobs["untrained"] == mine
    assert jobs["score"] == mine
    assert set(jobs) == {"train", "untrained", "score", "quality", *AFTER_SCORES}


@pytest.mark.slow
def test_one_regimen_reruns_its_runs_and_no_null(checkout):
    checkout.configuration["regimens"][1]["learning_rate"] = "1e-3"
    jobs = without_targets(checkout.pending())
    assert jobs["train"] == jobs["score"] == ARMS | OTHERS
    assert set(jobs) == {"train", "score", *AFTER_SCORES}


@pytest.mark.slow
def test_the_vocabulary_reruns_tokenizers_and_all_that_reads_tokens(checkout):
    checkout.configuration["tokenizer"]["vocabulary_size"] = 600
    jobs = without_targets(checkout.pending())
    assert jobs["tokenizer"] == jobs["tokens"] == CELLS
    assert jobs["train"] | jobs["untrained"] == jobs["score"] == RUNS | NULLS
    assert "sweep" not in jobs and "count" not in jobs and "items" not in jobs
    assert "condition" not in jobs and "evidence" not in jobs and "parse" not in jobs


@pytest.mark.slow
def test_a_suites_pairs_rerun_that_suite_and_the_scores(checkout):
    checkout.configuration["suites"][0]["options"]["pairs"] = 100
    jobs = without_targets(checkout.pending())
    assert jobs["items"] == {"posh"}
    assert jobs["score"] == RUNS | NULLS | COUNTED
    assert "train" not in jobs and "tokens" not in jobs and "ngrams" not in jobs


def test_the_lexicon_reruns_the_generated_suites(checkout):
    checkout.configuration["lexicon"] = {"top_k": 500}
    jobs = without_targets(checkout.pending())
    assert jobs["items"] == {"posh", "filler-gap"}
    assert jobs["score"] == RUNS | NULLS | COUNTED
    assert "train" not in jobs and "tokens" not in jobs and "ngrams" not in jobs


def test_the_tolerance_alone_reruns_no_score_and_no_measure(checkout):
    checkout.configuration["quality"] = {"tolerance": 0.2}
    jobs = without_targets(checkout.pending())
    assert set(jobs) == {"quality", "accuracy", "curves", "fit", "report"}
