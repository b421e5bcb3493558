"""Weak hierarchical bias: pre-pretraining on a shuffled k-Dyck language (paper, section 7.1).

Before it sees a word, the model is trained on sequences of brackets
(:mod:`poshgrid.models.training.dyck_language`), as in Hu et al. (2025). A second model of the same
model and seed is trained, which starts from the same weights; then its weights are carried over
into the model that learns the language, whose optimiser starts afresh.

With ``brackets: own`` the brackets are the whole vocabulary, and their embeddings are left behind:
those of tokens, the output layer included, and of positions. The language's model keeps the initial
ones, to the bit those of the arm without a bias. With ``brackets: text``, as published, brackets
are decimal numbers in the language's own tokens, and all weights are carried over.

Pre-pretraining takes the run's recipe but for its length: its optimiser, schedule, dropout,
precision and threads.

Its control is ``flat-brackets``: sequences of the same bigrams, whose brackets do not match.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, model_validator

from poshgrid.config import Recipe
from poshgrid.config.base import Count, LearningRate, Positive, Width
from poshgrid.core import logs, plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.models.training.bias import Bias, Setting

# The configuration imports this module for its options: whatever trains is imported where it is
# used.
if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from poshgrid.config.specs import TrainSpec
    from poshgrid.models.training.dyck_language import Alphabet

log = logs.get(__name__)

PRETRAINS = True
PART = "dyck"
"""Of the run's checkpoints."""
DEV = 16
"""Sequences that the loss on brackets is taken from; the same ones at every evaluation."""
EVALUATIONS = 4
"""Of that loss, besides the initial one."""
AT_ONCE = {"cpu": 2_048, "cuda": 8_192}
"""Tokens in a micro-batch, at most: attention over long rows takes memory, on a CPU above all."""


class Options(plugins.Options):
    """The formal language and what of its model is carried over."""

    k: Width = Field(64, description="Kinds of brackets")
    p_open: float = Field(0.5, gt=0, lt=1, description="Probability of an opening bracket")
    depth: Width = Field(8, description="Brackets open at once, at most")
    length: Width = Field(2_048, multiple_of=2, description="Brackets in a sequence")
    steps: Positive = Field(2_000, description="Steps of pre-pretraining")
    # With 2,048 brackets, the tokens in a step of the paper's recipe (32 rows of 512): the
    # learning rate that suits the one suits the other.
    batch_size: Width = Field(8, description="Sequences in one step of the optimiser")
    learning_rate: LearningRate | None = Field(None, description="Its peak; `null`: the recipe's")
    warmup_steps: Count = Field(200, description="Of pre-pretraining; fewer than `steps`")
    brackets: Literal["own", "text"] = Field(
        "own",
        description=(
            "`own`: tokens of their own, all weights but the embeddings are carried over; "
            "`text`: numbers in the language's tokens, and all weights, as published"
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
    """Initial weights that have learned to keep track of brackets.

    Args:
        options: see :class:`Options`.
    """

    word = "dyck"
    """In the configuration; the control in ``LANGUAGES`` draws from another language."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._statistics: dict[str, Any] = {}

    def prepare(self, model: PreTrainedModel, setting: Setting) -> PreTrainedModel:
        """Train a second model on brackets, or load what an earlier attempt trained; carry it over.

        Args:
            model: with its initial weights; changed in place.
            setting: of the run.

        Raises:
            PoshgridError: training diverges, or the job was asked to end.
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
        """Return how long pre-pretraining was and how well brackets were learned.

        ``dev_loss`` and ``initial_dev_loss`` are nats per token of sequences never trained on.
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
    """Return how brackets are written for a run.

    Args:
        options: of the bias.
        setting: of the run; its tokenizer is read if brackets are text.

    Raises:
        PoshgridError: the tokenizer is missing or broken.
    """
    from poshgrid.models.tokenization import tokenizer as tokenizers
    from poshgrid.models.training.dyck_language import Alphabet

    if options.brackets == "text":
        cutter = tokenizers.load(setting.tokenizer)
        # A number is cut alike wherever it stands: words are cut one by one, each with its space.
        pieces = [
            cutter.encode(str(number), add_special_tokens=False).ids
            for number in range(2 * options.k)
        ]
        return Alphabet(pieces, setting.vocabulary)
    own = [[2 + number] for number in range(2 * options.k)]
    return Alphabet(own, tokenizers.Vocabulary(2 + len(own), 0, 1))


def recipe(options: Options, setting: Setting) -> Recipe:
    """Return the recipe of pre-pretraining: the run's, but for what concerns its length.

    Args:
        options: of the bias.
        setting: of the run.
    """
    from poshgrid.models.training.loop import rows_at_once

    of_run, device = setting.recipe, setting.device.type
    tokens = min(rows_at_once(of_run, device) * of_run.context_length, AT_ONCE[device])
    changed = {
        "name": "biases.dyck",  # where the configuration has what an error is about
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
    """Copy weights into another model of the same kind, whose tables may be longer.

    Args:
        source: trained.
        target: changed in place.
        embeddings: carry the tables of tokens and positions, too: the first rows of each, as many
            as both models have.
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
