"""Controls of the biases: what each keeps of what it stands beside, and what it takes away."""

from __future__ import annotations

import itertools
import random
from types import SimpleNamespace

import numpy as np
import pytest

from poshgrid.distances.folder import Padded
from poshgrid.errors import PoshgridError
from poshgrid.training import bias, learner
from poshgrid.training.biases import random_trees, sequential_trees
from poshgrid.training.dyck_language import Flat, Language
from tests.unit.distances.test_distances import a_tree, graph
from tests.unit.training.training_support import regimen, train_spec

INF = np.inf


def spec_of(word, **changes):
    return train_spec(regimen(**changes), 42, word, hidden_size=16, layers=2, heads=2)


def padded(trees, length):
    """What a folder of distances says of sentences in which every word is a token."""
    widest = max(len(tree) for tree in trees) + 1
    following = np.full((len(trees), length), -1)
    distance = np.full((len(trees), length, widest), INF, np.float32)
    for row, tree in enumerate(trees):
        apart = graph(tree)
        for place in range(min(len(tree) + 1, length)):
            following[row, place] = place + 1
            distance[row, place, : place + 1] = [apart[place + 1, w] for w in range(place + 1)]
    word = np.maximum(following - 1, 0)
    return Padded(word, following, distance, np.array([len(tree) + 1 for tree in trees]))


def square(distance, row, words):
    """The distances of a sentence's words and boundaries, as a matrix."""
    found = np.zeros((words + 2, words + 2))
    for place in range(words + 1):
        found[place + 1, : place + 1] = distance[row, place, : place + 1]
    return found + found.T


# ---- trees ------------------------------------------------------------------------------------


def test_exchanged_words_have_the_distances_of_the_same_tree():
    """By brute force: some exchange of words makes the one matrix of the other."""
    draw = random.Random(4)
    trees = [a_tree(draw, number) for number in (2, 3, 5, 5)]
    given = padded(trees, 8)
    control = random_trees.build(random_trees.Options())
    found = control.distances(given, np.arange(4), 42)
    assert (np.isinf(found) == np.isinf(given.distance)).all()
    for row, tree in enumerate(trees):
        words = len(tree)
        old, new = (square(d, row, words) for d in (given.distance, found))
        orders = [[0, *order, words + 1] for order in itertools.permutations(range(1, words + 1))]
        assert any((old[np.ix_(order, order)] == new).all() for order in orders)
        assert new[0, words + 1] == 2  # boundaries stay
    assert (found != given.distance).any()


def test_an_exchange_is_drawn_for_a_seed_and_a_sentence_alone():
    tree = [2, 0, 2, 3, 4, 5, 6, 7]
    given = padded([tree, tree], 9)
    control = random_trees.build(random_trees.Options())

    def drawn(sentences, seed):
        return control.distances(given, np.array(sentences), seed)

    one = drawn([7, 11], 42)
    assert (one == drawn([7, 11], 42)).all()
    assert (one[::-1] == drawn([11, 7], 42)).all()
    assert (one[0] != one[1]).any()
    assert (one != drawn([7, 11], 43)).any()


def test_sequential_distances_are_words_back():
    given = padded([[2, 0, 2]], 4)
    found = sequential_trees.build(sequential_trees.Options()).distances(given, np.array([0]), 42)
    assert found[0].tolist() == [
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
        ("static-recency", {"slope": 0.3}, [0.3, 0.3, 0.3, 0.3]),
        ("linear-recency", {}, [1, 0.75, 0.5, 0.25]),
    ],
)
def test_how_the_preference_for_near_words_fades(word, options, expected):
    spec = spec_of(word, steps=None, epochs=4)
    model = learner.build(
        spec.learner, vocabulary_size=20, context_length=4, dropout=0.0, boundary_id=0,
        padding_id=1, seed=1,
    )  # fmt: skip
    built = bias.build(word, {word: options})[word]
    model = built.prepare(model, SimpleNamespace(regimen=spec.regimen, device=model.device))
    found = []
    for epoch in range(4):
        built.at(model, epoch)
        found.append(model.config.recency)
    assert found == pytest.approx(expected)


# ---- brackets ---------------------------------------------------------------------------------


@pytest.mark.parametrize("language", [Language(64, 0.5, 8, 512), Language(3, 0.6, 4, 40)])
def test_the_flat_language_has_the_same_bigrams_and_no_structure(language):
    k, flat = language.k, Flat(**vars(language))
    index = range(2_000_000 // language.length // 8)
    both = [language.draw(1, index), flat.draw(1, index, "train")]

    def classes(drawn):
        first, second = drawn[:, :-1], drawn[:, 1:]
        key = (first < k) * 4 + (second < k) * 2 + (first % k == second % k)
        return np.bincount(key.ravel(), minlength=8) / key.size

    one, other = map(classes, both)
    assert np.abs(one - other).max() < 0.01  # a sequence begins and ends, a chain does not
    for drawn in both:  # kinds are alike: no bracket is more frequent than another
        kinds = np.bincount((drawn % k).ravel(), minlength=k) / drawn.size
        assert kinds.max() < 1.1 / k
        assert kinds.min() > 0.9 / k

    def matched(drawn):
        """Share of sequences in which brackets of every kind are balanced."""
        return np.mean([
            all(
                (np.cumsum(where := np.where(row == kind, 1, 0) - (row == kind + k)) >= 0).all()
                and where.sum() == 0
                for kind in range(k)
            )
            for row in drawn[:50]
        ])  # fmt: skip

    assert matched(both[0]) == 1
    assert matched(both[1]) < 0.1


def test_flat_sequences_are_pure_functions_of_seed_part_and_index():
    flat = Flat(8, 0.5, 4, 30)
    some = flat.draw(42, range(10), "train")
    assert (flat.draw(42, [7, 3], "train") == some[[7, 3]]).all()
    for other in (flat.draw(43, range(10), "train"), flat.draw(42, range(10), "dev")):
        assert (other != some).any(axis=1).all()


# ---- whose they are ---------------------------------------------------------------------------


def test_a_combination_is_controlled_part_by_part():
    assert bias.controls("flat-brackets+recency", "dyck+recency")
    assert bias.controls("flat-brackets+static-recency", "dyck+recency")
    assert bias.controls("random-trees", "tree-planting")
    for word, of in [
        ("dyck", "dyck"), ("dyck", "flat-brackets"), ("random-trees", "recency"),
        ("flat-brackets", "dyck+recency"), ("none", "dyck"), ("random-trees", "sequential-trees"),
    ]:  # fmt: skip
        assert not bias.controls(word, of)


@pytest.mark.parametrize(
    ("word", "changes", "message"),
    [
        ("random-trees", {"input": "packed"}, "random-trees needs one sentence a row"),
        ("random-trees+dyck", {"input": "sentence"}, r"write dyck\+random-trees"),
        ("static-recency+flat-brackets", {}, r"write flat-brackets\+static-recency"),
        ("linear-recency", {}, "linear-recency fades over a number of epochs"),
        ("recency+static-recency", {}, "recency and static-recency are a bias and its control"),
        ("static-recency+linear-recency", {}, "or two controls"),
    ],
)
def test_what_does_not_go_together_is_refused(word, changes, message):
    with pytest.raises(PoshgridError, match=message):
        bias.check(spec_of(word, **changes))
