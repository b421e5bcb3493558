"""Dyck pre-pretraining: the language, what is learned of it, and what of that is carried over."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from poshgrid.errors import PoshgridError
from poshgrid.tokenization import tokenizer as tokenizers
from poshgrid.training import bias, checkpoint, learner, seeds
from poshgrid.training.biases import dyck
from poshgrid.training.checkpoint import Checkpoints
from poshgrid.training.dyck_language import Alphabet, Brackets, Language
from poshgrid.training.train import train
from tests.unit.training.training_support import corpus, regimen, train_spec

SMALL = {"k": 3, "depth": 4, "length": 24, "steps": 8, "batch_size": 4, "warmup_steps": 2}
PAPER = Language(k=64, p_open=0.5, depth=8, length=2_048)


# ---- the language -----------------------------------------------------------------------------


def faults(language, sequence):
    """Say what is wrong with a sequence, bracket by bracket: an independent check."""
    found, count = set(), Counter()
    for bracket in sequence:
        kind, closes = int(bracket) % language.k, bracket >= language.k
        if not 0 <= bracket < 2 * language.k:
            found.add("no bracket")
            continue
        count[kind] += -1 if closes else 1
        if count[kind] < 0:
            found.add("closed before it is open")
        if count.total() > language.depth:
            found.add("too deep")
    if any(count.values()):
        found.add("not closed")
    if len(sequence) != language.length:
        found.add("length")
    return found


LANGUAGES = [
    PAPER,
    Language(k=1, p_open=0.5, depth=3, length=40),
    Language(k=2, p_open=0.9, depth=5, length=50),
    Language(k=3, p_open=0.1, depth=1, length=10),
    Language(k=2, p_open=0.99, depth=100, length=30),  # the end is nearer than the depth
    Language(k=4, p_open=0.5, depth=2, length=2),
]


@pytest.mark.parametrize("language", LANGUAGES, ids=str)
def test_every_kind_is_balanced_and_the_depth_is_reached_and_kept(language):
    drawn = language.draw(42, range(64))
    assert drawn.shape == (64, language.length)
    assert not set().union(*(faults(language, each) for each in drawn))
    depth = np.cumsum(np.where(drawn < language.k, 1, -1), axis=1)
    assert depth.max() == min(language.depth, language.length // 2)
    assert (depth[:, -1] == 0).all()


def test_it_is_the_plain_algorithm(monkeypatch):
    """Written anew for one sequence, with lists, from the same draws."""
    language = Language(k=5, p_open=0.4, depth=3, length=60)
    streams = {}
    original = seeds.generator

    def generator(seed, purpose, index):
        streams[index] = (seed, purpose, index)
        return original(seed, purpose, index)

    monkeypatch.setattr(seeds, "generator", generator)
    drawn = language.draw(11, range(30))
    for index, sequence in enumerate(drawn):
        random = original(*streams[index])
        coins, picks = random.random(60, np.float32), random.random(60, np.float32)
        kinds = random.integers(5, size=60, dtype=np.int32)
        held, found = [], []
        for place in range(60):
            must_open = not held
            must_close = len(held) == 3 or len(held) == 60 - place
            if must_open or (not must_close and coins[place] < 0.4):
                held.append(kinds[place])
                found.append(kinds[place])
            else:
                slot = int(np.float64(picks[place]) * len(held))
                found.append(5 + held[slot])
                held[slot] = held[-1]
                held.pop()
        assert list(sequence) == found


def test_a_sequence_is_a_function_of_seed_part_and_index():
    language = Language(k=4, p_open=0.5, depth=4, length=64)
    some = language.draw(42, range(10))
    assert (language.draw(42, [7, 3]) == some[[7, 3]]).all()
    assert len({each.tobytes() for each in some}) == 10
    for other in (language.draw(43, range(10)), language.draw(42, range(10), "dev")):
        assert not any((one == two).all() for one in other for two in some)


# ---- rows -------------------------------------------------------------------------------------


def brackets(language, alphabet, **changes):
    given = {"seed": 42, "part": "train", "batch_size": 3, "steps": 7} | changes
    return Brackets(language, alphabet, **given)


def test_rows_hold_each_sequence_once_after_the_boundary(monkeypatch):
    language = Language(k=2, p_open=0.5, depth=3, length=10)
    own = Alphabet([[2], [3], [4], [5]], vocabulary_size=6, boundary_id=0, padding_id=1)
    expected = language.draw(42, range(21)) + 2
    rows = brackets(language, own)
    assert rows.steps_per_epoch == 7
    batches = [rows.batch(step) for step in range(7)]
    targets = np.concatenate([batch.targets for batch in batches])
    inputs = np.concatenate([batch.inputs for batch in batches])
    assert (targets == expected).all()
    assert (inputs[:, 0] == 0).all()
    assert (inputs[:, 1:] == expected[:, :-1]).all()
    assert batches[0].tokens == 30
    in_order = np.concatenate([batch.targets for batch in rows.in_order(4)])
    assert (in_order == expected).all()
    # wherever it begins, and however many are drawn together
    monkeypatch.setattr("poshgrid.training.dyck_language.BLOCK", 60)
    for step in (5, 0, 6, 3):
        assert (brackets(language, own).batch(step).targets == batches[step].targets).all()
        assert (rows.batch(step).targets == batches[step].targets).all()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Folders of tokens and tokenizer."""
    return corpus(tmp_path_factory.mktemp("corpus"))


def setting(inputs, folder, chosen=None, **changes):
    given = {
        "spec": train_spec(chosen or regimen(), bias="dyck"),
        "regimen": chosen or regimen(),
        "tokenizer": inputs[1],
        "distances": None,
        "checkpoints": Checkpoints(folder, "0123456789abcdef"),
        "vocabulary_size": 300,
        "boundary_id": 0,
        "padding_id": 1,
        "device": torch.device("cpu"),
    }
    return bias.Setting(**(given | changes))


def test_brackets_as_text_are_numbers_in_the_language_s_tokens(inputs, tmp_path):
    options = dyck.Options(k=64, length=30, brackets="text")
    letters = dyck.alphabet(options, setting(inputs, tmp_path))
    assert (letters.vocabulary_size, letters.boundary_id, letters.padding_id) == (300, 0, 1)
    language = Language(k=64, p_open=0.5, depth=8, length=30)
    drawn = language.draw(42, range(6))
    cutter = tokenizers.load(inputs[1])
    whole = [cutter.encode(" ".join(map(str, row)), add_special_tokens=False).ids for row in drawn]
    assert letters.ids(drawn).tolist() == [ids[:30] for ids in whole]
    assert min(map(len, whole)) > 30  # some numbers take several tokens
    many = language.draw(42, range(300))
    pieces = sum(len(letters.pieces[bracket]) for bracket in many.ravel())
    assert letters.tokens_per_bracket == pytest.approx(pieces / many.size, rel=0.01)


def test_own_brackets_are_no_words(inputs, tmp_path):
    told = setting(inputs, tmp_path)
    body = dyck.alphabet(dyck.Options(k=3), told)
    assert body == Alphabet([[2], [3], [4], [5], [6], [7]], 8, 0, 1)
    whole = dyck.alphabet(dyck.Options(k=3, transfer="all"), told)
    assert whole == Alphabet([[300], [301], [302], [303], [304], [305]], 306, 0, 1)


# ---- options and the derived regimen ----------------------------------------------------------


def test_the_regimen_is_the_run_s_but_for_its_length(inputs, tmp_path):
    chosen = regimen(
        input="sentence", padding_in_loss=True,
        precision="bf16", threads=2, schedule="cosine", weight_decay=0.3, dropout=0.2,
        clip_norm=0.7, batch_size=32, context_length=512, micro_batch_size=8, patience_steps=5,
        checkpoints=[3], checkpoint_epochs="every", checkpoint_every=2_000, steps=None, epochs=2,
    )  # fmt: skip
    told = setting(inputs, tmp_path, chosen)
    found = dyck.regimen(dyck.Options(), told)
    same = ("precision", "threads", "schedule", "weight_decay", "dropout", "clip_norm", "compile",
            "learning_rate")  # fmt: skip
    assert {key: getattr(found, key) for key in same} == {key: getattr(chosen, key) for key in same}
    assert (found.steps, found.epochs, found.patience_steps) == (2_000, None, None)
    assert (found.checkpoints, found.checkpoint_epochs) == ([], [])
    assert (found.input, found.padding_in_loss) == ("packed", False)
    assert (found.context_length, found.batch_size, found.warmup_steps) == (2_048, 8, 200)
    assert (found.evaluate_every, found.checkpoint_every) == (500, 200)
    assert dyck.regimen(dyck.Options(learning_rate=0.5), told).learning_rate == 0.5


# ---- what is carried over ---------------------------------------------------------------------

TABLES = ("transformer.wte.weight", "transformer.wpe.weight")


def prepared(inputs, folder, context_length=16, **options):
    """Return initial weights, those of the model that was prepared, those of brackets, the bias."""
    told = setting(inputs, folder, regimen(context_length=context_length))
    model = learner.build(
        told.spec.learner, vocabulary_size=300, context_length=context_length, dropout=0.1,
        boundary_id=0, padding_id=1, seed=told.spec.seed,
    )  # fmt: skip
    initial = checkpoint.weights(model)
    part = dyck.build(dyck.Options(**(SMALL | options)))
    found = part.prepare(model, told)
    assert found is model
    assert found.lm_head.weight is found.transformer.wte.weight
    tensors, _ = told.checkpoints.part("dyck").newest()
    return initial, checkpoint.weights(found), tensors["weights"], part


def test_the_body_is_carried_over_and_the_tables_are_left_as_they_were(inputs, tmp_path):
    initial, after, trained, part = prepared(inputs, tmp_path)
    assert trained[TABLES[0]].shape == (2 + 6, 16)
    assert trained[TABLES[1]].shape == (24, 16)
    carried = 0
    for name, weight in after.items():
        if name in TABLES:
            assert weight.equal(initial[name]), name
        else:
            assert weight.equal(trained[name]), name
            assert not weight.equal(initial[name]), name
            carried += weight.numel()
    assert part.statistics()["parameters_carried"] == carried


@pytest.mark.parametrize(
    ("written", "vocabulary", "context"), [("own", 306, 16), ("own", 306, 40), ("text", 300, 40)]
)
def test_all_is_carried_over(inputs, tmp_path, written, vocabulary, context):
    """Word rows and the positions that both have; other positions stay as they were."""
    initial, after, trained, _ = prepared(
        inputs, tmp_path, context_length=context, transfer="all", brackets=written
    )
    words, positions = TABLES
    assert trained[words].shape == (vocabulary, 16)
    assert after[words].equal(trained[words][:300])
    both = min(24, context)
    assert after[positions][:both].equal(trained[positions][:both])
    assert after[positions][both:].equal(initial[positions][both:])
    assert all(after[name].equal(trained[name]) for name in after if name not in TABLES)


# ---- what is learned --------------------------------------------------------------------------


# ---- a run, and its interruption --------------------------------------------------------------


def spec():
    """Return a run whose dev loss falls at every evaluation."""
    found = train_spec(regimen(checkpoint_every=3), bias="dyck")
    return found.model_copy(update={"options": {"dyck": SMALL | {"length": 12}}})


@pytest.fixture(scope="module")
def whole(inputs, tmp_path_factory):
    """A run that nothing interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    train(spec(), *inputs, folder / "checkpoints", folder / "model")
    return folder / "model"


def statistics(folder):
    return json.loads((folder / "statistics.json").read_text())


class Told(Exception):  # noqa: N818 - it is a signal, not an error
    """What ends a job at once, as a kill does."""


@pytest.fixture
def stepping(monkeypatch):
    """Count the steps of both stages, and end the job in one of them."""
    seen = SimpleNamespace(steps=0, end=None, how="")
    original = seeds.dropout

    def dropout(seed, step):
        seen.steps += 1
        if seen.steps == seen.end:
            if seen.how == "told":
                os.kill(os.getpid(), signal.SIGTERM)
            else:
                raise Told
        original(seed, step)

    monkeypatch.setattr(seeds, "dropout", dropout)
    return seen


# 8 steps of pre-pretraining, of which each is saved, and 12 of training, of which every third is.
@pytest.mark.parametrize(
    ("how", "end", "left"),
    [
        ("told", 5, 20 - 5),  # the step is finished, and saved
        ("killed", 1, 20),
        ("killed", 5, 20 - 4),
        ("killed", 9, 20 - 8),  # the first step on text
        ("told", 13, 20 - 13),
        ("killed", 13, 20 - 8 - 3),  # after 4 steps, of which 3 are saved
    ],
)
def test_an_interrupted_run_goes_on_exactly(inputs, whole, tmp_path, stepping, how, end, left):
    folders = [*inputs, tmp_path / "checkpoints", tmp_path / "model"]
    stepping.end, stepping.how = end, how
    with pytest.raises(PoshgridError if how == "told" else Told):
        train(spec(), *folders)
    assert not (tmp_path / "model").exists()
    stepping.steps, stepping.end = 0, None
    train(spec(), *folders)
    assert stepping.steps == left
    for name in ("model.safetensors", "config.json", "tokenizer.json"):
        assert (tmp_path / "model" / name).read_bytes() == (whole / name).read_bytes(), name
    ours, theirs = statistics(tmp_path / "model"), statistics(whole)
    assert ours["biases"] == theirs["biases"]
    assert ours["dev_loss"] == theirs["dev_loss"]
    assert list((tmp_path / "checkpoints").iterdir()) == []
