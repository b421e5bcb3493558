"""A results folder of two trained models and a baseline, made by the stages in seconds."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from poshgrid.benchmark import items as suites
from poshgrid.benchmark.schema import PAIRS
from poshgrid.config import Scoring, specs
from poshgrid.config.paths import Paths
from poshgrid.core import files, formats
from poshgrid.core.manifest import recorded
from poshgrid.evaluation.score import score
from poshgrid.models.training import builder
from poshgrid.models.training.train import train
from poshgrid.statistics.accuracy import accuracy
from poshgrid.statistics.curves import training
from poshgrid.statistics.schema import TRAINED
from tests.unit.models.training.training_support import (
    NOUNS,
    VERBS,
    condition,
    encode,
    recipe,
    tokenizer,
    tokenizer_spec,
    train_spec,
)

CELL = ("baby-f", "1K")
NAMES = [f"baby-f/1K/nano/small/none/seed{seed}" for seed in (42, 53)]
BASELINE = "baby-f/1K/nano/untrained/none/seed42"


def pairs() -> pl.DataFrame:
    """Return pairs of three phenomena, one of them joint, with ties and quotes among them."""
    rows = []
    for n, (noun, verb) in enumerate(zip(NOUNS * 3, VERBS * 4, strict=True)):
        other = NOUNS[(n + 3) % len(NOUNS)]
        rows.append(("order", "word order", f"The {noun} {verb} a {other}.",
                     f"The {verb} {noun} a {other}.", "", False))  # fmt: skip
        # Of unequal length: means and sums over tokens need not agree
        rows.append(("length", "word order", f"The {noun} that {verb} the {other} likes a dog.",
                     f"The {noun} {verb} a dog.", "", False))  # fmt: skip
        for cell in ("gap", "filled"):
            rows.append(("gap", "island", f'"What, {cell}", the {noun} {verb}?',
                         f"What {verb} the {noun} {cell}?", cell, True))  # fmt: skip
    rows.append(("order", "word order", "The dog likes a cat.", "The dog likes a cat.", "", False))
    columns = ("phenomenon", "category", "good", "bad", "cell", "joint")
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    number = pl.int_range(pl.len()).over("phenomenon", "cell")
    return frame.with_columns(
        item_id=pl.format("{}-{}{}", "phenomenon", pl.col("cell") + "-", number),
        template="phenomenon",
        lexical_set=pl.format("set{}", number),
        contrast="phenomenon",
    )


def build(
    results: Path,
    *,
    reduction: str = "mean",
    bos: bool = True,
    checkpoints: Sequence[int] | str = (),
) -> Paths:
    """Write corpora, models, items, scores and accuracies of target ``all``."""
    paths = Paths(str(results))
    text = condition(Path(paths.condition(*CELL)))
    counted = {"childes": {"words": 1000, "sentences": 150},
               "gutenberg": {"words": 234, "sentences": 50}}  # fmt: skip
    train_split = {"words": 1234, "sentences": 200, "sources": counted}
    facts = {"condition": CELL[0], "corpus": "baby", "size": CELL[1],
             "splits": {"train": train_split}, "removed": {"binding.paper": {}},
             "reinserted": {"binding": {}}}  # fmt: skip
    files.write_json(text / "statistics.json", facts)
    words, tokens = Path(paths.tokenizer(*CELL)), Path(paths.tokens(*CELL))
    tokenizer.train(tokenizer_spec(), [text], words)
    encode.encode(text, words, tokens)
    items = Path(paths.items("posh"))
    files.write_table(suites.pairs("posh", pairs()), items, PAIRS)
    files.write_json(items.parent / "manifest.json", {"spec": {"suite": {"reader": "templates"}}})
    scoring = Scoring(reduction=reduction, bos=bos)
    for name in (*NAMES, BASELINE):
        model, scores = Path(paths.model(name)), Path(paths.score_folder(name))
        asked = train_spec(recipe(positions=64, checkpoints=checkpoints), int(name[-2:]))
        with recorded(model / "manifest.json", spec=asked.model_dump(mode="json"), code="c0de"):
            if name == BASELINE:
                builder.initialise(asked.model, asked.seed, words, model)
            else:
                train(asked, tokens, words, results / "checkpoints", model)
        wanted = specs.ScoreSpec(scoring=scoring, tasks={"posh": "pairs"})
        with recorded(scores / "manifest.json", spec=wanted.model_dump(mode="json")):
            score(wanted, str(model), {"posh": items}, {"posh": scores / "posh.parquet"})
    cell = specs.Cell(words=1000, source="baby", filtered=True)
    judged = specs.JudgementSpec(
        scoring=scoring, runs=[*NAMES, BASELINE], cells={"/".join(CELL): cell}
    )
    folder = Path(paths.statistics("all"))
    with recorded(folder / "manifest.json", spec=judged.model_dump(mode="json")):
        accuracy(judged, Path(paths.all_scores()), {"posh": items}, None, folder)
    trained = training(NAMES, Path(paths.all_models()))
    formats.write(trained, Path(paths.curves("all")), "training", TRAINED)
    return paths
