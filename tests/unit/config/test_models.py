"""Sections of the Bayesian models."""

from __future__ import annotations

import pytest

from poshgrid.config.formula import suite_of


@pytest.mark.parametrize(
    ("own", "suites", "named"),
    [
        (None, ["posh", "zorro"], "posh"),
        ("zorro", ["posh", "zorro"], "zorro"),
        (None, ["mine"], "mine"),
    ],
)
def test_a_model_is_of_its_suite_or_of_posh_or_of_the_only_one(own, suites, named):
    assert suite_of(own, suites) == named
