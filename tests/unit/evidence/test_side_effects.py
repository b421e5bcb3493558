"""What else goes when a filter removes: counts by brute force, planted faults."""

import random

import polars as pl
import pytest

from poshgrid.config import Condition, Filter, specs
from poshgrid.core.files import read_table
from poshgrid.evidence.constructions import BY_TREE, BY_WORDS
from poshgrid.evidence.schema import SIDE_EFFECTS, Labels
from poshgrid.evidence.side_effects import ALL, MEASURES, side_effects
from poshgrid.parsing.tree import Tree
from tests.unit.evidence.condition_support import write
from tests.unit.evidence.trees import read_cases

LABELS = Labels({"binding": ("paper",), "question-formation": ("paper",)}, {"binding": ("paper",)})
FILTERS = ["binding.paper", "question-formation.paper"]


def count(corpus, spec, condition):
    """Count what went; return (source, measure) -> numbers."""
    output = condition.with_name("out")
    side_effects(spec, condition, corpus.sentences, corpus.labels, output)
    table = read_table(output / "side_effects.parquet", SIDE_EFFECTS)
    return {(s, m): tuple(rest) for s, m, *rest in table.iter_rows()}


def chosen(name="f", size="1K", **settings):
    """Return the slice of a condition; a control's condition removes by both filters."""
    removed = [Filter.model_validate(word) for word in FILTERS if "control" in settings]
    if not removed:
        settings.setdefault("filters", FILTERS)
    condition = Condition(name=name, corpus="x", **settings)
    return specs.SideEffectsSpec(condition=condition, control=removed, size=size)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What's it?!", {"question", "wh_question"}), ("“Is it here?” ", {"question"}),
        ("Whatnot?", {"question"}), ("“Why?” he said.", set()), ("who are you", set()),
        ("He hurt HIMSELF.", {"reflexive"}), ("a selfless shelf", set()),
        ("They saw themselves?", {"question", "reflexive"}),
    ],
)  # fmt: skip
def test_what_the_words_tell(text, expected):
    says = pl.DataFrame({"text": [text]}).select(**BY_WORDS).row(0, named=True)
    assert {name for name, has in says.items() if has} == expected


def test_constructions_on_trees_written_by_hand():
    for name, (text, heads, relations, expected) in read_cases("constructions")["worked"].items():
        words = text.split()
        blank = ["_"] * len(words)
        tree = Tree(words, blank, blank, list(heads), relations.split())
        assert {column for column, has in BY_TREE.items() if has(tree)} == set(expected), name


# ---- by brute force ------------------------------------------------------------------------------


def make(folder, seed):
    """Write a corpus at random: three sources, two sizes."""
    rng = random.Random(seed)
    shares = {
        **dict.fromkeys(BY_TREE, 0.2), "binding_paper": 0.06, "binding_paper_backstop": 0.06,
        "question_formation_paper": 0.08,
    }  # fmt: skip
    rows = []
    for i in range(700):
        forms = rng.choices([f"w{n}" for n in range(40)], k=rng.randint(1, 22))
        if rng.random() < 0.3:
            forms[0], forms[-1] = rng.choice(["What", "Is"]), "it?"
        if rng.random() < 0.1:
            forms.insert(0, "Myself")
        source = rng.choices(["books", "childes", "notes"], [5, 5, 1])[0]
        has = {name: rng.random() < share for name, share in shares.items()}
        split = "train" if i < 600 else rng.choice(["dev", "test"])
        size = rng.choice(["1K", "2K", "2K"]) if split == "train" else ""
        rows.append({"source": source, "text": " ".join(forms), "split": split, "size": size} | has)
    return write(folder, rows, LABELS)


def brute(corpus, spec, train):
    """Count again, sentence by sentence, in plain Python."""
    rows = {row["sent_id"]: row for row in corpus.table.to_dicts()}
    rules = [str(column).replace("-", "_").replace(".", "_") for column in spec.condition.filters]

    def measures(row):
        forms = row["text"].split()
        question = forms[-1].endswith("?")
        return {
            "sentences": 1, "words": len(forms),
            "over_15_words": len(forms) > 15, "question": question,
            "wh_question": question and forms[0] == "What", "reflexive": "Myself" in forms,
            **{name: row[name] for name in BY_TREE},
        }  # fmt: skip

    at_size = list(corpus.at(spec.size)["sent_id"])
    rule = [i for i in at_size if any(rows[i][column] for column in rules)]
    looks = [i for i in at_size if "binding_paper" in rules and rows[i]["binding_paper_backstop"]]
    looks = [i for i in looks if i not in rule]
    removed = rule + looks
    if spec.control:
        there = set(train["sent_id"])
        removed = [i for i in at_size if i not in there]
        if spec.condition.downsample < 1:
            removed = None
    counts = {}
    for source in ("books", "childes", "notes", ALL):
        for measure in MEASURES:
            numbers = []
            for ids in (at_size, list(train["sent_id"]), removed):
                mine = [rows[i] for i in ids or () if source in (rows[i]["source"], ALL)]
                numbers.append(None if ids is None else sum(measures(r)[measure] for r in mine))
            counts[source, measure] = tuple(numbers)
    return counts


PUT_BACK = {"filter": "binding", "rate": 0.05, "tolerance": 0.1, "pool": "paper"}
CONDITIONS = {
    "filtered": {},
    "one filter": {"filters": ["question-formation.paper"]},
    "larger": {"size": "2K"},
    "put back": {"reinsert": [PUT_BACK]},
    "refilled": {"refill": True},
    "down-sampled": {"downsample": 0.6},
    "refilled control": {"control": "other", "refill": True},
    "down-sampled control": {"control": "other", "downsample": 0.6},
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_counts_by_brute_force(tmp_path, name):
    corpus = make(tmp_path, len(name))
    spec = chosen("f", **CONDITIONS[name])
    train, _ = corpus.build(spec, tmp_path / "f")
    assert count(corpus, spec, tmp_path / "f") == brute(corpus, spec, train)
