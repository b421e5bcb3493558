"""Generated items: numbers, balance, determinism, and grammar by a checker of their own."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
import yaml

from poshgrid.benchmark import items as stage
from poshgrid.benchmark import lexicon
from poshgrid.benchmark.schema import PAIRS, Context
from poshgrid.benchmark.suites import templates as suite
from poshgrid.config import Suite, specs
from poshgrid.core.errors import PoshgridError
from tests.unit.benchmark.generated import KNOWN
from tests.unit.models.training.training_support import write_sentences

CATEGORIES = {
    "island": ["island-adjunct", "island-complex-np", "island-wh"],
    "question-formation": [f"question-formation-{kind}" for kind in ("or", "rr", "sr")],
    "binding": ["principle-a-command", "principle-a-locality"],
    "wanna": ["wanna"],
}
NINE = {name: category for category, names in CATEGORIES.items() for name in names}


@pytest.fixture(scope="module")
def toy_text(root) -> list[str]:
    """One 'sentence' for each line of the toy lexicon and grammar, so that all its words occur."""
    grammar = yaml.safe_load((root / "resources/toy/grammar.yaml").read_text())
    words = (root / "resources/toy/lexicon.yaml").read_text().splitlines()
    return [*words, " ".join(map(str, grammar["words"])), "wanna"]


def corpus(path, texts):
    return write_sentences(path, [(text, "train", "10K") for text in texts])


def spec(top_k=3_000, *, pool=1, **options):
    """One candidate for each pair, unless a test is about the choice: that takes seconds."""
    options["pool"] = pool
    return specs.ItemsSpec(suite=Suite(name="posh", options=options), top_k=top_k)


@pytest.fixture(scope="module")
def made(tmp_path_factory, toy_text):
    """The suite from the toy grammar's words, and the facts."""
    folder = tmp_path_factory.mktemp("items")
    corpora = {name: corpus(folder / f"{name}.parquet", toy_text) for name in ("baby", "wiki")}
    facts = stage.generate(spec(), folder, corpora, {}, folder / "items.parquet")
    return pl.read_parquet(folder / "items.parquet"), facts, corpora, folder


def test_the_table_keeps_its_contract_and_numbers(made):
    items, facts, _, _ = made
    assert dict(items.schema) == PAIRS
    assert dict(items.select("phenomenon", "category").unique().iter_rows()) == NINE
    assert set(Counter(items["phenomenon"]).values()) == {500}
    assert items["item_id"].n_unique() == 4_500
    assert "principle-a-locality-0001" in items["item_id"]
    assert items.select("good", "bad").n_unique() == 4_500
    assert (items["good"] != items["bad"]).all()
    assert facts["pairs"] == facts["candidates"] == 4_500
    assert facts["phenomena"] == dict.fromkeys(sorted(NINE), 500)
    assert facts["lexical_sets"] == items["lexical_set"].n_unique() > 3_000
    per_template = items.group_by("phenomenon", "template").len()
    assert set(per_template["len"]) <= {125, 250, 500}


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(made):
    _, _, corpora, folder = made
    path, contents = folder / "again.parquet", []
    for seed in (42, 42, 43):
        asked = spec(seed=seed, pairs=60, pool=2, phenomena=["wanna"])
        stage.generate(asked, folder, corpora, {}, path)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1] != contents[2]


def test_a_poor_base_is_named_with_the_slot_and_the_missing_words(tmp_path, toy_text):
    corpora = {"poor": corpus(tmp_path / "poor.parquet", toy_text)}
    for options, message in (
        ({"top_k": 5}, r"island-adjunct, template who, slot 'aux': .* in poor"),
        ({"phenomena": ["wanna"], "pairs": 1_600}, r"intransitive-name: only \d+ different"),
    ):
        with pytest.raises(PoshgridError, match=message):
            stage.generate(spec(**options), tmp_path, corpora, {}, tmp_path / "items.parquet")
    assert not (tmp_path / "items.parquet").exists()


# ---- the suite, step by step ---------------------------------------------------------------


def loaded(heard=lambda sentences: set(), **options):
    """Make a suite of words that are all frequent; heard: which sentences the corpora have."""
    knowledge = Context(KNOWN, heard=heard)
    generated = suite.load(None, suite.Options(**{"pairs": 40, "pool": 1, **options}), knowledge)
    assert dict(generated.items.schema) == PAIRS
    return generated


def test_what_the_corpora_hold_is_dropped():
    first = loaded(phenomena=["wanna"], pool=2)
    known = set(first.items["good"][:5]) | set(first.items["bad"][5:10])
    asked = []

    def heard(sentences):
        asked.append(sentences)
        return sentences & known

    second = loaded(heard, phenomena=["wanna"], pool=2)
    assert not known & set(second.items["good"]) | known & set(second.items["bad"])
    assert second.items.height == 40
    facts = second.facts["generated"]["wanna"]
    assert facts["candidates"] == 80 and facts["heard"] >= 10
    assert len(asked) == 1  # the corpora are read once
    with pytest.raises(PoshgridError, match="phenomenon wanna: 0 of 40 candidates"):
        loaded(lambda sentences: sentences, phenomena=["wanna"])


def test_what_is_made_and_what_is_watched():
    def stems(**options):
        watched = suite.files(None, suite.Options(**options))
        assert {p.name for p in watched} >= {table.file for table in lexicon.TABLES.values()}
        return {p.stem for p in watched if p.parent == suite.Options.FOLDER}

    named = ["island-wh-pronoun", "principle-a-participle"]
    assert stems() == set(NINE)
    assert stems(phenomena=named) == set(named)
    assert set(loaded(phenomena=named).items["phenomenon"]) == set(named)
