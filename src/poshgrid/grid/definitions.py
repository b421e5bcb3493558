"""What a configuration defines by name, and what is said of a name that it does not."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol, TypeVar

from poshgrid.config import Config, Contrast, Corpus, MaskedScore, Suite, Tokenizer
from poshgrid.config.paths import SHARED
from poshgrid.config.runs import REFERENCE, RELEASED, WORD_BASELINES
from poshgrid.errors import PoshgridError, did_you_mean
from poshgrid.grid.conditions import implied
from poshgrid.training import bias


class _Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=_Named)
CONTROLS = "controls"
"""As what a contrast is less: the controls of each bias."""

_OTHERS = frozenset({*REFERENCE, RELEASED, *WORD_BASELINES})
_TAKEN = {
    "sources": {"all"}, "conditions": _OTHERS | {SHARED}, "models": _OTHERS,
    "recipes": _OTHERS, "experiments": _OTHERS | {"all"},
}  # fmt: skip
"""Section -> names that stand for something else: baselines, all sources, the tokenizer of all."""


class Definitions:
    """The sections of a configuration, by name.

    Raises:
        PoshgridError: a name is defined twice, or stands for something else already.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.sources = _by_name(config.sources)
        self.corpora = _by_name(config.corpora)
        self.conditions = _by_name(config.conditions)
        self.conditions |= implied(config, self.conditions, self.corpora)
        self.parsers = _by_name(config.parsers)
        self.models = _by_name(config.models)
        self.recipes = _by_name(config.recipes)
        self.suites, self.rescored = _rescored(config)
        biases = sorted({word for e in config.experiments for word in e.biases})
        self.regressions = {
            name: model.model_copy(update={"contrasts": _contrasts(model.contrasts, biases)})
            for name, model in _by_name(config.regressions).items()
        }
        self.experiments = _by_name(config.experiments)
        self.pretrained = _by_name(config.pretrained)
        for kind, taken in _TAKEN.items():
            for name in getattr(self, kind):
                if name.casefold() in taken:  # one folder on a Mac's disk
                    raise PoshgridError(
                        f"{kind}: {name!r}: {name.casefold()!r} is a name of the workflow's own: "
                        "choose another"
                    )
        for suite in self.suites:
            if suite.casefold().endswith(".tokens"):
                raise PoshgridError(
                    f"suites: {suite!r} ends as the file of another suite's tokens does; rename it"
                )
        _one_name(word for e in config.experiments for word in e.biases)

    def tokenizer_of(self, condition: str) -> Tokenizer:
        """Return how a condition's text is cut; of no condition: as the configuration says."""
        found = self.conditions.get(condition)
        return self.config.tokenizer.changed(found.tokenizer if found else None)

    def corpus_of(self, condition: str) -> Corpus:
        """Return the corpus of a condition."""
        corpus = self.conditions[condition].corpus
        check_names(f"conditions: {condition}", "corpus", [corpus], self.corpora)
        return self.corpora[corpus]


def _rescored(config: Config) -> tuple[dict[str, Suite], dict[str, MaskedScore]]:
    """Return suites by name, and those that are others' pairs by another score -> that score."""
    suites = list(config.suites)
    rescored: dict[str, MaskedScore] = {}
    for score in config.scoring.scores[1:]:
        for suite in (each for each in config.suites if each.task == "pairs"):
            again = Suite.model_validate({**suite.model_dump(), "name": f"{suite.name}-{score}"})
            suites.append(again)
            rescored[again.name] = score
    return _by_name(suites), rescored


def _contrasts(given: Iterable[Contrast], biases: Iterable[str]) -> list[Contrast]:
    """Write contrasts less ``controls`` out: each bias of the experiments less each of its own."""
    found: list[Contrast] = []
    for each in given:
        if (each.factor, each.less) != ("bias", CONTROLS):
            found.append(each)
            continue
        found += (
            each.model_copy(update={"first": first, "less": less, "name": None})
            for first in ([each.first] if each.first else biases)
            for less in biases
            if bias.controls(less, first)
        )
    return found


def check_names(where: str, kind: str, found: Iterable[str], known: Collection[str]) -> None:
    """Hold names to those that are defined.

    Args:
        where: part of the configuration that uses them, for the message.
        kind: what they name, for the message.
        found: the names that are used.
        known: the names that are defined.

    Raises:
        PoshgridError: names are not among them: a line for each.
    """
    if lines := unknown(where, kind, found, known):
        raise PoshgridError(*lines)


def unknown(where: str, kind: str, found: Iterable[str], known: Collection[str]) -> list[str]:
    """Return what :func:`check_names` says of each name that is not defined."""
    missing = dict.fromkeys(name for name in found if name not in known)
    return [f"{where}: unknown {kind} {name!r}{did_you_mean(name, known)}" for name in missing]


def _one_name(biases: Iterable[str]) -> None:
    """Refuse two names of one combination, which would be trained twice."""
    known: dict[tuple[str, ...], str] = {}
    for word in biases:
        if (other := known.setdefault(tuple(sorted(word.split("+"))), word)) != word:
            raise PoshgridError(
                f"experiments: biases: {word!r} and {other!r} are the same; write one of them"
            )


def _by_name(items: Iterable[T]) -> dict[str, T]:
    """Return items by their names, which differ by more than case: a Mac's disk ignores it."""
    named: dict[str, T] = {}
    for item in items:
        if item.name.casefold() in map(str.casefold, named):
            raise PoshgridError(f"{type(item).__name__.lower()} {item.name!r} is defined twice")
        named[item.name] = item
    return named
