"""Sets of filler x gap: grammar by a checker of its own, balance, planted faults, published CSV."""

from __future__ import annotations

import re
from collections import Counter

import polars as pl
import pytest

from poshgrid.benchmark import lexicon
from poshgrid.benchmark.context import Context
from poshgrid.benchmark.generation import paradigms, slots, templatefile
from poshgrid.benchmark.generation.words import rare
from poshgrid.benchmark.lexicon import Vocabulary
from poshgrid.benchmark.schema import PARADIGMS
from poshgrid.benchmark.suites import paradigm_csv
from poshgrid.benchmark.suites import paradigms as reader
from poshgrid.errors import PoshgridError

THREE = {
    "across-the-board": "across-the-board",
    "parasitic-gap-adjunct": "parasitic-gap",
    "parasitic-gap-subject": "parasitic-gap",
}
ADVERBS = {"soon", "eventually"}
# Verbs that make a sentence without an object, by hand: none may stand before a gap.
OBJECTLESS = {
    *("help", "visit", "attack", "teach", "join", "accept", "choose", "save", "leave", "watch"),
    *("understand", "remember", "notice", "write", "please", "worry", "shock", "offend"),
}
MUTUAL = {"meet", "met", "hug", "hugged", "kiss", "kissed", "marry", "married", "fight", "fought"}


@pytest.fixture(scope="module")
def words():
    return lexicon.read()


@pytest.fixture(scope="module")
def vocabulary(words):
    """Corpora that know every word of the lexicon and of the templates."""
    none = Vocabulary(1, {"none": frozenset()})
    files = [paradigms.read(name) for name in templatefile.names(paradigms.PARADIGMS)]
    own = {word for each in files for word in rare(each, words, none)}
    known = frozenset(form for word in words.words for form in word.folded) | own
    return Vocabulary(3_000, {"baby": known, "wiki": known})


@pytest.fixture(scope="module")
def made(vocabulary):
    return reader.load(None, reader.Options(), Context(vocabulary))


def cells(items: pl.DataFrame, phenomenon: str | None = None):
    """Yield each set as {(filler, gap): row}."""
    if phenomenon:
        items = items.filter(pl.col("phenomenon") == phenomenon)
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
    for each in cells(items):
        assert list(each) == [(True, True), (True, False), (False, True), (False, False)]
        assert len({row["lexical_set"] for row in each.values()}) == 1
    assert facts["rare_words"] == {}
    ambiguous = items.filter("ambiguous")
    assert set(ambiguous["template"]) == {"parasitic-gap-subject-gerund"}
    assert facts["ambiguous"] == ambiguous["item_id"].n_unique() == 166


@pytest.fixture(scope="module")
def crossed(vocabulary):
    """The crossed sets; of no corpora, as they bring their own words."""
    options = reader.Options(phenomena=["parasitic-gap-crossed"])
    return reader.load(None, options, Context(Vocabulary(1, {"none": frozenset()})))


def test_crossed_sets_are_every_combination_as_many_as_the_published_ones(crossed):
    items, facts = crossed
    assert dict(items.schema) == PARADIGMS
    assert (facts["sets"], facts["ambiguous"]) == (8_064, 8_064 - 5_760)
    plain = items.filter(~pl.col("filler") & ~pl.col("gap"))
    assert plain["text"].n_unique() == plain.height == 8_064
    shape = re.compile(
        r"I know that (\w+)'s ((?:\w+ to )?\w+ (?:with|to)) (\w+) is (\w+ to) (\w+) (\w+) (\w+)\."
    )
    parts = [found.groups() for text in plain["text"] if (found := shape.fullmatch(text))]
    assert len(parts) == 8_064
    assert [len(set(part)) for part in zip(*parts, strict=True)] == [2, 28, 3, 4, 3, 3, 2]
    assert 2 * 28 * 4 * 3 * 2 * (3 * 2) == 8_064  # two names of three, not the same
    filled = items.filter(pl.col("filler") & pl.col("gap"))
    assert filled["text"].n_unique() == 8_064 / 6  # no name stands there
    assert {region(row) for row in plain.iter_rows(named=True)} == {"Emma", "David", "Laura"}


def rebuilt(phenomenon: str, template: str, plain: str) -> dict[tuple[bool, bool], str]:
    """Return the four sentences that belong to a sentence without filler and gap.

    It reads that sentence with patterns of its own: another road than the templates'.
    """
    adverb = r"(?P<adv>soon|eventually)\."
    name = r"[A-Z]\w+"
    patterns = {
        "parasitic-gap-subject": rf"(?P<a>\w+ \w+) that (?P<b>(?:the \w+ (?:about|of)|{name}'s "
        rf"(?:\w+ to \w+ (?:with|to)|\w+ing to)) )(?P<g1>{name}) (?P<c>is \w+ to \w+) "
        rf"(?P<g2>{name}) {adverb}",
        "across-the-board": rf"(?P<a>\w+ \w+) that (?P<b>the \w+ \w+ )(?P<g1>{name}) "
        rf"(?P<c>(?:yesterday|recently|today) and are \w+ to \w+) (?P<g2>{name}) {adverb}",
        "parasitic-gap-adjunct-fronted": r"(?P<a>\w+ \w+) that(?P<b>, (?:before|after|without) "
        rf"\w+ing )(?P<g1>{name})(?P<c>, the \w+ \w+ \w+) (?P<g2>{name}) {adverb}",
        "parasitic-gap-adjunct-medial": r"(?P<a>\w+ \w+) that(?P<b> the \w+, "
        rf"(?:before|after|without) \w+ing )(?P<g1>{name})(?P<c>, \w+ \w+) (?P<g2>{name}) {adverb}",
    }
    found = re.fullmatch(patterns.get(phenomenon) or patterns[template], plain)
    assert found, plain
    a, b, c, g1, g2, adv = found.group("a", "b", "c", "g1", "g2", "adv")
    b = b if phenomenon == "parasitic-gap-adjunct" else f" {b}"
    c = c if phenomenon == "parasitic-gap-adjunct" else f" {c}"
    assert g1 != g2
    return {
        (True, True): f"{a} who{b.rstrip()}{c} {adv}.",
        (True, False): f"{a} who{b.rstrip()}{c} {g2} {adv}.",
        (False, True): f"{a} that{b}{g1}{c} {adv}.",
        (False, False): plain,
    }


def test_four_sentences_differ_in_filler_and_gaps_alone(made):
    for each in cells(made.items):
        row = each[False, False]
        expected = rebuilt(row["phenomenon"], row["template"], row["text"])
        assert {cell: each[cell]["text"] for cell in each} == expected


def test_the_critical_region_is_the_object_or_the_adverb_in_its_place(made):
    for each in cells(made.items):
        assert region(each[True, True]) == region(each[False, True]) in ADVERBS
        assert region(each[True, False]) == region(each[False, False])
        assert re.fullmatch(r"[A-Z]\w+", region(each[True, False]))
        for row in each.values():
            assert row["text"][row["start"] - 1] == " "
            assert row["text"][row["end"]] in " ."
        for filler in (True, False):  # what stands before the region is the same, gap or not
            before = {each[filler, gap]["text"][: each[filler, gap]["start"]] for gap in (0, 1)}
            assert len(before) == 1


def test_no_other_reading_saves_the_ungrammatical_cells(made, words):
    """Verbs need an object; in coordination neither "I" nor "who" can be the second subject."""
    frames = {word.lemma: word.features["frames"] for word in words.of("verb")}
    for each in cells(made.items):
        text = each[False, False]["text"]
        verb = text[: each[False, False]["start"]].split()[-1]
        assert verb not in OBJECTLESS
        assert not frames.get(verb, frozenset()) & {"intransitive", "objectless"}, verb
        if each[False, False]["phenomenon"] == "across-the-board":
            assert text.split()[0] in {"I", "He", "She"}
            assert " and are " in text
            assert not MUTUAL & set(text.split())
            assert not text.split()[4].endswith("man")  # a plural subject


def test_names_and_words_are_balanced(made):
    for _, part in made.items.group_by("template"):
        filled = part.filter(~pl.col("filler") & ~pl.col("gap"))
        second = Counter(region(row) for row in filled.iter_rows(named=True))
        assert max(second.values()) - min(second.values()) <= 1
        starts = Counter(re.match(r"\w+ \w+", text)[0] for text in filled["text"])
        assert max(starts.values()) - min(starts.values()) <= 1
        adverbs = Counter(text.split()[-1] for text in filled["text"])
        assert len(adverbs) == 2
        assert max(adverbs.values()) - min(adverbs.values()) <= 1


def test_no_content_word_twice_in_a_sentence(made):
    function = {"to", "about", "that", "who", "the", "of", "is", "are"}
    for text in made.items["text"]:
        found = Counter(re.findall(r"[a-z]+", text.lower().replace("'s", "")))
        assert not [word for word, n in found.items() if n > 1 and word not in function], text
        stems = Counter(word[:4] for word in found if len(word) > 4)
        assert stems["talk"] + stems["sing"] < 2


def test_seed_decides_and_phenomena_are_independent(vocabulary, made):
    def load(**options):
        return reader.load(None, reader.Options(**options), Context(vocabulary)).items

    small = {"sets": 30}
    assert load(**small).equals(load(**small))
    assert not load(**small).equals(load(**small, seed=7))
    alone = load(phenomena=["across-the-board"])
    assert alone.equals(made.items.filter(pl.col("phenomenon") == "across-the-board"))


def test_rare_words_are_reported_and_names_are_held_to_the_corpora(words, vocabulary):
    gone = {"soon", "chasing", "anna", "king"}
    poor = Vocabulary(3_000, {**vocabulary.frequent, "wiki": vocabulary.frequent["wiki"] - gone})
    items, facts = reader.load(
        None, reader.Options(sets=60, phenomena=["parasitic-gap-adjunct"]), Context(poor)
    )
    assert facts["rare_words"] == {"soon": ["wiki"], "chasing": ["wiki"]}
    text = " ".join(items["text"])
    assert "chasing" in text
    assert "Anna" not in text
    assert " king" not in text
    nouns = frozenset(form for word in words.of("noun") for form in word.folded)
    none = Vocabulary(3_000, {"wiki": vocabulary.frequent["wiki"] - nouns})
    with pytest.raises(PoshgridError, match=r"template fronted, slot 'subject': 0 usable of \d+"):
        reader.load(None, reader.Options(phenomena=["parasitic-gap-adjunct"]), Context(none))


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
    return paradigms.read("p", folder)


def test_a_template_by_hand(tmp_path, words, vocabulary):
    one = phenomenon(tmp_path, GOOD.replace("[queen, king]", "[queen]")).templates[0]
    filled = {slot: described.suitable(words)[0] for slot, described in one.slots.items()}
    assert one.sentence(filled, filler=True, gap=True) == (
        "We know who, after finding, the queen may greet soon.", 48, 52,
    )  # fmt: skip
    assert one.sentence(filled, filler=True, gap=False) == (
        "We know who, after finding, the queen may greet Paul soon.", 48, 52,
    )  # fmt: skip
    assert one.sentence(filled, filler=False, gap=True) == (
        "We know that, after finding Anna, the queen may greet soon.", 54, 58,
    )  # fmt: skip
    assert one.sentence(filled, filler=False, gap=False) == (
        "We know that, after finding Anna, the queen may greet Paul soon.", 54, 58,
    )  # fmt: skip
    assert slots.lexical_set(filled) == "Anna+Paul+find+greet+queen"
    with pytest.raises(PoshgridError, match="template one: only 2 different sets of 3"):
        paradigms.generate(phenomenon(tmp_path), 3, 0, words, vocabulary)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<who|that>", "who", "the text must have"),
        ("[{second}] {end}.", "{end} [{second}].", "the text must have"),
        ("[{second}]", "[{second}] [{first}]", "the text must have"),
        ("{start} <who|that>", "[{second}] {start} <who|that>", "the text must have"),
        ("{verb:gerund}", "{verb:gerunds}", "slot 'verb' has no form 'gerunds'"),
        ("{start} <", "<", "'start' is described but not used"),
        ("[we know]", "[we  know]", "should match pattern"),
        # nothing here would heed them
        ("only: [find], ", "agree: {objects: head.kinds}, ", "agree: Extra inputs"),
        ("{words: [we know]}", "{words: [we know], frequent: true}", "frequent: Extra inputs"),
    ],
)
def test_a_broken_template_is_named(tmp_path, old, new, message):
    assert old in GOOD
    with pytest.raises(PoshgridError, match=message) as error:
        phenomenon(tmp_path, GOOD.replace(old, new))
    assert str(tmp_path / "p.yaml") in str(error.value)
    assert "\n" not in str(error.value)


# ---- the published CSV ------------------------------------------------------------------------

HEADER = "sentence_type,item_id,condition,full_sentence\n"
ONE = (
    "subject_pg,1,PFPG,We heard who the tale of will surely vex soon.\n"
    "subject_pg,1,MFPG,We heard that the tale of Ruth will surely vex soon.\n"
    "subject_pg,1,PFMG,We heard who the tale of will surely vex Omar soon.\n"
    "subject_pg,1,MFMG,We heard that the tale of Ruth will surely vex Omar soon.\n"
)


def csv(tmp_path, text):
    path = tmp_path / "pg.csv"
    path.write_text(text, encoding="utf-8")
    return path


def read(tmp_path, text, **options):
    return paradigm_csv.load(csv(tmp_path, text), paradigm_csv.Options(**options), None)


def test_regions_are_what_the_sentences_differ_in(tmp_path):
    items, facts = read(tmp_path, HEADER + ONE)
    assert dict(items.schema) == PARADIGMS
    assert items.select("filler", "gap", "text", "start", "end").rows() == [
        (True, True, "We heard who the tale of will surely vex soon.", 41, 45),
        (False, True, "We heard that the tale of Ruth will surely vex soon.", 47, 51),
        (True, False, "We heard who the tale of will surely vex Omar soon.", 41, 45),
        (False, False, "We heard that the tale of Ruth will surely vex Omar soon.", 47, 51),
    ]
    assert items.select("item_id", "category", "phenomenon").unique().rows() == [
        ("subject-pg-1", "parasitic-gap", "subject-pg")
    ]
    assert (facts["sets"], facts["ambiguous"]) == (1, 0)
    for old, new, regions in (
        ("Omar", "the old man", ["soon", "soon", "the old man", "the old man"]),
        ("Omar soon", "Omar", ["soon", "soon", "Omar", "Omar"]),
        ("PFPG", "PLUS_FILLER_PLUS_GAP", ["soon", "soon", "Omar", "Omar"]),
    ):
        found = read(tmp_path, HEADER + ONE.replace(old, new)).items
        assert [region(row) for row in found.iter_rows(named=True)] == regions


@pytest.mark.parametrize(
    ("subject", "ambiguous"),
    [
        ("Ida’s whispering to", True),
        ("Bob's intent to talk to", True),
        ("Bob's decision to dance with", False),
        ("Omar's recordings of", False),
        ("it's talking to", False),
    ],
)
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
    [
        ("condition,", "cond,", "line 1: unknown column 'cond'; did you mean 'condition'"),
        ("pg,1,MFMG", "pg,1,MFPG", "line 5: set 1 of subject_pg has MFPG already, in line 3"),
        ("subject_pg,1,MFMG", "subject_pg,2,MFMG", "line 2: set 1 of subject_pg lacks MFMG"),
        ("PFPG", "PFGP", "line 2: unknown condition 'PFGP'; did you mean 'PFPG'"),
        ("PFPG", "PLUS_FILER_PLUS_GAP", "line 2: .*did you mean 'PLUS_FILLER_PLUS_GAP'"),
        ("vex Omar soon", "vex soon", "line 2: PFPG lacks no word of PFMG .line 4."),
        (" soon.", ".", "line 2: no word follows the gap"),
        (" soon.", " so\x85on.", r"line 2: full_sentence: the character U\+0085 is no"),
        ("subject_pg,1,MFPG,We", ",1,MFPG,We", "line 3: sentence_type is empty"),
    ],
)
def test_a_broken_file_is_named_with_its_line(tmp_path, old, new, message):
    text = HEADER + ONE
    assert old in text
    with pytest.raises(PoshgridError, match=message) as error:
        read(tmp_path, text.replace(old, new))
    assert str(tmp_path / "pg.csv") in str(error.value)


def test_generated_sets_survive_the_road_through_csv(tmp_path, made):
    """The reader finds in the bare sentences the regions and the ambiguity that we wrote."""
    names = {cell: name for name, cell in paradigm_csv.CONDITIONS.items()}
    items = made.items.filter(pl.col("phenomenon") == "parasitic-gap-subject")
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
