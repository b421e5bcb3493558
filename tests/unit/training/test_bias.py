"""Inductive biases: one module each, found by their word."""

from __future__ import annotations

import pytest

from poshgrid import plugins
from poshgrid.errors import PoshgridError
from poshgrid.training import bias


def test_the_papers_biases_have_the_published_defaults():
    own = {word for word in plugins.names(bias.PACKAGE) if not bias.controlled(word)}
    assert own == {"dyck", "recency", "tree-planting"}
    published = {
        "dyck": {"k": 64, "p_open": 0.5, "depth": 8, "length": 2048, "steps": 2000},
        "recency": {"decay": 0.6},
        "tree-planting": {"weight": 0.5, "layers": [-1], "heads": [0]},
    }
    for word, values in published.items():
        given = plugins.options(bias.PACKAGE, word, {}).model_dump()
        assert {key: given[key] for key in values} == values


def test_unknown_biases_and_options():
    with pytest.raises(PoshgridError, match="did you mean 'recency'"):
        bias.build("recensy", {})
    with pytest.raises(PoshgridError, match=r"biases\.recency\.decay: .*less than 1"):
        bias.build("recency", {"recency": {"decay": 1.5}})
