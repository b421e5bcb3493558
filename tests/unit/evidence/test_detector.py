"""The detector: a planted signal is found, noise is not, and what is saved comes back."""

from __future__ import annotations

import random

import numpy as np
import pytest

from poshgrid import plugins
from poshgrid.errors import PoshgridError
from poshgrid.evidence.filters import question_formation
from poshgrid.evidence.match import Match
from poshgrid.evidence.screening import detector as module
from poshgrid.evidence.screening import windows
from poshgrid.evidence.screening.detector import Detector, train
from poshgrid.evidence.screening.lexical import question_formation as question_words
from poshgrid.evidence.screening.screen import screen_of
from poshgrid.evidence.screening.windows import Bags
from poshgrid.parsing import treebank
from poshgrid.parsing.tree import Tree

WORDS = tuple(
    "the a of is was who that boy girl dog cat sees likes big old then and . ?".split()  # noqa: SIM905
)
# A filter without a screen may take any sentence; the rules are the tests' own
WORD, OTHER = [w for w in plugins.names("poshgrid.evidence.filters") if not screen_of(w)][:2]


def flat(words) -> Tree:
    n = len(words)
    return Tree(words, ["X"] * n, ["_"] * n, [0, *[1] * (n - 1)], ["root", *["dep"] * (n - 1)])


def drawn(seed: int, number: int = 400) -> list[list[str]]:
    """Return nonsense of which half has *blick dax*, the other half *dax blick*."""
    generator = random.Random(seed)
    out = []
    for i in range(number):
        words = generator.choices(WORDS, k=generator.randint(3, 12))
        place = generator.randint(0, len(words))
        words[place:place] = ["blick", "dax"] if i % 2 else ["dax", "blick"]
        out.append(words)
    return out


def planted(tree: Tree) -> Match | None:
    return Match("planted", {"first": 1}) if "blick dax" in " ".join(tree.form) else None


def shuffled(tree: Tree) -> Match | None:
    """Say yes to half of the sentences, whatever they mean."""
    found = random.Random(" ".join(tree.form)).random() < 0.5
    return Match("shuffled", {"first": 1}) if found else None


def learned(rule, seed: int = 1) -> Detector:
    return train(map(flat, drawn(seed)), {WORD: [rule]})


def area(detector: Detector, rule) -> float:
    """Return the share of (yes, no) pairs of unseen sentences that are in the right order."""
    sentences = drawn(2)
    scores = detector.scores(WORD, sentences)
    truth = np.array([rule(flat(words)) is not None for words in sentences])
    yes, no = scores[truth], scores[~truth]
    return float((yes[:, None] > no[None, :]).mean())


def test_a_planted_signal_is_found():
    found = learned(planted)
    assert area(found, planted) > 0.99
    scores = found.scores(WORD, [["the", "blick", "dax", "."], ["the", "dax", "blick", "."]])
    assert scores[0] > 0.8
    assert scores[1] < 0.2


def test_shuffled_labels_are_not():
    assert 0.35 < area(learned(shuffled), shuffled) < 0.65


def test_scores_are_chances():
    """On average as high as evidence is frequent."""
    sentences = drawn(2)
    truth = np.array([planted(flat(words)) is not None for words in sentences])
    scores = learned(planted).scores(WORD, sentences)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert scores.mean() == pytest.approx(truth.mean(), abs=0.05)


def test_a_place_in_the_sentence_does_not_matter():
    found = learned(planted)
    words = ["the", "boy", "sees", "the", "old", "dog", "then", "."]
    for place in range(len(words)):
        there = [*words[:place], "blick", "dax", *words[place:]]
        swapped = [*words[:place], "dax", "blick", *words[place:]]
        assert found.scores(WORD, [there])[0] > 3 * found.scores(WORD, [swapped])[0], place


def test_a_reading_is_enough():
    both = train(map(flat, drawn(1)), {WORD: [lambda tree: None, planted]})
    assert np.array_equal(both.weights[WORD], learned(planted).weights[WORD])


def test_it_is_deterministic_and_scores_do_not_depend_on_company(monkeypatch):
    first, second = learned(planted), learned(planted)
    assert np.array_equal(first.weights[WORD], second.weights[WORD])
    sentences = [*drawn(2, 40), ["one"], ["?"], ["Blick", "DAX"]]
    together = first.scores(WORD, sentences)
    assert np.array_equal(together[::-1], first.scores(WORD, sentences[::-1]))
    assert [first.scores(WORD, [words])[0] for words in sentences] == pytest.approx(list(together))
    monkeypatch.setattr(module, "_BATCH", 7)
    assert first.scores(WORD, sentences) == pytest.approx(together)
    assert first.scores(WORD, []).shape == (0,)


def test_no_window_reaches_into_the_next_sentence():
    alone, together = Bags([["a", "b"]]), Bags([["a", "b"], ["c", "d", "e"]])
    assert np.array_equal(alone.windows, together.windows[:2])
    assert list(together.starts) == [0, 2]
    assert not np.array_equal(Bags([["a", "b", "c"]]).windows[:2], alone.windows)
    assert together.windows.max() < windows.SIZE and together.windows.min() >= 0


def test_hashes_are_the_same_everywhere():
    """Weights that were saved elsewhere must mean the same: change FORMAT with the features."""
    places = Bags([["Is", "that", "what", "you", "ate", "?"]])
    assert module.FORMAT == 1
    sums = [int(each.sum(dtype=np.int64)) for each in (places.windows, places.whole)]
    assert sums == [11_200_788, 226_185]


def test_what_is_saved_comes_back(tmp_path):
    found = train(map(flat, drawn(1)), {WORD: [planted], OTHER: [shuffled]})
    found.save(tmp_path)
    again = Detector.load(tmp_path)
    assert again.facts == found.facts and again.weights.keys() == found.weights.keys()
    for word in found.weights:
        assert np.array_equal(again.scores(word, drawn(2)), found.scores(word, drawn(2)))
    assert not list(tmp_path.glob("*.pkl")) and found.facts[WORD]["positive"] == 200


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("detector.safetensors", b"no weights", "cannot be read"),
        ("detector.safetensors", None, "cannot be read"),
        ("detector.json", b'{"format": 0}', "not of format 1"),
        ("detector.json", b"[]", "not of format 1"),
    ],
)
def test_what_is_damaged_says_so(tmp_path, name, content, said):
    learned(planted).save(tmp_path)
    (tmp_path / name).unlink()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(PoshgridError, match=said) as caught:
        Detector.load(tmp_path)
    assert str(tmp_path / name) in str(caught.value) and "\n" not in str(caught.value)


def test_weights_of_another_size_are_refused(tmp_path):
    Detector({WORD: np.zeros(7, np.float32)}).save(tmp_path)
    with pytest.raises(PoshgridError, match="numbers a filter"):
        Detector.load(tmp_path)


def test_nothing_to_learn_and_unknown_filters_are_refused():
    with pytest.raises(PoshgridError, match="0 of 400 gold sentences"):
        train(map(flat, drawn(1)), {WORD: [lambda tree: None]})
    with pytest.raises(PoshgridError, match="0 of 0"):
        train([], {WORD: [planted]})
    with pytest.raises(
        PoshgridError, match=f"no weights for the filter '{OTHER}'; it knows {WORD}"
    ):
        learned(planted).scores(OTHER, [["a"]])[0]


def test_what_the_screen_stops_is_no_evidence():
    hurt = "I saw the dog hurt itself .".split()  # noqa: SIM905 - shorter than a list
    trees = [flat(hurt), flat(["Sue", "saw", "herself"]), flat(["the", "dog", "barks"])]

    def itself(tree: Tree) -> Match | None:
        return Match("itself", {"first": 1}) if "itself" in tree.form else None

    found = train(trees, {"binding": [itself]})
    assert found.facts == {"binding": {"sentences": 2, "positive": 1}}
    assert list(found.scores("binding", [["the", "dog"], []])) == [0, 0]
    assert found.scores("binding", [hurt])[0] > 0


@pytest.mark.slow
def test_a_child_that_was_not_learned_from(shared):
    """Evidence is ranked far before the rest; the sum of scores is near its number."""
    files = sorted((shared / "treebanks" / "childes").glob("*.conllu"))
    held = next(path for path in files if path.name.startswith("Naima"))
    others = [tree for path in files if path != held for tree in treebank.trees(path)]
    others += treebank.trees(shared / "treebanks" / "ewt" / "dev.conllu")
    word = "question-formation"
    rules = {word: list(question_formation.READINGS.values())}
    found = train(others, rules)
    trees = treebank.trees(held)
    truth = np.array([any(rule(tree) for rule in rules[word]) for tree in trees])
    scores = found.scores(word, [tree.form for tree in trees])
    ranked = truth[np.argsort(-scores, kind="stable")]
    precision = np.cumsum(ranked) / np.arange(1, len(ranked) + 1)
    assert precision[ranked].mean() > 0.3 > 10 * truth.mean()
    assert 0.5 < scores.sum() / truth.sum() < 2
    stopped = [not question_words.screen(tree.form) for tree in trees]
    assert not scores[stopped].any() and scores[~np.array(stopped)].all()
