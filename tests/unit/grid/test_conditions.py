"""Conditions that belong together, and that are one by two names."""

import pytest

from poshgrid.config.specs import canonical
from poshgrid.core.errors import PoshgridError
from poshgrid.grid import configfile
from poshgrid.grid.coherence import check
from tests.unit.grid.test_grid import changed


@pytest.fixture(scope="module")
def paper(paper):
    """The paper's own experiments and conditions."""
    experiments = [e for e in paper.experiments if e.name not in ("control", "dose")]
    own = [c for c in paper.conditions if c.name in ("baby", "baby-f", "wiki")]
    models = [m for m in paper.regressions if m.name not in ("control", "dose")]
    return paper.model_copy(
        update={"experiments": experiments, "conditions": own, "regressions": models}
    )


def conditioned(paper, *conditions, experiment=(), **sections):
    """Return the paper's grid with more conditions, in an experiment at 10M."""
    plain = paper.model_dump(mode="json")
    names = [c["name"] for c in conditions] + list(experiment)
    more = {**plain["experiments"][0], "name": "more", "sizes": ["10M"], "conditions": names}
    return changed(
        paper,
        conditions=[*plain["conditions"], *conditions],
        experiments=[*plain["experiments"], more],
        **sections,
    )


DIRECT = [{"name": word, "reading": "direct"} for word in ("question-formation", "binding")]


def test_a_word_stands_for_its_first_reading(paper):
    written = [
        {"name": "words", "corpus": "baby", "filters": ["binding"]},
        {"name": "parts", "corpus": "baby", "filters": [{"name": "binding"}]},
        {"name": "whole", "corpus": "baby", "filters": [{"name": "binding", "reading": "paper"}]},
        {"name": "dotted", "corpus": "baby", "filters": ["binding.direct"]},
    ]
    grid = conditioned(paper, *written)
    filters = {entry["name"]: list(map(str, grid.conditions[entry["name"]].filters))
               for entry in written}  # fmt: skip
    assert filters["words"] == filters["parts"] == filters["whole"] == ["binding.paper"]
    assert filters["dotted"] == ["binding.direct"]


def test_two_conditions_that_are_one_are_refused(paper):
    known = next(condition for condition in paper.conditions if condition.name == "baby-f")
    twin = known.model_dump(mode="json") | {"name": "twin"}
    with pytest.raises(PoshgridError, match="'baby-f' and 'twin' are the same at 10M"):
        check(conditioned(paper, twin, experiment=["baby-f"]))
    for different in ({"allow": ["void"]}, {"tokenizer": {"vocabulary_size": 500}}):
        check(conditioned(paper, twin | different, experiment=["baby-f"]))


CONTROL = {"name": "c", "corpus": "baby", "control": "baby-f"}


@pytest.mark.parametrize(
    ("control", "other"),
    [({"control": "baby-g"}, "baby-g"), ({"corpus": "wiki"}, "baby-f"), ({"control": "c"}, "c"),
     ({"control": "d"}, "d")],
)  # fmt: skip
def test_a_control_is_of_a_filtered_condition_of_its_base(paper, control, other):
    plain = paper.model_dump(mode="json")
    plain["conditions"] += [CONTROL | control, {**CONTROL, "name": "d"}]
    with pytest.raises(PoshgridError, match=rf"^config: conditions\[\d\].control: .*'{other}'"):
        configfile.validate(plain)


def test_a_control_reads_what_is_removed_and_no_more(paper):
    """Of the condition that it is one for: its filters, where it has them."""
    corpus = {"name": "f", "corpus": "baby", "filters": DIRECT, "unfiltered_sizes": ["30M"]}
    grid = conditioned(paper, corpus, {**CONTROL, "control": "f"})
    assert grid.condition_spec("c", "10M").control_filters == grid.conditions["f"].filters
    assert grid.condition_spec("c", "30M").control_filters == []
    other = {
        **corpus,
        "seed": 7,
        "refill": True,
        "reinsert": [{"filter": "binding", "rate": 0.001}],
    }
    again = conditioned(paper, other, {**CONTROL, "control": "f"})
    assert again.condition_spec("c", "10M") == grid.condition_spec("c", "10M")


def test_what_changes_no_sentence_is_no_part_of_a_condition(paper):
    grids = [
        conditioned(paper, {"name": "f", "corpus": "baby", "filters": DIRECT, **more})
        for more in ({}, {"allow": ["void"]}, {"filtered": False}, {"unfiltered_sizes": ["100M"]})
    ]
    small, large = (
        {canonical(grid.condition_spec("f", size)) for grid in grids} for size in ("10M", "100M")
    )
    assert (len(small), len(large)) == (1, 2)
