"""Names that keys use: each must be defined by the configuration in which it is written.

Configurations are validated with the names that they define as pydantic's context, so that an
unknown name is reported at its key, together with wrong values. Specs of jobs have no context, and
their names are not checked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, ValidationInfo

from poshgrid.config.runs import (
    GIVEN,
    PRETRAINED,
    REFERENCE,
    RELEASED,
    WORD_BASELINES,
    parse_only,
    parts,
)
from poshgrid.config.sizes import SIZE
from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError, did_you_mean

CONTROLS = "controls"
"""Value of ``less`` in a contrast that stands for the controls of each bias."""
_CALLED = {
    "sources": "source", "corpora": "corpus", "conditions": "condition", "parsers": "parser",
    "models": "model", "recipes": "recipe", "biases": "bias", "suites": "suite", "sizes": "size",
}  # fmt: skip
_SECTIONS = {
    _CALLED[section]: section for section in ("conditions", "sizes", "models", "recipes", "biases")
}
"""Axis of runs -> the section that defines its values."""


def defined(data: Mapping[str, Any]) -> dict[str, set[str]]:
    """Return section -> the names that a configuration defines, and axis -> those of its runs.

    Args:
        data: a configuration as written; values of a wrong type are skipped.
    """
    names: dict[str, set[str]] = {
        section: {str(name) for entry in _entries(data, section) if (name := entry.get("name"))}
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
    pretrained = _entries(data, "pretrained")

    def of_pretrained(*keys: str) -> set[str]:
        return {str(model.get(key)) for model in pretrained for key in keys}

    return names | {
        "condition": names["conditions"] | of_pretrained("condition") | {PRETRAINED},
        "size": names["sizes"] | of_pretrained("size") | {GIVEN},
        "model": names["models"] | of_pretrained("model", "name") | {*WORD_BASELINES},
        "recipe": names["recipes"] | {*REFERENCE, RELEASED},
        "bias": names["biases"] | {CONTROLS},
    }


def refers(section: str) -> AfterValidator:
    """Return a validator of a key that names an entry of a section."""

    def check(name: str, info: ValidationInfo) -> str:
        if info.context:
            _check(section, name, info.context[section], info.context)
        return name

    return AfterValidator(check)


def combination(value: str) -> str:
    """Return a combination of biases; raise ValueError if it is spelled in another way."""
    spelling = "+".join(sorted(set(parts(value)))) or "none"
    if value != spelling:
        raise ValueError(f"{value!r}: name each bias once, in alphabetical order: {spelling}")
    return value


def level(axis: str, value: str, info: ValidationInfo) -> str:
    """Check that a run can have a value on an axis, and return it; seeds are not checked.

    Raises:
        ValueError: no run can have it.
    """
    if axis == "bias":
        combination(value)
    if info.context and axis in _SECTIONS:
        _check(_SECTIONS[axis], value, info.context[axis], info.context)
    return value


def _only(text: str, info: ValidationInfo) -> str:
    try:
        kept = parse_only(text)
    except PoshgridError as error:
        raise ValueError(str(error)) from error
    for axis, values in kept.items():
        for value in sorted(values):
            level(axis, value, info)
    return text


Only = Annotated[str, AfterValidator(_only)]
"""A selection of runs in the format of :func:`poshgrid.config.runs.parse_only`."""


def _check(
    section: str, name: str, known: Collection[str], context: Mapping[str, Collection[str]]
) -> None:
    """Raise ValueError if a name is unknown; the message has a similar known one."""
    if section == "sizes" and not context["sizes"]:
        return  # corpora are missing or wrong, which is reported
    for part in parts(name) if section == "biases" else [name]:
        if part in known:
            continue
        own = plugins.names(plugins.BIASES) if section == "biases" else []
        if part in own:
            raise ValueError(f"unknown bias {part!r}; write {part}: {{}} under biases")
        hint = did_you_mean(part, {*known, *own})
        if section not in ("sizes", "biases") and not hint.endswith("?"):
            hint += f"; {'or ' if hint else ''}add it to `{section}`"
        raise ValueError(f"unknown {_CALLED[section]} {part!r}{hint}")


def _mapping(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _entries(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Return the entries of a list; one that is no mapping counts as an empty one."""
    entries = data.get(key)
    return [_mapping(entry) for entry in entries] if isinstance(entries, list) else []
