"""Names that a configuration uses but does not define: all of them, each at its own key.

This works on the data as written, so that unknown names are reported together with wrong values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from poshgrid import plugins
from poshgrid.config import Config
from poshgrid.config.base import Refers
from poshgrid.config.experiments import DOSE
from poshgrid.config.runs import (
    AXES,
    GIVEN,
    PRETRAINED,
    REFERENCE,
    RELEASED,
    WORD_BASELINES,
    parse_only,
    parts,
)
from poshgrid.config.sizes import SIZE
from poshgrid.errors import PoshgridError, did_you_mean
from poshgrid.grid.conditions import RATE
from poshgrid.grid.targets import CONTROLS
from poshgrid.plugins import FILTERS
from poshgrid.training.bias import PACKAGE as BIASES

Place = tuple[str | int, ...]
"""Keys and numbers of entries, from the top of a configuration."""
Problem = tuple[Place, str]
"""Where a configuration is wrong, and why."""
_GIVEN_KEYS = ("condition", "model", "name", "size")
_CALLED = {
    "sources": "source", "corpora": "corpus", "conditions": "condition", "parsers": "parser",
    "models": "model", "recipes": "recipe", "biases": "bias", "suites": "suite", "sizes": "size",
}  # fmt: skip
_SECTIONS = dict(zip(AXES, ("conditions", "sizes", "models", "recipes", "biases"), strict=False))


def unknown(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield each undefined name, with its place and a similar known name.

    Args:
        data: a configuration as written; values of a wrong type are skipped.
    """
    known = _defined(data)
    for key, section, name in _references(Config, (), data, ()):
        yield from _check(key, section, name, known)
    for name in _mapping(data.get("counted")):
        if name not in known["conditions"]:
            yield ("counted", name), _unknown("conditions", str(name), known["conditions"])
    for bias, options in _mapping(data.get("biases")).items():
        if bias in plugins.names(BIASES):
            model = plugins.options_of(BIASES, bias)
            for key, section, name in _references(model, (), options, ("biases", bias)):
                yield from _check(key, section, name, known)
    known = {section: names | _given(data)[section] for section, names in known.items()}
    for number, regression in enumerate(_entries(data, "regressions")):
        for key, axis, name in _levels(regression, ("regressions", number)):
            yield from _check(key, _SECTIONS[axis], name, known)


def _references(
    kind: Any,  # noqa: ANN401 - an annotation
    marks: Collection[Any],
    value: object,
    key: Place,
) -> Iterator[tuple[Place, str, str]]:
    """Yield place, section and name of each key below a value that :class:`Refers` marks."""
    arguments = get_args(kind)
    if get_origin(kind) is Annotated:
        yield from _references(arguments[0], arguments[1:], value, key)
    elif get_origin(kind) in (Union, UnionType):
        for part in arguments:
            yield from _references(part, (), value, key)
    elif get_origin(kind) is list and isinstance(value, list):
        for number, part in enumerate(value):
            yield from _references(arguments[0], (), part, (*key, number))
    elif isinstance(kind, type) and issubclass(kind, plugins.Options) and isinstance(value, dict):
        for name, field in kind.model_fields.items():
            if name in value:
                yield from _references(field.annotation, field.metadata, value[name], (*key, name))
    if isinstance(value, str):
        yield from ((key, mark.section, value) for mark in marks if isinstance(mark, Refers))


def _levels(regression: Mapping[str, Any], key: Place) -> Iterator[tuple[Place, str, str]]:
    """Yield place, axis and value for the levels in a regression's contrasts and ``only``."""
    only = regression.get("only")
    try:
        kept = parse_only(only) if isinstance(only, str) else {}
    except PoshgridError:
        kept = {}
    for axis, values in kept.items():
        if axis in _SECTIONS:
            yield from (((*key, "only"), axis, value) for value in sorted(values))
    for number, contrast in enumerate(_entries(regression, "contrasts")):
        axis = str(contrast.get("factor"))
        for end in ("first", "less"):
            if axis in _SECTIONS and isinstance(contrast.get(end), str):
                yield (*key, "contrasts", number, end), axis, contrast[end]


def _check(
    key: Place, section: str, name: str, known: Mapping[str, Collection[str]]
) -> Iterator[Problem]:
    names = known[section]
    if section == "sizes" and not names:
        return  # corpora are missing or wrong, which is already reported
    if section == "conditions":
        yield from ((key, problem) for problem in _condition(name, known))
        return
    for part in parts(name) if section == "biases" else [name]:
        if part not in names and section == "biases" and part in plugins.names(BIASES):
            yield key, f"unknown bias {part!r}; write {part}: {{}} under biases"
        elif part not in names:
            yield key, _unknown(section, part, names)


def _condition(name: str, known: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Yield what is wrong with the name of a condition that is not listed."""
    less, plus, rate = name.rpartition(DOSE)
    corpus, tilde, filters = name.partition("~")
    if name in known["conditions"]:
        return
    if plus and RATE.fullmatch(rate):
        yield from _condition(less, known)
    elif tilde and corpus in known["corpora"]:
        for word in filters.split("+"):
            plain = word.partition(".")[0]
            if plain not in ("none", *plugins.names(FILTERS)):
                yield _unknown("filter", plain, plugins.names(FILTERS))
    elif tilde:
        yield _unknown("corpora", corpus, known["corpora"])
    else:
        yield _unknown("conditions", name, known["conditions"])


def _unknown(section: str, name: str, known: Collection[str]) -> str:
    hint = did_you_mean(name, known)
    if section in _CALLED and section != "sizes" and not hint.endswith("?"):
        hint += f"; or add it to `{section}`"
    return f"unknown {_CALLED.get(section, section)} {name!r}{hint}"


def _defined(data: Mapping[str, Any]) -> dict[str, set[str]]:
    """Return section -> the names of its entries, and reserved names."""
    names: dict[str, set[str]] = {
        section: {str(entry.get("name")) for entry in _entries(data, section)}
        for section in _CALLED
    }
    names["biases"] = {*map(str, _mapping(data.get("biases")))}
    names["sizes"] = {
        str(size)
        for corpus in _entries(data, "corpora")
        for portion in _entries(corpus, "sources")
        for size in _mapping(portion.get("words"))
        if SIZE.fullmatch(str(size))  # any other key is a wrong value, and reported as one
    }
    if any(condition.get("prebuilt") for condition in _entries(data, "conditions")):
        for experiment in _entries(data, "experiments"):  # prebuilt files have their own sizes
            names["sizes"] |= {str(size) for size in _list(experiment.get("sizes"))}
    for score in _list(_mapping(data.get("scoring")).get("masked")):
        names["suites"] |= {f"{suite}-{score}" for suite in names["suites"]}
    return names


def _given(data: Mapping[str, Any]) -> dict[str, set[str]]:
    """Return section -> further names for regressions: those of runs that are not trained."""
    pretrained = _entries(data, "pretrained")
    named = {key: {str(model.get(key)) for model in pretrained} for key in _GIVEN_KEYS}
    return defaultdict(set, {
        "conditions": named["condition"] | {PRETRAINED},
        "models": named["model"] | named["name"] | {*WORD_BASELINES},
        "recipes": {*REFERENCE, RELEASED},
        "sizes": named["size"] | {GIVEN},
        "biases": {CONTROLS},
    })  # fmt: skip


def _mapping(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _entries(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Return the entries of a list; {} for entries that are not mappings, to keep their numbers."""
    return [_mapping(entry) for entry in _list(data.get(key))]
