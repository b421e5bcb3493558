"""Ours and the readings written anew agree, on gold trees and on changed examples.

On three treebanks: recall is the share of the reference's sentences that ours finds, precision the
share of ours that the reference has. The floors are what was measured: what lies between them and 1
are cases that the definitions leave open, or that ours gets wrong.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
import yaml

from poshgrid.core import plugins
from poshgrid.evidence.label import rules_of
from poshgrid.evidence.match import Rule
from poshgrid.parsing import treebank
from tests.parity import ud
from tests.parity.readings import FICT, READINGS, Reading
from tests.unit.evidence.trees import tree as our_tree

EXAMPLES = yaml.safe_load(Path(__file__).with_name("examples.yaml").read_text("utf-8"))

# Files, and of which one sentence in so many is taken
FILES = {
    "childes": 1,
    "ewt/dev.conllu": 1,
    "gum/dev.conllu": 1,
    "ewt/train.conllu": 3,
    "gum/train.conllu": 3,
}
EXACT = (1.0, 1.0)
FLOORS: dict[Reading, tuple[float, float]] = {
    ("question-formation", "paper"): EXACT,
    ("question-formation", "direct"): (1.0, 0.9),
    ("binding", "paper"): EXACT,
    ("binding", "direct"): (0.95, 0.9),
    **{(name, "paper"): EXACT for name in FICT},
}


def ours(reading: Reading) -> Rule:
    """Our rule of a filter's reading."""
    return rules_of(reading[0]).readings[reading[1]]


def blocks(shared: Path, name: str, every: int) -> str:
    """Every so manieth sentence of a file, or of all files of a folder."""
    path = shared / "treebanks" / name
    files = sorted(path.glob("*.conllu")) if path.is_dir() else [path]
    if not files or not all(file.is_file() for file in files):
        pytest.skip(f"{path} is absent")
    text = "".join(file.read_text("utf-8").strip() + "\n\n" for file in files)
    return "\n\n".join(text.strip().split("\n\n")[::every]) + "\n\n"


@pytest.fixture(scope="module")
def decisions(shared, tmp_path_factory) -> dict[Reading, Counter]:
    """How many sentences (reference's, ours) each reading marks."""
    counts = {reading: Counter() for reading in READINGS}
    rules = {reading: ours(reading) for reading in READINGS}
    file = tmp_path_factory.mktemp("parity") / "part.conllu"
    for name, every in FILES.items():
        file.write_text(blocks(shared, name, every), "utf-8")
        reference, trees = ud.read(file), treebank.trees(file)
        assert [len(nodes) for nodes in reference] == [len(tree) for tree in trees]
        for nodes, tree in zip(reference, trees, strict=True):
            for reading, rule in READINGS.items():
                counts[reading][rule(nodes), rules[reading](tree) is not None] += 1
    return counts


@pytest.mark.parametrize(
    ("reading", "text", "taken"),
    [
        (tuple(name.split(".")), text, answer == "takes")
        for name, answers in EXAMPLES.items()
        for answer, texts in answers.items()
        for text in texts
    ],
)
def test_the_reference_on_examples(reading, text, taken):
    assert bool(READINGS[reading](ud.tree(text))) == taken


def test_every_reading_has_a_reference():
    names = plugins.names("poshgrid.evidence.filters")
    defined = {(name, reading) for name in names for reading in rules_of(name).readings}
    # What FiCT's code does is checked against its own decisions (test_fict_published.py)
    assert (
        {reading for reading in defined if reading[1] != "published"}
        == set(READINGS)
        == set(FLOORS)
    )


@pytest.mark.slow
@pytest.mark.parametrize("reading", FLOORS, ids="/".join)
def test_gold_trees(decisions, reading):
    both, missed, extra = (decisions[reading][k] for k in ((1, 1), (1, 0), (0, 1)))
    recall = both / (both + missed) if both + missed else 1.0
    precision = both / (both + extra) if both + extra else 1.0
    assert recall >= FLOORS[reading][0], (both, missed, extra)
    assert precision >= FLOORS[reading][1], (both, missed, extra)


# Column of an example's words: values that rules should not mistake for what they ask for
NEAR: dict[int, list[str]] = {
    0: ["xs", "the", "it", "’s", "any", "?!"],
    1: ["PRON", "AUX", "DET", "PROPN", "VERB", "NOUN"],
    3: [
        "nsubj", "nsubj:outer", "nmod", "nmod:poss", "acl", "acl:relcl", "advcl:relcl", "obl:agent",
        "det:predet", "compound", "compound:prt", "conj", "iobj",
    ],
    4: ["_", "Degree=Pos", "Voice=Pass", "Number=Sing|Voice=Pass", "Degree=Sup"],
}  # fmt: skip
Words = list[list[str]]


def attach(rng: random.Random, rows: Words) -> None:
    """Give a word another governor, none that it governs."""
    word = rng.randrange(len(rows))
    head = rng.randrange(len(rows))
    above = head
    while above != word and rows[above][2] != "0":
        above = int(rows[above][2]) - 1
    if above != word:
        rows[word][2] = str(head + 1)


def changed_tree(rng: random.Random, name: str) -> str:
    """An example of a filter with a word more, anywhere, and up to three changes."""
    texts = [text for answer in EXAMPLES[f"{name}.paper"].values() for text in answer]
    examples = [[[*w.split("/"), "_"][:5] for w in text.split()] for text in texts]
    pools = {
        column: [*near, *(word[column] for words in examples for word in words if word[2] != "0")]
        for column, near in NEAR.items()
    }
    rows = rng.choice(examples)
    position = rng.randint(0, len(rows))
    for word in rows:
        word[2] = str(int(word[2]) + (int(word[2]) > position))
    rows.insert(position, [rng.choice(pools[0]), rng.choice(pools[1]), "", "dep", "_"])
    rows[position][2] = str(rng.choice([i for i in range(1, len(rows) + 1) if i != position + 1]))
    for _ in range(rng.randint(0, 3)):
        column = rng.choice((0, 1, 2, 3, 3, 4))
        word = rng.choice([row for row in rows if column != 3 or row[2] != "0"])
        if column == 2:
            attach(rng, rows)
        else:
            word[column] = rng.choice(pools[column])
    return " ".join("/".join(row) for row in rows)


@pytest.mark.parametrize("name", FICT)
def test_changed_trees(name):
    rng, rule = random.Random(name), ours((name, "paper"))
    agreed = Counter()
    for _ in range(1000):
        text = changed_tree(rng, name)
        reference, taken = FICT[name](ud.tree(text)), rule(our_tree(text)) is not None
        assert taken == reference, text
        agreed[taken] += 1
    assert min(agreed[True], agreed[False]) >= 100, agreed
