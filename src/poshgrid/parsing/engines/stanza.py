"""Stanza: a neural tagger, a lemmatizer and a graph-based parser (the paper's parser).

Trained from a treebank without pretrained vectors, or loaded from a folder: one that :func:`train`
has written, with ``pos.pt``, ``lemma.pt``, ``depparse.pt``; or Stanza's own download folder
(``stanza_resources``), recognised by its ``resources.json``, of which the language's default
package is used.

The parser reads lemmas: without a lemmatizer its accuracy falls from 79 to 5 percent, so one is
always trained and loaded; a dictionary of the training words is enough.

A treebank may combine parts with and without morphological features. The tagger gets the sentences
with features and those without as two files: it learns features only from the first file. With a
single file it would learn that words of the other sentences' register have no features.
"""

from __future__ import annotations

import contextlib
import io
import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field

from poshgrid.config.base import Depth, LearningRate, Positive, Seed, Width
from poshgrid.core import logs, plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.parsing.tree import Tree

_STAGES = ("pos", "lemma", "depparse")
_PARSED = 1_000  # words parsed at once; more is slower on a CPU


class Options(plugins.Options):
    """Training and speed; the defaults suit a treebank of about ten thousand sentences."""

    seed: Seed = Field(42, description="of the weights and the order of batches")
    tagger_steps: Positive = Field(600, description="Updates of the tagger")
    tagger_batch: Width = Field(50, description="Sentences in one update of the tagger")
    tagger_width: Width = Field(150, description="Width of the tagger's LSTM")
    parser_steps: Positive = Field(900, description="Updates of the parser")
    parser_batch: Width = Field(1_000, description="Words in one update of the parser")
    parser_width: Width = Field(200, description="Width of the parser's LSTM")
    parser_layers: Depth = Field(2, description="Layers of the parser's LSTM")
    character_width: Width = Field(100, description="Width of both character LSTMs")
    learning_rate: LearningRate = Field(2e-3, description="Of the parser")
    evaluations: Depth = Field(3, description="Scores on dev while training, for the best")
    gpu: bool = Field(False, description="Use a GPU if there is one")


class Parser:
    """A loaded pipeline."""

    def __init__(self, pipeline: Any) -> None:  # noqa: ANN401 - a stanza.Pipeline
        """Store a pipeline that takes lists of words."""
        _hush()
        self._pipeline = pipeline

    def parse(self, sentences: list[list[str]]) -> list[Tree]:
        """Return the tree of each sentence; no sentence may be empty."""
        if not sentences:
            return []
        # Sentences of similar length share a batch with little padding.
        order = sorted(range(len(sentences)), key=lambda index: (len(sentences[index]), index))
        document = self._pipeline([sentences[index] for index in order])
        trees: dict[int, Tree] = {}
        for index, sentence in zip(order, document.sentences, strict=True):
            words = sentence.words
            trees[index] = Tree(
                form=sentences[index],
                upos=[word.upos or "X" for word in words],
                feats=[word.feats or "_" for word in words],
                head=[word.head for word in words],
                deprel=[word.deprel or "dep" for word in words],
            )
        return [trees[index] for index in range(len(sentences))]


def load(model: Path, options: Options, language: str) -> Parser:
    """Load tagger, lemmatizer and parser from a folder (layouts above), without network access.

    Raises:
        PoshgridError: a model is missing, or Stanza cannot load it.
    """
    import stanza

    common: dict[str, Any] = {
        "processors": "tokenize,pos,lemma,depparse",
        "download_method": None,
        "use_gpu": options.gpu,
        "tokenize_pretokenized": True,
        "pos_batch_maximum_tokens": _PARSED,
        "depparse_batch_size": _PARSED,
        "verbose": False,
    }
    paths = {f"{stage}_model_path": str(model / f"{stage}.pt") for stage in _STAGES}
    listing = (model / "resources.json").is_file()
    if missing := [path for path in paths.values() if not Path(path).is_file() and not listing]:
        raise PoshgridError(
            f"{missing[0]}: not found; check parsers.model: the folder of a trained parser, or "
            "Stanza's download folder, with its resources.json"
        )
    with tempfile.TemporaryDirectory() as folder:
        location: dict[str, Any] = {"dir": str(model)}
        if not listing:
            resources = Path(folder) / "resources.json"
            resources.write_text("{}", encoding="utf-8")
            location = {
                "resources_filepath": str(resources), "allow_unknown_language": True, **paths,
            }  # fmt: skip
        try:
            return Parser(stanza.Pipeline(language, **location, **common))
        except Exception as error:  # Stanza raises bare exceptions of many kinds for a bad file
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise PoshgridError(
                f"{model}: not a model that Stanza {stanza.__version__} can load ({reason}); "
                "train it again, or give the folder of a download for this version"
            ) from error


def train(treebank: Path, output: Path, options: Options, language: str) -> None:
    """Train tagger, lemmatizer and parser and write ``pos.pt``, ``lemma.pt``, ``depparse.pt``.

    Training is seeded: on one machine the same treebank, options and number of threads give the
    same parser.

    Args:
        treebank: folder of ``train.conllu`` and ``dev.conllu``.
        output: folder that the models are written to.
        options: sizes and steps.
        language: ISO 639-1 code.
    """
    from stanza.models import lemmatizer, parser, tagger

    files = {
        "mode": "train",
        "shorthand": f"{language}_poshgrid",
        "save_dir": output,
        "seed": options.seed,
    }
    device = [] if options.gpu else ["--cpu"]
    neural = {
        "lang": language,
        "char_hidden_dim": options.character_width,
        "char_emb_dim": 50,
        "word_dropout": 0.15,
        "word_cutoff": 2,
    }
    calls = {
        "pos": (
            tagger.main,
            {**files, **neural, "max_steps": options.tagger_steps,
             "eval_interval": max(1, options.tagger_steps // options.evaluations),
             "batch_size": options.tagger_batch, "hidden_dim": options.tagger_width,
             "deep_biaff_hidden_dim": 100, "tag_emb_dim": 20, "dropout": 0.2},
            ["--no_pretrain", "--fix_eval_interval"],
        ),
        "lemma": (lemmatizer.main, files, ["--dict_only"]),
        "depparse": (
            parser.main,
            {**files, **neural, "max_steps": options.parser_steps,
             "eval_interval": max(1, options.parser_steps // options.evaluations),
             "batch_size": options.parser_batch, "hidden_dim": options.parser_width,
             "deep_biaff_hidden_dim": 80, "num_layers": options.parser_layers, "dropout": 0.25,
             "optim": "adam", "lr": options.learning_rate,
             # Only one optimiser: the second one would start when dev accuracy stops rising,
             # which happens early with small treebanks.
             "second_optim_start_step": 100_000},
            ["--no_upos", "--no_xpos", "--no_ufeats", "--no_pretrain", "--no_checkpoint"],
        ),
    }  # fmt: skip
    for stage, (main, settings, flags) in calls.items():
        logs.get(__name__).info("training Stanza's %s", stage)
        with _quiet(), tempfile.TemporaryDirectory() as folder:
            train, dev = (treebank / f"{split}.conllu" for split in ("train", "dev"))
            settings["train_file"] = _by_features(train, Path(folder)) if stage == "pos" else train
            settings["eval_file"] = dev
            arguments = [f"--{key}={value}" for key, value in settings.items()]
            main([*arguments, *flags, *device, f"--save_name={stage}.pt"])


def _by_features(path: Path, folder: Path) -> str:
    """Return the paths of the sentences with and without features, in Stanza's notation."""
    divided: dict[bool, list[str]] = {}
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        words = [line.split("\t") for line in block.split("\n") if "\t" in line]
        if words:
            divided.setdefault(any(word[5] != "_" for word in words), []).append(block)
    if len(divided) == 1:
        return str(path)
    files = {known: folder / f"{known}.conllu" for known in sorted(divided, reverse=True)}
    for known, file in files.items():
        file.write_text("\n\n".join(divided[known]) + "\n\n", encoding="utf-8")
    return ";".join(map(str, files.values()))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppress Stanza's tables, progress bars and hundreds of lines in the job log."""
    with contextlib.redirect_stdout(io.StringIO()):
        _hush()
        yield


def _hush() -> None:
    # Stanza resets its log level when its training modules are imported and at each new pipeline.
    if not logs.get(__name__).isEnabledFor(logging.DEBUG):
        logging.getLogger("stanza").setLevel(logging.ERROR)
