"""Weak hierarchical bias: pre-pretraining on a shuffled k-Dyck language (paper, section 7.1).

Before the model sees a word, it learns from sequences of brackets
(:mod:`poshgrid.models.training.dyck_language`), as in Hu et al. (2025). This is done with a second
network of the same model and seed, which has the same initial weights. Then trained weights are
copied into the first network, which learns the language with a new optimiser.

With ``brackets: own``, the vocabulary consists of the brackets. All weights are copied except the
embeddings of tokens (with the output layer) and of positions: these keep their initial values,
exactly those of the run without a bias. With ``brackets: text``, as published, brackets are decimal
numbers, written in tokens of the run's tokenizer, and all weights are copied.

Pre-pretraining uses the optimiser, schedule, dropout, precision and threads of the run's recipe,
but its own length.

The control is ``flat-brackets``: sequences with the same bigrams, whose brackets do not match.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, model_validator

from poshgrid.config import Recipe
from poshgrid.config.base import Count, LearningRate, Positive, Width
from poshgrid.core import logs, plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.models.training.bias import Bias, Setting

# The configuration imports this module for its options, so code that trains is imported only in the
# functions that use it.
if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from poshgrid.config.specs import TrainSpec
    from poshgrid.models.training.dyck_language import Alphabet

log = logs.get(__name__)

PRETRAINS = True
PART = "dyck"
"""Name of the checkpoint subfolder."""
DEV = 16
"""Number of sequences for the bracket loss, the same ones in every evaluation."""
EVALUATIONS = 4
"""Number of evaluations of the bracket loss after the initial one."""
AT_ONCE = {"cpu": 2_048, "cuda": 8_192}
"""Most tokens in a micro-batch: attention over long rows needs much memory."""


class Options(plugins.Options):
    """The bracket language, and which trained weights are copied into the language model."""

    k: Width = Field(64, description="Kinds of brackets")
    p_open: float = Field(0.5, gt=0, lt=1, description="Probability of an opening bracket")
    depth: Width = Field(8, description="Most brackets open at the same time")
    length: Width = Field(2_048, multiple_of=2, description="Brackets in a sequence")
    steps: Positive = Field(2_000, description="Steps of pre-pretraining")
    # With 2,048 brackets, a step has as many tokens as in the paper's recipe (32 rows of 512), so
    # that the same learning rate suits both.
    batch_size: Width = Field(8, description="Sequences in one step of the optimiser")
    learning_rate: LearningRate | None = Field(None, description="Peak; `null`: the recipe's")
    warmup_steps: Count = Field(200, description="Warm-up steps; fewer than `steps`")
    brackets: Literal["own", "text"] = Field(
        "own",
        description=(
            "`own`: brackets are their own tokens; all weights except embeddings are copied; "
            "`text`: brackets are numbers in tokens of the text; all are copied, as published"
        ),
    )

    @model_validator(mode="after")
    def _warmup(self) -> Self:
        if self.warmup_steps >= self.steps:
            raise ValueError(
                f"{self.warmup_steps} warmup_steps are not less than the {self.steps} steps"
            )
        return self


class Dyck(Bias):
    """Start training from weights that have learned matching brackets.

    Args:
        options: see :class:`Options`.
    """

    word = "dyck"
    """Name in the configuration; the control in ``LANGUAGES`` draws from another language."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._statistics: dict[str, Any] = {}

    def prepare(self, model: PreTrainedModel, setting: Setting) -> PreTrainedModel:
        """Train a second network on brackets (or resume that), and copy its weights.

        Args:
            model: with its initial weights; changed in place.
            setting: the run.

        Raises:
            PoshgridError: training diverges, or a signal stopped it.
        """
        from poshgrid.models.training import builder, loop
        from poshgrid.models.training.dyck_language import LANGUAGES, Brackets, Language

        options, spec = self.options, setting.spec
        letters = alphabet(options, setting)
        chosen = recipe(options, setting)
        second = builder.build(
            spec.model,
            letters.vocabulary,
            context_length=options.length,
            dropout=chosen.dropout,
            seed=spec.seed,
        ).to(setting.device)  # type: ignore[arg-type]  # transformers' wrapper of it asks for self
        drawn = LANGUAGES.get(self.word, Language)
        language = drawn(options.k, options.p_open, options.depth, options.length)
        same: dict[str, Any] = {"language": language, "alphabet": letters, "seed": spec.seed}
        log.info("%s: %s steps of pre-pretraining", self.word, f"{options.steps:,}")
        progress = loop.run(
            second,
            Brackets(**same, part="train", batch_size=options.batch_size, steps=options.steps),
            Brackets(**same, part="dev", batch_size=DEV, steps=1),
            recipe=chosen,
            seed=spec.seed,
            checkpoints=setting.checkpoints.part(PART),
        )
        carry(second, model, embeddings=options.brackets == "text")
        self._statistics = {
            "steps": progress.step,
            "tokens": progress.tokens,
            "initial_dev_loss": progress.evaluations[0]["dev_loss"],
            "dev_loss": progress.evaluations[-1]["dev_loss"],
        }
        return model

    def statistics(self) -> dict[str, Any]:
        """Return the length of pre-pretraining and its losses.

        ``dev_loss`` and ``initial_dev_loss`` are in nats per token, on sequences not trained on.
        """
        return self._statistics


def check(spec: TrainSpec) -> None:
    """Raise if a run cannot have the bias.

    Raises:
        PoshgridError: the model predicts masked tokens.
    """
    from poshgrid.models.training import builder

    if builder.masked(spec.model):
        raise PoshgridError(
            f"models: {spec.model.name}: predicts masked tokens, and pre-pretraining on "
            "brackets (biases: dyck) is for those that predict the next one; take either out of "
            "the experiment"
        )


def alphabet(options: Options, setting: Setting) -> Alphabet:
    """Return how a run writes brackets as tokens.

    Args:
        options: of the bias.
        setting: the run; its tokenizer is read if brackets are text.

    Raises:
        PoshgridError: the tokenizer is missing or broken.
    """
    from poshgrid.models.tokenization import tokenizer as tokenizers
    from poshgrid.models.training.dyck_language import Alphabet

    if options.brackets == "text":
        cutter = tokenizers.load(setting.tokenizer)
        # Each word is tokenized alone, with its space, so a number always has the same tokens.
        pieces = [
            cutter.encode(str(number), add_special_tokens=False).ids
            for number in range(2 * options.k)
        ]
        return Alphabet(pieces, setting.vocabulary)
    own = [[2 + number] for number in range(2 * options.k)]
    return Alphabet(own, tokenizers.Vocabulary(2 + len(own), 0, 1))


def recipe(options: Options, setting: Setting) -> Recipe:
    """Return the recipe of pre-pretraining: that of the run, with another length.

    Args:
        options: of the bias.
        setting: the run.
    """
    from poshgrid.models.training.loop import rows_at_once

    of_run, device = setting.recipe, setting.device.type
    tokens = min(rows_at_once(of_run, device) * of_run.context_length, AT_ONCE[device])
    changed = {
        "name": "biases.dyck",  # the key that errors name
        "input": "packed",
        "padding_in_loss": False,
        "context_length": options.length,
        "batch_size": options.batch_size,
        "micro_batch_size": max(1, min(options.batch_size, tokens // options.length)),
        "steps": options.steps,
        "epochs": None,
        "stop_after": None,
        "learning_rate": options.learning_rate or of_run.learning_rate,
        "warmup_steps": options.warmup_steps,
        "evaluate_every": -(-options.steps // EVALUATIONS),
        "patience_steps": None,
        "keep": "last",
        "checkpoints": [],
        "checkpoint_epochs": [],
    }
    return Recipe(**(of_run.model_dump() | changed))


def carry(source: PreTrainedModel, target: PreTrainedModel, *, embeddings: bool) -> None:
    """Copy weights into another model of the same kind; its embedding tables may be longer.

    Args:
        source: trained.
        target: changed in place.
        embeddings: copy the tables of tokens and positions, too: all rows that both models have.
    """
    import torch

    from poshgrid.models.training.loop import tables

    before, after = dict(source.named_parameters()), dict(target.named_parameters())
    tabular = tables(target)
    with torch.no_grad():
        for name, weight in after.items():
            if name not in tabular:
                weight.copy_(before[name])
            elif embeddings and name in before:
                rows = min(len(weight), len(before[name]))
                weight[:rows] = before[name][:rows]


build = Dyck
