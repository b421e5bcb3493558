"""Stages of items, heuristics' choices, suites' quality, and models' scores and perplexities."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from poshgrid.config import Scoring, specs
from poshgrid.config.evaluation import TOP_K
from poshgrid.config.runs import SCORED, Run
from poshgrid.core import plugins
from poshgrid.core.plugins import ARCHITECTURES, HEURISTICS, SUITES
from poshgrid.models.training import builder
from poshgrid.stages.models import RUN
from poshgrid.stages.stage import PATHS, Files, Job, Stage, Wildcards


def judging(stage: Stage) -> Scoring:
    """Return the part of the scoring that judgements depend on."""
    return Scoring(reduction=stage.grid.config.scoring.reduction)


class Items(Stage):
    """Make or read the items of a suite."""

    function = "poshgrid.benchmark.items.generate"
    reads_data = True
    output = str(Path(PATHS.items("{suite}")).parent)
    outputs = ("items.parquet",)
    external = ("files",)
    memory_mb = 24000  # n-gram models of generated items: 3 GB for 100M words
    takes = lambda job: (
        job.spec, job.data, job.named("corpora"),
        {name: path.parent for name, path in job.named("ngrams").items()},
        job.output / "items.parquet",
    )  # fmt: skip

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the suite's files, and the corpora from which its items are generated."""
        files: dict[str, Files] = {"files": self.of_reader(SUITES, self.grid.suites[wc.suite])}
        if self.grid.suites[wc.suite].generated:
            corpora = self.grid.counted_corpora()
            folders = {name: self.paths.ngrams(*name.split("/")) for name in corpora}
            files["corpora"] = self.grid.vocabularies()
            files["ngrams"] = {
                name: f"{folder}/model.safetensors" for name, folder in folders.items()
            }
        return files

    def spec(self, wc: Wildcards) -> specs.ItemsSpec:
        """Return the suite, and the size of the lexicon if items are generated."""
        suite = self.grid.suites[wc.suite].model_copy(update={"masked": None})
        return specs.ItemsSpec(suite=suite, top_k=TOP_K if suite.generated else None)

    def modules(self, wc: Wildcards) -> Sequence[str]:
        """Return the module of the stage and the suite's reader."""
        reader = self.grid.suites[wc.suite].reader
        return [self.module, plugins.module_name(SUITES, reader)]


class HeuristicChoices(Stage):
    """Write which member of each pair simple heuristics prefer."""

    function = "poshgrid.evaluation.heuristics.table.write"
    output = PATHS.all_heuristics()
    external = ("lexicon",)
    takes = lambda job: (job.named("items"), job.output, job.spec.language)

    @property
    def outputs(self) -> Sequence[str]:  # type: ignore[override]
        """Return a table for each suite of pairs."""
        return [f"{suite}.parquet" for suite in self.grid.pairs]

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the items and the lexicon."""
        return {"items": self.items(), "lexicon": self.lexicon()}

    def modules(self, wc: Wildcards) -> Sequence[str]:
        """Return the module of the stage and the heuristics."""
        names = plugins.names(HEURISTICS)
        return [self.module, *(plugins.module_name(HEURISTICS, word) for word in names)]

    def spec(self, wc: Wildcards) -> specs.HeuristicsSpec:
        """Return the language of the items."""
        return specs.HeuristicsSpec(language=self.grid.config.language)


class Quality(Stage):
    """Check the pairs of a suite."""

    function = "poshgrid.quality.checks.check_suite"
    output = PATHS.quality("{target}", "{suite}")
    outputs = ("quality.json", "faults.csv")
    external = ("lexicon",)
    takes = lambda job: (
        job.spec, job.path("items"), job.named("corpora"), job.named("train"), job.output,
    )  # fmt: skip

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the items and the texts."""
        cells = self.grid.cells(wc.target)
        return {
            "items": self.paths.items(wc.suite),
            "corpora": self.grid.vocabularies(),
            "train": {f"{c}/{s}": f"{self.paths.condition(c, s)}/train.parquet" for c, s in cells},
            "lexicon": self.lexicon(),
        }

    def spec(self, wc: Wildcards) -> specs.QualitySpec:
        """Return the suite, and how many types of a corpus count as frequent."""
        generated = self.grid.suites[wc.suite].generated
        return specs.QualitySpec(suite=wc.suite, generated=generated, top_k=TOP_K)


class Score(Stage):
    """Score every suite with one model."""

    function = "poshgrid.evaluation.score.score"
    output = PATHS.score_folder(RUN)
    external: ClassVar[Sequence[str]] = ("pretrained",)
    minutes = 120
    takes = lambda job: (
        job.spec, job.arguments["model"], job.named("items"),
        {suite: job.output / f"{suite}.parquet" for suite in job.named("items")},
    )  # fmt: skip

    @property
    def outputs(self) -> Sequence[str]:  # type: ignore[override]
        """Return a table for each suite."""
        return [f"{suite}.parquet" for suite in self.grid.suites]

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the model (one from outside is called ``pretrained``) and the items."""
        suites = {suite: self.paths.items(suite) for suite in self.grid.suites}
        run = Run.of(wc)
        return {"pretrained" if run.recipe in SCORED else "model": self.model(run), "items": suites}

    def spec(self, wc: Wildcards) -> specs.ScoreSpec:
        """Return how models are scored, without how two scores are compared."""
        run = Run.of(wc)
        scoring = self.grid.config.scoring.model_copy(update={"reduction": "mean"})
        hub = revision = None
        if run.recipe in SCORED:
            model = self.grid.pretrained_runs[run]
            hub = None if self.pretrained_folder(run) else model.path
            revision = model.revision
        return specs.ScoreSpec(
            scoring=scoring,
            tasks=self.grid.tasks,  # type: ignore[arg-type]  # plug-ins' words: the spec checks
            hub=hub,
            revision=revision,
            rescored=self.grid.rescored,
        )

    def arguments(self, wc: Wildcards) -> dict[str, Any]:
        """Return the model's folder or id, and its checkpoints, which are also scored."""
        run = Run.of(wc)
        model: object = self.paths.model(run.name)
        if run.recipe in SCORED:
            model = self.pretrained_folder(run) or self.grid.pretrained_runs[run].path
        recipe = self.grid.recipes.get(wc.recipe)
        kept = [recipe.checkpoints, recipe.checkpoint_epochs] if recipe else []
        return {"model": str(model), "checkpoints": kept}


class Untrained(Score):
    """Score an untrained model, which is not kept, because its seed determines its weights."""

    external = ()

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return tokenizer and items."""
        return {
            "tokenizer": self.tokenizer(wc.condition, wc.size),
            "items": super().inputs(wc)["items"],
        }

    def spec(self, wc: Wildcards) -> specs.UntrainedSpec:  # type: ignore[override]
        """Return the model and how it is scored."""
        run = Run.of(wc)
        return specs.UntrainedSpec(
            model=self.grid.models[run.model], seed=run.seed, score=super().spec(wc)
        )

    def modules(self, wc: Wildcards) -> Sequence[str]:
        """Return the modules that initialise and score the model."""
        architecture = self.grid.models[wc.model].architecture
        return [self.module, builder.__name__, plugins.module_name(ARCHITECTURES, architecture)]

    def arguments(self, wc: Wildcards) -> dict[str, Any]:
        """Return no arguments."""
        return {}

    @staticmethod
    def run(job: Job) -> dict[str, Any]:
        """Initialise the model and score it."""
        with tempfile.TemporaryDirectory() as folder:
            builder.initialise(job.spec.model, job.spec.seed, job.folder("tokenizer"), Path(folder))
            return Score.run(replace(job, spec=job.spec.score, arguments={"model": folder}))


class Perplexity(Stage):
    """Measure a model's perplexity on unfiltered test sentences."""

    function = "poshgrid.evaluation.perplexity.perplexity"
    output = str(Path(PATHS.perplexity(RUN)).parent)
    outputs = ("perplexity.json",)
    takes = lambda job: (
        job.spec, job.folder("model"), job.path("sentences"), job.output / "perplexity.json",
    )  # fmt: skip

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the model and the sentences of its corpus."""
        return {"model": self.model(Run.of(wc)), "sentences": self.whole(wc.condition)}

    def spec(self, wc: Wildcards) -> specs.PerplexitySpec:
        """Return how models are scored, without the settings that only concern minimal pairs."""
        scoring = self.grid.config.scoring.model_copy(
            update={"reduction": "mean", "bos": True}
            | {"masked": "pseudo-log-likelihood", "decoding_seed": None}
        )
        return specs.PerplexitySpec(scoring=scoring, tested=self.grid.corpus_of(wc.condition).name)


STAGES = (Items, HeuristicChoices, Quality, Score, Untrained, Perplexity)
