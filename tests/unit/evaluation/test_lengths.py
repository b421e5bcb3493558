"""Items that are too long are told before anything is trained."""

from __future__ import annotations

import json

import pytest

from poshgrid.benchmark.schema import CHOICES, COMPLETIONS, ITEMS, PARADIGMS
from poshgrid.config import Scoring
from poshgrid.config.specs import Context, LengthsSpec
from poshgrid.errors import PoshgridError
from poshgrid.evaluation.engine import Request
from poshgrid.evaluation.engines.load import load
from poshgrid.evaluation.lengths import lengths
from poshgrid.training.train import train
from tests.unit.evaluation.test_tasks import table
from tests.unit.training.training_support import corpus, regimen, train_spec

SHORT, LONG = "The dog sees.", "The dog that sees the cat likes a baby who wants the girl."
TASKS = {"own": "pairs", "gaps": "paradigms", "options": "choices", "ends": "completions"}


@pytest.fixture(scope="module")
def cell(tmp_path_factory):
    """Tokens and tokenizer, and how many tokens the long sentence has."""
    from tokenizers import Tokenizer

    tokens, tokenizer = corpus(tmp_path_factory.mktemp("cell"))
    cut = Tokenizer.from_file(str(tokenizer / "tokenizer.json"))
    return tokens, tokenizer, len(cut.encode(LONG, add_special_tokens=False).ids)


def suites(folder, long):
    """Four suites, one of which holds the long sentence, in its second item."""
    text = {suite: LONG if suite == long else SHORT for suite in TASKS}
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


def spec(tokens, *, masked=False, bos=True):
    context = Context(learner="nano", regimen="small", tokens=tokens, masked=masked)
    return LengthsSpec(contexts=[context], bos=bos, tasks=TASKS)


@pytest.mark.parametrize(
    ("suite", "masked", "bos", "around"),
    [("own", False, True, 1), ("own", False, False, 0), ("own", True, True, 2),
     ("gaps", False, True, 1), ("options", True, True, 2), ("ends", False, True, 4)],
)  # fmt: skip
def test_the_last_length_that_fits(cell, tmp_path, suite, masked, bos, around):
    _, tokenizer, long = cell
    items, output = suites(tmp_path, suite), tmp_path / "lengths.json"
    needed = long + around
    with pytest.raises(PoshgridError) as error:
        lengths(spec(needed - 1, masked=masked, bos=bos), tokenizer, items, output)
    assert str(error.value).startswith(
        f"{suite}: item i-2: {needed} tokens, but nano in regimen small sees {needed - 1} at a time"
    )
    assert f"set `positions` of regimen small to {needed}" in str(error.value)
    assert not output.exists()
    lengths(spec(needed, masked=masked, bos=bos), tokenizer, items, output)
    found = json.loads(output.read_text())
    assert found.pop(suite) == {"tokens": long, "item": "i-2"}
    (short,) = {each["tokens"] for each in found.values()}
    assert short < long
    assert {each["item"] for each in found.values()} == {"i-1"}  # of several the first


def test_a_masked_model_writes_no_completions(cell, tmp_path):
    _, tokenizer, long = cell
    items, output = suites(tmp_path, "ends"), tmp_path / "out.json"
    lengths(spec(long, masked=True), tokenizer, items, output)
    lengths(spec(1, masked=True), tokenizer, {"ends": items["ends"]}, output)


def test_a_suite_without_items_has_no_longest(cell, tmp_path):
    table(ITEMS).write_parquet(tmp_path / "own.parquet")
    with pytest.raises(PoshgridError, match=r"own\.parquet: no items; make the suite again"):
        lengths(spec(9), cell[1], {"own": tmp_path / "own.parquet"}, tmp_path / "out.json")


def test_every_learner_that_is_too_short_has_a_line(cell, tmp_path):
    _, tokenizer, long = cell
    contexts = [
        Context(learner=name, regimen="small", tokens=tokens)
        for name, tokens in (("a", long), ("b", long + 1), ("c", 5))
    ]
    given = LengthsSpec(contexts=contexts, bos=True, tasks=TASKS)
    with pytest.raises(PoshgridError) as error:
        lengths(given, tokenizer, suites(tmp_path, "own"), tmp_path / "out.json")
    told = [line.split("but ")[1].split()[0] for line in str(error.value).splitlines()]
    assert told == ["a", "c"]


def test_without_a_model_that_has_positions_nothing_is_too_long(cell, tmp_path):
    given = LengthsSpec(contexts=[], bos=True, tasks=TASKS)
    lengths(given, cell[1], suites(tmp_path, "own"), tmp_path / "out.json")


def test_it_says_what_the_score_would_say(cell, tmp_path):
    """The trained model takes what passes, and no more."""
    tokens, tokenizer, long = cell
    for positions, fits in ((long + 1, True), (long, False)):
        chosen = regimen(steps=1, warmup_steps=0, evaluate_every=1, positions=positions)
        model = tmp_path / str(positions)
        train(train_spec(chosen), tokens, tokenizer, tmp_path / "checkpoints", model)
        engine = load(str(model), Scoring())
        items = suites(tmp_path, "own")
        if fits:
            engine.score([Request(LONG, "long")])
            lengths(spec(positions), tokenizer, items, tmp_path / "out.json")
            continue
        with pytest.raises(PoshgridError, match=f"{long + 1} tokens"):
            engine.score([Request(LONG, "long")])
        with pytest.raises(PoshgridError, match=f"{long + 1} tokens"):
            lengths(spec(positions), tokenizer, items, tmp_path / "out.json")
