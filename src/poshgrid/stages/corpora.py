"""Stages of corpora and parsing: sources, corpora, gold trees, parsers and parses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from poshgrid.config import specs
from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.core.plugins import ENGINES, READERS
from poshgrid.parsing.treebank import components
from poshgrid.stages.stage import PATHS, Files, Stage, Wildcards


class Read(Stage):
    """Read one source and clean it into sentences."""

    function = "poshgrid.corpora.read.read_source"
    reads_data = True
    output = str(Path(PATHS.source("{source}")).parent)
    outputs = ("sentences.parquet", "statistics.json")
    external = ("files",)
    takes = lambda job: (job.spec, job.data, job.output / "sentences.parquet")

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the files of the source."""
        return {"files": self.of_reader(READERS, self.grid.sources[wc.source])}

    def spec(self, wc: Wildcards) -> specs.SourceSpec:
        """Return the source."""
        return specs.SourceSpec(source=self.grid.sources[wc.source])

    def modules(self, wc: Wildcards) -> Sequence[str]:
        """Return the reader."""
        return [self.module, plugins.module_name(READERS, self.grid.sources[wc.source].reader)]


class Mix(Stage):
    """Mix sources into a corpus, nested over sizes."""

    function = "poshgrid.corpora.mix.mix"
    output = str(Path(PATHS.sentences("{corpus}")).parent)
    outputs = ("sentences.parquet", "statistics.json")
    takes = lambda job: (job.spec, job.named("sources"), job.output / "sentences.parquet")

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the sentences of the corpus's sources."""
        names = [portion.source for portion in self.grid.corpora[wc.corpus].sources]
        return {"sources": {name: self.paths.source(name) for name in names}}

    def spec(self, wc: Wildcards) -> specs.CorpusSpec:
        """Return the corpus and its sizes."""
        corpus = self.grid.corpora[wc.corpus]
        return specs.CorpusSpec(corpus=corpus, sizes=self.grid.sizes(wc.corpus))


class Treebank(Stage):
    """Prepare the gold trees that a parser is trained and tested on."""

    function = "poshgrid.parsing.treebank.prepare"
    reads_data = True
    output = PATHS.treebank("{parser}")
    outputs = ("train.conllu", "dev.conllu", "test.conllu")
    external = ("files",)
    takes = lambda job: (job.spec, job.data, job.output)

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the CoNLL-U files."""
        return {"files": self.trees(components(self.spec(wc).treebank))}

    def spec(self, wc: Wildcards) -> specs.TreebankSpec:
        """Return the treebank.

        Raises:
            PoshgridError: the parser has no treebank.
        """
        treebank = self.grid.parsers[wc.parser].treebank
        if treebank is None:
            raise PoshgridError(f"parsers: {wc.parser}: has no treebank")
        return specs.TreebankSpec(treebank=treebank)


class TrainParser(Stage):
    """Train a dependency parser and test it on held-out trees."""

    function = "poshgrid.parsing.train.train"
    output = PATHS.parser("{parser}")
    outputs = ("evaluation.json",)
    minutes = 240
    costly = True
    takes = lambda job: (job.spec, job.folder("treebank"), job.output)

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the trees."""
        folder = self.paths.treebank(wc.parser)
        return {"treebank": [f"{folder}/{name}" for name in Treebank.outputs]}

    def spec(self, wc: Wildcards) -> specs.ParserSpec:
        """Return the parser."""
        return specs.ParserSpec(parser=self.grid.parsers[wc.parser])

    def modules(self, wc: Wildcards) -> Sequence[str]:
        """Return the engine."""
        return [self.module, plugins.module_name(ENGINES, self.grid.parsers[wc.parser].engine)]


class Parse(Stage):
    """Parse one shard of a corpus."""

    function = "poshgrid.parsing.parse.parse"
    output = str(Path(PATHS.parses("{corpus}", "{parser}", "{shard}")).parent)
    outputs = ("parses.parquet",)
    external = ("model",)
    modules = TrainParser.modules
    minutes = 240
    costly = True
    takes = lambda job: (
        job.spec, job.path("sentences"), Path(job.arguments["model"]),
        job.output / "parses.parquet",
    )  # fmt: skip

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return sentences and the parser."""
        return {
            "sentences": self.paths.sentences(wc.corpus),
            **self.parser_files(wc.parser),
        }

    def spec(self, wc: Wildcards) -> specs.ParseSpec:
        """Return the parser and the shard."""
        return specs.ParseSpec(
            parser=self.grid.parsers[wc.parser],
            shard=int(wc.shard),
            shards=self.grid.shards(wc.corpus),
        )

    def arguments(self, wc: Wildcards) -> dict[str, Any]:
        """Return the folder of the parser."""
        return {"model": self.parser_folder(wc.parser)}


STAGES = (Read, Mix, Treebank, TrainParser, Parse)
