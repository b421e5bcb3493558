"""The grid: experiments -> runs, their names, and the slice of the config that each job reads."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from poshgrid import plugins, specs
from poshgrid.config import (
    Base,
    Condition,
    Config,
    Experiment,
    SizedLearner,
    words,
)
from poshgrid.errors import PoshgridError, did_you_mean
from poshgrid.paths import Paths
from poshgrid.screening.screen import screens

UNTRAINED, COUNTED, PRETRAINED = "untrained", "counted", "pretrained"
REFERENCE = (UNTRAINED, COUNTED, PRETRAINED)
"""Regimens of the runs that trained ones are set beside: nulls, and models of somebody else's."""
WORD_NULLS = ("unigram", "ngram")
"""The nulls that count words; their names stand where a learner's does."""
NULLS = (UNTRAINED, *WORD_NULLS)
"""What chance looks like, in the order of tables."""
GIVEN = "given"
"""The size of what a pretrained model has seen: not ours to say."""
AXES = ("condition", "size", "learner", "regimen", "bias", "seed")
SPLITS = ("train", "dev", "test")
_BIASES = "poshgrid.training.biases"


@dataclass(frozen=True, order=True)
class Run:
    """One point of the grid: a model.

    Three regimens train nothing: ``untrained`` (only initialised), ``counted`` (the n-gram nulls)
    and ``pretrained`` (somebody else's model).
    """

    condition: str
    size: str
    learner: str
    regimen: str
    bias: str
    seed: int

    @property
    def name(self) -> str:
        """The run's path below ``models/`` and ``scores/``."""
        axes = (self.condition, self.size, self.learner, self.regimen, self.bias)
        return "/".join((*axes, f"seed{self.seed}"))

    @classmethod
    def parse(cls, name: str) -> Run:
        """Return the run whose :attr:`name` this is."""
        *axes, seed = name.split("/")
        return cls(*axes, seed=int(seed.removeprefix("seed")))

    @property
    def biases(self) -> list[str]:
        """The biases that ``bias`` combines: none of them for ``none``."""
        return parts(self.bias)


class Grid:
    """The runs that a configuration asks for, and the slice of it that each job reads.

    Raises:
        PoshgridError: a name that an experiment, condition or base uses is not defined, or ``only``
            names an unknown axis or leaves nothing.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.paths = Paths(config.results)
        self.sources = _by_name(config.sources)
        self.bases = _by_name(config.bases)
        self.conditions = _by_name(config.conditions)
        self.conditions |= {c.name: c for c in self._implied(self.conditions)}
        self.parsers = _by_name(config.parsers)
        self.learners = _by_name(config.learners)
        self.regimens = _by_name(config.regimens)
        self.suites = _by_name(config.suites)
        self.models = _by_name(config.models)
        self.experiments = _by_name(config.experiments)
        self._only = parse_only(config.only, "only")
        self.pretrained = _by_name(config.pretrained)
        if "all" in self.experiments:
            raise PoshgridError("experiments: 'all' is the target that joins them; choose another")
        for suite in self.suites:
            if suite.endswith(".tokens"):
                raise PoshgridError(
                    f"suites: {suite!r} ends as the file of another suite's tokens does; rename it"
                )
        for kind, known in (("regimens", self.regimens), ("learners", self.learners),
                            ("conditions", self.conditions),
                            ("experiments", self.experiments)):  # fmt: skip
            for name in sorted({*REFERENCE, *WORD_NULLS} & set(known)):
                raise PoshgridError(f"{kind}: {name!r} is the name of a null or of given models; "
                                    "choose another")  # fmt: skip

    # ---- runs -------------------------------------------------------------------------------

    @cached_property
    def targets(self) -> dict[str, list[Run]]:
        """Target -> its trained runs, sorted. ``all`` is the union of the default experiments.

        An experiment that ``only`` leaves without a run is no target.
        """
        runs = {name: self._factorial(e) for name, e in self.experiments.items()}
        everything = {r for n, found in runs.items() if self.experiments[n].default for r in found}
        found = {"all": sorted(everything), **runs}
        if self._only and not any(found.values()):
            known = {
                axis: sorted({str(getattr(r, axis)) for r in self._every_run})
                for axis in self._only
            }
            raise PoshgridError(
                f"only: {self.config.only!r} leaves no run of the grid; known: {known}"
            )
        return {name: selected for name, selected in found.items() if selected}

    def nulls(self, runs: Iterable[Run]) -> list[Run]:
        """Return the untrained and n-gram models that the given runs are measured against."""
        found = set()
        for r in runs:
            if UNTRAINED in self.config.nulls:
                found.add(Run(r.condition, r.size, r.learner, UNTRAINED, "none", r.seed))
            for null in WORD_NULLS:
                if null in self.config.nulls:
                    found.add(Run(r.condition, r.size, null, COUNTED, "none", 0))
        return sorted(found)

    @cached_property
    def given(self) -> list[Run]:
        """The pretrained models as runs."""
        return [Run(PRETRAINED, GIVEN, name, PRETRAINED, "none", 0) for name in self.pretrained]

    def made(self, target: str) -> list[Run]:
        """Return a target's runs and their nulls: the models that the workflow makes."""
        found = self.targets.get(target, [])
        return found + self.nulls(found)

    def runs(self, target: str) -> list[Run]:
        """Return all models that a target scores: those it makes, and the pretrained ones.

        The target ``pretrained`` makes none.
        """
        return self.made(target) + self.given

    def fitted(self, target: str) -> list[str]:
        """Return the Bayesian models that a target has runs for, sorted.

        A model with contrasts is for the targets whose runs differ in what it contrasts.
        """
        found = []
        for name, model in self.models.items():
            kept = parse_only(model.only, f"models: {name}: only")
            runs = [run for run in self.targets.get(target, []) if _agrees(run, kept)]
            axes = {contrast.factor for contrast in model.contrasts} & set(AXES)
            if runs and all(len({getattr(run, axis) for run in runs}) > 1 for axis in axes):
                found.append(name)
        return sorted(found)

    def cells(self, target: str) -> list[tuple[str, str]]:
        """Return the (condition, size) pairs of a target, sorted by condition and words."""
        pairs = {(r.condition, r.size) for r in self.targets.get(target, [])}
        return sorted(pairs, key=lambda pair: (pair[0], words(pair[1])))

    def _implied(self, known: Iterable[str]) -> Iterable[Condition]:
        """Yield the conditions that experiments name by their filters: ``wiki~agr-pp-mod``.

        Such a condition is the base less what the filters (``+`` between several; ``none``) remove,
        down-sampled to the base's common number of sentences (FiCT, section 4).
        """
        named = {name for e in self.config.experiments for name in e.conditions}
        for name in sorted(named - set(known)):
            base, tilde, filters = name.partition("~")
            if tilde and base in self.bases:
                try:
                    yield Condition(
                        name=name,
                        base=base,
                        filters=[word for word in filters.split("+") if word != "none"],
                        downsample=self.bases[base].downsample,
                        seed=self.bases[base].seed,
                    )
                except ValidationError as error:
                    reason = error.errors()[0]["msg"].removeprefix("Value error, ")
                    raise PoshgridError(f"condition {name!r}: {reason}") from error

    def _factorial(self, experiment: Experiment) -> list[Run]:
        return sorted(run for run in self._product(experiment) if _agrees(run, self._only))

    def _product(self, e: Experiment) -> Iterable[Run]:
        where = f"experiments: {e.name}"
        self._known(where, "condition", e.conditions, self.conditions)
        self._known(where, "regimen", [e.regimen], self.regimens)
        self._check_biases(where, e.biases)
        learners = [
            (v.learner, v.sizes) if isinstance(v, SizedLearner) else (v, e.sizes)
            for v in e.learners
        ]
        self._known(where, "learner", [name for name, _ in learners], self.learners)
        axes = itertools.product(e.conditions, e.sizes, learners, e.biases, e.seeds)
        for condition, size, (learner, sizes), bias, seed in axes:
            run = Run(condition, size, learner, e.regimen, bias, seed)
            if size in sizes and not any(
                _matches(run, x.model_dump(exclude_none=True)) for x in e.exclude
            ):
                self._check_cell(where, run)
                yield run

    def _check_biases(self, where: str, combined: Iterable[str]) -> None:
        """Refuse biases that are unknown, or that name the same model as other words do."""
        for word in combined:
            distinct = list(dict.fromkeys(parts(word)))
            name = "+".join(distinct) or "none"
            if word != name:
                raise PoshgridError(
                    f"{where}: {word!r} is another name for {name!r}: each bias is named once, and "
                    f"none stands alone; write {name}"
                )
            for part in distinct:
                if part in self.config.biases:
                    continue
                if part in plugins.names(_BIASES):
                    known = ", ".join(sorted(self.config.biases))
                    raise PoshgridError(
                        f"{where}: unknown bias {part!r}{known and f'; known: {known}'}; "
                        f"write {part}: {{}} under biases"
                    )
                self._known(where, "bias", [part], plugins.names(_BIASES))

    @cached_property
    def _every_run(self) -> frozenset[Run]:
        """The runs of all experiments, ``only`` left aside: it must change no spec."""
        return frozenset(r for e in self.experiments.values() for r in self._product(e))

    def _check_cell(self, where: str, run: Run) -> None:
        if self.conditions[run.condition].prebuilt:
            return
        base = self.base_of(run.condition)
        for portion in base.sources:
            if run.size not in portion.words:
                raise PoshgridError(
                    f"bases: {base.name}: source {portion.source!r} has no words for size "
                    f"{run.size!r}, which {where} asks for; add {run.size}: <words> (0 for none)"
                )
            self._known(f"bases: {base.name}", "source", [portion.source], self.sources)

    def _known(self, where: str, kind: str, found: Iterable[str], known: Iterable[str]) -> None:
        for name in found:
            if name not in known:
                raise PoshgridError(f"{where}: unknown {kind} {name!r}{did_you_mean(name, known)}")

    # ---- what belongs to what ---------------------------------------------------------------

    def base_of(self, condition: str) -> Base:
        """Return the base of a condition."""
        base = self.conditions[condition].base
        self._known(f"conditions: {condition}", "base", [base], self.bases)
        return self.bases[base]

    def sizes(self, base: str) -> list[str]:
        """Return the sizes that any experiment asks of a base, ascending (``only`` left aside)."""
        found = {r.size for r in self._every_run if self.conditions[r.condition].base == base
                 and not self.conditions[r.condition].prebuilt}  # fmt: skip
        return sorted(found, key=words)

    @cached_property
    def _used(self) -> list[Condition]:
        """The conditions that any experiment uses."""
        return [self.conditions[c] for e in self.experiments.values() for c in e.conditions]

    def vocabularies(self) -> dict[str, str]:
        """Return base -> the table whose training words the lexicon is checked against.

        That is the base's own; of a base with ready files alone, its largest condition's.
        """
        found = {}
        used = {c.base for c in self._used if not c.prebuilt}
        for name in self.bases:
            if name in used:
                found[name] = self.paths.sentences(name)
        for base in sorted({c.base for c in self._used} - set(found)):
            cells = {(r.condition, r.size) for r in self._every_run
                     if self.conditions[r.condition].base == base}  # fmt: skip
            name, size = max(cells, key=lambda cell: (words(cell[1]), cell[0]))
            found[base] = f"{self.paths.condition(name, size)}/train.parquet"
        return found

    def corpora(self) -> dict[str, tuple[str, str | None]]:
        """Return "base/size" -> a table of sentences and the size whose rows count (none: all).

        Items are balanced against an n-gram model of each.
        """
        found: dict[str, tuple[str, str | None]] = {}
        for base, path in self.vocabularies().items():
            if path == self.paths.sentences(base):
                found |= {f"{base}/{size}": (path, size) for size in self.sizes(base)}
            else:
                found[f"{base}/{path.split('/')[-2]}"] = (path, None)
        return found

    @cached_property
    def tasks(self) -> dict[str, str]:
        """Suite -> its task. Every score job asks, and its plug-in has to be found."""
        return {name: suite.task for name, suite in self.suites.items()}

    def filters(self, base: str) -> list[str]:
        """Return the filters that any condition of a base uses, sorted."""
        return sorted({f for c in self.conditions.values() if c.base == base for f in c.filters})

    def screens(self, base: str, parser: str) -> list[str]:
        """Return the filters whose lexical tests tell what a parser parses of a base; none: all.

        A parser whose trees a bias is trained with parses every sentence.
        """
        screened = self.config.evidence.parse == "screened" and (base, parser) not in self.planted
        return screens(self.filters(base)) if screened else []

    def trees(self, run: Run) -> str | None:
        """Return the parser whose trees a run's bias is trained with; none: it needs no trees."""
        return self._planters[run.bias]

    @cached_property
    def _planters(self) -> dict[str, str | None]:
        """Bias -> the parser whose trees it is trained with."""
        found: dict[str, str | None] = {"none": None}
        for word in {word for e in self.config.experiments for word in e.biases}:
            found[word] = None
            for part in parts(word):
                if getattr(plugins.load(_BIASES, part), "TREES", False):
                    given = plugins.options(_BIASES, part, self.config.biases.get(part, {}))
                    found[word] = str(given.parser)  # type: ignore[attr-defined]
        return found

    @cached_property
    def planted(self) -> set[tuple[str, str]]:
        """The (base, parser) pairs whose trees biases are trained with: parsed whole."""
        found = set()
        for run in self._every_run:
            parser = self.trees(run)
            if parser:
                where = f"biases: {run.bias}"
                self._known(where, "parser", [parser], self.parsers)
                if self.conditions[run.condition].prebuilt:
                    raise PoshgridError(
                        f"{where}: condition {run.condition!r} is prebuilt, and only the sentences "
                        "of a base are parsed; leave it out of the experiment"
                    )
                found.add((self.base_of(run.condition).name, parser))
        return found

    def needs_evidence(self, condition: str) -> bool:
        """Say whether a condition needs its base's labels.

        Every condition of a base with filters does: dev and test are free of evidence in all.
        Ready files need none.
        """
        found = self.conditions[condition]
        return not found.prebuilt and bool(self.filters(found.base))

    def parsed_bases(self, target: str) -> list[str]:
        """Return the bases of a target whose sentences are parsed and labelled, sorted."""
        conditions = {condition for condition, _ in self.cells(target)}
        return sorted({self.base_of(c).name for c in conditions if self.needs_evidence(c)})

    def shards(self, base: str) -> int:
        """Return the number of parsing jobs of a base."""
        total = (
            words(self.sizes(base)[-1]) + self.bases[base].dev_words + self.bases[base].test_words
        )
        return -(-total // self.config.evidence.shard_words)

    def evidence_parsers(self) -> list[str]:
        """Return the parsers whose labels are made: the deciding one first."""
        found = [self.config.evidence.parser, *self.config.evidence.compare]
        self._known("evidence", "parser", found, self.parsers)
        return found

    def run(self, name: str) -> Run:
        """Return the run whose :attr:`Run.name` this is."""
        return Run.parse(name)

    def cell_facts(self, target: str) -> dict[str, specs.Cell]:
        """Return ``"condition/size"`` -> what statistics need to know of it."""
        facts = {}
        for name, size in self.cells(target):
            condition = self.conditions[name]
            bare = size in condition.unfiltered_sizes
            filtered = bool(condition.filters) and not condition.reinsert and not bare
            if condition.filtered is not None:
                filtered = condition.filtered
            facts[f"{name}/{size}"] = specs.Cell(
                words=words(size), source=condition.base, filtered=filtered
            )
        return facts

    def given_facts(self) -> dict[str, specs.Cell]:
        """Return the cell of the pretrained models, if there are any."""
        cell = specs.Cell(words=0, source=PRETRAINED, filtered=False)
        return {f"{PRETRAINED}/{GIVEN}": cell} if self.given else {}

    def audits(self, target: str) -> list[tuple[str, str]]:
        """Return the (condition, size) pairs of a target that sheets are drawn from.

        Of each condition that ``audit.conditions`` names, the largest size that is filtered.
        """
        wanted = self.config.audit.conditions
        self._known("audit", "condition", wanted, self.conditions)
        largest = {
            name: size  # sizes ascend: the last one stays
            for name, size in self.cells(target)
            if self.conditions[name].filters and size not in self.conditions[name].unfiltered_sizes
        }
        return [(name, size) for name, size in largest.items() if name in wanted]


def parts(word: str) -> list[str]:
    """Return the biases that a word such as ``dyck+recency`` combines: none for ``none``."""
    return [part for part in word.split("+") if part != "none"]


def _by_name(items: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for item in items:
        if item.name in found:
            raise PoshgridError(f"{type(item).__name__.lower()} {item.name!r} is defined twice")
        found[item.name] = item
    return found


def _agrees(run: Run, kept: dict[str, set[str]]) -> bool:
    return all(str(getattr(run, axis)) in values for axis, values in kept.items())


def _matches(run: Run, axes: dict[str, Any]) -> bool:
    return all(getattr(run, axis) == value for axis, value in axes.items())


def parse_only(text: str | None, where: str) -> dict[str, set[str]]:
    """Parse ``size=10M,seed=42,seed=53``: axis -> values, which are alternatives.

    Args:
        text: axis=value, comma-separated; none: nothing is asked.
        where: the key of the configuration, for the message.

    Raises:
        PoshgridError: a part is not axis=value, or names no axis of the grid.
    """
    kept: dict[str, set[str]] = {}
    for part in filter(None, (p.strip() for p in (text or "").split(","))):
        axis, equals, value = (x.strip() for x in part.partition("="))
        if axis not in AXES or not equals or not value:
            near = did_you_mean(axis, AXES)
            axes = ", ".join(AXES)
            raise PoshgridError(f"{where}: {part!r} is not axis=value{near} (axes: {axes})")
        kept.setdefault(axis, set()).add(value)
    return kept
