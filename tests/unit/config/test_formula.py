"""Formulas are read as formulae reads them, without data."""

from __future__ import annotations

import formulae
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poshgrid.config import BayesianModel
from poshgrid.config import formula as formulas
from poshgrid.statistics import design
from tests.unit.statistics.test_design import make_counts

BEGIN = "p(correct, n) ~ "
atoms = st.sampled_from(
    ["size_z", "S(filter)", "S(category)", "C(bias)", 'S(category, omit="wanna")', "source",
     "np.log(n)"]
)  # fmt: skip
groups = st.builds(
    "({}|{})".format,
    st.sampled_from(["1", "size_z", "0 + size_z", "1 + size_z", "S(filter)", "size_z + S(bias)"]),
    st.sampled_from(["seed", "phenomenon", "phenomenon:seed", "phenomenon/seed"]),
)
effects = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from("+*:"), inner),
        st.builds("{} {} {}".format, inner, st.sampled_from("+*:/"), atoms),
    ),
    max_leaves=5,
)
powers = st.builds("({} + {} + {})**{}".format, atoms, atoms, atoms, st.integers(2, 4))
rights = st.lists(st.one_of(effects, powers, groups, st.just("1")), min_size=1, max_size=3).map(
    " + ".join
)


def theirs(formula):
    description = formulae.model_description(formula)
    return {
        formulas.parts(term.name)
        for term in (*description.common_terms, *description.group_terms)
        if term.name != "Intercept"
    }


@settings(max_examples=150, deadline=None)
@given(rights, st.sampled_from(["", "0 + ", "-1 + "]))
def test_terms_are_those_of_formulae(right, before):
    formula = BEGIN + before + right
    formulas.check(formula)
    found = formulas.terms(formula)
    assert {formulas.parts(term) for term in found if term != "Intercept"} == theirs(formula)


@pytest.mark.parametrize(
    ("right", "expected"),
    [
        ("size_z*S(filter) - size_z", ["S(filter)", "size_z:S(filter)"]),
        ("(1|seed) + (1|set)", ["1|seed", "1|set"]),
        ("(1 | set)", ["1|set"]),
        ("size_z / S(bias)", ["size_z", "size_z:S(bias)"]),
        ("(size_z + S(bias) + source)**2",
         ["size_z", "S(bias)", "source", "size_z:S(bias)", "size_z:source", "S(bias):source"]),
    ],
)  # fmt: skip
def test_terms_worked_by_hand(right, expected):
    assert formulas.terms(BEGIN + right) == ["Intercept", *expected]


def test_what_formulae_alone_expands_is_left_to_it():
    assert formulas.terms(BEGIN + "(size_z + S(bias))**(2)") is None
    names = "+".join(sorted(formulas.VARIABLES))
    assert formulas.terms(f"{BEGIN}({names})**9") is None  # 2^17 terms


def test_variables_are_the_columns_of_the_frame():
    frame = design.design(make_counts(), BEGIN + "S(category) + (1|template)").frame
    assert set(frame.columns) == formulas.VARIABLES


@pytest.mark.parametrize(
    ("formula", "word"),
    [
        (BEGIN + "S(conditon)", "'conditon'; did you mean 'condition'"),
        (BEGIN + "(1|sed)", "'sed'; did you mean 'seed'"),
        (BEGIN + "S(set)", "'set'"),
        (BEGIN + "S(condition", "read"),
        (BEGIN + "exec('1/0')", "'exec'"),
        ("correct ~ S(condition)", "begin"),
        ("p(n, correct) ~ 1", "begin"),
        (BEGIN + "(" * 1_500, "read"),
        (BEGIN + "a" * 3_000, "read"),
    ],
)
def test_mistakes(formula, word):
    with pytest.raises(ValueError, match=word):
        formulas.check(formula)


@pytest.mark.parametrize(
    ("term", "prior", "there"),
    [
        ("S(filter):size_z", {"sd": 1}, True), ("Intercept", {"sd": 1}, True),
        ("1|seed", {"rate": 1}, True), ("S(category):S(filter)", {"sd": 2}, True),
        ("S(filtr)", {"sd": 1}, False), ("size_z:S(source)", {"sd": 1}, False),
        ("1|run", {"rate": 1}, False), ("seed", {"sd": 1}, False),
    ],
)  # fmt: skip
def test_a_prior_is_of_a_term_of_the_formula(term, prior, there):
    def model() -> BayesianModel:
        return BayesianModel(name="x", priors=[{"term": term, **prior}])

    if there:
        assert model().priors[0].term == term
    else:
        with pytest.raises(ValueError, match=r"no term .* in the formula"):
            model()


@pytest.mark.parametrize(
    ("own", "suites", "named"),
    [
        (None, ["posh", "zorro"], "posh"),
        ("zorro", ["posh", "zorro"], "zorro"),
        (None, ["mine"], "mine"),
    ],
)
def test_a_model_is_of_its_suite_or_of_posh_or_of_the_only_one(own, suites, named):
    assert formulas.suite_of(own, suites) == named
