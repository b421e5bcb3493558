"""Labelling a base, and how far two labellings agree."""

from __future__ import annotations

import polars as pl
import pytest

from poshgrid import plugins
from poshgrid.config import specs
from poshgrid.corpora.schema import SENTENCES
from poshgrid.errors import PoshgridError
from poshgrid.evidence.agreement import agreement, cohens_kappa
from poshgrid.evidence.constructions import BY_TREE
from poshgrid.evidence.label import label, labels_of, rules_of
from poshgrid.evidence.schema import Labels, column
from poshgrid.files import read_json, read_schema, read_table, write_table
from poshgrid.parsing.schema import PARSES
from tests.unit.evidence.test_binding import CASES as BINDING
from tests.unit.evidence.test_question_formation import CASES as QUESTIONS
from tests.unit.evidence.trees import tree

FILTERS = ["question-formation", "binding"]
SPEC = specs.EvidenceSpec(filters=FILTERS)
TREES = [tree(text) for text, *_ in [*QUESTIONS.values(), *BINDING.values()]]


def write(folder, order=None):
    """Write a base and the shards of its parses."""
    n = len(TREES)
    ids = list(order or range(n))
    cuts = (0, 7, n)
    base = pl.DataFrame(
        {
            "sent_id": range(n),
            "source": ["s"] * n,
            "document": ["d"] * n,
            "position": range(n),
            "text": [" ".join(t.form) for t in TREES],
            "n_words": [len(t) for t in TREES],
            "split": ["train"] * n,
            "rank": range(n),
            "size": ["1K"] * n,
        },
        schema=SENTENCES,
    )
    write_table(base, folder / "sentences.parquet", SENTENCES)
    columns = ("form", "upos", "feats", "head", "deprel")
    parses = pl.DataFrame(
        {"sent_id": ids, **{c: [list(getattr(TREES[i % n], c)) for i in ids] for c in columns}},
        schema=PARSES,
    )
    shards = []
    for number, (start, end) in enumerate(zip(cuts, [*cuts[1:], len(ids)], strict=True)):
        shards.append(folder / f"{number}.parquet")
        write_table(parses[start:end], shards[-1], PARSES)
    return folder / "sentences.parquet", shards


def test_labels_are_those_of_the_filters(tmp_path):
    sentences, shards = write(tmp_path)
    out = tmp_path / "labels.parquet"
    facts = label(SPEC, sentences, shards, out)
    table = read_table(out, labels_of(FILTERS).schema)
    assert table["sent_id"].to_list() == list(range(len(TREES)))
    for word in FILTERS:
        for reading, rule in rules_of(word).readings.items():
            fires = [rule(each) for each in TREES]
            mine = table[column(word, reading)].to_list()
            assert mine == [each is not None for each in fires] and any(mine) and not all(mine)
            tokens = table[column(word, reading, "tokens")]
            assert all(
                found.to_list() == list(each.words)
                for each, found in zip(fires, tokens, strict=True)
                if each
            )
            counted = facts["filters"][word][reading]
            assert sum(counted["rules"].values()) == sum(mine)
            assert ("backstop" in counted) == (reading == "direct")
    assert (facts["sentences"], facts["parsed"]) == (len(TREES), len(TREES))
    assert read_json(tmp_path / "labels.json") == facts


def test_a_backstop_looks_at_words_alone(tmp_path):
    """Its column holds what its function says, its count what the rule does not find."""
    sentences, shards = write(tmp_path)
    facts = label(SPEC, sentences, shards, tmp_path / "labels.parquet")
    table = read_table(tmp_path / "labels.parquet", labels_of(FILTERS).schema)
    for word in FILTERS:
        rules = rules_of(word)
        assert set(rules.backstops) == {"direct"}
        looks = [rules.backstops["direct"](each.form) for each in TREES]
        fires = [rules.readings["direct"](each) for each in TREES]
        mine = table[column(word, "direct", "backstop")].to_list()
        assert mine == [each is not None for each in looks] and any(mine)
        alone = [w is not None and f is None for w, f in zip(looks, fires, strict=True)]
        assert facts["filters"][word]["direct"]["backstop"] == sum(alone)
        for place in (i for i, only in enumerate(alone) if only):
            tokens = table[column(word, "direct", "tokens")][place].to_list()
            assert tokens == list(looks[place])


def test_what_was_not_parsed_has_no_label_and_no_construction(tmp_path):
    sentences, shards = write(tmp_path)
    first = read_table(shards[0], PARSES)
    empty = first.with_columns(pl.lit([], dtype=first[name].dtype).alias(name)
                               for name in PARSES if name != "sent_id")  # fmt: skip
    write_table(empty, shards[0], PARSES)
    facts = label(SPEC, sentences, shards, tmp_path / "labels.parquet")
    labels = labels_of(FILTERS)
    table = read_table(tmp_path / "labels.parquet", labels.schema)
    unparsed, parsed = table.head(first.height), table[first.height :]
    assert facts["parsed"] == parsed.height
    for name in BY_TREE:
        assert unparsed[name].null_count() == unparsed.height and not parsed[name].has_nulls()
    for word in FILTERS:
        for reading in labels.readings[word]:
            for name in labels.removing(word, reading, backstop=True):
                assert not unparsed[name].any()


def test_a_sentence_whose_columns_differ_in_length_is_refused(tmp_path):
    sentences, shards = write(tmp_path)
    frame = read_table(shards[1], PARSES)
    shorter = frame.with_columns(head=pl.col("head").list.head(3))
    write_table(shorter, shards[1], PARSES)
    with pytest.raises(
        PoshgridError, match=r"1\.parquet: columns of one sentence differ in length"
    ):
        label(SPEC, sentences, shards, tmp_path / "labels.parquet")


def test_what_no_tree_bears_is_counted(tmp_path):
    """passive asks for a relation that the trees have, and for a feature that they have not."""
    sentences, shards = write(tmp_path)
    facts = label(
        specs.EvidenceSpec(filters=["passive"]), sentences, shards, tmp_path / "p.parquet"
    )
    for reading in rules_of("passive").readings:
        assert "Voice=Pass" in facts["filters"]["passive"][reading]["never"]
        assert "VERB" not in facts["filters"]["passive"][reading]["never"]


def test_relations_that_are_not_uds_are_told(tmp_path):
    """A planted fault: one shard of a parser of another scheme."""
    sentences, shards = write(tmp_path)
    before = label(SPEC, sentences, shards, tmp_path / "a.parquet")["foreign"]
    assert "relcl" in before  # one of the trees bears spaCy's own labels
    stock = read_table(shards[0], PARSES)
    names = pl.element().replace({"nsubj": "subject"})
    write_table(stock.with_columns(pl.col("deprel").list.eval(names)), shards[0], PARSES)
    found = label(SPEC, sentences, shards, tmp_path / "b.parquet")["foreign"]
    assert found == sorted([*before, "subject"])


def test_neither_order_of_shards_nor_processes_matter(tmp_path):
    sentences, shards = write(tmp_path)
    label(SPEC, sentences, shards, tmp_path / "a.parquet")
    label(SPEC, sentences, shards[::-1], tmp_path / "b.parquet")
    label(SPEC, sentences, shards, tmp_path / "c.parquet", threads=2)
    for ending in ("parquet", "json"):
        made = {(tmp_path / f"{name}.{ending}").read_bytes() for name in "abc"}
        assert len(made) == 1


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (range(1, len(TREES)), "0 trees in its order"),
        ([7, *range(1, 7), 0, *range(8, len(TREES))], "0 trees in its order"),
        (range(len(TREES) + 2), "parse every shard of the base"),
    ],
)
def test_every_sentence_has_one_tree(tmp_path, order, message):
    sentences, shards = write(tmp_path, order=order)
    with pytest.raises(PoshgridError, match=message):
        label(SPEC, sentences, shards, tmp_path / "labels.parquet")
    assert not (tmp_path / "labels.parquet").exists()


def test_kappa_by_hand():
    # 20 both, 5 first only, 10 second only, 15 neither: observed .7, expected .5 (Cohen 1960)
    assert cohens_kappa(20, 5, 10, 15) == pytest.approx(0.4)
    # observed .75, expected .3 * .15 + .7 * .85 = .64
    assert cohens_kappa(10, 20, 5, 65) == pytest.approx(0.11 / 0.36)
    assert cohens_kappa(0, 5, 5, 0) == pytest.approx(-1)
    assert cohens_kappa(0, 0, 0, 0) is None
    assert cohens_kappa(3, 0, 0, 7) == pytest.approx(1)
    assert cohens_kappa(0, 0, 0, 9) is None


def test_agreement_counts(tmp_path):
    labels = Labels({"binding": ("paper", "direct")}, {})
    schema = labels.schema

    def table(removed, name, ids=None):
        ids = ids or list(range(len(removed)))
        known = {"sent_id": ids, "binding_paper": removed}
        nothing = {name: [] if kind == pl.List else None for name, kind in schema.items()}
        frame = pl.DataFrame(
            {n: known.get(n, [empty] * len(removed)) for n, empty in nothing.items()}, schema=schema
        )
        write_table(frame, tmp_path / name, schema)
        return tmp_path / name

    one = table([True] * 10 + [False] * 8, "one")
    two = table([True] * 9 + [False] + [True] * 3 + [False] * 5, "two")
    found = agreement(one, two)["binding"]
    assert found["paper"] == {
        "both": 9, "first_only": 1, "second_only": 3, "neither": 5,
        "kappa": cohens_kappa(9, 1, 3, 5),
    }  # fmt: skip
    assert found["direct"]["kappa"] is None
    with pytest.raises(PoshgridError, match="other sentences"):
        agreement(one, table([True] * 18, "three", ids=[*range(17), 99]))
    other = Labels({"binding": ("paper",)}, {})
    rows = pl.read_parquet(one).select(list(other.schema))
    write_table(rows, tmp_path / "four", other.schema)
    with pytest.raises(PoshgridError, match="other filters"):
        agreement(one, tmp_path / "four")


def test_columns_say_which_readings_a_table_has(tmp_path):
    labels = labels_of(["question-formation", "binding", "passive"])
    assert Labels.of(labels.schema) == Labels(
        dict(sorted(labels.readings.items())), labels.backstops
    )
    write_table(pl.DataFrame(schema=labels.schema), tmp_path / "t.parquet", labels.schema)
    assert Labels.of(read_schema(tmp_path / "t.parquet")).schema == labels.schema
    assert labels.removing("binding", "direct", backstop=True) == [
        "binding_direct", "binding_direct_backstop",
    ]  # fmt: skip
    assert labels.removing("binding", "direct", backstop=False) == ["binding_direct"]
    assert labels.removing("binding", "paper", backstop=True) == ["binding_paper"]


@pytest.mark.parametrize("name", ["no_tokens", "Paper", "tokens", "backstop", ""])
def test_names_of_readings_are_held_to_those_of_columns(monkeypatch, name):
    module = plugins.load("poshgrid.evidence.filters", "passive")
    monkeypatch.setitem(module.READINGS, name, lambda tree: None)
    with pytest.raises(PoshgridError, match=f"'passive': READINGS: '{name}' is no name of"):
        rules_of("passive")
