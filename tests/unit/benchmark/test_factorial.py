"""Factorial sets: words cancel, polarities mirror, cells set rules apart, the checks see faults."""

import itertools
import random
from collections import Counter, defaultdict

import polars as pl
import pytest

from poshgrid.benchmark.generation import selection, templates
from poshgrid.benchmark.generation.pairs import Filled
from poshgrid.benchmark.generation.templates import Pair
from poshgrid.benchmark.schema import PAIRS, Context
from poshgrid.benchmark.structure import split
from poshgrid.benchmark.suites import factorial as reader
from poshgrid.corpora.words import words
from poshgrid.evaluation.heuristics.pair import Pair as Seen
from poshgrid.evaluation.heuristics.table import loaded
from tests.cases import read_cases
from tests.unit.benchmark import grammar
from tests.unit.benchmark.generated import KNOWN as VOCABULARY
from tests.unit.benchmark.generated import WORDS

SETS, CROSSED_SETS = 100, 60
CELLS, JOINT, CROSSED = (
    read_cases(__file__, "factorial")[key] for key in ("simple", "joint", "crossed")
)


@pytest.fixture(scope="module")
def made():
    return reader.load(None, reader.Options(sets=SETS, pool=1), Context(VOCABULARY))


@pytest.fixture(scope="module")
def crossed():
    options = reader.Options(sets=CROSSED_SETS, pool=1, phenomena=sorted(CROSSED))
    return reader.load(None, options, Context(VOCABULARY))


def sets(rows):
    by_set = defaultdict(list)
    for row in rows.iter_rows(named=True):
        by_set[row["template"], row["lexical_set"]].append(row)
    return by_set


def test_every_phenomenon_has_whole_sets_of_all_its_cells(made, crossed):
    rows = made.items
    assert dict(rows.schema) == PAIRS
    assert rows["item_id"].n_unique() == rows.height == rows.select("good", "bad").n_unique()
    assert templates.names(templates.FACTORIAL) == sorted(CELLS | CROSSED)
    for name, cells in CELLS.items():
        own = sets(rows.filter(pl.col("phenomenon") == name))
        assert len(own) == SETS
        assert len({template for template, _ in own}) >= 2
        for of_set in own.values():
            counted = Counter(row["cell"] for row in of_set)
            assert counted.items() <= cells.items()
            assert len(counted) == 2
            assert {row["joint"] for row in of_set} == {name in JOINT}
    assert set(rows["cell"]) == {cell for cells in CELLS.values() for cell in cells}
    assert made.facts["pairs"] == rows.height
    for name, cells in CROSSED.items():
        own = sets(crossed.items.filter(pl.col("phenomenon") == name))
        assert len(own) == CROSSED_SETS
        for of_set in own.values():
            assert Counter(row["cell"] for row in of_set) == cells
            assert all(row["joint"] for row in of_set)


def test_no_weights_of_words_prefer_the_good_members_of_a_set(made):
    """A unigram of any corpus: words cancel where a set is judged as one; else half are right."""
    draw = random.Random(1)
    weights = defaultdict(lambda: draw.uniform(-12, -1))
    for of_set in sets(made.items).values():
        margins = [
            sum(weights[w] for w in split(row["good"])) - sum(weights[w] for w in split(row["bad"]))
            for row in of_set
        ]
        if of_set[0]["joint"]:
            assert sum(margins) == pytest.approx(0)
            words = [Counter(w for row in of_set for w in split(row[m])) for m in ("good", "bad")]
            assert words[0] == words[1]
        else:
            right = [0.5 if abs(m) < 1e-9 else float(m > 0) for m in margins]
            assert sum(right) == len(right) / 2


# ---- sets in which pairs of words cancel, too --------------------------------------------------


def windows(sentence, order):
    """Return the sequences of ``order`` words that an n-gram model counts, ends included."""
    marked = ["<s>", *words(sentence), "</s>"]
    return [tuple(marked[max(0, end - order) : end]) for end in range(2, len(marked) + 1)]


def word_pairs(sentence):
    """Return all pairs of words, in their order, near or far."""
    return list(itertools.combinations(words(sentence), 2))


def uncancelled(rows, features):
    """Return the sets in which something is more often in good members than in bad ones."""
    return [
        of_set
        for of_set in sets(rows).values()
        if Counter(f for row in of_set for f in features(row["good"]))
        != Counter(f for row in of_set for f in features(row["bad"]))
    ]


def test_no_two_words_and_no_five_in_a_row_tell_good_members_of_crossed_sets(crossed, made):
    for order in range(1, 6):
        assert not uncancelled(crossed.items, lambda text, n=order: windows(text, n))
    assert not uncancelled(crossed.items, word_pairs)
    # The simple designs cancel words alone: "who ... hesitate" is only in a bad member
    simple = made.items.filter(pl.col("phenomenon").is_in(["island-adjunct", "island-complex-np"]))
    assert len(uncancelled(simple, word_pairs)) == 2 * SETS


def test_every_clause_of_both_questions_is_finite_and_position_sets_rules_apart(crossed):
    """Without its first word each member is a statement; first-auxiliary is right of objects."""
    rules = {name: loaded()[name].prefers for name in ("main-auxiliary", "first-auxiliary")}
    said = defaultdict(set)
    for row in crossed.items.filter(cell="question").iter_rows(named=True):
        for member in ("good", "bad"):
            assert grammar.accepts(row[member].partition(" ")[2].removesuffix("?"))
        for name, prefers in rules.items():
            said[row["phenomenon"], name].add(prefers(Seen(row["good"], row["bad"])))
    subject, on_object = (f"question-formation-finite-{kind}" for kind in ("subject", "object"))
    assert said == {
        (subject, "main-auxiliary"): {1}, (subject, "first-auxiliary"): {0},
        (on_object, "main-auxiliary"): {1}, (on_object, "first-auxiliary"): {1},
    }  # fmt: skip


GENDERS = {word.lemma: "".join(word.features["gender"]) for word in WORDS.of("noun")}


def test_the_cells_of_principle_a_set_commanding_against_local_nouns(made):
    """First noun: right in the noun's cell, wrong in the clause's; nearest noun: by template."""
    first, nearest = defaultdict(set), defaultdict(set)
    for row in made.items.filter(phenomenon="principle-a-gender").iter_rows(named=True):
        words = (w.removesuffix("'s") for w in split(row["good"]))
        nouns = [GENDERS[word] for word in words if GENDERS.get(word) in {"m", "f"}]
        right = "m" if row["good"].endswith("himself.") else "f"
        template = row["template"].removeprefix("principle-a-gender-")
        assert Counter(nouns)[right] == 2 == len(nouns) - 1
        first[row["cell"]].add(nouns[0] == right)
        nearest[template, row["cell"]].add(nouns[-1] == right)
    assert first == {"clause": {False}, "possessor": {True}, "relative": {True}}
    assert nearest == {
        ("possessor", "clause"): {True}, ("possessor", "possessor"): {True},
        ("relative", "clause"): {True}, ("relative", "relative"): {False},
        ("object-relative", "clause"): {True}, ("object-relative", "relative"): {False},
    }  # fmt: skip


# ---- what is sound -------------------------------------------------------------------------------


def test_all_sets_are_sound_and_no_set_the_wrong_way_round(made, crossed):
    items = pl.concat([made.items, crossed.items])
    assert not any(map(grammar.fault, items.iter_rows(named=True)))
    wrong = items.rename({"good": "bad", "bad": "good"})
    # Of a control both members are sentences, or none: there only the order of the words is wrong.
    wrong = wrong.filter(~pl.col("cell").is_in(grammar.CONTROLS | grammar.VIOLATIONS))
    assert all(map(grammar.fault, wrong.iter_rows(named=True)))


# ---- choosing sets --------------------------------------------------------------------------


def test_a_null_judges_a_joint_set_by_its_sums_and_others_pair_by_pair():
    sums = {"a a": -9.0, "b b": -3.0, "c c": -1.0, "d d": -6.0}  # of three words, with the end
    pairs = (("a a", "b b"), ("c c", "d d"))  # -6 and +5

    def choose(joint):
        candidate = Filled("t", "", "c", tuple(Pair("", *members) for members in pairs))
        _, facts = selection.choose(
            [candidate], 1, {"n": lambda texts: [sums[text] for text in texts]},
            joint=joint, tolerance=0, seed=1, where="p",
        )  # fmt: skip
        return facts["baselines"]["n"]["before"]

    assert (choose(joint=True), choose(joint=False)) == (0, 0.5)
    for sums["d d"], share in ((-8.0, 1), (-7.0, 0.5)):  # -6 and +7, -6 and +6
        assert choose(joint=True) == share
