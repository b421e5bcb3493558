"""`poshgrid explain-filter`: a sentence's tree, and a sample of what filters remove."""

import polars as pl
import pytest

from poshgrid.config import Filter
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import write_json, write_table
from poshgrid.corpora.schema import SENTENCES
from poshgrid.evidence.schema import Labels
from poshgrid.quality.audit.firing import fires
from tests.unit.evidence.condition_support import write
from tests.unit.evidence.test_recall import conllu

LABELS = Labels({"binding": ("paper", "direct")}, {"binding": ("paper",)})
# text, the rule fires, the backstop does, words that matched
TEXTS = {
    "Ann's dog hurt itself.": (True, True, [1, 3, 5]),
    "You see it yourself.": (True, False, [1, 4]),
    "Do it, yourself!": (False, True, [2, 4]),
    "It runs.": (False, False, []),
}


@pytest.fixture
def tables(tmp_path):
    """Write a corpus of forty sentences and its labels; return their paths."""
    names = ("binding_paper", "binding_paper_backstop", "binding_paper_tokens")
    rows = [
        {"text": text, "split": "train", "size": "20K", **dict(zip(names, marks, strict=True))}
        for text, marks in list(TEXTS.items()) * 10
    ]
    made = write(tmp_path / "made", rows, LABELS)
    paths = (tmp_path / "results/corpora/baby/sentences.parquet",
             tmp_path / "results/evidence/baby/words.parquet")  # fmt: skip
    for old, path in zip((made.sentences, made.labels), paths, strict=True):
        path.parent.mkdir(parents=True)
        old.rename(path)
    readings = {
        "paper": {"rules": {"a rule": 8, "more of it": 12}, "backstop": 10, "never": []},
        "direct": {"rules": {}, "never": ["Voice=Pass"]},
    }
    facts = {"sentences": 40, "filters": {"binding": readings}}
    write_json(paths[1].with_suffix(".json"), facts)
    return paths


def sampled(tables, size=40, seed=42, reading="paper"):
    wanted = Filter(name="binding", reading=reading)
    return list(fires(wanted, *tables, language="en", backstop=True, size=size, seed=seed))


def test_totals_and_every_sentence_that_is_removed(tables):
    first, *rest = sampled(tables)
    assert first == (
        "binding.paper: 30 of 40 sentences (75.00%): more of it 12; a rule 8; backstop alone 10"
    )
    removed = {tuple(line.split(maxsplit=2)) for line in rest}
    assert ("rule", "0", "[Ann]'s [dog] hurt [itself].") in removed
    assert ("backstop", "2", "Do [it], [yourself]!") in removed
    assert len(rest) == 30 and {int(number) % 4 for _, number, _ in removed} == {0, 1, 2}


def test_a_sample_is_seeded_and_begins_a_larger_one(shown, tables):
    assert sampled(tables, 5) == sampled(tables, 30)[:6]
    assert shown("--sample", 2, "--filter", "binding").splitlines() == sampled(tables, 2)
    assert sampled(tables, 5) != sampled(tables, 5, seed=1)


def test_nothing_fires_and_why(tables):
    (line,) = sampled(tables, reading="direct")
    assert line.startswith("binding.direct: ") and "Voice=Pass" in line


def test_labels_of_other_sentences_are_told(tables):
    table = pl.read_parquet(tables[0]).with_columns(text=pl.lit("No."))
    write_table(table, tables[0], SENTENCES)
    with pytest.raises(PoshgridError, match=r"words\.parquet"):
        sampled(tables)


# ---- the command ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [(["Ida sings.", "--filter", "drop-artcles"], "did you mean 'drop-articles'"),
     (["Ida sings.", "--filter", "binding.paged"], "--filter: "),
     (["--suite", "blimp", "--filter", "drop-articles"], "name a filter")],
)  # fmt: skip
def test_what_cannot_be_shown_is_told(ask, arguments, reason):
    answer = ask(*arguments)
    assert isinstance(answer.exception, PoshgridError)
    assert reason in str(answer.exception)


def test_gold_trees_are_shown(shown, tmp_path):
    path = tmp_path / "gold.conllu"
    path.write_text(conllu({"Give me it": ("iobj", "")}))
    lines = shown(path, "--filter", "passive", "--filter", "binding.direct").splitlines()
    assert lines[0].split() == ["1", "Give", "X", "root", "-", "_"]
    assert [line for line in lines[4:] if not line.startswith("  ")] == ["passive", "binding", ""]
    assert not any("removed" in line for line in lines)
