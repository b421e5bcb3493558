"""Rewriting sentences: hand-worked ones, and what holds of any."""

from __future__ import annotations

import csv
import itertools
import random
from itertools import islice

import polars as pl
import pytest

from poshgrid.config import specs
from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import read_table
from poshgrid.core.plugins import REWRITERS
from poshgrid.corpora import toy
from poshgrid.evidence.condition import build
from poshgrid.evidence.filters.question_formation import direct
from poshgrid.evidence.rewriting import rewrite
from poshgrid.evidence.schema import SIDE_EFFECTS, Labels
from poshgrid.evidence.side_effects import side_effects
from poshgrid.quality.audit.draw import draw
from tests.unit.evidence.condition_support import read, spec, words_of, write
from tests.unit.evidence.trees import mutated, read_cases, toy_tree, tree, write_parses

CASES = read_cases("rewriters")


@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name, cases in CASES.items() for case in cases]
)
def test_hand_worked_sentences(name, case):
    parse, text, after = case
    done = rewrite(tree(parse), text, [name])
    if after is None:
        assert (done.text, done.changed, done.unsafe) == (text, [], [])
    elif after.startswith("!"):
        assert (done.text, done.changed) == (text, [])
        assert done.unsafe == [f"{name}: {after[2:]}"]
    else:
        assert (done.text, done.changed, done.unsafe) == (after, [name], [])


def test_every_rewriter_has_cases_of_each_kind():
    assert set(CASES) == set(plugins.names(REWRITERS))
    for cases in CASES.values():
        assert {str(after)[:1] == "!" or after is None for *_, after in cases} == {True, False}


def test_rewriters_follow_each_other():
    parse = tree("Give/VERB/0/root me/PRON/1/iobj the/DET/4/det ball/NOUN/1/obj ./PUNCT/1/punct")
    names = ["swap-datives", "drop-articles", "swap-datives"]
    done = rewrite(parse, "Give me the ball.", names)
    assert (done.text, done.changed) == ("Give me ball.", names)


@pytest.mark.parametrize("seed", range(3))
def test_any_sentence_is_changed_in_words_or_left(seed):
    generator = random.Random(seed)
    names = plugins.names(REWRITERS)
    for sentence in islice(toy.sentences("baby", seed), 300):
        parse = mutated(toy_tree(sentence), generator)
        text = " ".join(parse.form)
        for chosen in itertools.permutations(names, 2):
            done = rewrite(parse, text, chosen)
            assert done == rewrite(parse, text, chosen)
            assert (done.text != text) == bool(done.changed) or "swap-datives" in done.changed
            assert done.text.strip() == done.text
            assert "  " not in done.text
            assert not set(done.changed) & {entry.partition(":")[0] for entry in done.unsafe}


def test_the_toy_language_has_its_questions_moved():
    moved = 0
    for sentence in islice(toy.sentences("baby", 5), 2_000):
        parse = toy_tree(sentence)
        done = rewrite(parse, sentence.text.strip(), ["linear-questions"])
        assert bool(done.changed) == (direct(parse) is not None)
        assert sorted(done.text.lower()) == sorted(sentence.text.strip().lower())
        moved += bool(done.changed)
    assert moved > 150


# ---- conditions ----------------------------------------------------------------------------------

ARTICLES = ["drop-articles"]
NONE = Labels({}, {})


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Write a corpus of toy sentences, two sizes and spare ones; its parses are gold trees."""
    folder = tmp_path_factory.mktemp("corpus")
    drawn = list(islice(toy.sentences("baby", 8), 400))
    rows = [
        {
            "text": sentence.text.strip(),
            "source": "even" if number % 2 else "odd",
            "split": "dev" if number < 20 else "test" if number < 40 else "train",
            "rank": number,
            "size": "" if number < 40 or number >= 320 else "1K" if number < 180 else "2K",
        }
        for number, sentence in enumerate(drawn)
    ]
    made = write(folder, rows, NONE)
    trees = [toy_tree(sentence) for sentence in drawn]
    shards = [
        write_parses(folder / f"{first}.parquet", trees[first:last], range(first, last))
        for first, last in ((0, 200), (200, 400))
    ]
    texts = [row["text"] for row in rows]
    new = [rewrite(*pair, ARTICLES).text for pair in zip(trees, texts, strict=True)]
    return made, shards, new


def built(corpus, folder, size="1K", control_rewrite=(), allow=(), **settings):
    made, parses, _ = corpus
    wanted = spec(size, **settings).model_copy(update={"control_rewrite": list(control_rewrite)})
    facts = build(wanted, made.sentences, made.labels, folder, allow, parses[::-1])
    return read(folder), facts


def test_a_rewritten_condition_by_brute_force(tmp_path, corpus):
    made, _, new = corpus
    tables, facts = built(corpus, tmp_path / "a", "2K", rewrite=ARTICLES)
    for split, table in tables.items():
        own = made.table.filter(split=split).filter((pl.col("size") != "") | (split != "train"))
        assert table["sent_id"].equals(own["sent_id"])
        assert table["text"].to_list() == [new[n] for n in own["sent_id"]]
        assert table["n_words"].to_list() == [len(new[n].split()) for n in own["sent_id"]]
    whole = made.at("2K")
    changed = whole.filter(pl.col("text") != pl.Series([new[n] for n in whole["sent_id"]]))
    done = facts["rewritten"]
    assert done["sentences"] == changed.height == sum(done["sources"].values())
    assert done["before"] == changed["n_words"].sum()
    lost = whole["n_words"].sum() - tables["train"]["n_words"].sum()
    assert lost == done["before"] - done["after"] > 0
    assert done["rewriters"] == {"drop-articles": {"changed": changed.height, "unsafe": {}}}
    assert (facts["whole"]["words"], facts["removed_words"]) == (whole["n_words"].sum(), 0)
    small, _ = built(corpus, tmp_path / "b", "1K", rewrite=ARTICLES)
    assert small["train"].equals(tables["train"].filter(pl.col("sent_id") < 180))
    assert (tmp_path / "a/train.parquet").read_bytes() == (
        built(corpus, tmp_path / "c", "2K", rewrite=ARTICLES) and tmp_path / "c/train.parquet"
    ).read_bytes()
    plain = built(corpus, tmp_path / "d", "2K")[1]
    assert plain["digest"] != facts["digest"]
    assert "rewritten" not in plain


def test_lost_words_are_refilled_and_a_control_loses_as_many(tmp_path, corpus):
    made, _, new = corpus
    whole = words_of(made.at("1K"))
    longest = made.table["n_words"].max()
    plain, _ = built(corpus, tmp_path / "plain", rewrite=ARTICLES)
    refilled, _ = built(corpus, tmp_path / "refilled", rewrite=ARTICLES, refill=True)
    control, facts = built(corpus, tmp_path / "control", control_rewrite=ARTICLES, control="r")
    again, _ = built(corpus, tmp_path / "again", control_rewrite=ARTICLES, control="r", refill=True)
    assert [new[n] for n in refilled["train"]["sent_id"]] == refilled["train"]["text"].to_list()
    assert set(control["train"]["text"]) <= set(made.table["text"])
    for source, number in whole.items():
        lost = number - words_of(plain["train"])[source]
        assert 0 <= words_of(refilled["train"])[source] - number < longest
        assert 0 <= words_of(control["train"])[source] - (number - lost) < longest
        assert 0 <= words_of(again["train"])[source] - number < longest
    assert "rewritten" not in facts


def test_what_cannot_be_rewritten_is_counted_or_stops_the_condition(tmp_path, corpus):
    made, parses, _ = corpus
    with pytest.raises(PoshgridError, match="'drop-expletives' changes nothing"):
        built(corpus, tmp_path / "a", rewrite=["drop-expletives"])
    _, facts = built(corpus, tmp_path / "b", rewrite=["drop-expletives"], allow=["void"])
    assert facts["digest"] == built(corpus, tmp_path / "c")[1]["digest"]
    with pytest.raises(PoshgridError, match="not one tree for each sentence"):
        build(spec(rewrite=ARTICLES), made.sentences, made.labels, tmp_path / "d", (), parses[:1])


def test_side_effects_and_sheets_of_a_rewritten_condition(tmp_path, corpus):
    made, _, new = corpus
    tables, facts = built(corpus, tmp_path / "a", rewrite=ARTICLES)
    own = specs.SideEffectsSpec(**spec(rewrite=ARTICLES).model_dump())
    side_effects(own, tmp_path / "a", made.sentences, made.labels, tmp_path)
    rows = read_table(tmp_path / "side_effects.parquet", SIDE_EFFECTS)
    counts = {(s, m): (before, after) for s, m, before, after, *_ in rows.iter_rows()}
    for source, words in words_of(tables["train"]).items():
        assert counts[source, "words"] == (words_of(made.at("1K"))[source], words)
        assert counts[source, "rewritten"] == (None, facts["rewritten"]["sources"][source])
    asks = tables["train"]["text"].str.ends_with("?").sum()
    assert counts["all", "question"] == (asks, asks)
    sheets = specs.AuditSpec(condition="r", size="1K", filters=[], rewrite=True, sample=15)
    drawn = draw(sheets, tmp_path / "a", made.sentences, made.labels, tmp_path / "sheets")
    assert drawn["filters"]["rewrite"]["precision"]["candidates"] == facts["rewritten"]["sentences"]
    texts = dict(made.table.select("sent_id", "text").iter_rows())
    for kind in ("precision", "leakage"):
        with (tmp_path / f"sheets/rewrite.{kind}.csv").open(encoding="utf-8-sig") as file:
            lines = list(csv.DictReader(file))
        assert len(lines) == 15
        for line in lines:
            number = int(line["sent_id"])
            assert line["text"] == texts[number]
            assert line["words"] == (new[number] if kind == "precision" else "")
            assert (new[number] == texts[number]) == (kind == "leakage")
