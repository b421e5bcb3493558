"""What items are made from: words counted, models asked, sentences heard."""

import polars as pl
import pytest

from poshgrid.benchmark import frequencies
from poshgrid.models.ngram import count
from tests.unit.models.training.training_support import write_condition, write_sentences


@pytest.fixture
def corpus(tmp_path):
    """A table with three training sentences, a spare one, and one that is held out."""
    rows = [
        ("The girl saw it.", "train", "1K"), ("Don't you wanna go?", "train", "1K"),
        ("the girl saw IT", "train", "2K"), ("A cat sat.", "train", ""), ("A dog ran.", "dev", ""),
    ]  # fmt: skip
    return write_sentences(tmp_path / "sentences.parquet", rows)


def test_training_sentences_are_counted_and_no_other(corpus):
    counts = frequencies.count(corpus)
    assert counts["girl"] == counts["saw"] == 2
    assert counts["don"] == counts["t"] == counts["wanna"] == 1
    assert counts["dog"] == counts["cat"] == 0


def test_what_was_heard_whatever_its_case_and_marks(corpus):
    asked = {"The girl saw it!", "the Girl, saw it", "A dog ran.", "Do you wanna go?", "saw it"}
    assert frequencies.heard(asked, [corpus]) == {"The girl saw it!", "the Girl, saw it"}
    # a refill may hold a spare one
    for asked in ({"a cat sat"}, {"dont you wanna go?"}, set()):
        assert frequencies.heard(asked, [corpus]) == asked


def test_what_readers_know_of_the_corpora(corpus, tmp_path):
    texts = pl.read_parquet(corpus).filter(pl.col("size") != "")["text"].to_list()
    table = write_condition(tmp_path / "condition", train=texts) / "train.parquet"
    count(table, tmp_path / "ngram", order=2, size=None)
    context = frequencies.context({"baby": corpus}, {"baby/1K": tmp_path / "ngram"}, top_k=3)
    good, bad = (
        context.baselines["baby/1K"]([text])[0] for text in ("the girl saw it.", "it saw.")
    )
    assert good > bad
    assert context.vocabulary.lacking("girl") == []
    assert context.heard({"the girl saw it", "x"}) == {"the girl saw it"}
