"""The grid: how corpora, conditions, parsers, models, suites and regressions belong together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from poshgrid.config import Condition, Pretrained, Regression, specs
from poshgrid.config.formula import suite_of
from poshgrid.config.models import OWN
from poshgrid.config.runs import (
    PRETRAINED,
    REFERENCE,
    RELEASED,
    SCORED,
    WORD_BASELINES,
    Run,
    parts,
)  # fmt: skip
from poshgrid.config.sizes import words
from poshgrid.core import plugins
from poshgrid.core.plugins import BIASES
from poshgrid.grid.targets import Targets
from poshgrid.models.training import bias

_NO_SENTENCES = ("filtered", "source", "tokenizer")
"""Keys of a condition on which its sentences do not depend."""


class Grid(Targets):
    """The runs of a configuration, and everything that they depend on."""

    def sizes(self, corpus: str) -> list[str]:
        """Return the sizes of a corpus that experiments use, ascending (ignoring ``only``)."""
        sizes = {size for name, size in self.every_cell if self.conditions[name].corpus == corpus}
        return sorted(sizes, key=words)

    def vocabularies(self) -> dict[str, str]:
        """Return corpus -> its table, against whose training words the lexicon is checked."""
        used = {self.conditions[c].corpus for e in self.experiments.values() for c in e.conditions}
        return {name: self.paths.sentences(name) for name in self.corpora if name in used}

    def counted_corpora(self) -> list[str]:
        """Return "corpus/size" of the n-gram models that balance the items."""
        return [f"{name}/{size}" for name in self.vocabularies() for size in self.sizes(name)]

    @cached_property
    def tasks(self) -> dict[str, str]:
        """Suite -> its task; cached, because finding the plug-in takes time."""
        return {name: suite.task for name, suite in self.suites.items()}

    @cached_property
    def pairs(self) -> list[str]:
        """The suites of minimal pairs, in the configuration's order."""
        return [suite for suite, task in self.tasks.items() if task == "pairs"]

    @cached_property
    def measured(self) -> dict[str, str]:
        """The other suites -> their tasks."""
        return {suite: task for suite, task in self.tasks.items() if task != "pairs"}

    def judged(self, model: Regression) -> str:
        """Return the suite whose judgements a regression is fitted to: its own, or the only one."""
        own = [suite for suite in self.pairs if suite not in self.rescored]
        return suite_of(model.suite, own)

    def filters(self, corpus: str) -> list[str]:
        """Return the filters that any condition of a corpus uses, sorted."""
        return sorted({f for c in self.conditions.values() if c.corpus == corpus for f in c.words})

    @cached_property
    def every_filter(self) -> list[str]:
        """The filters that any condition uses, sorted."""
        return sorted({word for condition in self.conditions.values() for word in condition.words})

    def rewriters(self, condition: str) -> list[str]:
        """Return the rewriters of a condition, or of the one that it is a control of."""
        return (self.control_of(condition) or self.conditions[condition]).rewrite

    def control_of(self, condition: str) -> Condition | None:
        """Return the condition that a control matches; None if it is not a control."""
        control = self.conditions[condition].control
        return self.conditions[control] if control else None

    @cached_property
    def parser_of_bias(self) -> dict[str, str | None]:
        """Bias -> the parser whose trees it is trained with; None if it needs no trees."""
        parsers: dict[str, str | None] = {"none": None}
        for word in {word for e in self.config.experiments for word in e.biases}:
            parsers[word] = None
            for part in parts(word):
                if getattr(plugins.load(BIASES, part), "TREES", False):
                    options = plugins.options(BIASES, part, bias.options(part, self.config.biases))
                    parsers[word] = str(options.model_dump()["parser"])
        return parsers

    def needs_evidence(self, condition: str) -> bool:
        """Return whether a condition needs its corpus's labels.

        Every condition of a corpus with filters does, because dev and test have no evidence in any
        of them.
        """
        entry = self.conditions[condition]
        return bool(self.filters(entry.corpus) or self.rewriters(condition))

    def parsed_corpora(self, target: str) -> list[str]:
        """Return the corpora of a target whose sentences are parsed and labelled, sorted."""
        conditions = {condition for condition, _ in self.cells(target)}
        return sorted({self.corpus_of(c).name for c in conditions if self.needs_evidence(c)})

    def shards(self, corpus: str) -> int:
        """Return the number of parsing jobs of a corpus."""
        entry = self.corpora[corpus]
        largest = words(self.sizes(corpus)[-1])
        whole = largest + round(entry.spare * largest) + entry.dev_words + entry.test_words
        return -(-whole // self.config.evidence.shard_words)

    def evidence_parsers(self) -> list[str]:
        """Return the parsers whose labels are made, the deciding one first."""
        evidence = self.config.evidence
        return [evidence.parser or next(iter(self.parsers), ""), *evidence.compare]

    def cell_facts(self, target: str) -> dict[str, specs.Cell]:
        """Return ``"condition/size"`` -> the facts that statistics need."""
        return {f"{name}/{size}": self.facts(name, size) for name, size in self.cells(target)}

    def facts(self, name: str, size: str) -> specs.Cell:
        """Return the facts about a condition at a size that statistics need."""
        condition = self.conditions[name]
        bare = size in condition.unfiltered_sizes
        filtered = bool(condition.filters) and not condition.reinsert and not bare
        if condition.filtered is not None:
            filtered = condition.filtered
        source = condition.source or condition.corpus
        return specs.Cell(words=words(size), source=source, filtered=filtered)

    def pretrained_facts(self) -> dict[str, specs.Cell]:
        """Return ``"condition/size"`` -> the facts that statistics need about pretrained models.

        For a model with a place in the grid these are its condition's facts, or those in its entry.
        """
        cells = {}
        for run, model in self.pretrained_runs.items():
            cell = specs.Cell(words=0, source=PRETRAINED, filtered=False)
            if run.recipe == RELEASED:
                cell = specs.Cell(
                    words=words(run.size),
                    source=model.source or run.condition,
                    filtered=model.filtered,
                )
                if run.condition in self.conditions:
                    cell = self.facts(run.condition, run.size)
            cells[f"{run.condition}/{run.size}"] = cell
        return cells

    def condition_spec(self, condition: str, size: str) -> specs.ConditionSpec:
        """Return a condition at a size: only the settings that its sentences depend on."""
        own = self.conditions[condition]
        bare = [size] if size in own.unfiltered_sizes else []
        reference = self.control_of(condition)
        lacking = reference if reference and size not in reference.unfiltered_sizes else None
        update = {"unfiltered_sizes": bare, "allow": []} | dict.fromkeys(_NO_SENTENCES)
        return specs.ConditionSpec(
            condition=own.model_copy(update=update),
            control_filters=lacking.filters if lacking else [],
            control_rewrite=lacking.rewrite if lacking else [],
            size=size,
            heldout_filtered=self.corpus_of(condition).splits == "drawn",
        )

    def model_folder(self, model: Pretrained) -> Path | None:
        """Return the folder of a pretrained model; None if its path is an id on a hub."""
        folder = Path(self.config.data, model.path)
        return folder if folder.is_dir() else None

    def train_spec(self, run: Run) -> specs.TrainSpec:
        """Return the model, recipe, bias and seed of a run, with the options of its biases."""
        return specs.TrainSpec(
            model=self.models[run.model],
            recipe=self.recipes[run.recipe],
            bias=run.bias,
            options={part: bias.options(part, self.config.biases) for part in run.biases},
            seed=run.seed,
        )

    def wildcards(self) -> dict[str, str]:
        """Return wildcard -> a pattern of its allowed values: the names in the grid.

        Without it, a file of another size would be made from the corpus under a wrong name.
        """
        runs = [*self.every_run, *self.pretrained_runs]
        condition, size = self.paths.shared_tokenizer()
        names: dict[str, Iterable[str]] = {
            "source": self.sources,
            "corpus": self.corpora,
            "parser": self.parsers,
            "condition": {*self.conditions, *(run.condition for run in runs), condition},
            "size": {*(size for _, size in self.counted), *(run.size for run in runs), size},
            "model": {*self.models, *WORD_BASELINES, *(run.model for run in self.pretrained_runs)},
            "recipe": {*self.recipes, *REFERENCE, *SCORED},
            "suite": self.suites,
            "target": {*self.targets, PRETRAINED},
            "regression": self.regressions,
        }
        return {name: "|".join(map(re.escape, sorted(words))) for name, words in names.items()}

    def removals(self, target: str) -> list[tuple[str, str]]:
        """Return the (condition, size) pairs of a target that remove a part of their corpus."""
        return [
            (name, size)
            for name, size in self.cells(target)
            if (self.conditions[name].changed or self.conditions[name].control)
            and size not in self.conditions[name].unfiltered_sizes
        ]

    def audits(self, target: str) -> list[tuple[str, str]]:
        """Return the (condition, size) pairs of a target from which sheets are drawn.

        For each condition in ``audit.conditions`` this is the largest filtered size.
        """
        wanted = self.config.audit.conditions
        largest = {
            name: size  # sizes ascend: the last one stays
            for name, size in self.cells(target)
            if self.conditions[name].changed and size not in self.conditions[name].unfiltered_sizes
        }
        return [(name, size) for name, size in largest.items() if name in wanted]

    def tokenizer_place(self, condition: str, size: str) -> tuple[str, str]:
        """Return the condition and size in the path of a cell's tokenizer.

        A cell has its own tokenizer, or one that all cells share. A condition that changes the
        configuration's tokenizer has its own, whatever text it is trained on.
        """
        own = self.conditions[condition].tokenizer or not self.config.tokenizer.shared
        return (condition, size) if own else self.paths.shared_tokenizer()

    def tokenizer_texts(self, condition: str, size: str) -> list[tuple[str, str]]:
        """Return the cells that a tokenizer is trained on, by condition; [] if it is a file.

        Each condition is used at its largest size, which includes the smaller ones.

        Args:
            condition: condition in the tokenizer's :meth:`tokenizer_place`.
            size: size in the same.
        """
        tokenizer = self.tokenizer_of(condition)
        if tokenizer.file:
            return []
        if tokenizer.trained_on == OWN:
            return [(condition, size)]
        usual = {c for e in self.experiments.values() if e.default for c in e.conditions}
        used = usual or {run.condition for run in self.every_run}
        names = sorted(used if isinstance(tokenizer.trained_on, str) else tokenizer.trained_on)
        return [(name, self._largest(name)) for name in names]

    def _largest(self, condition: str) -> str:
        """Return a condition's largest size, or that of its corpus if no experiment uses it."""
        sizes = {run.size for run in self.every_run if run.condition == condition}
        return max(sizes or self.sizes(self.corpus_of(condition).name), key=words)
