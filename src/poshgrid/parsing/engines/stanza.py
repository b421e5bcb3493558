"""Stanza: a neural tagger, a lemmatizer and a graph-based parser (the paper's parser).

Loaded from a folder: Stanza's own download (``stanza_resources``), recognised by its
``resources.json``, of which the language's default package is used; or ``pos.pt``, ``lemma.pt`` and
``depparse.pt``, as Stanza's own training commands write them.

The parser reads lemmas: without a lemmatizer its accuracy falls from 79 to 5 percent.
"""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path
from typing import Any

from pydantic import Field

from poshgrid.core import logs, plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.parsing.tree import Tree

_STAGES = ("pos", "lemma", "depparse")
_PARSED = 1_000  # words parsed at once; more is slower on a CPU


class Options(plugins.Options):
    """Options of a loaded parser."""

    gpu: bool = Field(False, description="Use a GPU if there is one")


class Parser:
    """A loaded pipeline."""

    def __init__(self, pipeline: Any) -> None:  # noqa: ANN401 - a stanza.Pipeline
        """Store a pipeline that takes lists of words."""
        # Stanza resets its level when its training modules are imported and at each new pipeline
        if not logs.get(__name__).isEnabledFor(logging.DEBUG):
            logging.getLogger("stanza").setLevel(logging.ERROR)
        self._pipeline = pipeline

    def parse(self, sentences: list[list[str]]) -> list[Tree]:
        """Return the tree of each sentence; none may be empty.

        Sentences of similar length that follow each other share a batch with little padding.
        """
        if not sentences:
            return []
        document = self._pipeline(sentences)
        return [
            Tree(
                form=form,
                upos=[word.upos or "X" for word in sentence.words],
                feats=[word.feats or "_" for word in sentence.words],
                head=[word.head for word in sentence.words],
                deprel=[word.deprel or "dep" for word in sentence.words],
            )
            for form, sentence in zip(sentences, document.sentences, strict=True)
        ]


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
            f"{missing[0]}: not found; check parsers.model: the folder of the models, or "
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
                "give the folder of a download for this version"
            ) from error
