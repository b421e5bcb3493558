"""Every number of a configuration has bounds, and no absurd one is taken without a reason."""

import copy

import pytest

from poshgrid.config import Config
from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.grid import configfile
from tests import jobs, shipped

TINY = shipped.toy()


def models():
    yield "config", Config
    for package in plugins.KINDS:
        for word in plugins.names(package):
            options = getattr(plugins.load(package, word), "Options", None)
            if options is not None:
                yield f"{package}.{word}", options


def unbounded(node, keys=""):
    """Yield the places of a JSON Schema where a number lacks a bound."""
    if isinstance(node, dict):
        if node.get("type") in ("integer", "number"):
            below = {"minimum", "exclusiveMinimum"} & node.keys()
            above = {"maximum", "exclusiveMaximum"} & node.keys()
            if not (below and above):
                yield keys
        for key, inner in node.items():
            yield from unbounded(inner, f"{keys}.{key}")
    elif isinstance(node, list):
        for number, inner in enumerate(node):
            yield from unbounded(inner, f"{keys}[{number}]")


@pytest.mark.parametrize(
    ("name", "model"), list(models()), ids=lambda x: x if isinstance(x, str) else ""
)
def test_every_number_has_a_lower_and_an_upper_bound(name, model):
    assert list(unbounded(model.model_json_schema())) == []
    assert list(unbounded({"a": {"type": "integer", "minimum": 0}})) == [".a"]  # it is seen


@pytest.mark.parametrize(
    "path", [("experiments", 0, "seeds"), ("tokenizer", "sweep"), ("recipes", 0, "checkpoints")]
)
def test_truth_values_in_a_list_of_numbers(path):
    *keys, key = path
    changed = copy.deepcopy(TINY)
    jobs.put(*keys, **{key: [400, True]})(changed)
    with pytest.raises(PoshgridError, match="true is not a number"):
        configfile.validate(changed, [shipped.TOY])
    assert configfile.validate(TINY | {"scoring": {"bos": False}}).config.scoring.bos is False
