"""The detector: a planted signal is found, noise is not, and what is saved comes back."""

from __future__ import annotations

import random

import numpy as np
import pytest

from poshgrid import plugins
from poshgrid.config import Filter, specs
from poshgrid.errors import PoshgridError
from poshgrid.evidence.match import Match
from poshgrid.evidence.screening.detector import SIZE, Bags, Detector, learn, train
from poshgrid.evidence.screening.screen import screen_of
from poshgrid.files import read_json
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


def test_scores_do_not_depend_on_company():
    first, second = learned(planted), learned(planted)
    assert np.array_equal(first.weights[WORD], second.weights[WORD])
    sentences = [*drawn(2, 40), ["one"], ["?"], ["Blick", "DAX"]]
    together = first.scores(WORD, sentences)
    assert [first.scores(WORD, [words])[0] for words in sentences] == pytest.approx(list(together))
    assert first.scores(WORD, []).shape == (0,)


def test_no_window_reaches_into_the_next_sentence():
    alone, together = Bags([["a", "b"]]), Bags([["a", "b"], ["c", "d", "e"]])
    assert np.array_equal(alone.windows, together.windows[:2])
    assert list(together.starts) == [0, 2]
    assert not np.array_equal(Bags([["a", "b", "c"]]).windows[:2], alone.windows)
    assert together.windows.max() < SIZE and together.windows.min() >= 0


def test_hashes_are_the_same_everywhere():
    """Weights that were saved elsewhere must mean the same."""
    places = Bags([["Is", "that", "what", "you", "ate", "?"]])
    sums = [int(each.sum(dtype=np.int64)) for each in (places.windows, places.whole)]
    assert sums == [11_200_788, 226_185]


def test_what_is_saved_comes_back(tmp_path):
    found = train(map(flat, drawn(1)), {WORD: [planted], OTHER: [shuffled]})
    found.save(tmp_path)
    again = Detector.load(tmp_path)
    assert again.weights.keys() == found.weights.keys()
    for word in found.weights:
        assert np.array_equal(again.scores(word, drawn(2)), found.scores(word, drawn(2)))
    (tmp_path / "detector.safetensors").write_bytes(b"no weights")
    with pytest.raises(PoshgridError, match="cannot be read"):
        Detector.load(tmp_path)
    Detector({WORD: np.zeros(7, np.float32)}).save(tmp_path)
    with pytest.raises(PoshgridError, match="numbers a filter"):
        Detector.load(tmp_path)


def test_nothing_to_learn_and_unknown_filters_are_refused():
    with pytest.raises(PoshgridError, match="0 of 400 gold sentences"):
        train(map(flat, drawn(1)), {WORD: [lambda tree: None]})
    with pytest.raises(PoshgridError, match=f"no weights for the filter '{OTHER}'"):
        learned(planted).scores(OTHER, [["a"]])


def test_what_the_screen_stops_is_no_evidence():
    hurt = "I saw the dog hurt itself .".split()  # noqa: SIM905 - shorter than a list
    trees = [flat(hurt), flat(["Sue", "saw", "herself"]), flat(["the", "dog", "barks"])]

    def itself(tree: Tree) -> Match | None:
        return Match("itself", {"first": 1}) if "itself" in tree.form else None

    found = train(trees, {"binding": [itself]})
    assert list(found.scores("binding", [["the", "dog"], []])) == [0, 0]
    assert found.scores("binding", [hurt])[0] > 0


# --- the stage -------------------------------------------------------------------------------


def spec(*filters, path="toy"):
    gold = {"path": path, "sentences": 1_200, "heldout": 0.3}
    return specs.DetectorSpec(treebank=gold, filters=filters)


def reading(name):
    return Filter(name="question-formation", reading=name)


def test_what_is_learned_knows_evidence_of_other_trees(tmp_path):
    """Of the same trees, the strict reading takes fewer, and both together as many as either."""
    positive = {}
    for name, readings in {"p": ["paper"], "d": ["direct"], "b": ["paper", "direct"]}.items():
        facts = learn(spec(*map(reading, readings)), tmp_path, tmp_path / name)
        assert facts == read_json(tmp_path / name / "statistics.json")
        found = facts["filters"]["question-formation"]
        positive[name] = found["positive"]
        assert found["positive"] < found["sentences"] < facts["gold"]["train"]["sentences"]
        heldout = found["heldout"]
        assert heldout["missed"] == 0 and heldout["first"] > 0.8 * heldout["evidence"] > 8
    assert 0 < positive["d"] < positive["p"] <= positive["b"]
    learn(spec(reading("paper")), tmp_path, tmp_path / "again")
    for name in ("detector.safetensors", "statistics.json"):
        assert (tmp_path / "p" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (spec(), "no filters to learn; name a condition"),
        (spec(reading("paper"), path="none.conllu"), "none.conllu: no such treebank"),
        (spec(Filter(name="npi-only")), "detector: 0 of .* give it more gold trees"),
    ],
)
def test_what_cannot_be_learned_is_one_line(tmp_path, given, message):
    with pytest.raises(PoshgridError, match=message) as error:
        learn(given, tmp_path, tmp_path / "out")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out/detector.safetensors").exists()
