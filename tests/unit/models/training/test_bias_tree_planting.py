"""Tree-planting: the loss by hand and by loops, its folder, and whom it refuses."""

import contextlib
import random

import pytest
import torch
from transformers import AutoModelForCausalLM, GPT2LMHeadModel

from poshgrid.core.errors import PoshgridError
from poshgrid.models.distances.make import make
from poshgrid.models.tokenization import encode
from poshgrid.models.tokenization import tokenizer as tokenizers
from poshgrid.models.training import attention, bias, data, losses
from poshgrid.models.training.train import train
from tests.unit.models.distances.test_distances import a_tree, graph, prepare
from tests.unit.models.training.training_support import prepared, recipe, train_spec


def spec_of(changes=None, **options):
    chosen = recipe(**({"input": "sentence", "dropout": 0.0} | (changes or {})))
    biases = {"tree-planting": options}
    return train_spec(chosen, bias="tree-planting", biases=biases)


@pytest.fixture
def ready(tmp_path):
    """Return a function that makes a model, its bias, and a batch of the training sentences."""
    with contextlib.ExitStack() as stack:

        def make_ready(inputs, spec):
            _, tokenizer, tokens, _, measured = inputs
            model, (planted,) = prepared((tokens, tokenizer), spec, tmp_path, measured)
            stack.enter_context(attention.causal(model))  # as the loop does it
            whole = spec.recipe.model_copy(update={"batch_size": 64, "order": "given"})
            return model, planted, data.rows(whole, encode.load(tokens, "train"), 1, 1).batch(0)

        yield make_ready


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
    owner, spelled = [], ""
    for token in cutter.encode(text, add_special_tokens=False).ids:
        piece = cutter.decode([token])
        begin = len(spelled) + len(piece) - len(piece.lstrip())
        # The text of the tokens has a space before it.
        owner.append(next(n for n, end in enumerate(ends, start=1) if begin - 1 < end))
        spelled += piece
    return owner


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
        for column, weight in enumerate(on):
            total = total + target[column] * (target[column].log() - (weight / sum(on)).log())
    return total


@pytest.mark.parametrize(("context", "of"), [(64, "first"), (9, "first"), (64, "all"), (9, "all")])
def test_loss_and_gradient_are_those_of_loops(mixed, ready, context, of):
    """Against transformers' eager attention, sentence by sentence, far from the initial weights."""
    inputs, texts, trees = mixed
    spec = spec_of({"context_length": context}, weight=0.7, rows=of)
    model, planted, batch = ready(inputs, spec)
    with torch.no_grad():
        torch.manual_seed(0)
        for name, weight in model.named_parameters():
            if "c_attn.weight" in name:
                weight.add_(0.4 * torch.randn_like(weight))
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
            own = owners(cutter, text, words)
            alone = alone + divergence(out.attentions[-1][0, 0], tree, own, context, of)
    assert penalty.item() == pytest.approx(0.7 * alone.item(), rel=1e-4)
    assert alone.item() > 1
    (total + 0.7 * alone).backward()
    expected = dict(slow.named_parameters())
    for name, weight in model.named_parameters():
        torch.testing.assert_close(weight.grad, expected[name].grad, rtol=1e-3, atol=1e-4)


# ---- the run ----------------------------------------------------------------------------------


def test_the_folder_is_a_plain_gpt2(inputs, distances, tmp_path):
    spec = spec_of({"steps": 6, "checkpoints": [3], "context_length": 8})
    folder = tmp_path / "model"
    train(spec, *inputs, tmp_path / "checkpoints", folder, distances)
    assert "attn_implementation" not in (folder / "config.json").read_text()
    for path in (folder, folder / "checkpoints" / "3"):
        assert type(AutoModelForCausalLM.from_pretrained(path)) is GPT2LMHeadModel


@pytest.mark.parametrize("changes", [{"input": "packed"}, {"padding_in_loss": True}], ids=str)
def test_rows_that_are_no_sentences_are_refused(changes):
    with pytest.raises(PoshgridError, match="recipes: small"):
        bias.check(spec_of(changes))
    bias.check(spec_of())


def test_distances_that_are_missing_or_of_other_tokens_are_refused(inputs, mixed, tmp_path):
    for distances, message in ((None, "no distances of parser"), (mixed[0][-1], "other tokens")):
        with pytest.raises(PoshgridError, match=message):
            train(spec_of(), *inputs, tmp_path / "c", tmp_path / "m", distances)
