"""What else goes when a filter removes: counts by brute force, planted faults."""

import polars as pl
import pytest

from poshgrid.config import specs
from poshgrid.core.files import read_table
from poshgrid.evidence.constructions import BY_TREE, BY_WORDS
from poshgrid.evidence.schema import SIDE_EFFECTS
from poshgrid.evidence.side_effects import ALL, MEASURES, side_effects
from poshgrid.parsing.tree import Tree
from tests.unit.evidence.condition_support import FILTERS, make, removes, spec
from tests.unit.evidence.trees import read_cases


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


def brute(corpus, wanted, train):
    """Count again, sentence by sentence, in plain Python."""
    rows = {row["sent_id"]: row for row in corpus.table.to_dicts()}

    def measures(row):
        question = row["text"].endswith("?")
        return {
            "sentences": 1, "words": row["n_words"],
            "over_15_words": row["n_words"] > 15, "question": question,
            "wh_question": question and "What" in row["text"], "reflexive": "Myself" in row["text"],
            **{name: row[name] for name in BY_TREE},
        }  # fmt: skip

    at_size, there = corpus.at(wanted.size)["sent_id"].to_list(), train["sent_id"].to_list()
    filters = list(map(str, wanted.condition.filters))
    removed = [i for i in at_size if any(removes(rows[i], word) for word in filters)]
    if wanted.control_filters:
        removed = [i for i in at_size if i not in there]
        if wanted.condition.downsample < 1:
            removed = None
    counts = {}
    for source in ("books", "childes", ALL):
        for measure in MEASURES:
            numbers = []
            for ids in (at_size, there, removed):
                mine = [rows[i] for i in ids or () if source in (rows[i]["source"], ALL)]
                numbers.append(None if ids is None else sum(measures(r)[measure] for r in mine))
            counts[source, measure] = tuple(numbers)
    return counts


CONDITIONS = {
    "filtered": {"filters": FILTERS},
    "one filter, no backstop": {"filters": ["question-formation.direct"]},
    "larger": {"filters": FILTERS, "size": "2K"},
    "put back": {"filters": FILTERS, "rates": {"binding": {"rate": 0.05, "pool": "paper"}}},
    "refilled": {"filters": FILTERS, "refill": True},
    "down-sampled": {"filters": FILTERS, "downsample": 0.6},
    "refilled control": {"control": "other", "of": FILTERS, "refill": True},
    "down-sampled control": {"control": "other", "of": FILTERS, "downsample": 0.6},
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_counts_by_brute_force(tmp_path, name):
    corpus = make(tmp_path, len(name), looks=0.06)
    wanted = spec(**CONDITIONS[name])
    train, _ = corpus.build(wanted, tmp_path / "f")
    own = specs.SideEffectsSpec(**wanted.model_dump())
    side_effects(own, tmp_path / "f", corpus.sentences, corpus.labels, tmp_path)
    table = read_table(tmp_path / "side_effects.parquet", SIDE_EFFECTS)
    counted = {(source, measure): tuple(rest) for source, measure, *rest in table.iter_rows()}
    assert counted == brute(corpus, wanted, train)
