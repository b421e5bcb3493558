"""Corpora and filters: ``fetch``, ``explain-filter``, and ``leak-rate`` for labelled sheets."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from poshgrid.commands.base import Results, command, files_of, grid_of
from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError, check_known

if TYPE_CHECKING:
    from poshgrid.config import Filter, Parser
    from poshgrid.grid.grid import Grid

SEED = 42
"""Seed of the sample of sentences to show."""


@command("poshgrid fetch simple-wikipedia --data data")
def fetch(
    source: Annotated[
        str, typer.Argument(help="A free source or suite: docs/reference/sources.md")
    ],
    data: Annotated[Path, typer.Option(help="Data folder")] = Path("data"),
    folder: Annotated[str | None, typer.Option(help="Folder below it")] = None,
    file: Annotated[list[str] | None, typer.Option(help="Only this file; may be repeated")] = None,
    words: Annotated[
        int | None, typer.Option(min=1, help="Words to download from a source with a catalogue")
    ] = None,
) -> None:
    """Download a free source or suite; continue where an earlier attempt stopped."""
    from poshgrid.corpora.fetch import fetch as download

    for path in download(source, data, folder=folder, only=file, words=words):
        typer.echo(path)


@command(
    'poshgrid explain-filter "Will the boy who can run eat?" --config config/tiny.yaml',
    name="explain-filter",
)
def explain_filter(
    sentence: Annotated[
        str | None, typer.Argument(help="A sentence, or a CoNLL-U file of gold trees")
    ] = None,
    config: Annotated[
        list[Path] | None, typer.Option(help="Configuration file; may be repeated")
    ] = None,
    parser: Annotated[str | None, typer.Option(help="A parser of the configuration")] = None,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter", help="Or filter.reading, or a rewriter; may be repeated; default: all used"
        ),
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(help="Show what is removed from this corpus; default: the only"),
    ] = None,
    suite: Annotated[
        str | None, typer.Option(help="Show which share of a suite's good sentences is removed")
    ] = None,
    sample: Annotated[
        int, typer.Option(min=0, help="Removed sentences to show for each filter")
    ] = 20,
    results: Results = None,
) -> None:
    """Show what filters and rewriters do: with a sentence, a corpus or items of a suite."""
    subjects = {"a sentence": sentence, "--corpus": corpus, "--suite": suite}
    named = [name for name, value in subjects.items() if value is not None]
    if len(named) > 1:
        raise PoshgridError(f"{' and '.join(named)}: give one of them")
    study = _Study(grid_of(config, results), files_of(config), results, parser, filters, sample)
    if sentence is not None:
        study.show_sentence(sentence)
    elif suite is not None:
        study.show_suite(suite)
    else:
        study.show_corpus(corpus)


@dataclass(frozen=True)
class _Study:
    """A configuration and the command's options: parser, filters, number of sentences."""

    grid: Grid
    configs: Sequence[Path]
    results: Path | None
    parser: str | None
    words: list[str] | None
    sample: int

    def show_sentence(self, sentence: str) -> None:
        from poshgrid.evidence.explain import explain, rewritten
        from poshgrid.parsing.parse import parse_text
        from poshgrid.parsing.treebank import trees

        # All readings of a filter are shown, even if only one is named
        words = self.grid.every_filter
        if self.words:
            words = list(dict.fromkeys(used.name for used in self._filters()))
        if file := sentence.endswith(".conllu"):
            parses = trees(Path(sentence))
        else:
            parses = [parse_text(*self._parser_folder(), sentence)]
        for tree in parses:
            text = " ".join(tree.form) if file else sentence
            for line in (*explain(tree, words), *rewritten(tree, text, self._rewriters()), ""):
                typer.echo(line)

    def show_corpus(self, corpus: str | None) -> None:
        from poshgrid.quality.audit.firing import changes, fires

        grid = self.grid
        filtered = sorted({c.corpus for c in grid.conditions.values() if c.changed})
        if corpus is None and len(filtered) != 1:
            raise PoshgridError(
                f"{len(filtered)} corpora have filters or rewriters; give a sentence, or "
                f"--corpus, one of {', '.join(filtered or grid.corpora)}"
            )
        name = corpus if corpus is not None else filtered[0]
        check_known("--corpus: no condition with filters or rewrite has corpus", name, filtered)
        parser = self._parser().name
        tables = Path(grid.paths.sentences(name)), Path(grid.paths.evidence(name, parser))
        for path in tables:
            if not path.is_file():
                raise PoshgridError(f"{path}: does not exist yet; run {self._run(path)} first")
        parses = [Path(grid.paths.parses(name, parser, n)) for n in range(grid.shards(name))]
        for rewriter in self._rewriters(name):
            for line in changes(rewriter, tables[0], parses, size=self.sample, seed=SEED):
                typer.echo(line)
        for used in self._filters(name):
            for line in fires(
                used, *tables, language=self._parser().language,
                backstop=grid.config.evidence.backstop, size=self.sample, seed=SEED,
            ):  # fmt: skip
                typer.echo(line)

    def show_suite(self, suite: str) -> None:
        """Print the share of good sentences that each filter removes (FiCT's Table 1)."""
        import polars as pl

        from poshgrid.benchmark import coverage
        from poshgrid.core import terminal
        from poshgrid.parsing.parse import parse_words

        check_known("--suite: unknown suite", suite, self.grid.suites)
        filters = self._filters()
        if not filters:
            raise PoshgridError("--suite: rewriters remove no items; name a filter with --filter")
        path = Path(self.grid.paths.items(suite))
        items = coverage.read(path, f"run {self._run(path)} first")
        parse = functools.partial(parse_words, *self._parser_folder())
        shares = coverage.coverage(
            items, filters, parse, language=self._parser().language,
            backstop=self.grid.config.evidence.backstop,
        )  # fmt: skip
        mark = pl.when("target").then(pl.lit("*")).otherwise(pl.lit(""))
        cell = pl.format("{}{}", (100 * pl.col("good")).round(1), mark)
        wide = shares.select("phenomenon", "n", "filter", cell=cell)
        wide = wide.pivot("filter", index=["phenomenon", "n"], values="cell").cast(pl.String)
        note = "Good sentences that a filter removes, in percent; *: its target phenomena."
        terminal.show(suite, wide.columns, wide.iter_rows(), notes=[note])

    def _filters(self, corpus: str | None = None) -> list[Filter]:
        """Return the named filters; default: those of all conditions (of a corpus).

        Raises:
            PoshgridError: a filter or reading is unknown, or no condition has filters.
        """
        from pydantic import ValidationError

        from poshgrid.config import Filter

        rewriters = plugins.names(plugins.REWRITERS)
        words = [word for word in self.words or () if word not in rewriters]
        for word in words:
            known = [*plugins.names(plugins.FILTERS), *rewriters]
            check_known("--filter: unknown filter or rewriter", word.partition(".")[0], known)
        try:
            named = [Filter.model_validate(word) for word in words]
        except ValidationError as error:
            reason = error.errors()[0]["msg"].removeprefix("Value error, ")
            raise PoshgridError(f"--filter: {reason}") from error
        if not self.words:
            conditions = self.grid.conditions.values()
            kept = (candidate for candidate in conditions if corpus in (None, candidate.corpus))
            named = sorted((used for condition in kept for used in condition.filters), key=str)
        if not named and not self._rewriters(corpus):
            raise PoshgridError("no condition has filters or rewriters; name one with --filter")
        return list({str(used): used for used in named}.values())

    def _rewriters(self, corpus: str | None = None) -> list[str]:
        """Return the rewriters that are named; default: those of the conditions (of a corpus)."""
        if self.words:
            return [word for word in self.words if word in plugins.names(plugins.REWRITERS)]
        conditions = self.grid.conditions.values()
        kept = (candidate for candidate in conditions if corpus in (None, candidate.corpus))
        return sorted({name for condition in kept for name in condition.rewrite})

    def _parser(self) -> Parser:
        name = self.grid.evidence_parsers()[0] if self.parser is None else self.parser
        check_known("unknown parser", name, self.grid.parsers)
        return self.grid.parsers[name]

    def _parser_folder(self) -> tuple[Parser, Path]:
        """Return a parser, by default the one that decides, and the folder of its model.

        Raises:
            PoshgridError: the configuration has no such parser, or it is not trained yet.
        """
        parser = self._parser()
        own = Path(self.grid.config.data, parser.model) if parser.model else None
        folder = own or Path(self.grid.paths.parser(parser.name))
        if not folder.exists():
            remedy = (
                "fix parsers[].model" if own else f"{self._run(folder / 'manifest.json')} trains it"
            )
            raise PoshgridError(f"{folder}: no model of parser {parser.name!r}; {remedy}")
        return parser, folder

    def _run(self, target: Path) -> str:
        """Return the command that makes a file, in backticks."""
        words = ["poshgrid", "run", str(target), "--configfile", *map(str, self.configs)]
        words += ["--config", f"results={self.results}"] if self.results else []
        return f"`{shlex.join(words)}`"


@command("poshgrid leak-rate results/pilot/audit/baby-f/300K/leakage.csv", rare=True)
def leak_rate(
    sheet: Annotated[Path, typer.Argument(help="A sheet with its labels filled in")],
    second: Annotated[
        Path | None, typer.Argument(help="Another person's copy: show how far they agree")
    ] = None,
) -> None:
    """Report the leak rate in an annotated sheet, with its interval."""
    from poshgrid.quality.audit.rate import agreement, lines, rate

    for path in filter(None, (sheet, second)):
        for line in lines(path, rate(path)):
            typer.echo(line)
    if second is not None:
        both, equal, kappa = agreement(sheet, second)
        typer.echo(
            f"both labelled {both:,} sentences: {equal:.1%} alike, Cohen's kappa {kappa:.3f}"
        )
