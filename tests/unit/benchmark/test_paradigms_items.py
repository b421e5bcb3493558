"""Sets of filler x gap: four sentences, balance, planted faults, and the published CSV."""

from __future__ import annotations

import re
from collections import Counter

import polars as pl
import pytest

from poshgrid.benchmark.generation import templatefile
from poshgrid.benchmark.lexicon import Vocabulary
from poshgrid.benchmark.schema import PARADIGMS, Context
from poshgrid.benchmark.suites import paradigm_csv, paradigms
from poshgrid.benchmark.suites import paradigms as reader
from poshgrid.core.errors import PoshgridError
from tests.cases import read_cases
from tests.unit.benchmark.generated import KNOWN, WORDS

CASES = read_cases(__file__, "paradigms_items")

THREE = {
    "across-the-board": "across-the-board",
    "parasitic-gap-adjunct": "parasitic-gap",
    "parasitic-gap-subject": "parasitic-gap",
}


@pytest.fixture(scope="module")
def made():
    return reader.load(None, reader.Options(), Context(KNOWN))


def cells(items: pl.DataFrame):
    """Yield each set as {(filler, gap): row}."""
    for _, part in items.group_by("item_id", maintain_order=True):
        yield {(row["filler"], row["gap"]): row for row in part.iter_rows(named=True)}


def region(row) -> str:
    return row["text"][row["start"] : row["end"]]


# ---- the generated suite ----------------------------------------------------------------------


def test_contract_and_numbers(made):
    items, facts = made
    assert dict(items.schema) == PARADIGMS
    assert dict(items.select("phenomenon", "category").unique().iter_rows()) == THREE
    assert set(Counter(items["phenomenon"]).values()) == {4 * 500}
    assert facts["sets"] == items["item_id"].n_unique() == 1_500
    assert items["text"].n_unique() == items.height
    for of_set in cells(items):
        assert list(of_set) == [(True, True), (True, False), (False, True), (False, False)]
        assert len({row["lexical_set"] for row in of_set.values()}) == 1
    ambiguous = items.filter("ambiguous")
    assert set(ambiguous["template"]) == {"parasitic-gap-subject-gerund"}
    assert facts["ambiguous"] == ambiguous["item_id"].n_unique() == 166


def test_crossed_sets_are_every_combination_as_many_as_the_published_ones():
    options = reader.Options(phenomena=["parasitic-gap-crossed"])
    # they bring their own words
    items, facts = reader.load(None, options, Context(Vocabulary(1, {"none": frozenset()})))
    assert (facts["sets"], facts["ambiguous"]) == (8_064, 8_064 - 5_760)
    plain = items.filter(~pl.col("filler") & ~pl.col("gap"))
    assert plain["text"].n_unique() == plain.height == 8_064
    assert 2 * 28 * 4 * 3 * 2 * (3 * 2) == 8_064  # two names of three, not the same
    filled = items.filter(pl.col("filler") & pl.col("gap"))
    assert filled["text"].n_unique() == 8_064 / 6  # no name stands there
    assert {region(row) for row in plain.iter_rows(named=True)} == {"Emma", "David", "Laura"}


def test_names_and_words_are_balanced(made):
    for _, part in made.items.group_by("template"):
        filled = part.filter(~pl.col("filler") & ~pl.col("gap"))
        for words in (
            [region(row) for row in filled.iter_rows(named=True)],
            [re.match(r"\w+ \w+", text)[0] for text in filled["text"]],
            [text.split()[-1] for text in filled["text"]],
        ):
            uses = Counter(words).values()
            assert len(uses) > 1
            assert max(uses) - min(uses) <= 1


def test_words_of_the_lexicon_must_be_frequent_and_those_of_the_template_need_not():
    options = {"phenomena": ["parasitic-gap-adjunct"]}
    poor = Vocabulary(3_000, {"wiki": KNOWN.frequent["a"] - {"soon", "chasing", "anna", "king"}})
    items = reader.load(None, reader.Options(sets=60, **options), Context(poor)).items
    text = " ".join(items["text"])
    assert "chasing" in text and "soon" in text
    assert "Anna" not in text and " king" not in text
    nouns = frozenset(form for word in WORDS.of("noun") for form in word.folded)
    none = Vocabulary(3_000, {"wiki": KNOWN.frequent["a"] - nouns})
    with pytest.raises(PoshgridError, match=r"template fronted, slot 'subject': 0 usable of \d+"):
        reader.load(None, reader.Options(**options), Context(none))


# ---- templates --------------------------------------------------------------------------------

GOOD = """
category: c
phenomenon: p
templates:
  - name: one
    text: >-
      {start} <who|that>, after {verb:gerund} <|{first}>, the {head} may {other} [{second}] {end}.
    slots:
      start: {words: [we know]}
      verb: {category: verb, only: [find], frequent: false, least: 1}
      first: {category: name, only: [Anna], least: 1}
      head: {words: [queen, king], content: true}
      other: {words: [greet], content: true}
      second: {category: name, only: [Paul], least: 1}
      end: {words: [soon]}
"""


def phenomenon(folder, text=GOOD):
    (folder / "p.yaml").write_text(text)
    return templatefile.read(paradigms.Phenomenon, "p", folder)


def test_a_template_by_hand(tmp_path):
    one = phenomenon(tmp_path, GOOD.replace("[queen, king]", "[queen]")).templates[0]
    filled = {slot: described.suitable(WORDS)[0] for slot, described in one.slots.items()}
    sentences = {
        (True, True): ("We know who, after finding, the queen may greet soon.", 48, 52),
        (True, False): ("We know who, after finding, the queen may greet Paul soon.", 48, 52),
        (False, True): ("We know that, after finding Anna, the queen may greet soon.", 54, 58),
        (False, False): (
            "We know that, after finding Anna, the queen may greet Paul soon.", 54, 58,
        ),
    }  # fmt: skip
    for (filler, gap), expected in sentences.items():
        assert one.sentence(filled, filler=filler, gap=gap) == expected
    assert templatefile.lexical_set(filled) == "Anna+Paul+find+greet+queen"
    with pytest.raises(PoshgridError, match="template one: only 2 different sets of 3"):
        paradigms.generate(phenomenon(tmp_path), 3, 0, WORDS, KNOWN)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<who|that>", "who", "the text must have"),
        ("[{second}]", "[{second}] [{first}]", "the text must have"),
        # nothing here would heed it
        ("only: [find], ", "agree: {objects: head.kinds}, ", "no agree, unlike or balanced"),
    ],
)
def test_a_broken_template_is_named(tmp_path, old, new, message):
    assert old in GOOD
    with pytest.raises(PoshgridError, match=message):
        phenomenon(tmp_path, GOOD.replace(old, new))


# ---- the published CSV ------------------------------------------------------------------------

HEADER = "sentence_type,item_id,condition,full_sentence\n"
ONE = (
    "subject_pg,1,PFPG,We heard who the tale of will surely vex soon.\n"
    "subject_pg,1,MFPG,We heard that the tale of Ruth will surely vex soon.\n"
    "subject_pg,1,PFMG,We heard who the tale of will surely vex Omar soon.\n"
    "subject_pg,1,MFMG,We heard that the tale of Ruth will surely vex Omar soon.\n"
)


def read(tmp_path, text):
    path = tmp_path / "pg.csv"
    path.write_text(text, encoding="utf-8")
    return paradigm_csv.load(path, paradigm_csv.Options(), None)


def test_regions_are_what_the_sentences_differ_in(tmp_path):
    items, facts = read(tmp_path, HEADER + ONE)
    assert dict(items.schema) == PARADIGMS
    assert items.select("filler", "gap", "text", "start", "end").rows() == [
        (True, True, "We heard who the tale of will surely vex soon.", 41, 45),
        (False, True, "We heard that the tale of Ruth will surely vex soon.", 47, 51),
        (True, False, "We heard who the tale of will surely vex Omar soon.", 41, 45),
        (False, False, "We heard that the tale of Ruth will surely vex Omar soon.", 47, 51),
    ]
    assert (facts["sets"], facts["ambiguous"]) == (1, 0)
    for old, new, regions in (
        ("Omar", "the old man", ["soon", "soon", "the old man", "the old man"]),
        ("Omar soon", "Omar", ["soon", "soon", "Omar", "Omar"]),
        ("PFPG", "PLUS_FILLER_PLUS_GAP", ["soon", "soon", "Omar", "Omar"]),
    ):
        items = read(tmp_path, HEADER + ONE.replace(old, new)).items
        assert [region(row) for row in items.iter_rows(named=True)] == regions


@pytest.mark.parametrize(
    ("subject", "ambiguous"),
    [("Ida’s whispering to", True), ("Bob's intent to talk to", True),
     ("Bob's decision to dance with", False), ("it's talking to", False)],
)  # fmt: skip
def test_the_ambiguous_pattern(tmp_path, subject, ambiguous):
    items = read(tmp_path, HEADER + ONE.replace("the tale of", subject).replace("Omar s", "Eve s"))
    assert set(items.items["ambiguous"]) == {ambiguous}


@pytest.mark.parametrize(
    ("name", "sets", "ambiguous"),
    [("lan_stimuli.csv", 8064, 8064 - 5760), ("novel_stimuli.csv", 10, 0)],
)
def test_both_published_files_are_read(shared, name, sets, ambiguous):
    path = shared / "published" / "parasitic-gaps" / name
    if not path.is_file():
        pytest.skip("the published sets are absent")
    items, facts = paradigm_csv.load(path, paradigm_csv.Options(), None)
    assert (facts["sets"], facts["ambiguous"]) == (sets, ambiguous)
    assert items.height == 4 * sets


@pytest.mark.parametrize(
    ("old", "new", "message"),
    CASES["a_broken_file_is_named_with_its_line"],
)
def test_a_broken_file_is_named_with_its_line(tmp_path, old, new, message):
    text = HEADER + ONE
    assert old in text
    with pytest.raises(PoshgridError, match=rf"pg\.csv: {message}"):
        read(tmp_path, text.replace(old, new))


def test_generated_sets_survive_the_road_through_csv(tmp_path, made):
    """The reader finds in the bare sentences the regions and the ambiguity that we wrote."""
    names = {cell: name for name, cell in paradigm_csv.CONDITIONS.items()}
    items = made.items
    pl.DataFrame(
        {
            "sentence_type": items["phenomenon"],
            "item_id": items["item_id"].str.slice(-4),
            "condition": [names[cell] for cell in items.select("filler", "gap").iter_rows()],
            "full_sentence": items["text"],
        }
    ).write_csv(tmp_path / "pg.csv")
    key = ["item_id", "filler", "gap"]
    back = paradigm_csv.load(tmp_path / "pg.csv", paradigm_csv.Options(), None).items
    columns = [*key, "text", "start", "end", "ambiguous"]
    assert back.select(columns).sort(key).equals(items.select(columns).sort(key))
