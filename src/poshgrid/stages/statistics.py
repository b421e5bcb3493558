"""Statistics of a target, and its report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from poshgrid import plugins
from poshgrid.config import specs
from poshgrid.config.runs import COUNTED, GIVEN
from poshgrid.config.sizes import words
from poshgrid.grid import filtering
from poshgrid.plugins import SECTIONS
from poshgrid.stages.scoring import HeuristicChoices, judging
from poshgrid.stages.stage import PATHS, Files, Job, Stage, Wildcards


def tables(*names: str) -> tuple[str, ...]:
    """Return the files of tables, each as Parquet and as CSV."""
    return tuple(f"{name}.{kind}" for name in names for kind in ("parquet", "csv"))


class HeuristicShares(Stage):
    """Say which heuristics explain the choices of models."""

    module = "poshgrid.statistics.shares"
    output = PATHS.heuristic_shares("{target}")
    Spec = specs.HeuristicSharesSpec
    outputs = tables("mixture", "verdicts", "identifiability")
    external = ("lexicon",)

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the items, what heuristics choose, scores, and the unigram baselines."""
        return {
            "items": self.files.items(),
            "heuristics": self.files.heuristics(),
            "scores": self.files.scores(self.grid.runs(wc.target), *self.grid.pairs),
            "unigrams": self.files.unigrams(wc.target),
            "lexicon": self.files.lexicon(),
        }

    def spec(self, wc: Wildcards) -> specs.HeuristicSharesSpec:
        """Return the runs, and how two scores are compared."""
        runs = [run.name for run in self.grid.runs(wc.target)]
        return specs.HeuristicSharesSpec(scoring=judging(self), runs=runs)

    modules = HeuristicChoices.modules

    @staticmethod
    def run(job: Job) -> dict[str, Any]:
        """Write the shares."""
        from poshgrid.statistics.shares import write

        scores, models = Path(job.paths.all_scores()), Path(job.paths.all_models())
        items, heuristics = job.named("items"), job.named("heuristics")
        return write(job.spec, scores, models, items, heuristics, job.output)


class Accuracy(Stage):
    """Count correct judgements and test them against chance and the best heuristic."""

    module = "poshgrid.statistics.accuracy"
    output = PATHS.statistics("{target}")
    Spec = specs.JudgementSpec
    outputs = ("counts.parquet", *tables("accuracy"))
    memory_mb = 8000
    minutes = 30

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the items, what heuristics choose, scores, and the words of conditions."""
        return {
            "items": self.files.items(),
            "heuristics": self.files.heuristics(),
            "scores": self.files.scores(self.grid.runs(wc.target), *self.grid.pairs),
            "conditions": self.files.condition_statistics(wc.target),
        }

    def spec(self, wc: Wildcards) -> specs.JudgementSpec:
        """Return the runs, the facts of their cells, and how two scores are compared."""
        return specs.JudgementSpec(
            scoring=judging(self),
            runs=[run.name for run in self.grid.runs(wc.target)],
            cells=self.grid.cell_facts(wc.target) | self.grid.given_facts(),
        )

    @staticmethod
    def run(job: Job) -> dict[str, Any]:
        """Judge the runs."""
        from poshgrid.statistics.accuracy import accuracy

        scores, conditions = Path(job.paths.all_scores()), Path(job.paths.all_conditions())
        items, heuristics = job.named("items"), job.named("heuristics")
        return accuracy(job.spec, scores, items, conditions, job.output, heuristics)


class Curves(Accuracy):
    """Write accuracies by step and epoch, and a table of how training went."""

    module = "poshgrid.statistics.curves"
    output = PATHS.curves("{target}")
    outputs = tables("curves", "curves_mean", "training")

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the items, the scores of trained runs, and their logs."""
        trained = [run for run in self.grid.made(wc.target) if run.recipe != COUNTED]
        return {
            "items": self.files.items(),
            "scores": self.files.scores(trained, *self.grid.pairs),
            "training": self.files.training_logs(wc.target),
        }

    @staticmethod
    def run(job: Job) -> dict[str, Any]:
        """Judge the checkpoints."""
        from poshgrid.statistics.curves import curves

        scores, models = Path(job.paths.all_scores()), Path(job.paths.all_models())
        return curves(job.spec, scores, models, job.named("items"), job.output)


class Fit(Stage):
    """Fit a Bayesian mixed model to the counts."""

    module = "poshgrid.statistics.fit"
    output = PATHS.fit("{target}", "{regression}")
    Spec = specs.RegressionSpec
    outputs = (
        "posterior.nc",
        *tables("summary", "contrasts", "predictive"),
        "diagnostics.json",
    )
    memory_mb = 8000
    minutes = 120
    costly = True

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the counts."""
        return {"counts": f"{self.paths.statistics(wc.target)}/counts.parquet"}

    def spec(self, wc: Wildcards) -> specs.RegressionSpec:
        """Return the model."""
        return specs.RegressionSpec(model=self.grid.regressions[wc.regression])

    def priority(self, wc: Wildcards) -> int:
        """Return the number of grouping terms: what takes longest should not be the last."""
        return self.grid.regressions[wc.regression].formula.count("|")

    @staticmethod
    def run(job: Job) -> dict[str, Any]:
        """Fit the model."""
        from poshgrid.statistics.fit import fit

        return fit(job.spec, job.path("counts"), job.output, job.threads)


class Deltas(Stage):
    """Compare filtered models with full ones."""

    module = "poshgrid.statistics.deltas"
    output = PATHS.deltas("{target}")
    Spec = specs.DeltasSpec
    outputs = tables("deltas", "delta_tests", "perplexity")
    minutes = 30

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the items, scores and perplexities of runs that filtering alone tells apart."""
        read = filtering.read(self.grid, wc.target)
        return {
            "items": self.files.items(),
            "scores": self.files.scores(filtering.runs(self.grid, wc.target), *self.grid.pairs),
            "perplexity": {run.name: self.paths.perplexity(run.name) for run in read},
        }

    def spec(self, wc: Wildcards) -> specs.DeltasSpec:
        """Return the runs, which conditions are compared, and what filters are aimed at."""
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
            perplexity=[run.name for run in filtering.read(self.grid, wc.target)],
        )

    @staticmethod
    def run(job: Job) -> dict[str, Any]:
        """Compare the models."""
        from poshgrid.statistics.deltas import deltas

        scores, perplexity = Path(job.paths.all_scores()), job.named("perplexity")
        return deltas(job.spec, scores, job.named("items"), perplexity, job.output)


class Measures(Stage):
    """Write the results on a suite of paradigms, choices or completions."""

    module = "poshgrid.statistics.measures.paradigms"
    output = PATHS.measures("{target}", "{suite}")
    Spec = specs.MeasuresSpec
    outputs = tables("measures")
    external = ("norms",)
    minutes = 30

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the items, scores and norms."""
        return {
            "items": self.paths.items(wc.suite),
            "scores": self.files.scores(self.grid.runs(wc.target), wc.suite),
            "norms": self.files.norms(wc.suite),
        }

    def spec(self, wc: Wildcards) -> specs.MeasuresSpec:
        """Return the suite's task, the runs and the measures."""
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

    module = "poshgrid.report.page"
    output = PATHS.report("{target}")
    Spec = specs.ReportSpec
    outputs = ("index.html",)
    external = ("page",)
    minutes = 30

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return everything that the page shows, and what it is laid out with."""
        # Templates, styles and the bibliography are no Python: their content is digested here.
        return {"shown": self.files.report(wc.target), "page": self.files.page()}

    def spec(self, wc: Wildcards) -> specs.ReportSpec:
        """Return what the page is about."""
        grid, target = self.grid, wc.target
        shown = grid.shown(target)
        cells = {(run.condition, run.size) for run in shown}
        facts = grid.given_facts() | grid.cell_facts(target)
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
        """Return the sections, too."""
        names = plugins.names(SECTIONS)
        return [self.module, *(plugins.module_name(SECTIONS, word) for word in names)]

    @staticmethod
    def run(job: Job) -> dict[str, Any]:
        """Write the page."""
        from poshgrid.report.page import write

        return write(job.spec, Path(job.paths.results), job.output, job.threads)


STAGES = (HeuristicShares, Accuracy, Curves, Fit, Deltas, Measures, Report)
