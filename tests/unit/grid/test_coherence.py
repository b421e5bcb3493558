"""The parts of a configuration are held to each other before any job runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from poshgrid.config import BayesianModel
from poshgrid.errors import PoshgridError
from poshgrid.grid import coherence, configfile
from poshgrid.grid.grid import Grid

ROOT = Path(__file__).resolve().parents[3]
FORMULA = "p(correct, n) ~ S(condition) + (1|phenomenon)"


@pytest.fixture(scope="module")
def tiny():
    return configfile.load(ROOT / "studies/posh-bench/toy.yaml")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"only": "regimen=pakced"}, r"'packed'"),
        ({"only": "size=20K,size=30K"}, r"size=30K; did you mean '60K'"),
        ({"only": "seed=42,seed=7"}, "seed=7; known: 42, 53"),
        ({"only": "regimen=sentence,size=60K"}, "no run"),
        ({"only": "regimen=untrained"}, "regimen=untrained"),
        ({"suite": "pohs"}, r"'pohs'.*posh"),
        ({"contrasts": [{"factor": "conditions", "less": "baby"}]}, "'conditions'"),
        ({"contrasts": [{"factor": "condition", "less": "babby"}]}, r"'babby'.*baby"),
        ({"contrasts": [{"factor": "condition", "less": "baby", "by": ["categori"]}]},
         "'categori'"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_model(tiny, model, message):
    made = BayesianModel.model_validate({"name": "mine", "formula": FORMULA} | model)
    grid = Grid(tiny.model_copy(update={"models": [*tiny.models, made]}))
    with pytest.raises(PoshgridError, match=rf"^models: mine: .*{message}") as caught:
        coherence.check(grid)
    assert "\n" not in str(caught.value)


def edited(tiny, change):
    data = tiny.model_dump(mode="json")
    change(data)
    with pytest.raises(PoshgridError) as caught:
        configfile.validate(data, ["studies/posh-bench/toy.yaml"])
    return str(caught.value)


def words(**given):
    return lambda c: c["bases"][0]["sources"][0]["words"].update(given)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        # 100,000 words of toy text, of which dev and test take 3,000 each
        (words(**{"60K": "95K"}), "source 'toy-baby' is too small: needs 101,000 words"),
        (
            lambda c: c["sources"][0].update(words="50K"),
            "needs 66,000 words (60K, dev and test), and stops at 50,000",
        ),
        (words(**{"20K": "40K"}), "bases: baby: size 20K has 40,000 words; name the size after"),
        (
            words(**{"60K": "61K"}),
            "conditions 'wiki' and 'baby' at 60K have 60,000 and 61,000 words before any filter",
        ),
        (words(**{"20K": "70K"}), "60K has 60,000 words, fewer than 20K with 70,000"),
        (words(**{"20K": 0}), "size 20K has no words from any source"),
        (
            lambda c: c["conditions"][0].update(unfiltered_sizes=["60K", "70K"]),
            "conditions: baby-f: unfiltered_sizes: base 'baby' has no size '70K'; "
            "did you mean '60K'?",
        ),
        (
            lambda c: c["experiments"][0].update(exclude=[{"size": "60K"}, {"seed": 7}]),
            "experiments: exp1: exclude: {seed: 7} matches no point of the experiment",
        ),
        (lambda c: c["experiments"][0].update(exclude=[{}]), "names no axis"),
    ],
)
def test_what_cannot_be_or_says_nothing_is_refused(tiny, change, message):
    said = edited(tiny, change)
    assert message in said
    assert said.startswith("studies/posh-bench/toy.yaml")
    assert "\n" not in said


def test_an_exclusion_that_another_one_covers_is_none_of_nothing(tiny):
    data = tiny.model_dump(mode="json")
    data["experiments"][1]["exclude"] = [{"size": "60K"}, {"size": "60K", "seed": 42}]
    assert {run.size for run in configfile.validate(data).targets["exp2"]} == {"20K"}


def test_what_a_source_just_holds_is_enough(tiny):
    data = tiny.model_dump(mode="json")
    words(**{"60K": "94K"})(data)
    data["bases"][0]["allow"] = ["size", "words"]
    configfile.validate(data)
