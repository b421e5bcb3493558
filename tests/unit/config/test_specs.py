"""The text of a slice: one for equal ones; what is none is refused in a line."""

from __future__ import annotations

import json

import pytest

from poshgrid.config import Scoring, specs
from poshgrid.core.errors import PoshgridError

RUN = "baby-f/10M/gpt2-mini/packed/dyck+recency/seed42"


def test_equal_specs_have_one_text() -> None:
    text = specs.canonical(specs.CountSpec(order=5, size="10M"))
    assert text == '{"order":5,"size":"10M"}'
    assert specs.parse(specs.CountSpec, ' {"size": "10M",\n "order": 5} ') == specs.parse(
        specs.CountSpec, text
    )
    judged = specs.canonical(specs.JudgementSpec(scoring=Scoring(), runs=[RUN], cells={}))
    assert specs.canonical(specs.parse(specs.JudgementSpec, judged)) == judged


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("{", "Invalid JSON"),
        ('{"order": 0, "size": 3}', "order"),
        ('{"order": 5, "more": 1}', "more"),
    ],
)
def test_what_is_no_slice_is_refused_with_its_place(text: str, key: str) -> None:
    with pytest.raises(PoshgridError, match=rf"^job: spec: {key}: ") as caught:
        specs.parse(specs.CountSpec, text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("run", "is_one"),
    [
        (RUN, True),
        ("a/10M/c/d/e/seed0123456789", True),
        ("../b/c/d/e/seed1", False),
        ("a/b/c/d/e/seed1\n", False),
    ],
)
def test_a_name_of_a_run_becomes_a_path(run: str, is_one: bool) -> None:
    text = json.dumps({"scoring": {}, "runs": [RUN, run], "cells": {}})
    if is_one:
        assert specs.parse(specs.JudgementSpec, text).runs == [RUN, run]
    else:
        with pytest.raises(PoshgridError, match=r"^job: spec: runs\.1: "):
            specs.parse(specs.JudgementSpec, text)
