"""Experiments to runs to paths."""

from __future__ import annotations

import json

import pytest
from poshgrid.grid.slices import Slices as ShortSlices
from pydantic import ValidationError

from poshgrid.config import Config, specs
from poshgrid.config.runs import SCORED, Run
from poshgrid.config.sizes import words
from poshgrid.errors import PoshgridError
from poshgrid.grid import conditions, configfile
from poshgrid.grid.grid import Grid
from poshgrid.grid.inputs import Inputs
from tests.shipped import shipped, shipped_name
from tests.unit.grid.full_slices import FullSlices as Slices

CONTROLS = {
    "flat-brackets", "random-trees", "sequential-trees", "static-recency", "linear-recency",
}  # fmt: skip


@pytest.fixture(scope="module")
def paper(root):
    return configfile.load(root / "config/config.yaml")


def test_the_papers_runs_are_counted_by_hand(paper):
    targets = Grid(paper).targets
    # 3 seeds: exp1 3 sizes; exp2 3 + 4 + 4 cells; exp3 5 biases and 5 controls
    assert {name: len(runs) for name, runs in targets.items()} == {
        "all": 33 + 30,  # exp1 is inside exp2
        "exp1": 9,
        "exp2": 33,
        "exp3": 30,
        "capacity": 4,
        "control": 4 * 3,
        "dose": 4 * 3,
        "full": 11 * 5 * 3,
    }


def test_the_learner_depends_on_the_size(paper):
    learners = {(run.size, run.learner) for run in Grid(paper).targets["exp2"]}
    assert learners == {
        ("10M", "gpt2-mini"),
        ("30M", "gpt2-small"),
        ("50M", "gpt2-small"),
        ("100M", "gpt2-small"),
    }


def test_exclusions(paper):
    assert not any(
        r.condition == "baby-f" and r.size == "100M" for r in Grid(paper).targets["full"]
    )


def test_only_selects_alternatives_within_and_conjunction_across_axes(paper):
    grid = Grid(paper.model_copy(update={"only": "size=10M,seed=42,seed=53,condition=wiki"}))
    assert grid.targets["exp2"] == [
        Run("wiki", "10M", "gpt2-mini", "packed", "none", 42),
        Run("wiki", "10M", "gpt2-mini", "packed", "none", 53),
    ]
    assert "exp1" not in grid.targets


def test_only_changes_no_spec_of_a_run_that_stays(paper):
    """A cell that is run by name must be the cell that the whole grid would make."""
    whole = Grid(paper)
    part = Grid(paper.model_copy(update={"only": "size=10M"}))
    assert Slices(whole).base("baby") == Slices(part).base("baby")
    assert whole.shards("baby") == part.shards("baby")
    run = part.targets["exp2"][0]
    assert Slices(whole).train(run) == Slices(part).train(run)


def test_names_round_trip(paper):
    grid = Grid(paper)
    for run in grid.runs("all") + grid.runs("full"):
        assert Run.parse(run.name) == run


def test_run_names_are_unique_and_shared_runs_are_one(paper):
    grid = Grid(paper)
    names = [run.name for run in grid.runs("all")]
    assert len(names) == len(set(names))
    assert set(grid.targets["exp1"]) < set(grid.targets["exp2"])


def test_every_trained_run_has_its_null(paper):
    grid = Grid(paper)
    nulls = {
        (n.condition, n.size, n.learner, n.seed)
        for n in grid.nulls(grid.targets["all"])
        if n.regimen == "untrained"
    }
    assert nulls == {(r.condition, r.size, r.learner, r.seed) for r in grid.targets["all"]}


def test_words_are_counted_once_for_each_cell(paper):
    grid = Grid(paper)
    runs = grid.targets["exp2"]
    counted = [r for r in grid.nulls(runs) if r.regimen == "counted"]
    cells = {(r.condition, r.size) for r in runs}
    assert {(r.condition, r.size, r.learner) for r in counted} == {
        (*cell, null) for cell in cells for null in ("unigram", "ngram")
    }
    assert len(counted) == 2 * len(cells) == 22
    assert json.loads(Slices(grid).count("unigram"))["order"] == 1
    assert json.loads(Slices(grid).count("ngram"))["order"] == 5


def test_pretrained_models_stand_beside_every_target(paper):
    given = paper.model_validate(
        paper.model_dump()
        | {"pretrained": ["gpt2", {"name": "bb", "model": "a/b", "masked": "holistic"}]}
    )
    grid, slices = Grid(given), Slices(Grid(given))
    names = [f"pretrained/given/{name}/pretrained/none/seed0" for name in ("gpt2", "bb")]
    for target in (*grid.targets, "pretrained"):
        assert [r.name for r in grid.runs(target)][-2:] == names
        assert not set(names) & {r.name for r in grid.made(target)}
        judged = json.loads(slices.judgement(target))
        assert set(judged["cells"]) == {"/".join(run.split("/")[:2]) for run in judged["runs"]}
    assert grid.made("pretrained") == []
    masked = [json.loads(slices.score(run))["scoring"]["masked"] for run in grid.given]
    assert masked == ["pseudo-log-likelihood", "holistic"]
    assert grid.pretrained["gpt2"].model == "gpt2"


def test_a_second_score_of_masked_models_is_a_suite(paper):
    """Every suite of pairs has a twin, scored otherwise; what it is fitted to stays the same."""
    scores = ["holistic", "pseudo-log-likelihood"]
    given = paper.model_copy(
        update={
            "scoring": paper.scoring.model_validate({"masked": scores}),
            "suites": paper.suites[:1],
        }
    )
    grid, plain = Grid(given), Grid(paper)
    name = paper.suites[0].name
    twin = f"{name}-pseudo-log-likelihood"
    assert grid.pairs == [name, twin]
    assert grid.suites[twin].model_copy(update={"name": name}) == grid.suites[name]
    spec = json.loads(Slices(grid).score(min(grid.every_run)))
    assert (spec["scoring"]["masked"], spec["rescored"]) == (scores[0], {twin: scores[1]})
    assert json.loads(Slices(plain).score(min(plain.every_run)))["rescored"] == {}
    free = next(iter(grid.models.values())).model_copy(update={"suite": None})
    assert grid.judged(free) == name


@pytest.mark.parametrize("value", [[], ["holistic", "holistic"], ["none"]])
def test_lists_of_scores_are_checked(paper, value):
    with pytest.raises(ValidationError):
        paper.scoring.model_validate({"masked": value})


@pytest.mark.parametrize("name", ["untrained", "counted", "pretrained", "unigram", "ngram"])
@pytest.mark.parametrize("kind", ["regimens", "learners", "conditions", "experiments"])
def test_names_of_nulls_are_taken(paper, kind, name):
    written = paper.model_dump()
    written[kind].append(written[kind][0] | {"name": name})
    with pytest.raises(PoshgridError, match=f"{kind}: '{name}' is the name of"):
        Grid(paper.model_validate(written))


def test_how_scores_are_compared_is_no_part_of_scoring(paper):
    changed = paper.model_copy(
        update={"scoring": paper.scoring.model_copy(update={"reduction": "sum"})}
    )
    run = Grid(paper).targets["exp1"][0]
    before, after = Slices(Grid(paper)), Slices(Grid(changed))
    assert before.score(run) == after.score(run)
    assert before.judgement("exp1") != after.judgement("exp1")


def test_a_run_reads_the_options_of_its_own_bias_only(paper):
    grid = Grid(paper)
    options = {
        run.bias: json.loads(Slices(grid).train(run))["options"].keys()
        for run in grid.targets["exp3"]
    }
    assert {bias: sorted(keys) for bias, keys in options.items()} == {
        "none": [],
        "dyck": ["dyck"],
        "tree-planting": ["tree-planting"],
        "recency": ["recency"],
        "dyck+recency": ["dyck", "recency"],
        **{word: [word] for word in CONTROLS},
    }


def test_a_control_has_its_biass_options_where_it_has_none_of_its_own(paper):
    biases = {
        **paper.biases,
        "dyck": {"k": 32, "steps": 500}, "flat-brackets": {"steps": 400},
        "recency": {"decay": 0.4, "positions": "none"},
    }  # fmt: skip
    grid = changed(paper, biases=biases)
    options = {
        run.bias: json.loads(Slices(grid).train(run))["options"] for run in grid.targets["exp3"]
    }
    assert options["flat-brackets"] == {"flat-brackets": {"k": 32, "steps": 400}}
    assert options["static-recency"] == {"static-recency": {"positions": "none"}}
    trees = options["tree-planting"]["tree-planting"]
    assert options["random-trees"]["random-trees"] == trees != {}
    assert grid.trees(next(r for r in grid.targets["exp3"] if r.bias == "random-trees")) == "spacy"


def test_contrasts_less_controls_are_written_out(paper):
    found = Grid(paper).models["bias"].contrasts
    assert [(each.first, each.less) for each in found] == [
        (None, "none"), ("dyck", "flat-brackets"), ("recency", "linear-recency"),
        ("recency", "static-recency"), ("tree-planting", "random-trees"),
        ("tree-planting", "sequential-trees"),
    ]  # fmt: skip
    experiment = next(
        e for e in paper.model_dump(mode="json")["experiments"] if e["name"] == "exp3"
    )
    alone = changed(paper, experiments=[{**experiment, "biases": ["none", "dyck"]}])
    assert [each.less for each in alone.models["bias"].contrasts] == ["none"]


def test_filtered_is_the_papers_factor(paper):
    facts = Grid(paper).cell_facts("exp2")
    assert {cell for cell, fact in facts.items() if fact.filtered} == {
        "baby-f/10M",
        "baby-f/30M",
        "baby-f/50M",
    }
    assert facts["wiki/30M"].source == "wiki"
    assert facts["baby/100M"].words == 100_000_000


def test_undefined_parser_is_an_error(paper):
    broken = paper.model_copy(update={"parsers": []})
    with pytest.raises(PoshgridError, match="unknown parser 'stanza'"):
        Grid(broken).evidence_parsers()


def changed(paper, **sections):
    """Return the grid of the paper's configuration with sections replaced."""
    plain = paper.model_dump(mode="json")
    return Grid(configfile.Config.model_validate({**plain, **sections}))


def test_a_condition_is_named_by_its_base_and_filters(paper):
    plain = paper.model_dump(mode="json")
    experiment = {
        **plain["experiments"][0], "name": "fict",
        "conditions": ["wiki~none", "wiki~agr-pp-mod", "wiki~passive+det-noun"],
    }  # fmt: skip
    bases = [{**base, "downsample": 0.787} for base in plain["bases"]]
    grid = changed(paper, experiments=[experiment], bases=bases)
    both = grid.conditions["wiki~passive+det-noun"]
    assert (both.base, both.words, both.downsample) == ("wiki", ["det-noun", "passive"], 0.787)
    assert [str(each) for each in both.filters] == ["passive.paper", "det-noun.paper"]
    assert grid.conditions["wiki~none"].filters == []
    assert grid.filters("wiki") == ["agr-pp-mod", "det-noun", "passive"]
    # agr-pp-mod has no screen: everything is parsed
    assert grid.screens("wiki", "stanza") == []
    assert grid.targets["fict"][0].condition == "wiki~agr-pp-mod"
    experiment["conditions"] = ["wiki~passiv"]
    with pytest.raises(PoshgridError, match="condition 'wiki~passiv': unknown filter 'passiv'"):
        changed(paper, experiments=[experiment])
    experiment["conditions"] = ["wikki~passive"]
    with pytest.raises(PoshgridError, match="unknown condition 'wikki~passive'"):
        _ = changed(paper, experiments=[experiment]).targets


def test_all_names_that_an_experiment_lacks_are_told_at_once(paper):
    wrong = {
        "name": "x", "conditions": ["baby", "baby_f", "wikii"], "sizes": ["10M"],
        "learners": ["gpt"], "regimen": "paked", "seeds": [1],
    }  # fmt: skip
    with pytest.raises(PoshgridError) as error:
        _ = changed(paper, experiments=[wrong]).targets
    assert [line.partition(";")[0] for line in error.value.args] == [
        "experiments: x: unknown condition 'baby_f'", "experiments: x: unknown condition 'wikii'",
        "experiments: x: unknown regimen 'paked'", "experiments: x: unknown learner 'gpt'",
    ]  # fmt: skip


def test_the_arms_of_exp3_differ_in_their_bias_alone(paper):
    """The same learner, regimen, seed, tokens and tokenizer: a controlled experiment."""
    grid = Grid(paper)
    slices, arms = Slices(grid), {}
    for run in grid.targets["exp3"]:
        spec = json.loads(slices.train(run))
        bias, options = spec.pop("bias"), spec.pop("options")
        assert set(options) == set(bias.split("+")) - {"none"}
        files = (grid.paths.tokens(run.condition, run.size),
                 grid.paths.tokenizer(run.condition, run.size))  # fmt: skip
        arms.setdefault(run.seed, {})[bias] = (spec, files)
    assert set(arms) == {42, 53, 76}
    for seed, found in arms.items():
        own = {"none", "dyck", "tree-planting", "recency", "dyck+recency"}
        assert set(found) == own | CONTROLS
        assert all(arm == found["none"] for arm in found.values())
        assert found["none"][0]["seed"] == seed
    regimen = arms[42]["none"][0]["regimen"]
    # section 7.2 and appendix E
    assert {key: regimen[key] for key in ("input", "epochs", "context_length", "batch_size",
                                          "warmup_steps", "padding_in_loss")} == {
        "input": "sentence", "epochs": 10, "context_length": 32, "batch_size": 512,
        "warmup_steps": 0, "padding_in_loss": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("dyck+dyck", "dyck"),
        ("dyck+none", "dyck"),
        ("none+dyck", "dyck"),
        ("recency+recency", "recency"),
        ("none+none", "none"),
        ("dyck+recency+dyck", "dyck+recency"),
    ],
)
def test_a_model_has_one_name(paper, word, name):
    plain = paper.model_dump(mode="json")
    experiment = next(e for e in plain["experiments"] if e["name"] == "exp3")
    grid = changed(paper, experiments=[{**experiment, "biases": ["none", word]}])
    with pytest.raises(PoshgridError) as caught:
        _ = grid.targets
    assert str(caught.value).startswith(f"experiments: exp3: {word!r} is another name for {name!r}")
    assert str(caught.value).endswith(f"; write {name}")


def test_a_bias_is_written_before_it_is_used(paper):
    """One that exists is to be defined; one that does not is misspelt, whatever is defined."""
    biases = {name: paper.biases[name] for name in ("dyck", "tree-planting")}
    with pytest.raises(PoshgridError) as caught:
        _ = changed(paper, biases=biases).targets
    assert str(caught.value) == (
        "experiments: exp3: unknown bias 'recency'; known: dyck, tree-planting; "
        "write recency: {} under biases"
    )
    with pytest.raises(PoshgridError, match=r"unknown bias 'dyck'; write dyck: \{\} under biases"):
        _ = changed(paper, biases={}).targets
    plain = paper.model_dump(mode="json")
    experiment = next(e for e in plain["experiments"] if e["name"] == "exp3")
    misspelt = [{**experiment, "biases": ["recencey"]}]
    with pytest.raises(PoshgridError, match="unknown bias 'recencey'; did you mean 'recency'"):
        _ = changed(paper, biases=biases, experiments=misspelt).targets


def test_the_trees_of_a_bias_are_parsed_whole(paper):
    grid = Grid(paper)
    planted = next(r for r in grid.targets["exp3"] if r.bias == "tree-planting")
    controls = {"random-trees", "sequential-trees"}
    others = {grid.trees(r) for r in grid.runs("all") if r.bias not in {"tree-planting", *controls}}
    assert {grid.trees(r) for r in grid.targets["exp3"] if r.bias in controls} == {"spacy"}
    assert (grid.trees(planted), others) == ("spacy", {None})
    assert grid.screens("baby", "spacy") == []
    assert grid.screens("baby", "stanza") == ["binding", "question-formation"]
    without = [e for e in paper.model_dump(mode="json")["experiments"]
               if e["name"] not in ("exp3", "full")]  # fmt: skip
    assert changed(paper, experiments=without).screens("baby", "spacy") != []
    biases = paper.biases | {"tree-planting": {"parser": "spaccy"}}
    with pytest.raises(PoshgridError, match=r"(trees|planting): unknown parser 'spaccy'"):
        changed(paper, biases=biases).screens("baby", "spacy")


def test_a_model_is_fitted_where_its_runs_are(paper):
    grid = Grid(paper)
    assert {t: grid.fitted(t) for t in ("all", "exp2", "exp3", "capacity")} == {
        "all": ["bias", "condition", "paper", "paper-cells"],
        "exp2": ["condition", "paper", "paper-cells"], "exp3": ["bias"],
        "capacity": ["paper", "paper-cells"],
    }  # fmt: skip
    # One with contrasts is for targets whose runs differ in what it contrasts.
    assert "condition" not in grid.fitted("exp1")
    assert grid.fitted("full") == ["bias", "factorial"]
    broken = changed(paper, models=[{"name": "paper", "only": "regimn=packed"}])
    with pytest.raises(PoshgridError, match=r"models: paper: only: .*did you mean 'regimen'"):
        broken.fitted("all")


def test_screens_and_backstop_are_read_by_the_jobs_that_use_them(paper):
    plain = paper.model_dump(mode="json")["evidence"]
    grids = {
        "plain": Grid(paper),
        "all": changed(paper, evidence={**plain, "parse": "all"}),
        "bare": changed(paper, evidence={**plain, "backstop": False}),
    }
    parses = {name: Slices(grid).parse("baby", "stanza", 0) for name, grid in grids.items()}
    conditions = {name: Slices(grid).condition("baby-f", "10M") for name, grid in grids.items()}
    assert json.loads(parses["plain"])["screens"] == ["binding", "question-formation"]
    assert json.loads(parses["all"])["screens"] == []
    assert parses["bare"] == parses["plain"] != parses["all"]
    assert conditions["all"] == conditions["plain"] != conditions["bare"]
    assert len({Slices(grid).evidence("baby") for grid in grids.values()}) == 1


def test_a_sweep_reruns_no_tokenizer(paper):
    plain = paper.model_dump(mode="json")["tokenizer"]
    grid = Grid(paper)
    more = changed(paper, tokenizer={**plain, "sweep": [512]})
    other = changed(paper, tokenizer={**plain, "vocabulary_size": 1_000})
    tokenizers = [Slices(each).tokenizer("baby") for each in (more, grid, other)]
    assert tokenizers[0] == tokenizers[1] != tokenizers[2]
    assert Slices(other).sweep() == Slices(grid).sweep() != Slices(more).sweep()


def test_sheets_are_of_the_largest_filtered_size(paper):
    plain = paper.model_dump(mode="json")["audit"]
    grid = changed(paper, audit={**plain, "conditions": ["baby", "baby-f", "wiki"]})
    assert grid.audits("all") == [("baby", "50M"), ("baby-f", "50M")]  # 100M is the bare base
    with pytest.raises(PoshgridError, match=r"audit: unknown condition .babi.; did you mean"):
        changed(paper, audit={**plain, "conditions": ["babi"]}).audits("all")


def test_what_is_removed_is_counted_where_something_is(paper):
    sizes = ("10M", "30M", "50M")  # 100M is the bare base
    expected = [(name, size) for name in ("baby", "baby-f") for size in sizes]
    assert Grid(paper).removals("exp2") == expected
    plain = paper.model_dump(mode="json")
    control = {"name": "baby-c", "base": "baby", "control": "baby-f"}
    experiment = {**plain["experiments"][0], "name": "controlled", "conditions": ["baby-c", "wiki"]}
    grid = changed(paper, conditions=[*plain["conditions"], control], experiments=[experiment])
    assert grid.removals("controlled") == [("baby-c", size) for size in sizes]
    spec = json.loads(Slices(grid).collateral("baby-c", "10M"))
    assert [each["name"] for each in spec["control"]] == ["question-formation", "binding"]
    assert spec["condition"]["control"] == "baby-f" and spec["size"] == "10M"


def test_all_is_no_name_of_a_source(paper):
    source = {**paper.model_dump(mode="json")["sources"][0], "name": "All"}
    with pytest.raises(PoshgridError, match=r"sources: 'all' stands for a base's sources"):
        changed(paper, sources=[source])


@pytest.mark.parametrize(
    ("name", "runs", "read"),
    [("released", {"exp1": 9, "exp2": 33, "exp3": 21}, []), ("babylm", {"exp2": 18}, ["baby"])],
)
def test_public_corpora_lie_over_the_papers_configuration(root, name, runs, read):
    over = root / f"studies/posh-bench/{name}.yaml"
    grid = Grid(configfile.load(root / "config/config.yaml", over))
    found = {target: len(runs) for target, runs in grid.targets.items() if target != "all"}
    assert found == runs
    assert grid.parsed_bases("all") == read
    assert "condition" in grid.fitted("exp2")


def test_ready_files_need_no_base(paper):
    plain = paper.model_dump(mode="json")
    conditions = [
        {"name": name, "base": "baby", "prebuilt": f"ready/{name}", "filtered": name == "baby-f"}
        for name in ("baby", "baby-f")
    ]
    conditions.append(next(c for c in plain["conditions"] if c["name"] == "wiki"))
    bases = [base for base in plain["bases"] if base["name"] == "wiki"]
    experiments = [e for e in plain["experiments"] if e["name"] not in ("control", "dose")]
    grid = changed(paper, conditions=conditions, bases=bases, experiments=experiments)
    assert len(grid.targets["all"]) == 63
    facts = grid.cell_facts("exp2")
    assert facts["baby-f/10M"].filtered and not facts["baby/10M"].filtered
    assert facts["baby-f/10M"].source == "baby"
    assert grid.parsed_bases("all") == []
    assert grid.vocabularies() == {
        "wiki": "results/corpora/wiki/sentences.parquet",
        "baby": "results/conditions/baby/100M/train.parquet",
    }


def released(name, **place):
    return {"name": name, "model": f"owner/{name}", "revision": "1f2e", **place}


def given_alone(*pretrained, **changed):
    config = {
        "pretrained": list(pretrained), "models": [],
        "suites": [{"name": "zorro", "reader": "lines", "path": "zorro"}], **changed,
    }  # fmt: skip
    return Grid(Config.model_validate(config))


PLACES = (
    {"condition": "baby-f", "size": "10M", "learner": "mini", "seed": 1, "filtered": True,
     "source": "baby"},
    {"condition": "baby", "size": "10M", "learner": "mini", "seed": 1},
)  # fmt: skip


def test_released_models_have_a_place_in_a_grid_that_trains_nothing():
    grid = given_alone(released("a", **PLACES[0]), released("b", **PLACES[1]), released("c"))
    ours = [run.name for run in grid.shown("all")]
    assert ours == [
        "baby/10M/mini/released/none/seed1", "baby-f/10M/mini/released/none/seed1",
    ]  # fmt: skip
    assert len(grid.runs("all")) == 3  # the one without a place is scored, too
    facts = grid.given_facts()
    assert (facts["baby-f/10M"].words, facts["baby-f/10M"].source) == (10_000_000, "baby")
    assert facts["baby-f/10M"].filtered and not facts["baby/10M"].filtered
    assert facts["baby/10M"].source == "baby"
    report = specs.parse(specs.ReportSpec, Slices(grid).report("all"))
    assert report.runs == ours
    assert json.loads(Slices(grid).score(grid.given[0]))["revision"] == "1f2e"


def test_without_a_place_they_are_what_the_page_is_about():
    grid = given_alone(released("c"), released("d"))
    assert [run.learner for run in grid.shown("all")] == ["c", "d"]
    assert grid.targets == {"all": []}


def test_models_of_the_counts_are_fitted_to_released_models():
    model = {"name": "paper", "contrasts": [{"factor": "condition", "less": "baby"}]}
    two = [released("a", **PLACES[0]), released("b", **PLACES[1])]
    assert given_alone(*two, models=[model]).fitted("all") == ["paper"]
    assert given_alone(two[0], models=[model]).fitted("all") == []  # one condition
    assert given_alone(released("c"), models=[model | {"contrasts": []}]).fitted("all") == []


def test_the_conditions_that_are_listed_say_what_they_are(paper):
    place = {"condition": "baby-f", "size": "10M"}
    given = Config.model_validate(
        {**paper.model_dump(mode="json"), "pretrained": [released("a", **place)]}
    )
    facts = Grid(given).given_facts()["baby-f/10M"]
    assert facts.filtered and facts.source == "baby"
    beside = Grid(given).shown("exp1")
    assert len(beside) == 9 + 1
    assert Grid(given).nulls(Grid(given).targets["exp1"]) == Grid(paper).nulls(
        Grid(paper).targets["exp1"]
    )


def test_two_models_cannot_have_one_place():
    with pytest.raises(PoshgridError, match="'a' and 'b' have one place in the grid"):
        _ = given_alone(released("a", **PLACES[0]), released("b", **PLACES[0])).given


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            [released("a", size="10M", seed=2)],
            "seed, size without a place: give",
        ),
        ([], "neither experiments nor pretrained"),
    ],
)
def test_half_a_place_and_nothing_at_all_are_refused(given, said):
    with pytest.raises(ValidationError, match=said):
        given_alone(*given)


@pytest.mark.parametrize("path", shipped(), ids=shipped_name)
def test_a_stage_reads_its_slice_back(path):
    """A slice that leaves out what its stage does not read is still one that the stage accepts."""
    slices = ShortSlices(Grid(configfile.load(path)))
    grid = slices.grid
    run = grid.runs("all")[0]
    trained = [
        (specs.TrainSpec, slices.train),
        (specs.PerplexitySpec, slices.perplexity),
        (specs.ConditionSpec, lambda run: slices.condition(run.condition, run.size)),
    ]
    read = [
        (specs.TokenizerSpec, slices.tokenizer("baby")),
        (specs.TokenizerSpec, slices.sweep()),
        (specs.ScoreSpec, slices.score(run)),
        *((kind, of(run)) for kind, of in trained if run.regimen not in SCORED),
        (specs.JudgementSpec, slices.judgement("all")),
        (specs.ReportSpec, slices.report("all")),
        *((specs.ModelSpec, slices.model(model)) for model in grid.fitted("all")),
        *((specs.ItemsSpec, slices.items(suite)) for suite in grid.suites),
    ]
    for kind, text in read:
        assert specs.canonical(specs.parse(kind, text)) == text


def with_tokenizer(paper, **tokenizer):
    """Return a grid, and its cells with their tokenizers and what these are trained on."""
    grid = changed(paper, tokenizer={**paper.model_dump(mode="json")["tokenizer"], **tokenizer})
    cells = {cell: grid.tokenizer_place(*cell) for cell in grid.cells("all")}
    return grid, cells, {place: grid.tokenizer_texts(*place) for place in set(cells.values())}


def test_a_tokenizer_is_each_cells_own_or_one(paper):
    _, cells, texts = with_tokenizer(paper)
    assert all(place == cell and texts[place] == [cell] for cell, place in cells.items())
    grid, cells, texts = with_tokenizer(paper, trained_on="all", sweep=[])
    # each condition once, at the size that holds the smaller ones
    largest = {c: max((s for d, s in cells if d == c), key=words) for c, _ in cells}
    assert texts == {("shared", "default"): sorted(largest.items())}
    assert largest == {"baby": "100M", "baby-f": "50M", "wiki": "100M"}
    files = Inputs(grid).tokenizer
    assert (
        files("baby", "10M")
        == files("wiki", "100M")
        == [f"{grid.paths.results}/tokenizers/shared/default/tokenizer.json"]
    )
    _, _, texts = with_tokenizer(paper, trained_on=["wiki"], sweep=[])
    assert texts == {("shared", "default"): [("wiki", "100M")]}


def test_what_a_tokenizer_is_trained_on_changes_no_condition(paper):
    plain = Slices(paper_grid := Grid(paper))
    shared = Slices(with_tokenizer(paper, trained_on="all", sweep=[])[0])
    assert plain.condition("baby", "10M") == shared.condition("baby", "10M")
    assert plain.tokenizer("baby") == shared.tokenizer("shared")  # its texts are its inputs
    run = paper_grid.targets["all"][0]
    assert plain.train(run) == shared.train(run)


def test_a_condition_may_change_keys_of_the_tokenizer(paper):
    plain = paper.model_dump(mode="json", exclude_unset=True)["conditions"]
    large = {**plain[0], "name": "large", "tokenizer": {"vocabulary_size": 50_000}}
    experiments = paper.model_dump(mode="json", exclude_unset=True)["experiments"]
    experiments[0]["conditions"] = [*experiments[0]["conditions"], "large"]
    grid = changed(
        paper,
        conditions=[*plain, large],
        experiments=experiments,
        tokenizer={"trained_on": "all", "lowercase": True},
    )
    conditions.check(Slices(grid))  # the same sentences as another's, and not the same condition
    found = grid.tokenizer_of("large")
    assert (found.vocabulary_size, found.lowercase, found.trained_on) == (50_000, True, "all")
    assert grid.tokenizer_place("large", "10M") == ("large", "10M")
    assert "baby" in dict(grid.tokenizer_texts("large", "10M"))
    slices = Slices(grid)
    mine, first = (json.loads(slices.condition(c, "10M")) for c in ("large", plain[0]["name"]))
    assert mine["condition"].pop("name") != first["condition"].pop("name")
    assert mine == first


@pytest.mark.parametrize(
    ("tokenizer", "said"),
    [
        ({"trained_on": ["wikki"]}, "unknown condition 'wikki'"),
        ({"trained_on": ["wiki", "wiki"]}, "twice"),
        ({"file": "words.csv"}, "no .json"),
        ({"file": "words.txt", "trained_on": "all"}, "leave out trained_on"),
        ({"kind": "words", "sweep": [500]}, "sweep"),
    ],
)
def test_a_tokenizer_that_cannot_be_is_one_line(paper, tokenizer, said):
    with pytest.raises((PoshgridError, ValidationError), match=said):
        grid = changed(paper, tokenizer={"sweep": [], **tokenizer})
        grid.tokenizer_texts(*grid.tokenizer_place("baby", "10M"))


def test_a_base_says_which_reading_names_mean(paper):
    plain = paper.model_dump(mode="json", exclude_unset=True)
    bases = [{**base, "reading": "published"} for base in plain["bases"]]
    names = ["wiki~passive", "wiki~npi-only+det-noun", "wiki~passive.paper"]
    experiment = {**plain["experiments"][0], "name": "mine", "conditions": names}
    grid = changed(paper, bases=bases, experiments=[experiment])
    found = {name: list(map(str, grid.conditions[name].filters)) for name in names}
    assert found == {
        "wiki~passive": ["passive.published"],
        "wiki~npi-only+det-noun": ["npi-only.paper", "det-noun.published"],
        "wiki~passive.paper": ["passive.paper"],
    }
    plainly = changed(paper, experiments=[experiment])
    assert Slices(grid).base("wiki") == Slices(plainly).base("wiki")
