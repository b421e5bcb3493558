"""Stages of direct evidence, the conditions that differ in it, and sheets for people to label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from poshgrid.config import specs
from poshgrid.core import plugins
from poshgrid.core.plugins import ENGINES, FILTERS, REWRITERS
from poshgrid.stages.corpora import Parse
from poshgrid.stages.stage import PATHS, Files, Stage, Wildcards


def filter_modules(words: Iterable[str]) -> list[str]:
    """Return the modules of filters."""
    return [plugins.module_name(FILTERS, word) for word in words]


class Evidence(Stage):
    """Label the direct evidence in a corpus's sentences."""

    function = "poshgrid.evidence.label.label"
    output = str(Path(PATHS.evidence("{corpus}", "{parser}")).parent)
    outputs = ("evidence.parquet", "evidence.json")
    external = ("word_lists",)
    takes = lambda job: (
        job.spec, job.path("sentences"), job.files("parses"), job.output / "evidence.parquet",
    )  # fmt: skip

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return sentences, parses and the filters' word lists."""
        return {
            "sentences": self.paths.sentences(wc.corpus),
            "parses": self.shards(wc.corpus, wc.parser),
            "word_lists": self.word_lists(self.grid.filters(wc.corpus)),
        }

    def spec(self, wc: Wildcards) -> specs.EvidenceSpec:
        """Return the filters."""
        return specs.EvidenceSpec(filters=self.grid.filters(wc.corpus))

    def modules(self, wc: Wildcards) -> Sequence[str]:
        """Return the filters' modules."""
        return [self.module, *filter_modules(self.grid.filters(wc.corpus))]


class Recall(Stage):
    """Measure how much evidence in gold trees a parser finds."""

    function = "poshgrid.evidence.recall.recall"
    reads_data = True
    output = str(Path(PATHS.recall("{parser}")).parent)
    outputs = ("recall.parquet", "recall.json")
    external = ("model", "gold", "word_lists")
    arguments = Parse.arguments
    minutes = 240
    takes = lambda job: (
        job.spec, job.data, Path(job.arguments["model"]),
        next((file.parent for file in job.files("treebank")), None),
        job.output / "recall.parquet",
    )  # fmt: skip

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return gold trees, the parser and what it was trained on, and word lists."""
        model = self.grid.parsers[wc.parser].model
        seen = None if model else self.paths.treebank(wc.parser)
        return {
            **self.parser_files(wc.parser),
            "treebank": [f"{seen}/{split}.conllu" for split in ("train", "dev")] if seen else [],
            "gold": self.trees(self.grid.config.evidence.gold),
            "word_lists": self.word_lists(self.grid.every_filter),
        }

    def spec(self, wc: Wildcards) -> specs.RecallSpec:
        """Return the parser, the filters and the names of the gold trees."""
        return specs.RecallSpec(
            parser=self.grid.parsers[wc.parser],
            filters=self.grid.every_filter,
            gold=sorted(self.grid.config.evidence.gold),
        )

    def modules(self, wc: Wildcards) -> Sequence[str]:
        """Return the engine and the filters' modules."""
        engine = plugins.module_name(ENGINES, self.grid.parsers[wc.parser].engine)
        return [self.module, engine, *filter_modules(self.grid.every_filter)]


class Condition(Stage):
    """Build a training corpus: a corpus without its evidence, plus what is put back."""

    function = "poshgrid.evidence.condition.build"
    output = PATHS.condition("{condition}", "{size}")
    outputs = ("train.parquet", "dev.parquet", "test.parquet", "statistics.json")
    takes = lambda job: (
        job.spec, job.path("sentences"), job.file("evidence"), job.output,
        job.arguments.get("allow", ()), job.files("parses"),
    )  # fmt: skip

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the corpus's sentences and the deciding parser's labels."""
        parses = []
        if self.grid.rewriters(wc.condition):
            corpus, parser = self.grid.corpus_of(wc.condition).name, self.grid.evidence_parsers()[0]
            parses = self.shards(corpus, parser)
        return {
            "sentences": self.whole(wc.condition),
            "evidence": self.labels(wc.condition),
            **({"parses": parses} if parses else {}),
        }

    def spec(self, wc: Wildcards) -> specs.ConditionSpec:
        """Return the settings that the condition's sentences depend on."""
        return self.grid.condition_spec(wc.condition, wc.size)

    def modules(self, wc: Wildcards) -> Sequence[str]:
        """Return the module that builds the condition, and the rewriters."""
        words = self.grid.rewriters(wc.condition)
        return [self.module, *(plugins.module_name(REWRITERS, word) for word in words)]

    def arguments(self, wc: Wildcards) -> dict[str, Any]:
        """Return the checks that may fail."""
        allow = self.grid.conditions[wc.condition].allow
        return {"allow": allow} if allow else {}


class SideEffects(Stage):
    """Count what else a condition loses with its evidence."""

    function = "poshgrid.evidence.side_effects.side_effects"
    output = PATHS.side_effects("{condition}", "{size}")
    outputs = ("side_effects.parquet",)
    takes = lambda job: (
        job.spec, job.folder("condition"), job.path("sentences"), job.path("evidence"),
        job.output,
    )  # fmt: skip

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the condition, and the sentences and labels of its corpus."""
        folder = self.paths.condition(wc.condition, wc.size)
        return {
            "condition": [f"{folder}/train.parquet", f"{folder}/statistics.json"],
            "sentences": self.whole(wc.condition),
            "evidence": self.labels(wc.condition),
        }

    def spec(self, wc: Wildcards) -> specs.SideEffectsSpec:
        """Return the condition's spec and the language."""
        own = self.grid.condition_spec(wc.condition, wc.size).model_dump()
        return specs.SideEffectsSpec(**own, language=self.grid.config.language)


class Audit(Stage):
    """Draw sheets of sentences for people to judge."""

    function = "poshgrid.quality.audit.draw.draw"
    output = PATHS.audit("{condition}", "{size}")
    # The sheets are not declared, because Snakemake would delete those that people have filled in.
    outputs = ("statistics.json",)
    external = ("word_lists",)
    editable = ("*.csv",)
    takes = SideEffects.takes

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the condition, its corpus and labels, and word lists."""
        word_lists = self.word_lists(self.grid.conditions[wc.condition].words)
        return SideEffects.inputs(self, wc) | {"word_lists": word_lists}  # type: ignore[arg-type]

    def spec(self, wc: Wildcards) -> specs.AuditSpec:
        """Return the filters, and how many sentences to draw."""
        audit = self.grid.config.audit
        return specs.AuditSpec(
            condition=wc.condition,
            size=wc.size,
            filters=self.grid.conditions[wc.condition].filters,
            rewrite=bool(self.grid.conditions[wc.condition].rewrite),
            whole=audit.whole,
            sample=audit.sample,
            language=self.grid.parsers[self.grid.evidence_parsers()[0]].language,
        )

    def modules(self, wc: Wildcards) -> Sequence[str]:
        """Return the filters' modules, whose candidates are drawn."""
        return [self.module, *filter_modules(self.grid.conditions[wc.condition].words)]


STAGES = (Evidence, Recall, Condition, SideEffects, Audit)
