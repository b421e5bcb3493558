"""The text of a slice: one for equal ones; what is none is refused in a line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from poshgrid.config import Condition, Scoring, specs
from poshgrid.errors import PoshgridError

FILTERS = [{"name": "binding"}, {"name": "question-formation"}]
RUN = "baby-f/10M/gpt2-mini/packed/dyck+recency/seed42"


def condition(**changes: Any) -> specs.ConditionSpec:
    made = Condition.model_validate({"name": "c", "corpus": "baby"} | changes)
    return specs.ConditionSpec(condition=made, size="10M")


def test_equal_specs_have_one_text() -> None:
    text = specs.canonical(specs.CountSpec(order=5, size="10M"))
    assert text == '{"order":5,"size":"10M"}'
    assert specs.parse(specs.CountSpec, ' {"size": "10M",\n "order": 5} ') == specs.parse(
        specs.CountSpec, text
    )
    judged = specs.canonical(specs.HeuristicSharesSpec(scoring=Scoring(), runs=[RUN]))
    assert specs.canonical(specs.parse(specs.HeuristicSharesSpec, judged)) == judged


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("{", "text"),
        ('{"order": 0, "size": 3}', "order"),  # the first of two
        ('{"order": 5, "more": 1}', "more"),
    ],
)
def test_what_is_no_slice_is_refused_with_its_place(text: str, place: str) -> None:
    with pytest.raises(PoshgridError, match=rf"^job: spec: {place}: ") as caught:
        specs.parse(specs.CountSpec, text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("run", "is_one"),
    [
        (RUN, True),
        ("a/10M/c/d/e/seed0123456789", True),
        ("a/b/c/d/seed1", False),
        ("../b/c/d/e/seed1", False),
        ("a/b/c/d/e/seed1/..", False),
        ("a/b/c/d/e/seed1\n", False),
    ],
)
def test_a_name_of_a_run_becomes_a_path(run: str, is_one: bool) -> None:
    text = json.dumps({"scoring": {}, "runs": [RUN, run]})
    if is_one:
        assert specs.parse(specs.HeuristicSharesSpec, text).runs == [RUN, run]
    else:
        with pytest.raises(PoshgridError, match=r"^job: spec: runs\.1: "):
            specs.parse(specs.HeuristicSharesSpec, text)
