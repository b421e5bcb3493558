"""The slice of the configuration that each job reads, as the text of its ``--spec``."""

from __future__ import annotations

from poshgrid.config import Scoring, specs
from poshgrid.config.formula import BY_SET
from poshgrid.config.runs import GIVEN, SCORED, UNTRAINED, Run
from poshgrid.config.sizes import words
from poshgrid.config.tokens import OWN, SMALLEST
from poshgrid.corpora import conservation
from poshgrid.errors import PoshgridError
from poshgrid.grid import filtering
from poshgrid.grid.grid import Grid
from poshgrid.training import bias


class Slices:
    """The specs of a grid's jobs; a method for each stage, named after its command."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid

    def source(self, source: str) -> str:
        """Slice for ``poshgrid read``."""
        return specs.canonical(specs.SourceSpec(source=self.grid.sources[source]))

    def base(self, base: str) -> str:
        """Slice for ``poshgrid mix``."""
        return specs.canonical(
            # How conditions are named after their filters is no affair of it.
            specs.BaseSpec(
                base=self.grid.bases[base].model_copy(update={"downsample": 1.0, "reading": None}),
                sizes=self.grid.sizes(base),
            )
        )

    def treebank(self, parser: str) -> str:
        """Slice for ``poshgrid treebank``."""
        treebank = self.grid.parsers[parser].treebank
        if treebank is None:
            raise PoshgridError(f"parsers: {parser}: has no treebank")
        return specs.canonical(specs.TreebankSpec(treebank=treebank))

    def parser(self, parser: str) -> str:
        """Slice for ``poshgrid train-parser``."""
        return specs.canonical(specs.ParserSpec(parser=self.grid.parsers[parser]))

    def parse(self, base: str, parser: str, shard: int) -> str:
        """Slice for ``poshgrid parse``."""
        return specs.canonical(
            specs.ParseSpec(
                parser=self.grid.parsers[parser],
                shard=shard,
                shards=self.grid.shards(base),
                screens=self.grid.screens(base, parser),
            )
        )

    def evidence(self, base: str) -> str:
        """Slice for ``poshgrid evidence``."""
        return specs.canonical(specs.EvidenceSpec(filters=self.grid.filters(base)))

    def recall(self, parser: str) -> str:
        """Slice for ``poshgrid recall``."""
        return specs.canonical(
            specs.RecallSpec(
                parser=self.grid.parsers[parser],
                filters=self.grid.every_filter,
                gold=sorted(self.grid.config.evidence.gold),
            )
        )

    def condition(self, condition: str, size: str) -> str:
        """Slice for ``poshgrid condition``."""
        return specs.canonical(self.condition_spec(condition, size))

    def condition_spec(self, condition: str, size: str) -> specs.ConditionSpec:
        """Return a condition at a size: what its sentences depend on, and no more."""
        found = self.grid.conditions[condition]
        bare = [size] if size in found.unfiltered_sizes else []
        reference = self.grid.control_of(condition)
        return specs.ConditionSpec(
            condition=found.model_copy(
                update={"unfiltered_sizes": bare, "filtered": None, "allow": []}
                | {"tokenizer": None}
            ),
            control=reference.filters
            if reference and size not in reference.unfiltered_sizes
            else [],
            size=size,
            # Without labels there is nothing to stop
            backstop=self.grid.config.evidence.backstop or not self.grid.needs_evidence(condition),
        )

    def beside(self, condition: str, size: str) -> str:
        """Return what a condition is held to (``--beside``): no part of its slice.

        Those are the others of its base at its size that must not be the same, so that one more
        makes no other again.
        """
        known = self.grid.conditions
        found = known[condition]
        others = [
            self.condition_spec(name, size)
            for name in self.grid.alike.get((found.base, size), [])
            if name != condition
            and "void" not in known[name].allow
            and not known[name].prebuilt
            and self.grid.tokenizer_of(name) == self.grid.tokenizer_of(condition)
        ]
        apart = "void" not in found.allow and not found.prebuilt
        return specs.canonical(
            specs.BesideSpec(
                allow=[*found.allow],
                others=others if apart else [],
                words=conservation.asked(self.grid.base_of(condition), size),
                fewer=self.grid.facts(condition, size).filtered,
            )
        )

    def collateral(self, condition: str, size: str) -> str:
        """Slice for ``poshgrid measure-collateral``: the condition's own."""
        return self.condition(condition, size)

    def detector(self) -> str:
        """Slice for ``poshgrid detector``."""
        treebank = self.grid.config.evidence.detector
        if treebank is None:
            raise PoshgridError("evidence: detector: no treebank")
        return specs.canonical(specs.DetectorSpec(treebank=treebank, filters=self.grid.detected()))

    def audit(self, condition: str, size: str) -> str:
        """Slice for ``poshgrid audit``."""
        audit = self.grid.config.audit
        return specs.canonical(
            specs.AuditSpec(
                condition=condition,
                size=size,
                filters=self.grid.conditions[condition].filters,
                detector=self.grid.config.evidence.detector is not None,
                sample=audit.sample,
                seed=audit.seed,
            )
        )

    def tokenizer(self, condition: str) -> str:
        """Slice for ``poshgrid tokenizer``: what it is trained on are its inputs."""
        tokenizer = self.grid.tokenizer_of(condition)
        tokenizer = tokenizer.model_copy(update={"sweep": [], "trained_on": OWN})
        return specs.canonical(specs.TokenizerSpec(tokenizer=tokenizer))

    def sweep(self) -> str:
        """Slice for ``poshgrid sweep``."""
        # The sweep does not read the vocabulary's own size.
        tokenizer = self.grid.config.tokenizer.model_copy(update={"vocabulary_size": SMALLEST})
        return specs.canonical(specs.TokenizerSpec(tokenizer=tokenizer))

    def train(self, run: Run) -> str:
        """Slice for ``poshgrid train``: this run's learner, regimen, bias and seed."""
        regimen = None if run.regimen == UNTRAINED else self.grid.regimens[run.regimen]
        return specs.canonical(
            specs.TrainSpec(
                learner=self.grid.learners[run.learner],
                regimen=regimen,
                bias=run.bias,
                options={part: bias.options(part, self.grid.config.biases) for part in run.biases},
                seed=run.seed,
            )
        )

    def items(self, suite: str) -> str:
        """Slice for ``poshgrid items``."""
        found = self.grid.suites[suite]
        top_k = self.grid.config.lexicon.top_k if found.generated else None
        return specs.canonical(specs.ItemsSpec(suite=found, top_k=top_k))

    def count(self, null: str, size: str | None = None) -> str:
        """Slice for ``poshgrid count``."""
        order = 1 if null == "unigram" else self.grid.config.ngram.order
        return specs.canonical(specs.CountSpec(order=order, size=size))

    def score(self, run: Run) -> str:
        """Slice for ``poshgrid score``."""
        # How two scores are compared is no affair of theirs.
        scoring = self.grid.config.scoring
        scoring = scoring.model_copy(update={"reduction": "mean", "masked": scoring.scores[0]})
        revision = None
        if run.regimen in SCORED:
            given = self.grid.given_models[run]
            revision = given.revision
            scoring = scoring.model_copy(update={"masked": given.masked or scoring.masked})
        return specs.canonical(
            specs.ScoreSpec(
                scoring=scoring,
                tasks=self.grid.tasks,  # type: ignore[arg-type]  # plug-ins' words: the spec checks
                revision=revision,
                rescored=self.grid.rescored,
            )
        )

    @property
    def _judging(self) -> Scoring:
        """What of the scoring a judgement depends on."""
        return Scoring(reduction=self.grid.config.scoring.reduction)

    def quality(self, target: str, suite: str) -> str:
        """Slice for ``poshgrid quality``: a suite, with the nulls of a target's cells."""
        return specs.canonical(
            specs.QualitySpec(
                suite=suite,
                generated=self.grid.suites[suite].generated,
                top_k=self.grid.config.lexicon.top_k,
                scoring=self._judging,
                tolerance=self.grid.config.quality.tolerance,
                bases={c: self.grid.base_of(c).name for c, _ in self.grid.cells(target)},
            )
        )

    def measures(self, target: str, suite: str) -> str:
        """Slice for ``poshgrid measures``."""
        return specs.canonical(
            specs.MeasuresSpec(
                suite=suite,
                task=self.grid.suites[suite].task,  # type: ignore[arg-type]  # checked, too
                measures=self.grid.config.measures,
                runs=[run.name for run in self.grid.runs(target)],
            )
        )

    def judgement(self, target: str) -> str:
        """Slice for ``poshgrid accuracy``."""
        return specs.canonical(
            specs.JudgementSpec(
                scoring=self._judging,
                tolerance=self.grid.config.quality.tolerance,
                runs=[run.name for run in self.grid.runs(target)],
                cells=self.grid.cell_facts(target) | self.grid.given_facts(),
                sets=self._by_set(target),
            )
        )

    def _by_set(self, target: str) -> list[str]:
        """Return the suites that a model of a target with ``(1|set)`` is fitted to."""
        config = self.grid.config
        fitted = self.grid.fitted(target)
        asking = [m for m in config.models if m.name in fitted and BY_SET.search(m.formula)]
        return sorted({self.grid.judged(model) for model in asking})

    def rule_shares(self, target: str) -> str:
        """Slice for ``poshgrid rule-shares``."""
        runs = [run.name for run in self.grid.runs(target)]
        return specs.canonical(specs.RuleSharesSpec(scoring=self._judging, runs=runs))

    def perplexity(self, run: Run) -> str:
        """Slice for ``poshgrid perplexity``."""
        # What is of minimal pairs alone is no affair of it.
        scoring = self.grid.config.scoring.model_copy(
            update={"reduction": "mean", "bos": True, "per_token": False}
            | {"masked": "pseudo-log-likelihood", "decoding_seed": None}
        )
        tested = self.grid.base_of(run.condition).name
        return specs.canonical(specs.PerplexitySpec(scoring=scoring, tested=tested))

    def _aims(self, condition: str) -> dict[str, list[str]]:
        return filtering.aims(self.grid.conditions[condition])

    def deltas(self, target: str) -> str:
        """Slice for ``poshgrid deltas``."""
        full = filtering.full(self.grid, target)
        runs = [run.name for run in filtering.runs(self.grid, target)]
        return specs.canonical(
            specs.DeltasSpec(
                scoring=self._judging,
                runs=runs,
                full=full,
                targets={
                    name: sorted({p for found in self._aims(name).values() for p in found})
                    for name in full
                },
                perplexity=[run.name for run in filtering.read(self.grid, target)],
            )
        )

    def model(self, model: str) -> str:
        """Slice for ``poshgrid fit``."""
        return specs.canonical(specs.ModelSpec(model=self.grid.models[model]))

    def report(self, target: str) -> str:
        """Slice for ``poshgrid report``."""
        shown = self.grid.shown(target)
        cells = {(run.condition, run.size) for run in shown}
        facts = self.grid.given_facts() | self.grid.cell_facts(target)
        facts = {f"{c}/{s}": facts[f"{c}/{s}"] for c, s in sorted(cells)}
        parsers = self.grid.evidence_parsers() if self.grid.parsed_bases(target) else []
        return specs.canonical(
            specs.ReportSpec(
                target=target,
                runs=[run.name for run in [*shown, *self.grid.nulls(self.grid.targets[target])]],
                cells=facts,
                bases=sorted({self.grid.conditions[c].base for c, _ in self.grid.cells(target)}),
                conditions=sorted({c for c, _ in cells}),
                sizes=sorted({s for _, s in cells if s != GIVEN}, key=words),
                parsers=parsers,
                evidence_parser=parsers[0] if parsers else None,
                models=self.grid.fitted(target),
                suites=self.grid.pairs,
                measured=self.grid.measured,
                full=filtering.full(self.grid, target),
                removed={
                    c: self._aims(c)
                    for c, s in sorted(cells)
                    if c in self.grid.conditions and facts[f"{c}/{s}"].filtered
                },
                gold=sorted(self.grid.config.evidence.gold) if parsers else [],
                audits=["/".join(cell) for cell in self.grid.audits(target)],
                study=self.grid.config.study,
            )
        )
