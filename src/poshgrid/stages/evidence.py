"""Direct evidence, the conditions that differ in it, and sheets for people to label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from poshgrid import plugins
from poshgrid.config import specs
from poshgrid.corpora import conservation
from poshgrid.evidence.screening.screen import lexical
from poshgrid.plugins import ENGINES, FILTERS
from poshgrid.stages.stage import PATHS, Files, Job, Stage, Wildcards


def filter_modules(words: Iterable[str]) -> list[str]:
    """Return the modules of filters, and of their lexical tests."""
    names = list(words)
    return [
        *(plugins.module_name(FILTERS, word) for word in names),
        *(lexical(word).__name__ for word in names),
    ]


class Evidence(Stage):
    """Label the direct evidence in a corpus's sentences."""

    module = "poshgrid.evidence.label"
    output = PATHS.evidence("{corpus}", "{parser}")
    suffixes = (".parquet", ".json")
    Spec = specs.EvidenceSpec
    external = ("word_lists",)
    memory_mb = 8000

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return sentences, parses and the filters' word lists."""
        return {
            "sentences": self.paths.sentences(wc.corpus),
            "parses": self.files.shards(wc.corpus, wc.parser),
            "word_lists": self.files.word_lists(self.grid.filters(wc.corpus)),
        }

    def spec(self, wc: Wildcards) -> specs.EvidenceSpec:
        """Return the filters."""
        return specs.EvidenceSpec(filters=self.grid.filters(wc.corpus))

    def modules(self, wc: Wildcards) -> Sequence[str]:
        """Return the filters' modules."""
        return [self.module, *filter_modules(self.grid.filters(wc.corpus))]

    @staticmethod
    def run(job: Job) -> dict[str, Any]:
        """Label the sentences."""
        from poshgrid.evidence.label import label

        sentences, parses = job.path("sentences"), job.files("parses")
        return label(job.spec, sentences, parses, job.output, job.threads)


class Recall(Stage):
    """Count how much evidence in gold trees a parser finds."""

    module = "poshgrid.evidence.recall"
    reads_data = True
    output = PATHS.recall("{parser}")
    suffixes = (".parquet", ".json")
    Spec = specs.RecallSpec
    external = ("model", "gold", "word_lists")
    memory_mb = 8000
    minutes = 240

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return gold trees, the parser and what it was trained on, and word lists."""
        return {
            "parser": self.files.trained_parser(wc.parser),
            "model": self.files.given_parser(wc.parser),
            "treebank": self.files.seen_trees(wc.parser),
            "gold": self.files.gold(),
            "word_lists": self.files.word_lists(self.grid.every_filter),
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

    def arguments(self, wc: Wildcards) -> dict[str, Any]:
        """Return the folder of the parser."""
        return {"model": self.files.parser_folder(wc.parser)}

    @staticmethod
    def run(job: Job) -> dict[str, Any]:
        """Parse the gold trees' sentences and compare."""
        from poshgrid.evidence.recall import recall

        seen = job.file("treebank")
        return recall(
            job.spec,
            job.data,
            Path(job.arguments["model"]),
            seen.parent if seen else None,
            job.output,
        )


class Condition(Stage):
    """Build a training corpus: a corpus without its evidence, plus what is put back."""

    module = "poshgrid.evidence.condition"
    output = PATHS.condition("{condition}", "{size}")
    Spec = specs.ConditionSpec
    outputs = ("train.parquet", "dev.parquet", "test.parquet", "statistics.json")
    external = ("sentences",)

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the corpus's sentences and labels, or ready files."""
        return {
            "sentences": self.files.condition(wc.condition, wc.size),
            "evidence": self.files.labels(wc.condition),
        }

    def spec(self, wc: Wildcards) -> specs.ConditionSpec:
        """Return what the condition's sentences depend on."""
        return self.grid.condition_spec(wc.condition, wc.size)

    def modules(self, wc: Wildcards) -> Sequence[str]:
        """Return what builds the condition, from its corpus or of ready files."""
        ready = self.grid.conditions[wc.condition].prebuilt
        return ["poshgrid.evidence.prebuilt" if ready else self.module]

    def arguments(self, wc: Wildcards) -> dict[str, Any]:
        """Return the checks that may fail; of ready files, the folder and their corpus."""
        allow = self.grid.conditions[wc.condition].allow
        arguments: dict[str, Any] = {"allow": allow} if allow else {}
        if folder := self.files.ready(wc.condition, wc.size):
            arguments["prebuilt"] = str(folder)
            arguments["whole"] = conservation.asked(self.grid.corpus_of(wc.condition), wc.size)
            arguments["fewer"] = self.grid.facts(wc.condition, wc.size).filtered
        return arguments

    @staticmethod
    def run(job: Job) -> dict[str, Any]:
        """Build the condition."""
        from poshgrid.evidence import condition, prebuilt

        arguments = dict(job.arguments)
        if folder := arguments.pop("prebuilt", None):
            return prebuilt.build(job.spec, Path(folder), job.output, **arguments)
        sentences, labels = job.path("sentences"), job.file("evidence")
        return condition.build(job.spec, sentences, labels, job.output, **arguments)


class SideEffects(Stage):
    """Count what else a condition lost with the evidence that was removed."""

    module = "poshgrid.evidence.side_effects"
    output = PATHS.side_effects("{condition}", "{size}")
    Spec = specs.SideEffectsSpec
    outputs = ("side_effects.parquet",)

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the condition, and the sentences and labels of its corpus."""
        folder = self.paths.condition(wc.condition, wc.size)
        return {
            "condition": [f"{folder}/train.parquet", f"{folder}/statistics.json"],
            "sentences": self.files.whole(wc.condition),
            "evidence": self.files.labels(wc.condition),
        }

    def spec(self, wc: Wildcards) -> specs.ConditionSpec:
        """Return the condition's own."""
        return self.grid.condition_spec(wc.condition, wc.size)

    @staticmethod
    def run(job: Job) -> dict[str, Any]:
        """Count the losses."""
        from poshgrid.evidence.side_effects import side_effects

        sentences, labels = job.path("sentences"), job.path("evidence")
        return side_effects(job.spec, job.folder("condition"), sentences, labels, job.output)


class Audit(Stage):
    """Draw sheets of sentences for people to judge."""

    module = "poshgrid.audit.draw"
    output = PATHS.audit("{condition}", "{size}")
    Spec = specs.AuditSpec
    # The sheets are not declared: Snakemake would delete those that people have filled in.
    outputs = ("statistics.json",)
    external = ("word_lists",)
    editable = ("*.csv",)

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the condition, its corpus and labels, and word lists."""
        word_lists = self.files.word_lists(self.grid.conditions[wc.condition].words)
        return SideEffects.inputs(self, wc) | {"word_lists": word_lists}  # type: ignore[arg-type]

    def spec(self, wc: Wildcards) -> specs.AuditSpec:
        """Return the filters, and how many sentences are drawn."""
        audit = self.grid.config.audit
        return specs.AuditSpec(
            condition=wc.condition,
            size=wc.size,
            filters=self.grid.conditions[wc.condition].filters,
            whole=audit.whole,
            sample=audit.sample,
        )

    def modules(self, wc: Wildcards) -> Sequence[str]:
        """Return the filters' lexical tests."""
        words = self.grid.conditions[wc.condition].words
        return [self.module, *(lexical(word).__name__ for word in words)]

    @staticmethod
    def run(job: Job) -> dict[str, Any]:
        """Draw the sheets."""
        from poshgrid.audit.draw import draw

        return draw(
            job.spec,
            job.folder("condition"),
            job.path("sentences"),
            job.path("evidence"),
            job.output,
        )


STAGES = (Evidence, Recall, Condition, SideEffects, Audit)
