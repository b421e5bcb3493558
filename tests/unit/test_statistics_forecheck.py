"""Bayesian models are held to the grid before any job runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from poshgrid import configfile
from poshgrid.config import BayesianModel, Contrast
from poshgrid.errors import PoshgridError
from poshgrid.grid import Grid
from poshgrid.statistics import forecheck

ROOT = Path(__file__).resolve().parents[2]
FORMULA = "p(correct, n) ~ S(condition) + (1|phenomenon)"


@pytest.fixture(scope="module")
def tiny():
    return configfile.load(ROOT / "config/tiny.yaml")


def grid(tiny, **model):
    made = BayesianModel(**{"name": "mine", "formula": FORMULA} | model)
    return Grid(tiny.model_copy(update={"models": [*tiny.models, made]}))


@pytest.mark.parametrize("name", ["config", "tiny", "pilot", "fict", "babyberta"])
def test_shipped_models_pass(name):
    forecheck.check(Grid(configfile.load(ROOT / f"config/{name}.yaml")))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"only": "regimen=pakced"}, r"has regimen=pakced; did you mean 'packed'"),
        ({"only": "size=20K,size=30K"}, r"has size=30K; did you mean '20K'"),
        ({"only": "seed=42,seed=7"}, "has seed=7; known: 42, 53"),
        ({"only": "regimen=sentence,size=60K"}, "matches no run of the experiments"),
        ({"only": "regimen=untrained"}, "has regimen=untrained"),
        ({"suite": "pohs"}, r"unknown suite 'pohs'.*posh"),
        (
            {"contrasts": [Contrast(factor="conditions", less="baby")]},
            "unknown factor 'conditions'",
        ),
        ({"contrasts": [Contrast(factor="condition", less="babby")]}, r"no level 'babby'.*baby"),
        (
            {"contrasts": [Contrast(factor="condition", less="baby", by=["categori"])]},
            "unknown factor 'categori'",
        ),
    ],
)
def test_a_mistake_is_named_with_its_model(tiny, model, message):
    with pytest.raises(PoshgridError, match=rf"^models: mine: .*{message}") as caught:
        forecheck.names(grid(tiny, **model))
    assert "\n" not in str(caught.value)


def test_a_formula_that_only_data_refuse(tiny):
    """It names nothing unknown; but no model has a factor to the power of a word."""
    made = grid(tiny, formula="p(correct, n) ~ poly(category, 2)")
    forecheck.names(made)
    with pytest.raises(Exception, match=r".") as caught:
        forecheck.check(made)
    assert "mine" in str(caught.value)


def test_names_that_another_file_took_from_the_experiments_are_no_mistakes():
    """The preset replaces the experiments, and two models are left to runs of conditions unused."""
    files = [ROOT / f"config/{name}.yaml" for name in ("config", "reference")]
    made = Grid(configfile.load(*files))
    assert "control" in made.models
    assert not any("control" in made.fitted(target) for target in made.targets)
    forecheck.check(made)


def test_a_model_with_contrasts_is_fitted_where_its_factor_varies(tiny):
    made = grid(tiny, contrasts=[Contrast(factor="condition", less="baby")])
    assert "mine" in made.fitted("exp2")
    assert "mine" not in made.fitted("exp1")  # baby-f alone
