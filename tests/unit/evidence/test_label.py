"""Labelling a corpus, and how far two labellings agree."""

import pytest

from poshgrid.config import specs
from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import read_json, read_table
from poshgrid.evidence.label import label, labels_of, rules_of
from poshgrid.evidence.schema import column
from tests.unit.evidence.condition_support import write
from tests.unit.evidence.trees import read_cases, tree, write_parses

FILTERS = ["question-formation", "binding"]
SPEC = specs.EvidenceSpec(filters=FILTERS)
CASES = [read_cases(name)["cases"].values() for name in ("question_formation", "binding")]
TREES = [tree(text) for cases in CASES for text, *_ in cases]


def make(folder, order=None):
    """Write a corpus and the shards of its parses."""
    rows = [{"text": " ".join(t.form), "split": "train", "size": "1K"} for t in TREES]
    corpus = write(folder, rows)
    corpus.labels.unlink()
    numbers = list(order or range(len(TREES)))
    shards = [
        write_parses(folder / f"{shard}.parquet", [TREES[i % len(TREES)] for i in ids], ids)
        for shard, ids in enumerate((numbers[:7], numbers[7:]))
    ]
    return corpus.sentences, shards


def test_labels_are_those_of_the_filters(tmp_path):
    """Rules look at trees, a backstop at words alone: it counts what the rule does not find."""
    sentences, shards = make(tmp_path)
    facts = label(SPEC, sentences, shards, tmp_path / "labels.parquet")
    table = read_table(tmp_path / "labels.parquet", labels_of(FILTERS).schema)
    assert table["sent_id"].to_list() == list(range(len(TREES)))
    for word in FILTERS:
        rules = rules_of(word)
        assert set(rules.backstops) == {"direct"}
        for reading, rule in rules.readings.items():
            looks_at = rules.backstops.get(reading, lambda words: None)
            fires = [rule(parsed) for parsed in TREES]
            looks = [looks_at(parsed.form) for parsed in TREES]
            mine = table[column(word, reading)].to_list()
            assert mine == [match is not None for match in fires] and any(mine) and not all(mine)
            tokens = table[column(word, reading, "tokens")].to_list()
            assert tokens == [
                list(match.words if match else words or ())
                for match, words in zip(fires, looks, strict=True)
            ]
            counted = facts["filters"][word][reading]
            assert sum(counted["rules"].values()) == sum(mine)
            if reading in rules.backstops:
                backstop = table[column(word, reading, "backstop")].to_list()
                assert backstop == [words is not None for words in looks]
                alone = [words for match, words in zip(fires, looks, strict=True) if not match]
                assert counted["backstop"] == len(list(filter(None, alone))) > 0
            else:
                assert "backstop" not in counted
    assert facts["sentences"] == len(TREES)
    assert read_json(tmp_path / "labels.json") == facts


def test_what_no_tree_bears_is_counted(tmp_path):
    """passive asks for a feature that the trees lack."""
    sentences, shards = make(tmp_path)
    passive = specs.EvidenceSpec(filters=["passive"])
    facts = label(passive, sentences, shards, tmp_path / "labels.parquet")
    for counted in facts["filters"]["passive"].values():
        assert "Voice=Pass" in counted["never"] and "VERB" not in counted["never"]


def test_a_shard_that_is_passed_twice_is_not_counted_twice(tmp_path):
    sentences, shards = make(tmp_path)
    for more in shards:
        with pytest.raises(PoshgridError, match="pass each once"):
            label(SPEC, sentences, [*shards, more], tmp_path / "labels.parquet")


def test_the_order_of_shards_does_not_matter(tmp_path):
    sentences, shards = make(tmp_path)
    label(SPEC, sentences, shards, tmp_path / "a.parquet")
    label(SPEC, sentences, shards[::-1], tmp_path / "b.parquet")
    for ending in ("parquet", "json"):
        assert len({(tmp_path / f"{name}.{ending}").read_bytes() for name in "ab"}) == 1


@pytest.mark.parametrize(
    "order",
    [range(1, len(TREES)), [7, *range(1, 7), 0, *range(8, len(TREES))], range(len(TREES) + 2)],
)
def test_every_sentence_has_one_tree(tmp_path, order):
    sentences, shards = make(tmp_path, order)
    with pytest.raises(PoshgridError, match=r"sentences\.parquet: .* parse every shard"):
        label(SPEC, sentences, shards, tmp_path / "labels.parquet")
    assert not (tmp_path / "labels.parquet").exists()


@pytest.mark.parametrize("name", ["no_tokens", "backstop"])
def test_names_of_readings_are_held_to_those_of_columns(monkeypatch, name):
    module = plugins.load("poshgrid.evidence.filters", "passive")
    monkeypatch.setitem(module.READINGS, name, lambda tree: None)
    with pytest.raises(PoshgridError, match=f"'passive': READINGS: '{name}' is not a valid name"):
        rules_of("passive")
