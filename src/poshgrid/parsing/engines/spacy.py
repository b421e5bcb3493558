"""spaCy: a transition-based parser and taggers of parts of speech and features, on one CNN.

Trained from a treebank without pretrained vectors, or loaded from the folder of any spaCy pipeline
with a parser. Trees with ClearNLP's labels, which spaCy's English pipelines produce, are converted
to Universal Dependencies (:mod:`poshgrid.parsing.clearnlp`). Sentence starts are preset, because
spaCy would otherwise split sentences again. About five times as fast as Stanza on a CPU at the same
accuracy.

A treebank may combine parts with and without morphological features. Parts of speech are therefore
predicted by one component (``tagger``, trained on all sentences) and features by another
(``morphologizer``, trained on the sentences with features). A single component would learn from the
other sentences that words of their register have no features.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from poshgrid.config.base import LearningRate, Positive, Seed, Width
from poshgrid.core import logs, plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import read_json
from poshgrid.parsing import clearnlp
from poshgrid.parsing import treebank as gold
from poshgrid.parsing.tree import RELATIONS, Tree

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

_DROPOUT = 0.1
_PARSED = 256  # sentences parsed at once
_UNUSED = ("ner", "senter", "sentencizer", "lemmatizer", "textcat", "entity_linker", "entity_ruler")


class Options(plugins.Options):
    """Training and speed; the defaults suit a treebank of about ten thousand sentences."""

    seed: Seed = Field(42, description="of the weights and the order of batches")
    steps: Positive = Field(1_000, description="Updates of the weights")
    batch_words: Width = Field(1_000, description="Words in one update")
    evaluate_every: Positive = Field(200, description="Updates between two scores on dev")
    width: Width = Field(96, description="Width of the CNN")
    embeddings: int = Field(
        2_000, gt=0, le=100_000_000, description="Rows of the hashed word table"
    )
    learning_rate: LearningRate = Field(1e-3, description="of Adam")


class Parser:
    """A loaded pipeline."""

    def __init__(self, language: Language, *, mapped: bool) -> None:
        """Store a pipeline with a parser; ``mapped``: whether its labels are ClearNLP's."""
        self._language, self._mapped = language, mapped

    def parse(self, sentences: list[list[str]]) -> list[Tree]:
        """Return the tree of each sentence; no sentence may be empty."""
        docs = (_doc(self._language, words) for words in sentences)
        trees = map(_tree, self._language.pipe(docs, batch_size=_PARSED))
        return [clearnlp.universal(tree) if self._mapped else tree for tree in trees]


def is_mapped(model: Path) -> bool:
    """Return whether a pipeline's labels are ClearNLP's and must be converted.

    Raises:
        PoshgridError: the labels are neither ClearNLP's nor UD's, so that filters would silently
            match nothing; or the folder is not a pipeline.
    """
    if not (model / "config.cfg").is_file():
        raise PoshgridError(
            f"{model}: no spaCy pipeline (no config.cfg); name the folder that has one, inside "
            "that of the package"
        )
    labels = set(read_json(model / "meta.json").get("labels", {}).get("parser", ())) - {"ROOT"}
    universal = {label for label in labels if label.partition(":")[0] in RELATIONS}
    if labels <= universal:
        return False
    if unknown := sorted(labels - universal - set(clearnlp.RELATIONS)):
        raise PoshgridError(
            f"{model}: relations {', '.join(unknown[:5])} are neither of Universal Dependencies "
            "nor of ClearNLP; give a parser trained on Universal Dependencies, or a treebank"
        )
    return True


def load(model: Path, options: Options, language: str) -> Parser:
    """Load a pipeline from its folder.

    Args:
        model: folder with ``config.cfg``; in an installed package it is a subfolder.
        options: options for training; not used.
        language: not used: the pipeline has its own.

    Raises:
        PoshgridError: no pipeline in the folder, one without a parser or parts of speech, or one
            with labels that cannot be converted.
    """
    import spacy
    from spacy import about

    if not (model / "config.cfg").is_file():
        raise PoshgridError(f"{model}: no spaCy pipeline (config.cfg) here; check parsers.model")
    try:
        pipeline = spacy.load(model, exclude=_UNUSED)
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).strip().splitlines()[0]
        raise PoshgridError(
            f"{model}: not a pipeline that spaCy {about.__version__} can load ({reason}); "
            "train it again, or install the version that made it"
        ) from error
    pipes = pipeline.pipe_names
    # Without parts of speech the filters would silently match nothing.
    if "parser" not in pipes or not {"morphologizer", "attribute_ruler"} & set(pipes):
        raise PoshgridError(
            f"{model}: the pipeline has no parser or no parts of speech, only "
            f"{', '.join(pipes) or 'nothing'}; give another model"
        )
    return Parser(pipeline, mapped=is_mapped(model))


def train(treebank: Path, output: Path, options: Options, language: str) -> None:
    """Train a tagger and parser and keep the weights that score best on dev.

    Training is seeded: on one machine the same treebank, options and number of threads give the
    same parser.

    Args:
        treebank: folder of ``train.conllu`` and ``dev.conllu``.
        output: folder that the pipeline is written to.
        options: sizes and steps.
        language: ISO 639-1 code.
    """
    from spacy.training import Example
    from spacy.util import load_model_from_config
    from thinc.api import Adam, fix_random_seed

    log = logs.get(__name__)
    fix_random_seed(options.seed)
    trees = {split: gold.trees(treebank / f"{split}.conllu") for split in ("train", "dev")}
    features = any(map(gold.has_features, trees["train"]))
    pipeline = load_model_from_config(_config(options, language, features=features), auto_fill=True)
    examples = {
        split: [
            Example(_doc(pipeline, tree.form), _doc(pipeline, tree.form, tree)) for tree in part
        ]
        for split, part in trees.items()
    }
    optimizer = pipeline.initialize(
        lambda: examples["train"], sgd=Adam(options.learning_rate, use_averages=True)
    )
    for upos in _pipe(pipeline, "tagger").labels:  # a tag is a part of speech
        _pipe(pipeline, "attribute_ruler").add([[{"TAG": upos}]], {"POS": upos})
    best, weights = -1.0, b""
    batches = _batches(examples["train"], options.batch_words, options.seed)
    for step in range(1, options.steps + 1):
        pipeline.update(next(batches), drop=_DROPOUT, sgd=optimizer)
        if step % options.evaluate_every == 0 or step == options.steps:
            with pipeline.use_params(optimizer.averages):
                score = pipeline.evaluate(examples["dev"])["dep_las"]
                log.info("step %d: dev LAS %.3f", step, score)
                if score > best:
                    best, weights = score, pipeline.to_bytes()
    pipeline.from_bytes(weights)
    pipeline.to_disk(output)


def _config(options: Options, language: str, *, features: bool) -> dict[str, Any]:
    def model(architecture: str, **settings: object) -> dict[str, Any]:
        return {"@architectures": f"spacy.{architecture}", **settings}

    listener = model("Tok2VecListener.v1", width=options.width)
    encoder = model(
        "HashEmbedCNN.v2", width=options.width, depth=4, embed_size=options.embeddings,
        window_size=1, maxout_pieces=3, subword_features=True, pretrained_vectors=None,
    )  # fmt: skip
    parser = model(
        "TransitionBasedParser.v2", state_type="parser", extra_state_tokens=False,
        hidden_width=64, maxout_pieces=2, use_upper=True, tok2vec=listener,
    )  # fmt: skip
    tagger = model("Tagger.v2", tok2vec=listener)
    # The attribute ruler copies the tagger's parts of speech last, so the tagger decides.
    components: dict[str, dict[str, Any]] = {
        "tok2vec": {"model": encoder},
        "tagger": {"model": tagger},
        **({"morphologizer": {"model": tagger}} if features else {}),
        "attribute_ruler": {},
        "parser": {"min_action_freq": 5, "model": parser},
    }
    return {
        "nlp": {"lang": language, "pipeline": list(components)},
        "components": {name: {"factory": name, **more} for name, more in components.items()},
    }


def _pipe(language: Language, name: str) -> Any:  # noqa: ANN401 - spaCy types a pipe as a function
    return language.get_pipe(name)


def _doc(language: Language, words: Sequence[str], tree: Tree | None = None) -> Doc:
    from spacy.tokens import Doc

    words = list(words)
    starts: list[bool | int | None] = [True, *[False] * (len(words) - 1)]
    if tree is None:
        return Doc(language.vocab, words=words, sent_starts=starts)
    # The morphologizer skips a word without features and part of speech. An empty string would
    # instead say that the word has no features.
    known = gold.has_features(tree)
    return Doc(
        language.vocab,
        words=words,
        tags=list(tree.upos),
        pos=list(tree.upos) if known else None,
        morphs=[feats.removeprefix("_") for feats in tree.feats] if known else None,
        heads=[head - 1 if head else index for index, head in enumerate(tree.head)],
        deps=[
            "ROOT" if not head else rel for head, rel in zip(tree.head, tree.deprel, strict=True)
        ],
    )


def _tree(doc: Doc) -> Tree:
    return Tree(
        form=[token.text for token in doc],
        upos=[token.pos_ or "X" for token in doc],
        feats=[str(token.morph) or "_" for token in doc],
        head=[0 if token.head.i == token.i else token.head.i + 1 for token in doc],
        deprel=["root" if token.head.i == token.i else token.dep_ or "dep" for token in doc],
    )


def _batches(examples: list[Any], words: int, seed: int) -> Iterator[list[Any]]:
    """Yield shuffled batches of about ``words`` words, without end."""
    generator = random.Random(seed)
    order = list(range(len(examples)))
    batch: list[Any] = []
    size = 0
    while True:
        generator.shuffle(order)
        for index in order:
            batch.append(examples[index])
            size += len(examples[index].reference)
            if size >= words:
                yield batch
                batch, size = [], 0
