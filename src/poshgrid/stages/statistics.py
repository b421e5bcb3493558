"""Stages of a target's statistics, and of its report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import poshgrid
from poshgrid.benchmark.reading import table10
from poshgrid.config import specs
from poshgrid.config.runs import COUNTED, GIVEN, UNTRAINED
from poshgrid.config.sizes import words
from poshgrid.core import plugins, resources
from poshgrid.core.plugins import SECTIONS
from poshgrid.grid import filtering
from poshgrid.stages.scoring import HeuristicChoices, judging
from poshgrid.stages.stage import PATHS, Files, Job, Stage, Wildcards, relative


def tables(*names: str) -> tuple[str, ...]:
    """Return the files of tables, each as Parquet and as CSV."""
    return tuple(f"{name}.{kind}" for name in names for kind in ("parquet", "csv"))


class Accuracy(Stage):
    """Count correct judgements; compare them with chance and with the choices of heuristics."""

    function = "poshgrid.statistics.accuracy.accuracy"
    output = PATHS.statistics("{target}")
    outputs = ("counts.parquet", *tables("accuracy", "heuristic_agreement"))
    external = ("lexicon",)
    modules = HeuristicChoices.modules
    takes = lambda job: (
        job.spec, Path(job.paths.all_scores()), job.named("items"),
        Path(job.paths.all_conditions()) if job.files("conditions") else None,
        job.output, job.named("heuristics"), job.arguments.get("sums", True),
        Path(job.paths.all_models()),
    )  # fmt: skip

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return what is judged, what heuristics and baselines read, and words of conditions."""
        return {
            "items": self.items(),
            "heuristics": {suite: self.paths.heuristics(suite) for suite in self.grid.pairs},
            "scores": self.scores(self.grid.runs(wc.target), *self.grid.pairs),
            "unigrams": [
                f"{self.paths.model(run.name)}/model.safetensors"
                for run in self.grid.runs(wc.target)
                if (run.recipe, run.model) == (COUNTED, "unigram")
            ],
            "lexicon": self.lexicon(),
            "conditions": [
                f"{self.paths.condition(*cell)}/statistics.json"
                for cell in self.grid.cells(wc.target)
            ],
        }

    def spec(self, wc: Wildcards) -> specs.JudgementSpec:
        """Return the runs, the facts of their cells, and how two scores are compared."""
        return specs.JudgementSpec(
            scoring=judging(self),
            runs=[run.name for run in self.grid.runs(wc.target)],
            cells=self.grid.cell_facts(wc.target) | self.grid.pretrained_facts(),
        )


class Curves(Stage):
    """Write accuracies by step and epoch, and a table about training."""

    function = "poshgrid.statistics.curves.curves"
    output = PATHS.curves("{target}")
    spec = Accuracy.spec
    outputs = tables("curves", "training")
    takes = lambda job: (
        job.spec, Path(job.paths.all_scores()), Path(job.paths.all_models()), job.named("items"),
        job.output,
    )  # fmt: skip

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the items, the scores of trained runs, and their logs."""
        trained = [run for run in self.grid.made(wc.target) if run.recipe != COUNTED]
        return {
            "items": self.items(),
            "scores": self.scores(trained, *self.grid.pairs),
            "training": [
                f"{self.paths.model(run.name)}/{name}"
                for run in self.grid.targets.get(wc.target, [])
                for name in ("statistics.json", "training.jsonl")
            ],
        }


class Fit(Stage):
    """Fit a Bayesian mixed model to the counts."""

    function = "poshgrid.statistics.fit.fit"
    output = PATHS.fit("{target}", "{regression}")
    outputs = (
        "posterior.nc",
        *tables("summary", "contrasts", "predictive"),
        "diagnostics.json",
    )
    minutes = 120
    costly = True
    takes = lambda job: (job.spec, job.path("counts"), job.output, job.threads)

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the counts."""
        return {"counts": f"{self.paths.statistics(wc.target)}/counts.parquet"}

    def spec(self, wc: Wildcards) -> specs.RegressionSpec:
        """Return the regression."""
        return specs.RegressionSpec(model=self.grid.regressions[wc.regression])


class Deltas(Stage):
    """Compare filtered models with full ones."""

    function = "poshgrid.statistics.deltas.deltas"
    output = PATHS.deltas("{target}")
    outputs = tables("deltas", "delta_tests", "perplexity")
    takes = lambda job: (
        job.spec, Path(job.paths.all_scores()), job.named("items"), job.named("perplexity"),
        job.output,
    )  # fmt: skip

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the items, scores and perplexities of runs that only differ in filtering."""
        read = filtering.with_perplexity(self.grid, wc.target)
        return {
            "items": self.items(),
            "scores": self.scores(filtering.runs(self.grid, wc.target), *self.grid.pairs),
            "perplexity": {run.name: self.paths.perplexity(run.name) for run in read},
        }

    def spec(self, wc: Wildcards) -> specs.DeltasSpec:
        """Return the runs, which conditions are compared, and the filters' target phenomena."""
        full = filtering.full(self.grid, wc.target)
        aims = {name: filtering.aims(self.grid.conditions[name]) for name in full}
        return specs.DeltasSpec(
            scoring=judging(self),
            runs=[run.name for run in filtering.runs(self.grid, wc.target)],
            full=full,
            targets={
                name: sorted({p for phenomena in aims[name].values() for p in phenomena})
                for name in full
            },
            perplexity=[run.name for run in filtering.with_perplexity(self.grid, wc.target)],
        )


class Measures(Stage):
    """Write the results for a suite of paradigms, choices or completions."""

    function = "poshgrid.statistics.measures.paradigms.write"
    output = PATHS.measures("{target}", "{suite}")
    outputs = tables("measures")
    external = ("norms",)

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the items, scores and norms."""
        norms = self.grid.suites[wc.suite].norms
        return {
            "items": self.paths.items(wc.suite),
            "scores": self.scores(self.grid.runs(wc.target), wc.suite),
            "norms": [relative(Path(self.grid.config.data, norms))] if norms else [],
        }

    def spec(self, wc: Wildcards) -> specs.MeasuresSpec:
        """Return the suite's task and the runs."""
        return specs.MeasuresSpec(
            suite=wc.suite,
            task=self.grid.suites[wc.suite].task,  # type: ignore[arg-type]  # the spec checks
            runs=[run.name for run in self.grid.runs(wc.target)],
        )

    def modules(self, wc: Wildcards) -> Sequence[str]:
        """Return the measures of every task."""
        return [self.module, "poshgrid.statistics.measures.choices"]

    @staticmethod
    def run(job: Job) -> dict[str, Any]:
        """Write the measures."""
        from poshgrid.statistics.measures import choices, paradigms

        files = job.spec, Path(job.paths.all_scores()), job.path("items"), job.output
        if job.spec.task == "paradigms":
            return paradigms.write(*files)
        return choices.write(*files, job.file("norms"))


class Report(Stage):
    """Write the report of a target."""

    function = "poshgrid.report.page.write"
    output = PATHS.report("{target}")
    outputs = ("index.html",)
    external = ("page",)
    takes = lambda job: (job.spec, Path(job.paths.results), job.output)

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return everything that the page shows, and its templates and styles."""
        # Templates, styles and the bibliography are not Python, so their content is digested here.
        files = *resources.study("*", "published/*/*.csv"), *resources.study("*", "children.csv")
        folder = Path(relative(Path(poshgrid.__file__).parent), "report")
        page = sorted(
            str(path)
            for path in folder.rglob("*.*")
            if path.suffix not in (".py", ".pyc") and path.is_file()
        )
        page += map(relative, (table10.file(), *files))
        return {"shown": self._shown(wc.target), "page": page}

    def _shown(self, target: str) -> list[str]:
        """Return everything that a target's page shows."""
        grid, paths = self.grid, self.paths
        cells = [cell for cell in grid.cells(target) if cell in grid.tokenized(target)]
        parsed = grid.parsed_corpora(target)
        parsers = grid.evidence_parsers() if parsed else []
        return [
            *(f"{paths.statistics(target)}/accuracy.parquet" for _ in grid.pairs[:1]),
            *(f"{paths.quality(target, suite)}/quality.json" for suite in grid.pairs),
            *(f"{paths.measures(target, suite)}/measures.parquet" for suite in grid.measured),
            *(f"{paths.curves(target)}/curves.parquet" for _ in grid.pairs[:1] if cells),
            *(
                f"{paths.deltas(target)}/deltas.parquet"
                for _ in filtering.pairs(grid, target)[:1]
                if grid.pairs
            ),
            *(f"{paths.fit(target, model)}/diagnostics.json" for model in grid.fitted(target)),
            *(paths.evidence(corpus, parser) for corpus in parsed for parser in parsers[:1]),
            *(f"{paths.parser(p)}/evaluation.json" for p in parsers if not grid.parsers[p].model),
            *(paths.recall(parser) for parser in parsers if grid.config.evidence.gold),
            *(f"{paths.tokens(*cell)}/statistics.json" for cell in cells),
            *(paths.sweep(*cell) for cell in cells if grid.config.tokenizer.sweep),
            *(f"{paths.side_effects(*c)}/side_effects.parquet" for c in grid.removals(target)),
            *(f"{paths.audit(*cell)}/statistics.json" for cell in grid.audits(target)),
            *(
                f"{paths.model(run.name)}/statistics.json"
                for run in grid.made(target)
                if run.recipe != UNTRAINED  # these are only scored
            ),
        ]

    def spec(self, wc: Wildcards) -> specs.ReportSpec:
        """Return the contents of the page."""
        grid, target = self.grid, wc.target
        shown = grid.shown(target)
        cells = {(run.condition, run.size) for run in shown}
        facts = grid.pretrained_facts() | grid.cell_facts(target)
        facts = {f"{c}/{s}": facts[f"{c}/{s}"] for c, s in sorted(cells)}
        parsers = grid.evidence_parsers() if grid.parsed_corpora(target) else []
        return specs.ReportSpec(
            target=target,
            runs=[run.name for run in [*shown, *grid.baselines(grid.targets[target])]],
            cells=facts,
            corpora=sorted({grid.conditions[c].corpus for c, _ in grid.cells(target)}),
            conditions=sorted({c for c, _ in cells}),
            sizes=sorted({s for _, s in cells if s != GIVEN}, key=words),
            parsers=parsers,
            evidence_parser=parsers[0] if parsers else None,
            regressions=grid.fitted(target),
            suites=grid.pairs,
            measured=grid.measured,
            full=filtering.full(grid, target),
            removed={
                c: filtering.aims(grid.conditions[c])
                for c, s in sorted(cells)
                if c in grid.conditions and facts[f"{c}/{s}"].filtered
            },
            gold=sorted(grid.config.evidence.gold) if parsers else [],
            audits=["/".join(cell) for cell in grid.audits(target)],
            study=grid.config.study,
        )

    def modules(self, wc: Wildcards) -> Sequence[str]:
        """Return the module of the stage and the sections."""
        names = plugins.names(SECTIONS)
        return [self.module, *(plugins.module_name(SECTIONS, word) for word in names)]


STAGES = (Accuracy, Curves, Fit, Deltas, Measures, Report)
