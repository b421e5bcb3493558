"""The files that the workflow's jobs read: a method for each kind of file.

A missing file from outside the workflow is left out: the job itself reports what is missing, and
where to get it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import poshgrid
from poshgrid.config import Pretrained, Source, Suite
from poshgrid.config.base import place
from poshgrid.config.runs import SCORED, Run
from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.core.plugins import FILTERS
from poshgrid.corpora import toy
from poshgrid.evidence import patterns
from poshgrid.grid.grid import Grid
from poshgrid.parsing import treebank


def relative(path: Path) -> str:
    """Return a path relative to the working folder if possible, so that a checkout can be moved.

    Raises:
        PoshgridError: Snakemake would read it as another path (:func:`poshgrid.config.base.place`).
    """
    text = str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
    try:
        return place(text)
    except ValueError as error:
        raise PoshgridError(str(error)) from error


def model_folder(grid: Grid, model: Pretrained) -> Path | None:
    """Return the folder of a pretrained model; None if its path is an id on a hub."""
    folder = Path(grid.config.data, model.path)
    return folder if folder.is_dir() else None


class Inputs:
    """The files that the jobs of a grid read: the base of stages."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.paths = grid.paths
        self.data = grid.config.data

    # Files from outside the workflow

    def parser_folder(self, parser: str) -> str:
        """Return the folder of a parser's model, trained or given by path."""
        model = self.grid.parsers[parser].model
        return relative(Path(self.data, model)) if model else self.paths.parser(parser)

    def parser_files(self, parser: str) -> list[str]:
        """Return the files of a parser's model if it is given by path."""
        if not self.grid.parsers[parser].model:
            return []
        folder = Path(self.parser_folder(parser))
        return sorted(str(path) for path in folder.rglob("*") if path.is_file())

    def pretrained_folder(self, run: Run) -> Path | None:
        """Return the folder of a pretrained model; None if its path is an id on a hub."""
        return model_folder(self.grid, self.grid.pretrained_runs[run])

    def of_reader(self, package: str, entry: Source | Suite) -> list[str]:
        """Return the files from which a reader reads a source or suite."""
        reader = plugins.load(package, entry.reader)
        if not hasattr(reader, "files"):
            return []
        options = plugins.options(package, entry.reader, entry.options)
        try:
            files = reader.files(Path(self.data, entry.path or ""), options)
        except (OSError, PoshgridError):
            return []
        return [relative(file) for file in files]

    def trees(self, names: Iterable[str]) -> list[str]:
        """Return the files of treebanks: CoNLL-U files, folders, or the toy grammar."""
        paths = [
            path
            for name in names
            for path in (
                map(relative, toy.files())
                if name == treebank.TOY
                else treebank.files(Path(self.data, name))
            )
        ]
        return sorted(set(map(str, paths)))

    # Results of other rules

    def trained_parser(self, parser: str) -> list[str]:
        """Return the manifest of a trained parser; [] if its model is given by path."""
        model = self.grid.parsers[parser].model
        return [] if model else [f"{self.paths.parser(parser)}/manifest.json"]

    def shards(self, corpus: str, parser: str) -> list[str]:
        """Return the trees of all shards of a corpus by a parser."""
        shards = range(self.grid.shards(corpus))
        return [self.paths.parses(corpus, parser, shard) for shard in shards]

    def labels(self, condition: str) -> list[str]:
        """Return the labels with which a condition is built: the deciding parser's, or []."""
        if not self.grid.needs_evidence(condition):
            return []
        corpus = self.grid.corpus_of(condition).name
        return [self.paths.evidence(corpus, self.grid.evidence_parsers()[0])]

    def whole(self, condition: str) -> str:
        """Return the sentences of a condition's corpus."""
        return self.paths.sentences(self.grid.corpus_of(condition).name)

    def tokenizer(self, condition: str, size: str) -> list[str]:
        """Return the file of a cell's tokenizer."""
        cell = self.grid.tokenizer_place(condition, size)
        return [f"{self.paths.tokenizer(*cell)}/tokenizer.json"]

    def items(self) -> dict[str, str]:
        """Return suite -> items, for the suites of pairs."""
        return {suite: self.paths.items(suite) for suite in self.grid.pairs}

    def heuristics(self) -> dict[str, str]:
        """Return suite -> the heuristics' choices in its pairs."""
        return {suite: self.paths.heuristics(suite) for suite in self.grid.pairs}

    def model(self, run: Run) -> list[str]:
        """Return the files of a model; a manifest represents its whole folder."""
        if run.recipe not in SCORED:
            folder = self.paths.model(run.name)
            return [f"{folder}/{name}" for name in ("model.safetensors", "manifest.json")]
        own = self.pretrained_folder(run)
        return sorted(relative(p) for p in own.iterdir() if p.is_file()) if own else []

    def scores(self, runs: Iterable[Run], *suites: str) -> list[str]:
        """Return the scores of runs on suites."""
        return [self.paths.scores(run.name, suite) for run in runs for suite in suites]

    # Files of the package that are not Python

    def lexicon(self) -> list[str]:
        """Return the tables of the lexicon."""
        from poshgrid.benchmark.lexicon import LEXICON  # imported here because it reads a table

        return [relative(path) for path in sorted(LEXICON.glob("*.*"))]

    def layout(self, room: str) -> list[str]:
        """Return the templates, styles and other files of a room that are not code."""
        folder = Path(relative(Path(poshgrid.__file__).parent), room)
        return sorted(
            str(path)
            for path in folder.rglob("*.*")
            if path.suffix not in (".py", ".pyc") and path.is_file()
        )

    def word_lists(self, filters: Iterable[str]) -> list[str]:
        """Return the word lists of filters."""
        modules = [plugins.load(FILTERS, word) for word in filters]
        lists = [patterns.word_lists(getattr(module, "PATTERNS", {})) for module in modules]
        return [str(path) for paths in lists for path in paths]
