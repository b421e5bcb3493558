"""Experiments to runs to paths."""

from collections import Counter

import pytest
from pydantic import ValidationError

from poshgrid.config import Config
from poshgrid.config.runs import Run
from poshgrid.config.sizes import words
from poshgrid.core.errors import PoshgridError
from poshgrid.grid import coherence, configfile
from poshgrid.grid.grid import Grid
from poshgrid.stages import Stages
from tests.jobs import Cell

CONTROLS = {
    "flat-brackets", "random-trees", "sequential-trees", "static-recency", "linear-recency",
}  # fmt: skip


def changed(paper, **sections):
    """Return the grid of the paper's configuration with sections replaced."""
    return Grid(Config.model_validate({**paper.model_dump(mode="json"), **sections}))


def experiment(paper, name, /, **keys):
    """Return an experiment of the paper's as data, with keys replaced."""
    experiments = paper.model_dump(mode="json")["experiments"]
    return next(entry for entry in experiments if entry["name"] == name) | keys


def test_the_papers_runs_are_counted_by_hand(paper):
    grid = Grid(paper)
    # 3 seeds: exp1 3 sizes; exp2 3 + 4 + 4 cells; exp3 5 biases and 5 controls
    assert {name: len(runs) for name, runs in grid.targets.items()} == {
        "all": 33 + 30,  # exp1 is inside exp2
        "exp1": 9,
        "exp2": 33,
        "exp3": 30,
        "capacity": 4,
        "capacity-sizes": 2 * 3 * 3,
        "control": 4 * 3,
        "dose": 4 * 3,
        "full": 11 * 5 * 3,
    }
    assert set(grid.targets["exp1"]) < set(grid.targets["exp2"])
    assert {(run.size, run.model) for run in grid.targets["exp2"]} == {
        ("10M", "gpt2-mini"), ("30M", "gpt2-small"), ("50M", "gpt2-small"), ("100M", "gpt2-small"),
    }  # fmt: skip
    assert not any(r.condition == "baby-f" and r.size == "100M" for r in grid.targets["full"])
    runs = grid.runs("all") + grid.runs("full")
    assert all(Run.parse(run.name) == run for run in runs)
    assert len({run.name for run in grid.runs("all")}) == len(grid.runs("all"))
    # an untrained model for each model and seed, three that count words for each cell
    baselines = grid.baselines(grid.targets["exp2"])
    recipes = Counter(baseline.recipe for baseline in baselines)
    assert recipes == {"untrained": 33, "counted": 3 * 11}


def test_only_selects_alternatives_within_and_conjunction_across_axes(paper):
    grid = Grid(paper.model_copy(update={"only": "size=10M,seed=42,seed=53,condition=wiki"}))
    assert grid.targets["exp2"] == [
        Run("wiki", "10M", "gpt2-mini", "packed", "none", 42),
        Run("wiki", "10M", "gpt2-mini", "packed", "none", 53),
    ]
    assert "exp1" not in grid.targets
    assert grid.shards("baby") == Grid(paper).shards("baby")  # its cells are the whole grid's
    assert grid.sizes("baby") == Grid(paper).sizes("baby")


def test_pretrained_models_stand_beside_every_target(paper):
    grid = changed(paper, pretrained=["gpt2", {"name": "bb", "path": "a/b"}])
    names = [f"pretrained/given/{name}/pretrained/none/seed0" for name in ("gpt2", "bb")]
    accuracy = Stages(grid).accuracy
    for target in (*grid.targets, "pretrained"):
        assert [r.name for r in grid.runs(target)][-2:] == names
        assert not set(names) & {r.name for r in grid.made(target)}
        judged = accuracy.spec(Cell(target=target))
        assert set(judged.cells) == {"/".join(run.split("/")[:2]) for run in judged.runs}
    assert grid.made("pretrained") == []
    assert grid.pretrained["gpt2"].path == "gpt2"


def test_a_control_has_its_biass_options_where_it_has_none_of_its_own(paper):
    biases = {
        **paper.biases,
        "dyck": {"k": 32, "steps": 500}, "flat-brackets": {"steps": 400},
        "recency": {"decay": 0.4, "positions": "none"},
    }  # fmt: skip
    grid = changed(paper, biases=biases)
    options = {run.bias: grid.train_spec(run).options for run in grid.targets["exp3"]}
    assert options["flat-brackets"] == {"flat-brackets": {"k": 32, "steps": 400}}
    assert options["static-recency"] == {"static-recency": {"positions": "none"}}
    trees = options["tree-planting"]["tree-planting"]
    assert options["random-trees"]["random-trees"] == trees != {}


def test_contrasts_less_controls_are_written_out(paper):
    contrasts = Grid(paper).regressions["bias"].contrasts
    assert [(contrast.first, contrast.less) for contrast in contrasts] == [
        (None, "none"), ("dyck", "flat-brackets"), ("recency", "linear-recency"),
        ("recency", "static-recency"), ("tree-planting", "random-trees"),
        ("tree-planting", "sequential-trees"),
    ]  # fmt: skip
    alone = changed(paper, experiments=[experiment(paper, "exp3", biases=["none", "dyck"])])
    assert [contrast.less for contrast in alone.regressions["bias"].contrasts] == ["none"]


def test_filtered_is_the_papers_factor(paper):
    facts = Grid(paper).cell_facts("exp2")
    filtered = {cell for cell, fact in facts.items() if fact.filtered}
    assert filtered == {"baby-f/10M", "baby-f/30M", "baby-f/50M"}
    assert facts["wiki/30M"].source == "wiki"
    assert facts["baby/100M"].words == 100_000_000


def test_the_parser_of_a_bias(paper):
    grid = Grid(paper)
    planted = {"tree-planting", "random-trees", "sequential-trees"}
    parsers = {run.bias: grid.parser_of_bias[run.bias] for run in grid.targets["exp3"]}
    assert parsers == {bias: "spacy" if bias in planted else None for bias in parsers}


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


def test_sheets_are_of_the_largest_filtered_size(paper):
    grid = changed(paper, audit={"conditions": ["baby", "baby-f", "wiki"]})
    assert grid.audits("all") == [("baby", "50M"), ("baby-f", "50M")]  # 100M is the bare corpus


def test_what_is_removed_is_counted_where_something_is(paper):
    sizes = ("10M", "30M", "50M")  # 100M is the bare corpus
    expected = [(name, size) for name in ("baby", "baby-f") for size in sizes]
    assert Grid(paper).removals("exp2") == expected
    control = {"name": "baby-c", "corpus": "baby", "control": "baby-f"}
    grid = changed(
        paper,
        conditions=[*paper.model_dump(mode="json")["conditions"], control],
        experiments=[experiment(paper, "exp1", name="c", conditions=["baby-c", "wiki"])],
    )
    assert grid.removals("c") == [("baby-c", size) for size in sizes]
    spec = Stages(grid).side_effects.spec(Cell(condition="baby-c", size="10M"))
    assert [word.name for word in spec.control_filters] == ["question-formation", "binding"]
    assert (spec.condition.control, spec.size) == ("baby-f", "10M")


def test_a_condition_may_have_another_source_than_its_corpus(paper):
    """As text that others have filtered: of the same source, in files of its own."""
    conditions = paper.model_dump(mode="json")["conditions"]
    conditions[0] |= {"source": "wiki", "filtered": True}
    grid = changed(paper, conditions=conditions)
    facts = grid.facts(conditions[0]["name"], "10M")
    assert (facts.source, facts.filtered) == ("wiki", True)
    specs = (made.condition_spec(conditions[0]["name"], "10M") for made in (grid, Grid(paper)))
    assert next(specs) == next(specs)


def released(name, **cell):
    return {"name": name, "path": f"owner/{name}", "revision": "1f2e", **cell}


def given_alone(*pretrained, **sections):
    suites = [{"name": "zorro", "reader": "pairs", "path": "zorro"}]
    config = {"pretrained": list(pretrained), "regressions": [], "suites": suites, **sections}
    return Grid(Config.model_validate(config))


A = released("a", condition="baby-f", size="10M", model="mini", seed=1, filtered=True,
             source="baby")  # fmt: skip
B = released("b", condition="baby", size="10M", model="mini", seed=1)


def test_released_models_have_a_place_in_a_grid_that_trains_nothing(paper):
    grid = given_alone(A, B, released("c"))
    ours = ["baby/10M/mini/released/none/seed1", "baby-f/10M/mini/released/none/seed1"]
    assert [run.name for run in grid.shown("all")] == ours
    assert Stages(grid).report.spec(Cell(target="all")).runs == ours
    assert len(grid.runs("all")) == 3  # the one without a place is scored, too
    facts = grid.pretrained_facts()
    assert (facts["baby-f/10M"].words, facts["baby-f/10M"].source) == (10_000_000, "baby")
    assert facts["baby-f/10M"].filtered and not facts["baby/10M"].filtered
    assert facts["baby/10M"].source == "baby"
    alone = given_alone(released("c"), released("d"))
    assert [run.model for run in alone.shown("all")] == ["c", "d"]
    assert alone.targets == {"all": []}
    # Conditions that are listed say themselves what they are
    beside = changed(paper, pretrained=[released("a", condition="baby-f", size="10M")])
    known = beside.pretrained_facts()["baby-f/10M"]
    assert known.filtered and known.source == "baby"
    assert len(beside.shown("exp1")) == 9 + 1
    assert beside.baselines(beside.targets["exp1"]) == Grid(paper).baselines(
        Grid(paper).targets["exp1"]
    )


def test_models_of_the_counts_are_fitted_to_released_models():
    model = {"name": "paper", "contrasts": [{"factor": "condition", "less": "baby"}]}
    assert given_alone(A, B, regressions=[model]).fitted("all") == ["paper"]
    assert given_alone(A, regressions=[model]).fitted("all") == []  # one condition
    assert given_alone(released("c"), regressions=[model | {"contrasts": []}]).fitted("all") == []


def test_places_of_released_models_are_whole_and_one_models():
    with pytest.raises(PoshgridError, match="'a' and 'b' have one place"):
        coherence.check(given_alone(A, {**A, "name": "b"}))
    with pytest.raises(ValidationError, match="seed, size without a place"):
        given_alone(released("a", size="10M", seed=2))
    with pytest.raises(ValidationError, match="nothing to score"):
        given_alone()


def test_baselines_are_counted_where_nothing_is_trained(paper):
    grid = changed(paper, experiments=[], counted={"wiki": ["10M"]}, baselines=["unigram"])
    (run,) = grid.runs("all")
    assert run.name == "wiki/10M/unigram/counted/none/seed0"
    assert grid.cells("all") == [("wiki", "10M")] and not grid.tokenized("all")
    assert grid.sizes(grid.corpus_of("wiki").name) == ["10M"]
    for counted, word in (({"wikki": ["10M"]}, "wikki"), ({"wiki": ["11M"]}, "11M")):
        data = {**paper.model_dump(mode="json"), "experiments": [], "regressions": []}
        with pytest.raises(PoshgridError, match=rf"^config: counted\.wik.* '{word}'"):
            configfile.validate({**data, "counted": counted})


def with_tokenizer(paper, **tokenizer):
    """Return a grid's cells with their tokenizers, and what these are trained on."""
    grid = changed(paper, tokenizer={**paper.model_dump(mode="json")["tokenizer"], **tokenizer})
    cells = {cell: grid.tokenizer_place(*cell) for cell in grid.cells("all")}
    return cells, {place: grid.tokenizer_texts(*place) for place in set(cells.values())}


def test_a_tokenizer_is_each_cells_own_or_one(paper):
    cells, texts = with_tokenizer(paper)
    assert all(where == cell and texts[where] == [cell] for cell, where in cells.items())
    cells, texts = with_tokenizer(paper, trained_on="all", sweep=[])
    # each condition once, at the size that holds the smaller ones
    largest = {c: max((s for d, s in cells if d == c), key=words) for c, _ in cells}
    assert texts == {("shared", "default"): sorted(largest.items())}
    assert largest == {"baby": "100M", "baby-f": "50M", "wiki": "100M"}
    assert with_tokenizer(paper, trained_on=["wiki"], sweep=[])[1] == {
        ("shared", "default"): [("wiki", "100M")]
    }


def test_a_condition_may_change_keys_of_the_tokenizer(paper):
    plain = paper.model_dump(mode="json", exclude_unset=True)
    first = plain["conditions"][0]
    large = {**first, "name": "large", "tokenizer": {"vocabulary_size": 50_000}}
    plain["experiments"][0]["conditions"].append("large")
    grid = changed(
        paper, conditions=[*plain["conditions"], large], experiments=plain["experiments"],
        tokenizer={"trained_on": "all", "lowercase": True},
    )  # fmt: skip
    coherence.check(grid)  # the same sentences as another's, and not the same condition
    settings = grid.tokenizer_of("large")
    assert (settings.vocabulary_size, settings.lowercase, settings.trained_on) == (
        50_000,
        True,
        "all",
    )
    assert grid.tokenizer_place("large", "10M") == ("large", "10M")
    assert "baby" in dict(grid.tokenizer_texts("large", "10M"))
    mine, other = (grid.condition_spec(name, "10M") for name in ("large", first["name"]))
    assert mine.condition.model_copy(update={"name": first["name"]}) == other.condition
