"""Items that are too long for a model are an error before anything is scored."""

from __future__ import annotations

import pytest

from poshgrid.benchmark.schema import CHOICES, COMPLETIONS, ITEMS, PARADIGMS
from poshgrid.config import Scoring
from poshgrid.config.specs import ScoreSpec
from poshgrid.errors import PoshgridError
from poshgrid.evaluation.score import score
from poshgrid.training.train import train
from tests.unit.evaluation.test_tasks import table
from tests.unit.training.training_support import corpus, regimen, train_spec

SHORT, LONG = "The dog sees.", "The dog that sees the cat likes a baby who wants the girl."
TASKS = {"own": "pairs", "gaps": "paradigms", "options": "choices", "ends": "completions"}


@pytest.fixture(scope="module")
def cell(tmp_path_factory):
    """Tokens, the tokenizer's folder, and the tokenizer."""
    from tokenizers import Tokenizer

    tokens, tokenizer = corpus(tmp_path_factory.mktemp("cell"))
    cut = Tokenizer.from_file(str(tokenizer / "tokenizer.json"))
    return tokens, tokenizer, cut


def suites(folder, long, text=LONG):
    """Four suites, one of which holds the long sentence, in its second item."""
    text = {suite: text if suite == long else SHORT for suite in TASKS}
    rows = {
        "own": (ITEMS, [{"good": SHORT, "bad": SHORT}, {"good": SHORT, "bad": text["own"]}]),
        "gaps": (PARADIGMS, [{"text": SHORT}, {"text": text["gaps"]}]),
        "options": (CHOICES, [{"text": SHORT}, {"text": text["options"]}]),
        "ends": (COMPLETIONS, [{"prompt": SHORT}, {"prompt": text["ends"]}]),
    }
    for suite, (schema, members) in rows.items():
        named = [{"item_id": f"i-{i}", **each} for i, each in enumerate(members, start=1)]
        table(schema, *named).write_parquet(folder / f"{suite}.parquet")
    return {suite: folder / f"{suite}.parquet" for suite in rows}


@pytest.fixture(scope="module")
def model(cell, tmp_path_factory):
    """A model that sees the long sentence with <bos>, and no token more."""
    tokens, tokenizer, cut = cell
    long = len(cut.encode(LONG, add_special_tokens=False).ids)
    chosen = regimen(steps=1, warmup_steps=0, evaluate_every=1, positions=long + 1)
    folder = tmp_path_factory.mktemp("model")
    train(train_spec(chosen), tokens, tokenizer, folder / "checkpoints", folder / "model")
    return folder / "model"


def scored(model, items, folder):
    outputs = {suite: folder / "scores" / f"{suite}.parquet" for suite in items}
    (folder / "scores").mkdir()
    score(ScoreSpec(scoring=Scoring(), tasks=TASKS), str(model), items, outputs)
    return outputs


def test_the_last_length_that_fits(model, tmp_path):
    items = suites(tmp_path, "own")
    assert scored(model, {"own": items["own"]}, tmp_path)["own"].exists()


@pytest.mark.parametrize(
    ("suite", "around"), [("own", 1), ("gaps", 1), ("options", 1), ("ends", 4)]
)
def test_what_is_longer_is_refused_before_anything_is_scored(
    cell, model, tmp_path, caplog, suite, around
):
    """<bos> is read, too; after a prompt three tokens are written."""
    text = f"{LONG} ." if suite != "ends" else LONG
    needed = len(cell[2].encode(text, add_special_tokens=False).ids) + around
    with pytest.raises(PoshgridError, match=rf"^{suite}: item i-2\b.*: {needed} tokens"):
        scored(model, suites(tmp_path, suite, text), tmp_path)
    assert not list((tmp_path / "scores").iterdir())
    assert "sentences in" not in caplog.text
