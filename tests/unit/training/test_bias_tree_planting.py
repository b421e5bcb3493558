"""Tree-planting: the loss by hand and by loops, what it does to attention, and whom it refuses."""

from __future__ import annotations

import contextlib
import json
import math
import random

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, GPT2LMHeadModel

from poshgrid import config
from poshgrid.distances.make import make
from poshgrid.distances.measure import UNUSED
from poshgrid.errors import PoshgridError
from poshgrid.tokenization import encode
from poshgrid.tokenization import tokenizer as tokenizers
from poshgrid.training import attention, bias, data, learner, losses
from poshgrid.training.checkpoint import Checkpoints
from poshgrid.training.step import Stepper
from poshgrid.training.train import train
from tests.unit.distances.test_distances import a_tree, graph, prepare, write_parses
from tests.unit.training.training_support import regimen, sentences, train_spec, write_condition

ATTENTION = contextlib.ExitStack()
SHAPE = {"hidden_size": 16, "layers": 2, "heads": 2}


def sentence_regimen(**changes):
    return regimen(**({"input": "sentence", "dropout": 0.0} | changes))


def spec_of(chosen, word="tree-planting", seed=42, shape=SHAPE, **options):
    spec = train_spec(chosen, seed, word, **shape)
    return spec.model_copy(update={"options": {"tree-planting": options} if options else {}})


def prepared(inputs, spec, folder, padding_id=1):
    """A model and its bias, prepared as ``train`` does it; and rows of the training sentences."""
    _, tokenizer, tokens, _, measured = inputs
    sizes = {
        "vocabulary_size": tokenizers.load(tokenizer).get_vocab_size(),
        "boundary_id": 0,
        "padding_id": padding_id,
    }
    model = learner.build(
        spec.learner,
        context_length=spec.regimen.context_length,
        dropout=spec.regimen.dropout,
        seed=spec.seed,
        **sizes,
    )
    setting = bias.Setting(
        spec=spec,
        regimen=spec.regimen,
        tokenizer=tokenizer,
        distances=measured,
        checkpoints=Checkpoints(folder, "0"),
        device=next(model.parameters()).device,
        **sizes,
    )
    planted = bias.build("tree-planting", spec.options)["tree-planting"]
    model = planted.prepare(model, setting)
    ATTENTION.enter_context(attention.causal(model))  # as the loop does it, but for good
    whole = spec.regimen.model_copy(update={"batch_size": 64, "order": "given"})
    rows = data.rows(whole, encode.load(tokens, "train"), padding_id, 1)
    return model, planted, rows


# ---- by hand ----------------------------------------------------------------------------------


def test_loss_of_five_words_by_hand(tmp_path):
    """Attention is even, because queries are nought; one word is two tokens, one token two words.

    ::

                  barks              tokens  <eot> she gonna bark s  .  <eot>
               /    |   \\            words     0    1    2    3   3  4    5
            she    na    .
                    |
                   gon

    ========  ===========  =========================  ==========================
    word      predicted    attention, by word         target: softmax of minus
              by                                      the distances to those
    ========  ===========  =========================  ==========================
    she       <eot>        1                          2 -> 1
    gonna     she          1/2 1/2                    3 3
    barks     gonna        1/3 1/3 1/3                1 1 2
    .         s            1/5 1/5 1/5 2/5            2 2 3 1
    <eot>     .            1/6 1/6 1/6 2/6 1/6        2 2 3 1 2
    ========  ===========  =========================  ==========================
    """
    tree = (["she", "gon", "na", "barks", "."], [4, 3, 4, 0, 4])
    inputs = prepare(tmp_path, ["she gonna barks .", "dogs saw"], [tree, (["dogs", "saw"], [2, 0])])
    make(*inputs)
    model, planted, rows = prepared(inputs, spec_of(sentence_regimen()), tmp_path)
    with torch.no_grad():  # queries of the last layer
        model.transformer.h[1].attn.c_attn.weight[:, :16] = 0
        model.transformer.h[1].attn.c_attn.bias[:16] = 0
    both = rows.batch(0)
    one = next(both.split(1, 0))  # the longer
    hand = [
        ([1], [2]),
        ([1 / 2, 1 / 2], [3, 3]),
        ([1 / 3, 1 / 3, 1 / 3], [1, 1, 2]),
        ([1 / 5, 1 / 5, 1 / 5, 2 / 5], [2, 2, 3, 1]),
        ([1 / 6, 1 / 6, 1 / 6, 2 / 6, 1 / 6], [2, 2, 3, 1, 2]),
    ]
    expected = 0.0
    for weights, apart in hand:
        total = sum(math.exp(-d) for d in apart)
        target = [math.exp(-d) / total for d in apart]
        expected += sum(t * math.log(t / a) for t, a in zip(target, weights, strict=True))
    losses.summed(model, one)
    assert planted.penalty(model, one).item() == pytest.approx(0.5 * expected, rel=1e-5)
    # dogs: nought; saw: (1, 2) for a target of 1 and 1; the boundary: 2, 2, 1
    e = math.e
    target = [1 / (2 + e), 1 / (2 + e), e / (2 + e)]
    more = sum(t * math.log(t * 3) for t in target)
    target = [1 / (1 + 1), 1 / (1 + 1)]
    more += sum(t * math.log(t * 2) for t in target)
    losses.summed(model, both)
    assert planted.penalty(model, both).item() == pytest.approx(0.5 * (expected + more), rel=1e-5)


# ---- by loops ---------------------------------------------------------------------------------

PIECES = [["she"], ["gon", "na"], ["barks"], ["do", "n't"], ["zebra"], ["."], ["dogs"]]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Sentences of words that are less or more than a token; every fifth has two roots."""
    draw = random.Random(11)
    texts, trees = [], []
    for number in range(16):
        chosen = draw.choices(PIECES, k=draw.randint(2, 7))
        texts.append(" ".join("".join(piece) for piece in chosen))
        words = [word for piece in chosen for word in piece]
        heads = a_tree(draw, len(words))
        trees.append((words, [0] * len(words) if number % 5 == 4 else heads))
    inputs = prepare(tmp_path_factory.mktemp("mixed"), texts, trees)
    facts = make(*inputs)
    assert facts["unused"]["several_roots"] == 3
    return inputs, texts, trees


def owners(cutter, text, words):
    """The word of each token, from the pieces that the tokens spell."""
    ends, at = [], 0
    for word in words:
        at = text.index(word, at) + len(word)
        ends.append(at)
    found, spelled = [], ""
    for token in cutter.encode(text, add_special_tokens=False).ids:
        piece = cutter.decode([token])
        begin = len(spelled) + len(piece) - len(piece.lstrip())
        # The text of the tokens has a space before it.
        found.append(next(n for n, end in enumerate(ends, start=1) if begin - 1 < end))
        spelled += piece
    return found


def divergence(attention, tree, owner, context, rows="first"):
    """Sum over a sentence's words of KL(target || attention), one word, one column at a time."""
    apart, total = graph(tree), torch.zeros(())
    word_of = [0, *owner, len(tree) + 1]
    for position in range(min(len(word_of) - 1, context)):
        asked = word_of[position + 1]
        if asked == word_of[position]:
            continue
        left = sorted(set(word_of[: position + 1]))
        target = torch.tensor([-float(apart[asked, word]) for word in left]).softmax(0)
        of_word = [p for p in range(min(len(word_of) - 1, context)) if word_of[p + 1] == asked]
        used = of_word if rows == "all" else [position]
        on = [
            sum(attention[p, j] for p in used for j in range(position + 1) if word_of[j] == word)
            for word in left
        ]
        for place, weight in enumerate(on):
            total = total + target[place] * (target[place].log() - (weight / sum(on)).log())
    return total


@pytest.mark.parametrize(
    ("layers", "heads", "context", "of"),
    [
        ([-1], [0], 64, "first"), ([0, 1], [0, 1], 64, "first"), ([-2], [-1], 9, "first"),
        ([0, 1], [0, 1], 64, "all"), ([-1], [0], 9, "all"),
    ],
)  # fmt: skip
def test_loss_and_gradient_are_those_of_loops(mixed, tmp_path, layers, heads, context, of):
    """Against transformers' eager attention, sentence by sentence, far from the initial weights."""
    inputs, texts, trees = mixed
    chosen = sentence_regimen(context_length=context)
    spec = spec_of(chosen, weight=0.7, layers=layers, heads=heads, rows=of)
    model, planted, rows = prepared(inputs, spec, tmp_path)
    with torch.no_grad():
        torch.manual_seed(0)
        for name, weight in model.named_parameters():
            if "c_attn.weight" in name:
                weight.add_(0.4 * torch.randn_like(weight))
    batch = rows.batch(0)
    nll = losses.summed(model, batch)
    penalty = planted.penalty(model, batch)
    (nll + penalty).backward()

    slow = AutoModelForCausalLM.from_config(model.config, attn_implementation="eager").train()
    slow.load_state_dict(model.state_dict())
    cutter, total, alone = tokenizers.load(inputs[1]), torch.zeros(()), torch.zeros(())
    for number, (text, (words, tree)) in enumerate(zip(texts, trees, strict=True)):
        line = data.Batch(batch.inputs[[number]], batch.targets[[number]])
        length = line.tokens
        ids = torch.from_numpy(line.inputs[:, :length])
        out = slow(ids, output_attentions=True)
        wanted = torch.from_numpy(line.targets[0, :length])
        total = total + torch.nn.functional.cross_entropy(out.logits[0], wanted, reduction="sum")
        if tree.count(0) == 1:
            mean = sum(out.attentions[x][0, h] for x in layers for h in heads)
            mean = mean / (len(layers) * len(heads))
            alone = alone + divergence(mean, tree, owners(cutter, text, words), context, of)
    assert penalty.item() == pytest.approx(0.7 * alone.item(), rel=1e-4)
    assert alone.item() > 1
    (total + 0.7 * alone).backward()
    expected = dict(slow.named_parameters())
    for name, weight in model.named_parameters():
        torch.testing.assert_close(weight.grad, expected[name].grad, rtol=1e-3, atol=1e-4)


# ---- what it does -----------------------------------------------------------------------------


def toy_tree(text):
    """The tree of a sentence of training_support: *The dog [that sees the cat] likes a boy.*"""
    words = text.removesuffix(".").split()
    verb = len(words) - 2
    heads = [2, verb, *([5, 5, 2, 7, 5][1:] if len(words) > 5 else []), 0, verb + 2, verb]
    if len(words) > 5:  # that -> sees -> dog; the -> cat -> sees
        heads[2:6] = [4, 2, 6, 4]
        heads = heads[:6] + heads[-3:]
    return [*words, "."], [*heads, verb]


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """Toy sentences with distances in their trees."""
    folder = tmp_path_factory.mktemp("toy")
    texts = sentences(260)
    source = write_condition(
        folder / "condition", train=texts[:200], dev=texts[200:230], test=texts[230:]
    )
    made = tokenizers.learn(config.Tokenizer(), 320, [texts])
    (folder / "tokenizer").mkdir()
    made.save(str(folder / "tokenizer" / "tokenizer.json"))
    (folder / "tokenizer" / "tokenizer_config.json").write_text("{}")
    encode.encode(source, folder / "tokenizer", folder / "tokens")
    trees = [toy_tree(text) for text in texts]
    inputs = [source, folder / "tokenizer", folder / "tokens"]
    shard = write_parses(folder / "true.parquet", trees[:200])
    assert make(*inputs, [shard], folder / "true")["used"] == 200
    return folder, texts, trees


def trained(folder, output, spec):
    given = folder / "true" if spec.bias != "none" else None
    train(spec, folder / "tokens", folder / "tokenizer", output / "ckpt", output / "model", given)
    return output / "model"


# ---- the run ----------------------------------------------------------------------------------


def weights(folder):
    return load_file(folder / "model.safetensors")


def test_the_folder_is_a_plain_gpt2(toy, tmp_path):
    chosen = sentence_regimen(steps=6, checkpoints=[3], checkpoint_epochs=[], context_length=8)
    folder = trained(toy[0], tmp_path, spec_of(chosen))
    assert "attn_implementation" not in (folder / "config.json").read_text()
    for place in (folder, folder / "checkpoints" / "3"):
        assert type(AutoModelForCausalLM.from_pretrained(place)) is GPT2LMHeadModel
    facts = json.loads((folder / "statistics.json").read_text())
    lengths = np.diff(encode.load(toy[0] / "tokens", "train").offsets)
    assert facts["biases"]["tree-planting"] == {
        "parser": "spacy", "sentences": 200, "used": 200, "unused": dict.fromkeys(UNUSED, 0),
        "truncated": (lengths > 8).sum(),
    }  # fmt: skip


def test_a_job_that_was_ended_goes_on_as_if_it_had_not_been(toy, tmp_path, monkeypatch):
    spec = spec_of(sentence_regimen(dropout=0.1, micro_batch_size=3))
    whole = trained(toy[0], tmp_path / "whole", spec)
    taken, take = [], Stepper.take

    def ending(*given):
        taken.append(1)
        if len(taken) == 8:
            raise KeyboardInterrupt
        return take(*given)

    monkeypatch.setattr(Stepper, "take", ending)
    with pytest.raises(KeyboardInterrupt):
        trained(toy[0], tmp_path / "ended", spec)
    ended = trained(toy[0], tmp_path / "ended", spec)
    assert len(taken) == 8 + 12 - 6  # from the checkpoint of step 6
    first, second = weights(whole), weights(ended)
    assert all(torch.equal(first[name], second[name]) for name in first)


# ---- whom it refuses --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "options", "place"),
    [
        ({"input": "packed"}, {}, "regimens: small"),
        ({"padding_in_loss": True}, {}, "regimens: small"),
        ({}, {"layers": [2]}, "biases.tree-planting.layers"),
        ({}, {"heads": [-5]}, "biases.tree-planting.heads"),
        ({}, {"layers": [1, -1]}, "biases.tree-planting.layers"),
        ({}, {"layers": []}, "biases.tree-planting.layers"),
    ],
)
def test_what_does_not_fit_is_refused(changes, options, place):
    """Before any job: from the spec alone, in which layers and heads are not as many."""
    shape = SHAPE | {"heads": 4}
    with pytest.raises(PoshgridError, match=place):
        bias.check(spec_of(sentence_regimen(**changes), shape=shape, **options))
    bias.check(spec_of(sentence_regimen(), shape=shape, layers=[0, -1], heads=[3, 0]))


def test_missing_distances_are_an_error_that_names_the_command(toy, tmp_path):
    folder, spec = toy[0], spec_of(sentence_regimen(), parser="stanza")
    with pytest.raises(PoshgridError, match="tree-planting: no distances of parser 'stanza'"):
        train(spec, folder / "tokens", folder / "tokenizer", tmp_path / "c", tmp_path / "m")


def test_distances_of_other_tokens_are_refused(toy, mixed, tmp_path):
    folder, spec = toy[0], spec_of(sentence_regimen())
    with pytest.raises(PoshgridError, match="made from other tokens than"):
        train(spec, folder / "tokens", folder / "tokenizer", tmp_path / "c", tmp_path / "m",
              mixed[0][-1])  # fmt: skip
