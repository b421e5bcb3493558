"""Train a dependency parser from a treebank, and test it on held-out trees."""

from __future__ import annotations

from pathlib import Path

from poshgrid.config import specs
from poshgrid.core import logs, plugins
from poshgrid.core.files import atomic_folder, write_json
from poshgrid.core.plugins import ENGINES
from poshgrid.parsing import treebank as gold
from poshgrid.parsing.evaluate import evaluate


def train(spec: specs.ParserSpec, treebank: Path, output: Path) -> dict[str, object]:
    """Train a parser and write its model and ``evaluation.json`` to a folder.

    In the test the parser gets only the words and predicts the tags and lemmas that it uses.

    Args:
        spec: the engine and its options.
        treebank: folder of ``train.conllu``, ``dev.conllu`` and ``test.conllu``.
        output: folder of the model.

    Returns:
        The evaluation (:func:`poshgrid.parsing.evaluate.evaluate`).
    """
    log = logs.get(__name__)
    engine = plugins.load(ENGINES, spec.parser.engine)
    options = plugins.options(ENGINES, spec.parser.engine, spec.parser.options)
    # The folder may exist already and hold a manifest: only the models are replaced.
    with atomic_folder(output) as scratch:
        log.info("training %s with %s", spec.parser.name, spec.parser.engine)
        engine.train(treebank, scratch, options, spec.parser.language)
        truth = gold.trees(treebank / "test.conllu")
        parsed = engine.load(scratch, options, spec.parser.language)
        parsed = parsed.parse([list(tree.form) for tree in truth])
        evaluation = evaluate(truth, parsed)
        write_json(scratch / "evaluation.json", evaluation)
    log.info(
        "%s: on %s test sentences UPOS %.3f, UAS %.3f, LAS %.3f", spec.parser.name,
        *(evaluation[key] for key in ("sentences", "upos", "uas", "las")),
    )  # fmt: skip
    return evaluation
