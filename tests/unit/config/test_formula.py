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


@pytest.mark.parametrize(("term", "there"), [("S(bias):size_z", True), ("size_z:source", False)])
def test_a_prior_of_a_term_of_a_power(term, there):
    def model() -> BayesianModel:
        priors = [{"term": term, "sd": 1}]
        return BayesianModel(name="x", formula=BEGIN + "(size_z + S(bias))**2", priors=priors)

    if there:
        model()
    else:
        with pytest.raises(ValueError, match=r"no term .* in the formula"):
            model()


def test_variables_are_the_columns_of_the_frame():
    frame = design.design(make_counts(), BEGIN + "S(category) + (1|template)").frame
    assert set(frame.columns) == formulas.VARIABLES


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (BEGIN + "S(conditon)", "unknown variable 'conditon'; did you mean 'condition'"),
        (BEGIN + "(1|sed)", "unknown variable 'sed'; did you mean 'seed'"),
        (BEGIN + "S(set)", "unknown variable 'set'"),
        (BEGIN + "S(condition", "cannot be read"),
        (BEGIN + "exec('1/0')", "unknown function 'exec'"),
        ("correct ~ S(condition)", "must begin with"),
        ("p(n, correct) ~ 1", "must begin with"),
        (BEGIN, None),  # nothing but the intercept
        (BEGIN + "(" * 1_500, "cannot be read"),
        (BEGIN + "a" * 3_000, "cannot be read"),
    ],
)
def test_mistakes(formula, message):
    if message is None:
        formulas.check(formula)
        return
    with pytest.raises(ValueError, match=message):
        formulas.check(formula)


@pytest.mark.parametrize(
    ("term", "given"), [("S(filtr)", {"sd": 1}), ("size_z:S(source)", {"sd": 1}),
                        ("1|run", {"rate": 1}), ("seed", {"sd": 1})]
)  # fmt: skip
def test_a_prior_of_a_term_that_is_not_there(term, given):
    with pytest.raises(ValueError, match=r"no term .* in the formula"):
        BayesianModel(name="x", priors=[{"term": term, **given}])


@pytest.mark.parametrize(
    ("term", "given"), [("S(filter):size_z", {"sd": 1}), ("Intercept", {"sd": 1}),
                        ("1|seed", {"rate": 1}), ("S(category):S(filter)", {"sd": 2})]
)  # fmt: skip
def test_a_prior_of_a_term_that_is_there(term, given):
    assert BayesianModel(name="x", priors=[{"term": term, **given}]).priors[0].term == term
