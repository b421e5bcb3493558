"""Suites that others have made: what is read from their files, and faults that are refused."""

from __future__ import annotations

import gzip
import json

import polars as pl
import pytest

from poshgrid.benchmark import items as suites
from poshgrid.benchmark.reading import pairfile, table10
from poshgrid.benchmark.schema import CHOICES, PAIRS
from poshgrid.benchmark.suites import pairs
from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import check_schema
from tests.unit.corpora.reader_support import put

SUITES = "poshgrid.benchmark.suites"
GOOD, BAD = "the dog sat .", "sat dog the ."


def load(path, contract=PAIRS, reader="pairs", **options):
    """Read a suite and check its contract."""
    suite = plugins.load(SUITES, reader).load(path, plugins.options(SUITES, reader, options), None)
    check_schema(suite.items.schema, contract, path or "")
    return suite


def refused(path, message: str, **options) -> None:
    """Check that a suite is refused in one line."""
    with pytest.raises(PoshgridError, match=message) as caught:
        load(path, **options)
    assert "\n" not in str(caught.value)


def watched(path, **options) -> list[str]:
    return [file.name for file in pairs.files(path, pairs.Options(**options))]


def record(good: str, bad: str, **others) -> str:
    return json.dumps({"sentence_good": good, "sentence_bad": bad, **others}, ensure_ascii=False)


def written(ending: str, good: str = GOOD, bad: str = BAD) -> str:
    """A pair as files with this ending have it, without its last line end."""
    if ending == "txt":
        return f"{bad}\n{good}"
    return f"{good}\t{bad}" if ending == "tsv" else record(good, bad)


def write(folder, name: str, *members: tuple[str, str]):
    """Write (good, bad) pairs as suites of this ending are published."""
    lines = [written(name.rpartition(".")[2], good, bad) for good, bad in members]
    return put(folder, name, "\n".join(lines) + "\n")


# ---- members, ids and facts --------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["txt", "tsv", "jsonl"])
def test_all_files_make_the_same_table_of_the_same_pairs(tmp_path, ending):
    members = ("Zoë sat .", "sat Zoë ."), ("a .", "b .")
    file = write(tmp_path, f"verb-order.{ending}", *members)
    write(tmp_path, f"adjunct_island.{ending}", ("who sat ?", "who ?"))
    items, facts = load(tmp_path)
    assert items.select("item_id", "category", "phenomenon", "good", "bad").rows() == [
        ("adjunct_island-00001", "island", "adjunct_island", "who sat ?", "who ?"),
        ("verb-order-00001", "other-verb", "verb-order", "Zoë sat .", "sat Zoë ."),
        ("verb-order-00002", "other-verb", "verb-order", "a .", "b ."),
    ]
    assert facts["files"][file.name] == 2
    expected, plain = load(file).items, file.read_text(encoding="utf-8")
    assert expected.rows() == items.rows()[1:]
    for content in ("\ufeff" + plain, plain.replace("\n", "\r\n"), plain.rstrip(), plain + "\n\n"):
        file.write_bytes(content.encode())
        assert load(file).items.equals(expected)


def test_packed_files_and_texts_beside_tables(tmp_path):
    """A text that is no suite would be read as pairs: README.txt next to tables."""
    put(tmp_path, "more.txt.gz", gzip.compress(b"b\na\n"))
    assert load(tmp_path).items.select("item_id", "good").row(0) == ("more-00001", "a")
    write(tmp_path, "it.jsonl", (GOOD, BAD))
    refused(tmp_path, "both texts .more.txt.gz. and tables")
    refused(put(tmp_path, "pairs.doc", "a b"), "its name must end in")


@pytest.mark.parametrize(
    ("ending", "content"),
    [
        ("tsv", "sings\tsing\n"),
        ("tsv", "Good\tbad\n\nsings\tsing\n"),
        ("tsv", "acceptable\tunacceptable\nsings\tsing\n"),
        ("csv", '"bad","good"\n"sing","sings"\n'),
        ("csv", "item_id,category,phenomenon,good,bad\n1,c,two,sings,sing\n"),
    ],
)
def test_a_header_is_no_pair(tmp_path, ending, content):
    put(tmp_path, f"it.{ending}", content)
    assert load(tmp_path).items.select("good", "bad").rows() == [("sings", "sing")]


def test_members_are_spelt_as_published_or_as_the_corpora(tmp_path):
    """A space at the same end of both members is nobody's intention."""
    pairs = [("A: who ?\nB: me .", "A: who ?\nB: he ."), ("a’s cafe\u0301", "b\u200b c"),
             ("a b ", "b a "), ("c d ", "d c")]  # fmt: skip
    put(tmp_path, "it.jsonl", "\n".join(record(*members) for members in pairs))
    rows = load(tmp_path).items.select("good", "bad").rows()
    assert rows == [*pairs[:2], ("a b", "b a"), pairs[3]]
    rows = load(tmp_path, spelling="corpora").items.select("good", "bad").rows()
    assert rows[:2] == [("A: who ? B: me .", "A: who ? B: he ."), ("a's caf\u00e9", "b c")]


def test_what_a_line_says_of_itself_goes_before_the_file_name(tmp_path):
    named = {"UID": "one", "linguistics_term": "binding", "other": [1]}
    lines = [record("a", "b", **named), record("c", "d"), record("e", "f", **named)]
    put(tmp_path, "it.jsonl", "\n".join(lines))
    assert load(tmp_path).items.select("item_id", "category").rows() == [
        ("one-00001", "other-binding"), ("one-00003", "other-binding"), ("it-00002", "other"),
    ]  # fmt: skip
    assert load(tmp_path, categories="own").items["category"][0] == "binding"


def test_parquet_files_below_folders_are_called_by_the_folder(tmp_path):
    file = tmp_path / "wh_island" / "train-00000-of-00001.parquet"
    file.parent.mkdir()
    pl.DataFrame({"sentence_good": ["a b"], "sentence_bad": ["b a"], "n": [1]}).write_parquet(file)
    put(tmp_path, ".cache/hidden.jsonl", record("x", "y"))
    row = load(tmp_path).items.row(0, named=True)
    assert (row["item_id"], row["category"], row["good"]) == ("wh_island-00001", "island", "a b")
    pl.DataFrame({"sentence_good": ["a"], "UID": ["b"]}).write_parquet(file)
    refused(tmp_path, "no known format has the columns 'sentence_good', 'UID'")


# ---- other published formats --------------------------------------------------------------------


def contexts(items):
    """What is read, and what is scored after it, of each member."""
    return [
        tuple((text[:n], text[n:]) for text, n in ((good, m), (bad, k)))
        for good, bad, m, k in items.select(
            "good", "bad", "good_context", "bad_context"
        ).iter_rows()
    ]


DOG, CAT = "A dog", "A cat"
COMPS = {"id": 1, "property": "can bark", "acceptable_concept": "dog", "similarity": 0.5,
         "prefix_acceptable": DOG, "prefix_unacceptable": CAT,
         "property_phrase": "can bark."}  # fmt: skip
EWOK = {"Domain": "social-relations", "ConceptA": "boss", "Context1": "Ali is Chao's boss.",
        "Context2": "Ali is Chao's employee.", "Target1": "Ali gives orders.",
        "Target2": "Ali gets orders.", "ContextType": "direct"}  # fmt: skip
SWAPPED = EWOK | {f"{part}{n}": EWOK[f"{part}{3 - n}"]
                  for part in ("Context", "Target") for n in (1, 2)}  # fmt: skip


def test_comps_scores_the_property_in_the_context_of_a_concept(tmp_path):
    items = load(put(tmp_path, "comps_base.jsonl", json.dumps(COMPS))).items
    assert items.select("phenomenon", "category").rows() == [("comps_base", "other-comps")]
    assert contexts(items) == [((DOG, " can bark."), (CAT, " can bark."))]
    detokenised = load(tmp_path, detokenise=True, spelling="corpora").items
    assert contexts(detokenised) == contexts(items)


@pytest.mark.parametrize("rows", [(EWOK,), (EWOK, SWAPPED), (EWOK, SWAPPED, EWOK, SWAPPED)])
def test_ewok_has_each_half_of_an_item_once(tmp_path, rows):
    """The hub has an item once, BabyLM's copy twice; items that are there again stay."""
    items = load(put(tmp_path, "s.jsonl", "\n".join(map(json.dumps, rows)))).items
    one, two = EWOK["Context1"], EWOK["Context2"]
    gives, gets = (" " + EWOK[f"Target{n}"] for n in (1, 2))
    halves = [((one, gives), (one, gets)), ((two, gets), (two, gives))]
    assert contexts(items) == halves * (2 if len(rows) == 4 else 1)
    assert items["phenomenon"].unique().to_list() == ["social-relations"]


def test_multiblimp_and_formats_of_ones_own(tmp_path):
    header = "\tsen\twrong_sen\tphenomenon\tverb"  # the first column is pandas's index
    path = put(tmp_path, "data.tsv", f'{header}\n0\t"Il dit ""oui"" ."\tIl dis .\tSV-P\tdit\n')
    row = load(path).items.row(0, named=True)
    assert (row["good"], row["bad"], row["phenomenon"]) == ('Il dit "oui" .', "Il dis .", "SV-P")
    contextual = {"good": "{Context1}| {Target1}", "bad": "{Context2}| {Target1}", "item": "{id}"}
    put(tmp_path, "own/x.jsonl", json.dumps(EWOK | {"id": 7}))
    items = load(tmp_path / "own", columns=contextual).items
    assert items["item_id"].to_list() == ["7"]
    scored = " " + EWOK["Target1"]
    assert contexts(items) == [((EWOK["Context1"], scored), (EWOK["Context2"], scored))]


def test_entity_tracking_has_options_in_a_context(tmp_path):
    row = {"input_prefix": "Box 1 has the", "options": [" ring.", " hat.", " key."], "numops": 2}
    path = put(tmp_path, "regular.jsonl", json.dumps(row) + "\n")
    items = load(path, CHOICES, "babylm").items
    assert items["phenomenon"].unique().to_list() == ["regular_2_ops"]
    assert items.select("option", "correct", "text", "context").rows() == [
        (n, n == 0, row["input_prefix"] + end, 13) for n, end in enumerate(row["options"])
    ]
    wug = {"sentences": "Two wugs.\tTwo wuges.", "ratio": "0.25"}
    for broken in (
        row | {"options": [" ring."]}, {"options": row["options"], "numops": 2},
        row | {"options": [" a.", 1]}, wug | {"ratio": 25}, wug | {"sentences": "One."}, {},
    ):  # fmt: skip
        put(tmp_path, "regular.jsonl", json.dumps(broken))
        with pytest.raises(PoshgridError, match="line 1: "):
            load(path, CHOICES, "babylm")


def test_wug_says_what_people_choose(tmp_path):
    rows = [{"sentences": "Two wugs.\tTwo wuges.", "ratio": ratio} for ratio in ("0.25", 0.5)]
    path = put(tmp_path, "wug_past.jsonl", "\n".join(map(json.dumps, rows)))
    items = load(path, CHOICES, "babylm").items
    columns = ("phenomenon", "correct", "text", "context", "people")
    assert items.select(columns).rows() == [
        ("wug_past", False, "Two wugs.", 0, 0.25), ("wug_past", True, "Two wuges.", 0, 0.75),
        ("wug_past", True, "Two wugs.", 0, 0.5), ("wug_past", False, "Two wuges.", 0, 0.5),
    ]  # fmt: skip


# ---- which phenomena, which categories ---------------------------------------------------------


def test_phenomena_of_table_10_alone(tmp_path):
    for name in ("one", "two", "wh_island"):
        write(tmp_path, f"{name}.txt", ("a", "b"))
    every = ["one.txt", "two.txt", "wh_island.txt"]
    assert watched(tmp_path) == [*every, "table10.yaml", "formats.yaml"]
    assert watched(tmp_path, categories="own") == [*every, "formats.yaml"]
    suite = load(tmp_path, mapped=True)
    assert suite.items["phenomenon"].to_list() == ["wh_island"]
    assert suite.facts["left_out"] == ["one", "two"]


def test_table_10_gives_no_name_two_categories(tmp_path):
    entries = [
        (table10.key(name), category)
        for groups in table10.suites().values()
        for category, names in groups.items()
        for name in names
    ]
    assert len(set(entries)) == len({name for name, _ in entries})
    assert table10.category("Complex-NP_island") == "island"
    assert table10.spelled("principle_A_c_command") == "principle_A_c_command"  # BLiMP's own
    put(tmp_path, "principle_a_command.txt", "bad\ngood\n")
    asked = load(tmp_path).items
    assert asked["item_id"].to_list() == ["principle-a-command-00001"]  # our own spelling


def test_neighbours_that_share_half_of_their_words_are_one_lexical_set():
    members = [
        ("1", "look at this purple thing .", "look at this purple things ."),
        ("2", "this purple thing went there .", "this purple things went there ."),  # 3 of 5
        ("3", "this soft arm went there .", "this soft arms went there ."),  # 1 of 7
        ("4", "is he there ?", "he is there ?"),  # no content word
        ("5", "these soft arms slept .", "these soft arm slept ."),  # after none: not 3 of 5
        ("6", "they didn't sleep softly .", "they don't sleep softly ."),
        ("7", "they sleep soundly .", "sleep they soundly ."),  # 1 of 3
        ("8", "look at a purple thing .", "look at a purple things ."),  # the first set again
    ]
    purple = "look+purple+thing+things"
    assert pairfile.lexical_sets(members) == [
        purple, purple, "arm+arms+soft+went", "4", "arm+arms+slept+soft", "sleep+softly",
        "sleep+soundly", purple,
    ]  # fmt: skip
    half = [("1", "dogs bark .", "bark dogs ."), ("2", "dogs .", "dogs")]
    assert pairfile.lexical_sets(half) == ["bark+dogs", "bark+dogs"]


def test_sentences_stay_as_published_unless_asked(tmp_path):
    published = "the cousin 's dog , i think , can n't sit in .5 of it ."
    running = "The cousin's dog, I think, can't sit in .5 of it."
    assert pairfile.detokenise(running) == running
    write(tmp_path, "it.txt", (published, "x"))
    for detokenise, expected in ((False, published), (True, running)):
        assert load(tmp_path, detokenise=detokenise).items["good"][0] == expected


# ---- faults ------------------------------------------------------------------------------------


LINES, SCAMP = (written(ending) for ending in ("txt", "tsv"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("it.txt", f"{LINES}\n{GOOD}\n", "line 3: an odd number of lines"),
        ("it.tsv", f"{SCAMP}\n{GOOD} {BAD}\n", "line 2: 1 fields, not a good sentence"),
        ("it.tsv", f"first\tsecond\n{SCAMP}", "line 1: names of columns, of no known format"),
        ("it.jsonl", '\n{"sentence_good": "a"', "line 2: the line: Invalid JSON"),
        ("it.jsonl", '{"sentence_good": "a"}', "no known format has the columns 'sentence_good'"),
        ("it.jsonl", record("a", "b") + '\n{"sentence_good": "a"}', "2: sentence_bad: no text"),
        ("it.jsonl", record(None, "a"), "sentence_good: no text .None"),
        ("it.jsonl", "[1]", "line 1: the line: not an object"),
        ("it.csv", f"good;bad\n{GOOD};{BAD}\n", "line 1: semicolons"),
        ("it.csv", f"good,bad,bad\n{GOOD},{BAD},x\n", "line 1: column 'bad' is there twice"),
        ("it.csv", f"good,bad\n{GOOD}\n", "line 2: not the cells of the header"),
        ("it.csv", 'good,bad\n"a"x,b\n', "line 2: broken table"),
    ],
)
def test_lines_that_are_no_pair_are_refused(tmp_path, name, content, message):
    refused(put(tmp_path, name, content), rf"{name}: .*{message}")


def test_pairs_that_cannot_be_told_apart(tmp_path):
    put(tmp_path, "one.jsonl", "\n".join([record("a", "b"), record("c", "c"), record("a", "b")]))
    assert load(tmp_path).items.height == 3
    refused(tmp_path, "no pair is left", mapped=True)
    put(tmp_path, "two.jsonl", record("a", "b", UID="one"))
    refused(tmp_path, r"two\.jsonl: phenomenon 'one' is also in .*one\.jsonl")
    twice = load(put(tmp_path, "three.csv", "good,bad,item_id\na,b,1\nc,d,1\n")).items
    with pytest.raises(PoshgridError, match="'1' occurs twice"):
        suites.pairs("it", twice)


# ---- the real files ----------------------------------------------------------------------------

REAL = {
    "blimp": ("blimp", 67, 1_000),
    "zorro": ("zorro", 23, 2_000),
    "scamp-plausible": ("scamp_plausible", 67, 1_000),
}


@pytest.fixture(scope="module")
def real(shared):
    """Every real suite, read once."""
    if not (shared / "suites").is_dir():
        pytest.skip("real suites are absent: put them into suites of POSHGRID_SHARED")
    return {name: load(shared / "suites" / folder) for name, (folder, *_) in REAL.items()}


@pytest.mark.parametrize("suite", REAL)
def test_real_suites_are_whole_and_have_every_phenomenon_of_table_10(real, suite):
    items, facts = real[suite]
    _, files, number = REAL[suite]
    assert items["item_id"].n_unique() == items.height == files * number
    assert list(facts["files"].values()) == [number] * files
    named = {
        (table10.key(name), category)
        for category, names in table10.suites()[suite].items()
        for name in names
    }
    mapped = items.filter(~pl.col("category").str.starts_with("other"))
    rows = mapped.select("phenomenon", "category").unique().rows()
    assert {(table10.key(name), category) for name, category in rows} == named
