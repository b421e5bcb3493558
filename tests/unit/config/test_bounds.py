"""Every number of a configuration has bounds, and no absurd one is taken without a reason."""

from __future__ import annotations

import copy
import math

import pytest
import yaml

from poshgrid import plugins
from poshgrid.config import Config
from poshgrid.config.corpora import Base
from poshgrid.corpora.budgets import budgets
from poshgrid.errors import PoshgridError
from poshgrid.grid import configfile
from tests.conftest import ROOT

PACKAGES = [
    "poshgrid.corpora.readers", "poshgrid.parsing.engines", "poshgrid.models.architectures",
    "poshgrid.training.biases", "poshgrid.benchmark.suites",
]  # fmt: skip
FILE = ROOT / "config/tiny.yaml"
TINY = yaml.safe_load(FILE.read_text(encoding="utf-8"))


def models():
    yield "config", Config
    for package in PACKAGES:
        for word in plugins.names(package):
            options = getattr(plugins.load(package, word), "Options", None)
            if options is not None:
                yield f"{package}.{word}", options


def unbounded(node, place=""):
    """Yield the places of a JSON Schema where a number lacks a bound."""
    if isinstance(node, dict):
        if node.get("type") in ("integer", "number"):
            below = {"minimum", "exclusiveMinimum"} & node.keys()
            above = {"maximum", "exclusiveMaximum"} & node.keys()
            if not (below and above):
                yield place
        for key, inner in node.items():
            yield from unbounded(inner, f"{place}.{key}")
    elif isinstance(node, list):
        for number, inner in enumerate(node):
            yield from unbounded(inner, f"{place}[{number}]")


@pytest.mark.parametrize(
    ("name", "model"), list(models()), ids=lambda x: x if isinstance(x, str) else ""
)
def test_every_number_has_a_lower_and_an_upper_bound(name, model):
    assert list(unbounded(model.model_json_schema())) == []


def test_a_number_without_bounds_would_be_seen():
    class Free(plugins.Options):
        known: int
        half: float = 0.0

    assert list(unbounded(Free.model_json_schema())) == [".properties.known", ".properties.half"]


def spelled(place):
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in place).lstrip(".")


WORDS = ("dev_words", "test_words", "shard_words")


def numbers(node, place=()):
    """Yield the place of every number, sizes in words included."""
    if isinstance(node, dict | list):
        pairs = node.items() if isinstance(node, dict) else enumerate(node)
        for key, inner in pairs:
            yield from numbers(inner, (*place, key))
    elif isinstance(node, str):
        yield from [place] if place[-1] in WORDS or "words" in place else []
    elif isinstance(node, int | float) and not isinstance(node, bool):
        yield place


PLACES = [
    *numbers(TINY),
    *(("regimens", n, key) for n in (0, 1) for key in ("learning_rate", "weight_decay",
      "clip_norm", "micro_batch_size", "threads")),
    ("bases", 0, "seed"), ("bases", 0, "spare"), ("bases", 0, "downsample"),
    ("conditions", 0, "seed"), ("conditions", 0, "downsample"),
    ("sources", 0, "words"), ("sources", 0, "cleaning", "min_words"),
    ("sources", 0, "cleaning", "max_words"), ("parsers", 0, "treebank", "heldout"),
    ("parsers", 0, "treebank", "seed"), ("tokenizer", "min_frequency"), ("lexicon", "top_k"),
    ("scoring", "batch_tokens"), ("scoring", "threads"), ("quality", "tolerance"),
    ("measures", "block_pass"), ("ngram", "order"), ("biases", "recency", "decay"),
    ("biases", "tree-planting", "weight"), ("biases", "dyck", "p_open"),
    ("biases", "dyck", "learning_rate"), ("biases", "dyck", "batch_size"),
    *(("models", 0, key) for key in ("slope_sd", "intercept_sd", "group_rate", "chains", "warmup",
      "draws", "target_accept", "retries", "seed")),
]  # fmt: skip
ZERO = {
    "seed": "a seed like others", "seeds": "a seed like others",
    "warmup_steps": "the rate is at its peak at once",
    "weight_decay": "weights do not decay", "dropout": "nothing is dropped",
    "tolerance": "of rates and of nulls: nothing but the exact value will do",
    "rate": "nothing is put back: a dose of none",
    "steps": "a regimen that trains nothing: the initial weights, as the untrained null",
    "spare": "no spare words", "block_pass": "every block passes", "retries": "one attempt",
    "words": "a base may take nothing of a source at a size",
    "layers": "layers and heads are counted from 0", "heads": "layers and heads are counted from 0",
}  # fmt: skip
"""Last key of a place -> why 0 is meaningful there."""
ABSURD = [-1, 2**63, 1e30, math.nan, math.inf, -math.inf, True, False]


def put(place, value, config=TINY):
    config = copy.deepcopy(config)
    node = config
    for part in place[:-1]:
        node = node.setdefault(part, {}) if isinstance(node, dict) else node[part]
    node[place[-1]] = value
    return config


def key_of(place):
    """The last key of a place that is a word; a size of a portion is called words."""
    words = [part for part in place if isinstance(part, str)]
    return "words" if "words" in words else words[-1]


def unnamed(places, value):
    """Put a value in all places at once, and again in those that no line of the error names."""
    config = TINY
    for place in places:
        config = put(place, value, config)
    try:
        configfile.validate(config, [FILE])
    except PoshgridError as error:
        lines = str(error).splitlines()
        left = [p for p in places if not any(f"{spelled(p)}:" in line for line in lines)]
        return unnamed(left, value) if len(left) < len(places) else left
    return places


@pytest.mark.parametrize("value", ABSURD, ids=str)
def test_an_absurd_number_is_refused_by_lines_that_name_its_key(value):
    wrong = []
    minus = value == -1 and not isinstance(value, bool)
    # -1 of a supervised layer or head is the last one
    places = [p for p in PLACES if not (minus and key_of(p) in ("layers", "heads"))]
    for place in unnamed(places, value):  # what the others may have hidden, alone
        try:
            configfile.validate(put(place, value), [FILE])
        except PoshgridError as error:
            # Elsewhere, too, something may no longer fit: the line of the key itself must be there.
            if not any(spelled(place).partition(".options.")[0] in line or key_of(place) in line
                       for line in str(error).splitlines()):  # fmt: skip
                wrong.append((spelled(place), str(error)))
        else:
            wrong.append((spelled(place), "taken"))
    assert wrong == []


def test_zero_is_refused_or_has_a_meaning():
    taken = set()
    for place in unnamed(PLACES, 0):
        try:
            configfile.validate(put(place, 0), [FILE])
        except PoshgridError:
            continue
        taken.add(key_of(place))
    assert taken - ZERO.keys() == set()


@pytest.mark.parametrize(
    "place", [("experiments", 0, "seeds"), ("tokenizer", "sweep"), ("regimens", 0, "checkpoints")]
)
def test_truth_values_in_a_list_of_numbers(place):
    with pytest.raises(PoshgridError, match="true is not a number: write one"):
        configfile.validate(put(place, [400, True]), [FILE])


def test_truth_values_stay_where_they_belong():
    config = put(("scoring", "bos"), False)
    config["conditions"][1]["reinsert"][0]["repeat"] = True
    grid = configfile.validate(config)
    assert grid.config.scoring.bos is False
    assert grid.conditions["baby"].reinsert[0].repeat is True


def test_a_base_of_no_size_cannot_be_mixed():
    made = Base(name="b", sources=[{"source": "s", "words": {"10K": "10K"}}])
    with pytest.raises(PoshgridError, match="bases: b: no sizes to mix"):
        budgets(made, [])
