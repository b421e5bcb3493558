"""Conditions that are defined by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import ValidationError

from poshgrid import plugins
from poshgrid.config import Condition, Config, Corpus
from poshgrid.config.experiments import DOSE
from poshgrid.errors import ConfigError, PoshgridError
from poshgrid.plugins import FILTERS

RATE = re.compile(r"natural|[0-9.]+(e-?[0-9]+)?")
# Change in a source's words; larger than the default, because doses move more sentences
_TOLERANCE = 0.01


def implied(
    config: Config, known: Mapping[str, Condition], corpora: Mapping[str, Corpus]
) -> dict[str, Condition]:
    """Return the conditions whose names in experiments say what is removed or put back.

    ``wiki~agr-pp-mod`` is the corpus without what the filters (``+`` between several, ``.`` before
    a reading; ``none``) remove, down-sampled to the corpus's common number of sentences (FiCT,
    section 4), in the corpus's ``reading``. ``baby-f+0.002`` is a condition with its evidence put
    back at that rate.

    Args:
        config: its experiments name conditions.
        known: the conditions that it lists.
        corpora: its corpora.

    Raises:
        ConfigError: a name describes an impossible condition.
    """
    conditions: dict[str, Condition] = {}
    problems = []
    for number, experiment in enumerate(config.experiments):
        for name in sorted({*experiment.dosed} - {*known, *conditions}):
            try:
                condition = _named(name, known, corpora)
            except (ValidationError, PoshgridError) as error:
                reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
                what = f"{name!r}: {str(reason).removeprefix('Value error, ')}"
                problems.append((("experiments", number, "conditions"), what))
                continue
            if condition:
                conditions[name] = condition
    if problems:
        raise ConfigError(problems)
    return conditions


def _named(
    name: str, known: Mapping[str, Condition], corpora: Mapping[str, Corpus]
) -> Condition | None:
    """Return the condition that a name describes; None if it has neither of the two forms."""
    if name in known:
        return known[name]
    less, plus, rate = name.rpartition(DOSE)
    if plus and RATE.fullmatch(rate) and (condition := _named(less, known, corpora)):
        return _dosed(name, condition, rate)
    corpus, tilde, filters = name.partition("~")
    if not tilde or corpus not in corpora:
        return None
    return Condition.model_validate(
        {
            "name": name,
            "corpus": corpus,
            "filters": [
                _read(word, corpora[corpus].reading)
                for word in filters.split("+")
                if word != "none"
            ],
            "downsample": corpora[corpus].downsample,
            "seed": corpora[corpus].seed,
        }
    )


def _read(word: str, reading: str | None) -> str:
    """Return a filter with its corpus's reading, if it names no reading and has that one."""
    plain = reading and "." not in word
    known = getattr(plugins.load(FILTERS, word), "READINGS", {}) if plain else {}
    return f"{word}.{reading}" if reading in known else word


def _dosed(name: str, condition: Condition, rate: str) -> Condition:
    """Return a condition with its evidence put back at a rate, repeatedly if it is scarce."""
    if not condition.filters or condition.reinsert:
        why = "puts some back already" if condition.reinsert else "has no filters"
        raise PoshgridError(
            "a dose of evidence is put back into a condition that has lost "
            f"it, and {condition.name!r} {why}; list doses for conditions with filters and without "
            "reinsert"
        )
    back = [
        {"filter": word, "rate": rate, "repeat": True, "tolerance": _TOLERANCE}
        for word in condition.words
    ]
    return Condition.model_validate(
        {
            **condition.model_dump(exclude_unset=True),
            "name": name,
            "reinsert": back,
            "filtered": None,
        }
    )
