"""Labelling a base, and how far two labellings agree."""

from __future__ import annotations

import polars as pl
import pytest

from poshgrid import specs
from poshgrid.corpora.schema import SENTENCES
from poshgrid.errors import PoshgridError
from poshgrid.evidence.agreement import agreement, cohens_kappa
from poshgrid.evidence.label import label
from poshgrid.evidence.schema import evidence_schema, filters_of
from poshgrid.files import read_table, write_table
from poshgrid.parsing.schema import PARSES
from tests.unit.test_evidence_binding import CASES as BINDING
from tests.unit.test_evidence_question_formation import CASES as QUESTIONS
from tests.unit.trees import tree

FILTERS = ["question-formation", "binding"]
SPEC = specs.EvidenceSpec(filters=FILTERS)
TREES = [tree(text) for text, _, _ in [*QUESTIONS.values(), *BINDING.values()]]


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
    table = read_table(out, evidence_schema(FILTERS))
    assert table["sent_id"].to_list() == list(range(len(TREES)))
    strict = [words for _, words, _ in QUESTIONS.values()]
    inclusive = [removed for _, _, removed in QUESTIONS.values()]
    rows = table.head(len(strict))
    assert rows["question_formation_removed"].to_list() == inclusive
    assert rows["question_formation_evidence"].to_list() == [words is not None for words in strict]
    for found, words, removed in zip(
        rows["question_formation_tokens"], strict, inclusive, strict=True
    ):
        assert found.to_list() == list(words) if words else bool(len(found)) == removed
    assert facts["sentences"] == len(TREES)
    assert facts["filters"]["binding"]["removed"] == sum(r for _, _, r in BINDING.values())


def test_order_of_shards_does_not_matter(tmp_path):
    sentences, shards = write(tmp_path)
    label(SPEC, sentences, shards, tmp_path / "a.parquet")
    label(SPEC, sentences, shards[::-1], tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (range(1, len(TREES)), "1 sentences have no tree, first sent_id 0"),
        ([*range(len(TREES)), 3], "1 sentences have a tree twice, first sent_id 3"),
        (range(len(TREES) + 2), "2 sentences are not in the base"),
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
    assert cohens_kappa(3, 0, 0, 7) == pytest.approx(1)
    assert cohens_kappa(0, 0, 0, 9) is None


def test_agreement_counts(tmp_path):
    schema = evidence_schema(["binding"])

    def table(removed, name, ids=None):
        n = len(removed)
        frame = pl.DataFrame(
            {
                "sent_id": ids or list(range(n)),
                "binding_removed": removed,
                "binding_backstop": [False] * n,
                "binding_evidence": [False] * n,
                "binding_tokens": [[]] * n,
            },
            schema=schema,
        )
        write_table(frame, tmp_path / name, schema)
        return tmp_path / name

    one = table([True, True, False, False], "one")
    two = table([True, False, True, False], "two")
    found = agreement(one, two)["binding"]
    assert found["removed"] == {
        "both": 1, "first_only": 1, "second_only": 1, "neither": 1, "kappa": 0.0,
    }  # fmt: skip
    assert found["evidence"]["kappa"] is None
    with pytest.raises(PoshgridError, match="other sentences"):
        agreement(one, table([True, False, True, False], "three", ids=[0, 1, 2, 9]))


def test_filters_of_columns():
    assert filters_of(evidence_schema(FILTERS)) == sorted(FILTERS)
