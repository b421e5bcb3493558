"""What the workflow's rules write beside their inputs: options, modules of code, resources.

In a rule's command every value is quoted, in one of two ways. A single value is written with
Snakemake's ``:q``. Options that may be many or none come from :class:`Options`, whose words are
quoted already. A test holds every rule to it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from poshgrid import plugins
from poshgrid.config.runs import PRETRAINED, REFERENCE, SCORED, WORD_NULLS, Run
from poshgrid.evidence.screening.screen import lexical
from poshgrid.files import write_text
from poshgrid.grid import arguments
from poshgrid.grid.arguments import Shell, quoted
from poshgrid.grid.grid import Grid
from poshgrid.grid.inputs import Inputs
from poshgrid.grid.slices import Slices
from poshgrid.plugins import ENGINES, FILTERS, READERS, RIVALS, SECTIONS, SUITES
from poshgrid.provenance import fingerprint
from poshgrid.training import bias, learner

CELL = "{condition}/{size}/{learner}/{regimen}/{bias}"
RUN = f"{CELL}/seed{{seed}}"
"""A run's name in wildcards, and that of all seeds of its cell."""


def run_of(wildcards: Mapping[str, str]) -> Run:
    """Return the run that a job's wildcards name."""
    return Run.parse(RUN.format(**wildcards))


def names(grid: Grid) -> dict[str, str]:
    """Return wildcard -> what it may be in a file's path: the grid's own names.

    A file of another size would be made of what the base has, and bear the wrong name.
    """
    runs = [*grid.every_run, *grid.given]
    condition, size = grid.paths.shared_tokenizer()
    found: dict[str, Iterable[str]] = {
        "source": grid.sources,
        "base": grid.bases,
        "parser": grid.parsers,
        "condition": {*grid.conditions, *(run.condition for run in runs), condition},
        "size": {*(run.size for run in runs), size},
        "learner": {*grid.learners, *WORD_NULLS, *(run.learner for run in grid.given)},
        "regimen": {*grid.regimens, *REFERENCE, *SCORED},
        "suite": grid.suites,
        "target": {*grid.targets, PRETRAINED},
        "model": grid.models,
    }
    return {each: "|".join(map(re.escape, sorted(words))) for each, words in found.items()}


def growing(amount: int) -> Callable[[object, int], int]:
    """Return a resource that a job gets more of each time it is tried again."""
    return lambda wildcards, attempt: amount * attempt


def folder_files(folder: str, *names: str) -> list[str]:
    """Return named files of a folder, and its manifest."""
    return [f"{folder}/{name}" for name in (*names, "manifest.json")]


@functools.cache
def code(*modules: str) -> Shell:
    """Return the fingerprint of modules (:func:`poshgrid.provenance.fingerprint.code`)."""
    return quoted(fingerprint.code(*modules))


class Options:
    """Options of the jobs of a grid that may be many or none, as text for a shell."""

    def __init__(self, inputs: Inputs, slices: Slices, write: Callable[[], bool]) -> None:
        """Keep what options are made from.

        Args:
            inputs: of the grid whose jobs these are.
            slices: of the same grid.
            write: says whether to write the files that options name; a dry-run writes none.
                Snakemake knows whether it is one when it asks for options, not before.
        """
        self.grid = inputs.grid
        self.paths = inputs.paths
        self.inputs = inputs
        self.slices = slices
        self.write = write

    def _short(self, words: Iterable[str]) -> Shell:
        """Return options that grow with the grid: in a file once they are long."""
        return arguments.short(list(words), self.paths.arguments(), write=self.write())

    def spec(self, spec: str) -> Shell:
        """Return a slice of the configuration that grows with the grid."""
        return self._short(["--spec", spec])

    def sources(self, base: str) -> Shell:
        """Return the sentences of a base's sources."""
        names = [each.source for each in self.grid.bases[base].sources]
        return quoted(*_named("source", names, self.paths.source))

    def bases(self) -> Shell:
        """Return the sentences of all bases."""
        tables = self.grid.vocabularies()
        return quoted(*_named("base", tables, tables.__getitem__))

    def corpora(self, suite: str) -> Shell:
        """Return what a suite's items are generated from: the bases, and their n-gram models."""
        if not self.grid.suites[suite].generated:
            return quoted()
        tables = self.grid.vocabularies()
        return quoted(
            *_named("base", tables, tables.__getitem__),
            *_named(
                "ngrams", self.grid.corpora(), lambda name: self.paths.ngrams(*name.split("/"))
            ),
        )

    def parses(self, shards: Iterable[str]) -> Shell:
        """Return the trees of shards."""
        return quoted(*_each("parses", shards))

    def treebank(self, parser: str) -> Shell:
        """Return the gold trees that a parser has learned from, as far as they are known."""
        given = self.grid.parsers[parser].model
        return quoted(*_each("treebank", [] if given else [self.paths.treebank(parser)]))

    def origin(self, condition: str, size: str) -> Shell:
        """Return what a condition is made of: ready files, or sentences (and labels)."""
        ready = self.inputs.ready(condition, size)
        if ready:
            return quoted("--prebuilt", str(ready))
        labels = self.inputs.labels(condition)
        return quoted("--sentences", self.inputs.whole(condition), *_each("evidence", labels))

    def beside(self, condition: str, size: str) -> str:
        """Return the file of what a condition must differ from, which is no input of its."""
        path = Path(self.paths.beside(condition, size))
        content = self.slices.beside(condition, size)
        if self.write() and not (path.exists() and path.read_text(encoding="utf-8") == content):
            write_text(path, content)
        return str(path)

    def tokenizer_texts(self, condition: str, size: str) -> Shell:
        """Return what a tokenizer is made of: conditions, or the file that it is."""
        texts = self.inputs.tokenizer_texts(condition, size)
        if self.grid.tokenizer_of(condition).file:
            return quoted(*_each("file", texts))
        return self._short(f"--condition={Path(text).parent}" for text in texts)

    def detector(self) -> Shell:
        """Return the detector of evidence, if there is one."""
        there = self.grid.config.evidence.detector is not None
        return quoted(*_each("detector", [self.paths.detector()] if there else []))

    def distances(self, run: Run) -> Shell:
        """Return the distances that a run's bias is trained with, if it is trained with any."""
        tables = self.inputs.distances(run)
        return quoted(*_each("distances", (str(Path(table).parent) for table in tables)))

    def checkpoint_every(self, regimen: str) -> Shell:
        """Return how often a regimen saves a checkpoint; untrained runs save none."""
        found = self.grid.regimens.get(regimen)
        return quoted("--checkpoint-every", str(found.checkpoint_every)) if found else quoted()

    def tracker(self) -> Shell:
        """Return what shows losses during training, if anything does."""
        return quoted(*_each("tracker", filter(None, [self.grid.config.tracker])))

    def items(self, suites: Iterable[str]) -> Shell:
        """Return the items of suites."""
        return quoted(*_named("items", suites, self.paths.items))

    def items_and_rules(self, suites: Iterable[str]) -> Shell:
        """Return the items of suites, and what simple rules say of them."""
        kinds = (("items", self.paths.items), ("rules", self.paths.rules))
        return quoted(
            *(word for suite in suites for kind, of in kinds for word in _named(kind, [suite], of))
        )

    def norms(self, suite: str) -> Shell:
        """Return the norm table of a suite of choices, if it has one."""
        return quoted(*_each("norms", self.inputs.norms(suite)))

    def train(self, target: str) -> Shell:
        """Return the training sentences of a target's cells."""
        cells = self.grid.cells(target)
        return self._short(
            f"--train={c}/{s}={self.paths.condition(c, s)}/train.parquet" for c, s in cells
        )

    def scores(self, suite: str, runs: Iterable[Run]) -> Shell:
        """Return the scores of runs on a suite."""
        return self._short(
            f"--scores={run.name}={self.paths.scores(run.name, suite)}" for run in runs
        )


def _named(option: str, names: Iterable[str], path: Callable[[str], str]) -> list[str]:
    return [word for name in names for word in (f"--{option}", f"{name}={path(name)}")]


def _each(option: str, values: Iterable[str]) -> list[str]:
    return [word for value in values for word in (f"--{option}", value)]


class Modules:
    """The plug-ins that the jobs of a grid run: digested beside the module of the command."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid

    def reader(self, source: str) -> str:
        """Return the reader of a source."""
        return plugins.module_name(READERS, self.grid.sources[source].reader)

    def suite(self, suite: str) -> str:
        """Return the reader of a suite."""
        return plugins.module_name(SUITES, self.grid.suites[suite].reader)

    def engine(self, parser: str) -> str:
        """Return the engine of a parser."""
        return plugins.module_name(ENGINES, self.grid.parsers[parser].engine)

    def lexical(self, filters: Iterable[str]) -> list[str]:
        """Return where the filters' lexical tests are."""
        return [lexical(word).__name__ for word in filters]

    def filters(self, filters: Iterable[str]) -> list[str]:
        """Return the filters, and where their lexical tests are."""
        words = list(filters)
        return [*(plugins.module_name(FILTERS, word) for word in words), *self.lexical(words)]

    def condition(self, condition: str) -> str:
        """Return what makes a condition: from its base, or of ready files."""
        ready = self.grid.conditions[condition].prebuilt
        return f"poshgrid.evidence.{'prebuilt' if ready else 'condition'}"

    def learner(self, run: Run) -> list[str]:
        """Return the architecture that a run trains, and its biases."""
        architecture = self.grid.learners[run.learner].architecture
        return [
            plugins.module_name(learner.PACKAGE, architecture),
            *(plugins.module_name(bias.PACKAGE, part) for part in run.biases),
        ]

    def rivals(self) -> list[str]:
        """Return the simple rules."""
        return [plugins.module_name(RIVALS, word) for word in plugins.names(RIVALS)]

    def sections(self) -> list[str]:
        """Return the modules of the report's sections."""
        return [plugins.module_name(SECTIONS, word) for word in plugins.names(SECTIONS)]
