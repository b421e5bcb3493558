"""The text of a slice: one for equal ones; what is none is refused in a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from poshgrid.config import Condition, Filter, Scoring, specs
from poshgrid.errors import PoshgridError
from poshgrid.evidence.removal import deciding

FILTERS = [{"name": "binding"}, {"name": "question-formation"}]
RUN = "baby-f/10M/gpt2-mini/packed/dyck+recency/seed42"


def condition(**changes: Any) -> specs.ConditionSpec:
    made = Condition.model_validate({"name": "c", "base": "baby"} | changes)
    return specs.ConditionSpec(condition=made, size="10M")


def test_equal_specs_have_one_text() -> None:
    text = specs.canonical(specs.CountSpec(order=5, size="10M"))
    assert text == '{"order":5,"size":"10M"}'
    assert specs.parse(specs.CountSpec, ' {"size": "10M",\n "order": 5} ') == specs.parse(
        specs.CountSpec, text
    )
    judged = specs.RuleSharesSpec(scoring=Scoring(), runs=[RUN])
    assert specs.canonical(judged).startswith('{"runs":["baby-f/10M/')
    assert specs.canonical(specs.parse(specs.RuleSharesSpec, specs.canonical(judged))) == (
        specs.canonical(judged)
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "--spec: text: "),
        ("{", "--spec: text: "),
        ('{"order": 0}', "--spec: order: "),
        ('{"order": 5, "size": 3}', "--spec: size: "),
        ('{"order": 0, "size": 3}', "--spec: order: "),  # the first of two
        ('{"order": 5, "more": 1}', "--spec: more: "),
    ],
)
def test_what_is_no_slice_is_refused_with_its_place(text: str, told: str) -> None:
    with pytest.raises(PoshgridError) as caught:
        specs.parse(specs.CountSpec, text)
    said = str(caught.value)
    assert said.startswith(told)
    assert said.endswith("; copy the command of the job log whole")
    assert "\n" not in said


def test_a_place_within_a_slice_is_named() -> None:
    text = json.dumps({"scoring": {}, "runs": [RUN, "baby"]})
    with pytest.raises(PoshgridError, match=r"--spec: runs\.1: .*'baby' is not condition/size/"):
        specs.parse(specs.RuleSharesSpec, text)


@pytest.mark.parametrize(
    ("run", "is_one"),
    [
        (RUN, True),
        ("a/b/c/d/e/seed0123456789", True),
        ("a/b/c/d/e/seed01234567890", False),
        ("a/b/c/d/seed1", False),
        ("a/b/c/d/e/f/seed1", False),
        ("../b/c/d/e/seed1", False),
        ("a/b/c/d/e/seed1/..", False),
        ("a/b/c/d/e/seed1\n", False),
        ("a/b/c/d//seed1", False),
    ],
)
def test_a_name_of_a_run_becomes_a_path(run: str, is_one: bool) -> None:
    text = json.dumps({"scoring": {}, "runs": [run]})
    if is_one:
        assert specs.parse(specs.RuleSharesSpec, text).runs == [run]
    else:
        with pytest.raises(PoshgridError, match=r"--spec: runs\.0: "):
            specs.parse(specs.RuleSharesSpec, text)


def test_what_is_not_written_is_as_it_was_before_it_could_be() -> None:
    """Slices of earlier versions leave it out: another default would be another result."""
    made = condition()
    assert made.backstop is True
    assert made.control == []
    assert specs.BesideSpec() == specs.BesideSpec(allow=[], others=[])
    audit = specs.AuditSpec(condition="c", size="10M", filters=[], sample=3, seed=1)
    assert audit.detector is False


def test_a_control_removes_what_the_filters_of_another_condition_take() -> None:
    plain = condition(filters=FILTERS)
    assert deciding(plain) == plain.condition.filters != []
    control = condition(control="f").model_copy(update={"control": [Filter(name="binding")]})
    assert deciding(control) == control.control != []
    # It has no filters of its own
    assert control.condition.filters == []


def page(**changes: Any) -> dict[str, Any]:
    return {
        "target": "all", "runs": [RUN], "cells": {}, "bases": ["baby"], "conditions": ["baby-f"],
        "sizes": ["10M"], "parsers": [], "evidence_parser": None, "models": [], "suites": ["posh"],
    } | changes  # fmt: skip


def test_a_page_has_the_conditions_of_its_runs() -> None:
    assert specs.ReportSpec.model_validate(page()).runs == [RUN]
    more = page(conditions=["baby-f", "wiki"])
    assert specs.ReportSpec.model_validate(more).conditions == ["baby-f", "wiki"]
    runs = [RUN, RUN.replace("baby-f", "wiki"), RUN.replace("baby-f", "baby")]
    with pytest.raises(ValidationError, match="runs of baby, wiki, which is no condition of it"):
        specs.ReportSpec.model_validate(page(runs=runs))


def test_what_a_condition_is_held_to_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "beside.json"
    given = specs.BesideSpec(allow=["void"], others=[condition(filters=FILTERS)])
    path.write_text(specs.canonical(given))
    assert specs.beside(path) == given
    path.write_text('{"others": 3}')
    with pytest.raises(PoshgridError, match=r"beside\.json: not what a condition is held to; run"):
        specs.beside(path)
    path.unlink()
    with pytest.raises(PoshgridError, match=r"beside\.json: not found"):
        specs.beside(path)
