"""Controls of the biases: what each keeps of what it stands beside, and what it takes away."""

import itertools
import random
from types import SimpleNamespace

import numpy as np
import pytest

from poshgrid.core.errors import PoshgridError
from poshgrid.models.biases import random_trees, sequential_trees
from poshgrid.models.training import bias
from tests.unit.models.distances.test_distances import a_tree, made, prepare
from tests.unit.models.training.training_support import build, recipe, train_spec

INF = np.inf


def padded(folder, trees, length):
    """What a folder of distances says of sentences in which every word is a token."""
    words = [["dogs"] * len(tree) for tree in trees]
    pairs = list(zip(words, trees, strict=True))
    distances = made(prepare(folder, [" ".join(sentence) for sentence in words], pairs))
    return distances.padded(np.arange(len(trees)), length)


def square(distance, row, words):
    """The distances of a sentence's words and boundaries, as a matrix."""
    matrix = np.zeros((words + 2, words + 2))
    for position in range(words + 1):
        matrix[position + 1, : position + 1] = distance[row, position, : position + 1]
    return matrix + matrix.T


# ---- trees ------------------------------------------------------------------------------------


def test_exchanged_words_have_the_distances_of_the_same_tree(tmp_path):
    """By brute force: some exchange of words makes the one matrix of the other."""
    draw = random.Random(4)
    trees = [a_tree(draw, number) for number in (2, 3, 5, 5)]
    trees_of = padded(tmp_path, trees, 8)
    control = random_trees.build(random_trees.Options())
    exchanged = control.distances(trees_of, np.arange(4), 42)
    assert (np.isinf(exchanged) == np.isinf(trees_of.distance)).all()
    for row, tree in enumerate(trees):
        words = len(tree)
        old, new = (square(d, row, words) for d in (trees_of.distance, exchanged))
        orders = [[0, *order, words + 1] for order in itertools.permutations(range(1, words + 1))]
        assert any((old[np.ix_(order, order)] == new).all() for order in orders)
        assert new[0, words + 1] == 2  # boundaries stay
    assert (exchanged != trees_of.distance).any()


def test_an_exchange_is_drawn_for_a_seed_and_a_sentence_alone(tmp_path):
    tree = [2, 0, 2, 3, 4, 5, 6, 7]
    original = padded(tmp_path, [tree, tree], 9)
    control = random_trees.build(random_trees.Options())

    def drawn(sentences, seed):
        return control.distances(original, np.array(sentences), seed)

    one = drawn([7, 11], 42)
    assert (one == drawn([7, 11], 42)).all()
    assert (one[::-1] == drawn([11, 7], 42)).all()
    assert (one[0] != one[1]).any()
    assert (one != drawn([7, 11], 43)).any()


def test_sequential_distances_are_words_back(tmp_path):
    original = padded(tmp_path, [[2, 0, 2]], 4)
    control = sequential_trees.build(sequential_trees.Options()).distances(
        original, np.array([0]), 42
    )
    assert control[0].tolist() == [
        [1, INF, INF, INF],
        [2, 1, INF, INF],
        [3, 2, 1, INF],
        [4, 3, 2, 1],
    ]


# ---- recency ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "options", "expected"),
    [
        ("recency", {"decay": 0.5}, [1, 0.5, 0.25, 0.125]),
        ("static-recency", {}, [1, 1, 1, 1]),
        ("linear-recency", {}, [1, 0.75, 0.5, 0.25]),
    ],
)
def test_how_the_preference_for_near_words_fades(word, options, expected):
    chosen, model = recipe(steps=None, epochs=4), build()
    built = bias.build(word, {word: options})[word]
    model = built.prepare(model, SimpleNamespace(recipe=chosen, device=model.device))
    preferences = []
    for epoch in range(4):
        built.at(model, epoch)
        preferences.append(model.config.recency)
    assert preferences == pytest.approx(expected)


# ---- whose they are ---------------------------------------------------------------------------


def test_a_combination_is_controlled_part_by_part():
    assert bias.is_control("flat-brackets+recency", "dyck+recency")
    assert bias.is_control("flat-brackets+static-recency", "dyck+recency")
    assert bias.is_control("random-trees", "tree-planting")
    for word, of in [
        ("dyck", "dyck"), ("dyck", "flat-brackets"), ("random-trees", "recency"),
        ("flat-brackets", "dyck+recency"), ("none", "dyck"), ("random-trees", "sequential-trees"),
    ]:  # fmt: skip
        assert not bias.is_control(word, of)


def test_biases_are_prepared_in_an_order_that_can_be():
    assert list(bias.build("random-trees+dyck", {})) == ["dyck", "random-trees"]
    assert list(bias.build("static-recency+flat-brackets", {})) == [
        "flat-brackets", "static-recency",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("word", "key"),
    [
        ("random-trees+dyck", "recipes: small"),
        ("linear-recency", "recipes: small"),
        ("recency+static-recency", "biases: recency"),
        ("recensy", "did you mean 'recency'"),
    ],
)
def test_what_does_not_go_together_is_refused(word, key):
    with pytest.raises(PoshgridError, match=key):
        bias.check(train_spec(recipe(), bias=word))
    with pytest.raises(PoshgridError, match=r"biases\.recency\.decay"):
        bias.build("recency", {"recency": {"decay": 1.5}})
