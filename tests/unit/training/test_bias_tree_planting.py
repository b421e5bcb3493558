"""Tree-planting: the loss by hand and by loops, what it does to attention, and whom it refuses."""

from __future__ import annotations

import contextlib
import json
import math
import random

import numpy as np
import pytest

from poshgrid import config
from poshgrid.config import specs
from poshgrid.distances.make import make
from poshgrid.distances.measure import UNUSED
from poshgrid.errors import PoshgridError
from poshgrid.tokenization import encode
from poshgrid.tokenization import tokenizer as tokenizers
from poshgrid.training import attention, bias, data, learner, loop, losses
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
    import torch

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
    import torch

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
        ([-1], [0], 64, "first"), ([-1], [1], 64, "first"), ([0, 1], [0, 1], 64, "first"),
        ([-2], [-1], 64, "first"), ([0, -1], [1], 9, "first"),
        ([-1], [0], 64, "all"), ([0, 1], [0, 1], 64, "all"), ([-1], [0], 9, "all"),
    ],
)  # fmt: skip
def test_loss_and_gradient_are_those_of_loops(mixed, tmp_path, layers, heads, context, of):
    """Against transformers' eager attention, sentence by sentence, far from the initial weights."""
    import torch
    from transformers import AutoModelForCausalLM

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


def test_attention_stays_what_it_was(mixed, tmp_path):
    """Bit by bit: the model that is supervised computes what the same model without a bias does."""
    import torch

    chosen = sentence_regimen(dropout=0.2)
    model, _, rows = prepared(mixed[0], spec_of(chosen), tmp_path)
    plain = learner.build(
        spec_of(chosen).learner,
        vocabulary_size=model.config.vocab_size,
        context_length=16,
        dropout=0.2,
        boundary_id=0,
        padding_id=1,
        seed=42,
    )
    found = []
    for each in (model, plain):
        torch.manual_seed(5)
        found.append(losses.summed(each, rows.batch(0)))
    assert torch.equal(*found)
    ATTENTION.close()  # after training, masks count
    padded = torch.tensor([[0, 5, 6, 7], [0, 5, 1, 1]])
    mask = (padded != 1).long()
    with torch.no_grad():
        found = [m.eval()(padded, attention_mask=mask).logits for m in (model, plain)]
    assert torch.equal(*found)


def test_nothing_is_computed_or_kept_in_evaluation(mixed, tmp_path):

    model, planted, rows = prepared(mixed[0], spec_of(sentence_regimen()), tmp_path)
    losses.mean(model, rows.in_order(8), "float32")
    held = [getattr(block.attn, attention.HELD, None) for block in model.transformer.h]
    assert held == [None, attention.Attended()]
    losses.summed(model, rows.batch(0))
    assert held[1].query is not None
    planted.penalty(model, rows.batch(0))
    assert held[1] == attention.Attended()


def test_half_precision_is_left_for_the_attention(mixed, tmp_path):
    """Queries and keys are bfloat16 then; what is made of them is float32, and near."""
    import torch

    model, planted, rows = prepared(mixed[0], spec_of(sentence_regimen()), tmp_path)
    found = {}
    for precision in ("float32", "bf16"):
        losses.summed(model, rows.batch(0), precision)
        found[precision] = planted.penalty(model, rows.batch(0))
    assert found["bf16"].dtype == torch.float32
    assert found["bf16"].item() != found["float32"].item()
    assert found["bf16"].item() == pytest.approx(found["float32"].item(), rel=1e-2)


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
    """Toy sentences with distances in their trees, and in trees of the same words, shuffled."""
    folder, draw = tmp_path_factory.mktemp("toy"), random.Random(2)
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
    shuffled = [(words, a_tree(draw, len(words))) for words, _ in trees]
    inputs = [source, folder / "tokenizer", folder / "tokens"]
    for name, some in [("true", trees), ("shuffled", shuffled)]:
        shard = write_parses(folder / f"{name}.parquet", some[:200])
        assert make(*inputs, [shard], folder / name)["used"] == 200
    return folder, texts, trees


def test_the_toy_trees_are_trees():
    words, heads = toy_tree("The dog that sees the cat likes a boy.")
    assert words == ["The", "dog", "that", "sees", "the", "cat", "likes", "a", "boy", "."]
    assert heads == [2, 7, 4, 2, 6, 4, 0, 9, 7, 7]
    assert toy_tree("The dog likes a boy.")[1] == [2, 3, 0, 5, 3, 3]


def trained(folder, output, spec, measured="true"):
    given = folder / measured if spec.bias != "none" else None
    train(spec, folder / "tokens", folder / "tokenizer", output / "ckpt", output / "model", given)
    return output / "model"


def held_out(model_folder, toy):
    """Mean divergence per word, nats, on sentences that were not trained on: head 0, last layer."""
    import torch
    from transformers import AutoModelForCausalLM

    folder, texts, trees = toy
    model = AutoModelForCausalLM.from_pretrained(model_folder, attn_implementation="eager").eval()
    cutter, total, words = tokenizers.load(folder / "tokenizer"), 0.0, 0
    with torch.no_grad():
        for text, (forms, heads) in list(zip(texts, trees, strict=True))[230:]:
            ids = cutter.encode(text, add_special_tokens=False).ids
            out = model(torch.tensor([[0, *ids]]), output_attentions=True)
            owner = owners(cutter, text, forms)
            total += divergence(out.attentions[-1][0, 0], heads, owner, 99).item()
            words += len(forms) + 1
    return total / words


LEARNING = {"steps": 150, "batch_size": 16, "learning_rate": 1e-2, "evaluate_every": 150,
            "context_length": 32, "checkpoint_every": 1000}  # fmt: skip


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_attention_comes_near_the_trees_and_only_by_the_right_trees(toy, tmp_path, seed):
    """On unseen sentences; trees of other shapes are the planted fault."""
    chosen = sentence_regimen(**LEARNING)
    found = {
        name: held_out(
            trained(toy[0], tmp_path / name, spec_of(chosen, word, seed, weight=2.0), measured), toy
        )
        for name, word, measured in [
            ("none", "none", ""),
            ("true", "tree-planting", "true"),
            ("shuffled", "tree-planting", "shuffled"),
        ]
    }
    assert found["true"] < 0.25 * found["none"]
    assert found["true"] < 0.5 * found["shuffled"]


# ---- the run ----------------------------------------------------------------------------------


def weights(folder):
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


def test_the_folder_is_plain_and_scores_as_the_model_that_was_trained(toy, tmp_path, monkeypatch):
    import torch
    from transformers import AutoModelForCausalLM, GPT2LMHeadModel

    kept = []
    monkeypatch.setattr(
        loop, "run", lambda model, *rest, run=loop.run, **more: kept.append(model)
        or run(model, *rest, **more)
    )  # fmt: skip
    chosen = sentence_regimen(steps=6, checkpoints=[3], checkpoint_epochs=[])
    folder = trained(toy[0], tmp_path, spec_of(chosen))
    written = (folder / "config.json").read_text()
    assert "tree" not in written
    assert "attn_implementation" not in written
    assert json.loads(written)["model_type"] == "gpt2"
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    assert type(model) is GPT2LMHeadModel
    ids = torch.tensor([[0, 5, 6, 7, 8]])
    with torch.no_grad():
        assert torch.equal(model(ids).logits, kept[0].eval()(ids).logits)
    AutoModelForCausalLM.from_pretrained(folder / "checkpoints" / "3")
    facts = json.loads((folder / "statistics.json").read_text())
    assert facts["biases"]["tree-planting"] == {
        "parser": "spacy",
        "sentences": 200,
        "used": 200,
        "unused": dict.fromkeys(UNUSED, 0),
        "truncated": 0,
    }


def test_truncated_sentences_are_counted(toy, tmp_path):
    chosen = sentence_regimen(steps=3, context_length=8)
    folder = trained(toy[0], tmp_path, spec_of(chosen))
    facts = json.loads((folder / "statistics.json").read_text())
    lengths = np.diff(encode.load(toy[0] / "tokens", "train").offsets)
    assert 0 < (lengths > 8).sum() < 200
    assert facts["biases"]["tree-planting"]["truncated"] == (lengths > 8).sum()


def test_initial_weights_are_those_of_the_arm_without_a_bias(toy, tmp_path):
    import torch

    chosen = sentence_regimen(steps=0, warmup_steps=0)
    found = [
        weights(trained(toy[0], tmp_path / word, spec_of(chosen, word)))
        for word in ("none", "tree-planting")
    ]
    assert found[0].keys() == found[1].keys()
    assert all(torch.equal(found[0][name], found[1][name]) for name in found[0])


def test_a_job_that_was_ended_goes_on_as_if_it_had_not_been(toy, tmp_path, monkeypatch):
    import torch

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
    assert not all(
        torch.equal(first[name], other)
        for name, other in weights(
            trained(toy[0], tmp_path / "none", spec_of(spec.regimen, "none"))
        ).items()
    )


# ---- whom it refuses --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"input": "packed"}, {}, "regimens: small: .* set input to 'sentence'"),
        ({}, {"layers": [2]}, "learner 'nano' has no layer 2; give 0 to 1, or -1"),
        ({}, {"layers": [-3]}, "has no layer -3"),
        ({}, {"heads": [0, 2]}, r"biases.tree-planting.heads: learner 'nano' has no head 2"),
        ({}, {"layers": [1, -1]}, r"layers: \[1, -1\] name one of the 2 layers .* twice"),
        ({}, {"weight": 0}, "biases.tree-planting.weight"),
        ({}, {"layers": []}, "biases.tree-planting.layers"),
    ],
)
def test_what_does_not_fit_is_refused(toy, tmp_path, changes, options, message):
    with pytest.raises(PoshgridError, match=message):
        trained(toy[0], tmp_path, spec_of(sentence_regimen(**changes), **options))
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"input": "packed"}, {}, "regimens: small: .* set input to 'sentence'"),
        ({"padding_in_loss": True}, {}, "regimens: small: .* set padding_in_loss to false"),
        ({}, {"layers": [2]}, "biases.tree-planting.layers: learner 'nano' has no layer 2"),
        ({}, {"heads": [1, 4]}, r"biases.tree-planting.heads: learner 'nano' has no head 4"),
        ({}, {"heads": [-5]}, "has no head -5; give 0 to 3, or -1"),
        ({}, {"layers": [1, -1]}, r"layers: \[1, -1\] name one of the 2 layers .* twice"),
        ({}, {"heads": [3, 2, 3]}, r"heads: \[3, 2, 3\] name one of the 4 heads .* twice"),
        ({}, {"layers": []}, "biases.tree-planting.layers"),
    ],
)
def test_what_does_not_fit_is_refused_without_a_model(changes, options, message):
    """Before any job: from the spec alone, in which layers and heads are not as many."""
    spec = spec_of(sentence_regimen(**changes), shape=SHAPE | {"heads": 4}, **options)
    with pytest.raises(PoshgridError, match=message):
        bias.check(spec)


def test_layers_and_heads_of_the_learner_are_not_refused():
    spec = spec_of(sentence_regimen(), shape=SHAPE | {"heads": 4}, layers=[0, -1], heads=[3, -4])
    bias.check(spec)
    bias.check(spec.model_copy(update={"regimen": None, "options": {}}))


def test_missing_distances_are_an_error_that_names_the_command(toy, tmp_path):
    folder, spec = toy[0], spec_of(sentence_regimen(), parser="stanza")
    with pytest.raises(PoshgridError, match="'stanza'; make them with `poshgrid distances`"):
        train(spec, folder / "tokens", folder / "tokenizer", tmp_path / "c", tmp_path / "m")


def test_distances_of_other_tokens_or_another_tokenizer_are_refused(toy, mixed, tmp_path):

    folder, spec = toy[0], spec_of(sentence_regimen())
    with pytest.raises(PoshgridError, match="made from other tokens than"):
        train(spec, folder / "tokens", folder / "tokenizer", tmp_path / "c", tmp_path / "m",
              mixed[0][-1])  # fmt: skip
    with pytest.raises(PoshgridError, match="made with another tokenizer"):
        prepared([*mixed[0][:1], folder / "tokenizer", *mixed[0][2:]], spec, tmp_path)
    model, planted, rows = prepared(mixed[0], spec, tmp_path)
    batch = rows.batch(0)
    other = data.Batch(batch.inputs, batch.targets, batch.sentences[::-1])
    losses.summed(model, other)
    with pytest.raises(PoshgridError, match="distances are those of other sentences"):
        planted.penalty(model, other)
    losses.summed(model, batch)
    with pytest.raises(PoshgridError, match="a row of the batch is not a sentence"):
        planted.penalty(model, data.Batch(batch.inputs, batch.targets))


def test_a_bias_that_takes_the_attention_away_is_named(mixed, tmp_path):

    model, planted, rows = prepared(mixed[0], spec_of(sentence_regimen()), tmp_path)
    model.config._attn_implementation = "sdpa"
    losses.summed(model, rows.batch(0))
    with pytest.raises(PoshgridError, match=r"name tree-planting last, as in recency\+tree"):
        planted.penalty(model, rows.batch(0))


def test_options_are_in_the_spec_that_is_hashed():
    spec = spec_of(sentence_regimen(), weight=0.25)
    assert '"weight":0.25' in specs.canonical(spec).replace(" ", "")
