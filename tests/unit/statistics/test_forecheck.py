"""Bayesian models are held to the grid before any job runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from poshgrid.config import BayesianModel, Contrast
from poshgrid.errors import PoshgridError
from poshgrid.grid import configfile
from poshgrid.grid.grid import Grid
from poshgrid.statistics import forecheck

ROOT = Path(__file__).resolve().parents[3]
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
        ({"formula": "p(correct, n) ~ S(conditon)"}, r"unknown variable 'conditon'.*condition"),
        ({"formula": "p(correct, n) ~ S(condition"}, "cannot be read"),
        ({"formula": "correct ~ S(condition)"}, "must begin with"),
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
        forecheck.check(grid(tiny, **model))
    assert "\n" not in str(caught.value)


def test_a_model_with_contrasts_is_fitted_where_its_factor_varies(tiny):
    made = grid(tiny, contrasts=[Contrast(factor="condition", less="baby")])
    assert "mine" in made.fitted("exp2")
    assert "mine" not in made.fitted("exp1")  # baby-f alone
