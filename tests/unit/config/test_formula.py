"""Formulas name what there is, and can be read."""

import pytest

from poshgrid.config import formula as formulas
from poshgrid.statistics import design
from tests.unit.statistics.test_design import make_counts

BEGIN = "p(correct, n) ~ "


def test_variables_are_the_columns_of_the_frame():
    frame = design.design(make_counts(), BEGIN + "S(category) + (1|template)").frame
    assert {*frame.columns} - {"accuracy", "words"} == formulas.VARIABLES  # beside contrasts alone


@pytest.mark.parametrize(
    ("formula", "word"),
    [
        (BEGIN + "S(conditon)", "'conditon'; did you mean 'condition'"),
        (BEGIN + "S(set)", "'set'"),
        (BEGIN + "S(condition", "read"),
        # what stands before a bracket would be looked up among our names, and called
        *((BEGIN + term, "unknown|read") for term in (
            "exec('1/0')", "size_z.tofile(filter)", "S (eval(filter))", "{eval(filter)}",
        )),
        ("correct ~ S(condition)", "begin"),
        (BEGIN + "(" * 1_500, "read"),
        (BEGIN + "a" * 3_000, "read"),
    ],
)  # fmt: skip
def test_mistakes(formula, word):
    with pytest.raises(ValueError, match=word):
        formulas.check(formula)


@pytest.mark.parametrize(
    ("own", "suites", "named"),
    [(None, ["posh", "zorro"], "posh"), ("zorro", ["posh", "zorro"], "zorro"),
     (None, ["mine"], "mine")],
)  # fmt: skip
def test_a_model_is_of_its_suite_or_of_posh_or_of_the_only_one(own, suites, named):
    assert formulas.suite_of(own, suites) == named
