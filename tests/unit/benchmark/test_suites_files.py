"""Suites that others have made: what is read from their files, and from the real ones."""

from __future__ import annotations

import gzip
import hashlib
import json

import polars as pl
import pytest
from pydantic import ValidationError

from poshgrid import plugins
from poshgrid.benchmark.items import pairs
from poshgrid.benchmark.reading import hub, pairwords, table10
from poshgrid.benchmark.schema import PAIRS
from poshgrid.errors import PoshgridError
from poshgrid.files import check_schema
from tests.unit.corpora.reader_support import put

SUITES = "poshgrid.benchmark.suites"
READERS = ["lines", "blimp", "scamp"]


def load(reader: str, path, **options):
    """Read a suite and hold it to the contract."""
    found = plugins.load(SUITES, reader).load(path, plugins.options(SUITES, reader, options), None)
    check_schema(found.items.schema, PAIRS, path or "")
    return found


def watched(reader: str, path, **options) -> list[str]:
    module = plugins.load(SUITES, reader)
    return [file.name for file in module.files(path, plugins.options(SUITES, reader, options))]


def record(good: str, bad: str, **others) -> str:
    return json.dumps({"sentence_good": good, "sentence_bad": bad, **others})


def write(reader: str, folder, name: str, pairs: list[tuple[str, str]]) -> None:
    """Write (good, bad) pairs as the reader's suites are published."""
    made = {
        "lines": (".txt", [f"{bad}\n{good}" for good, bad in pairs]),
        "scamp": (".tsv", [f"{good}\t{bad}" for good, bad in pairs]),
        "blimp": (".jsonl", [record(good, bad) for good, bad in pairs]),
    }
    ending, lines = made[reader]
    put(folder, name + ending, "\n".join(lines) + "\n")


# ---- members, ids and facts --------------------------------------------------------------------


@pytest.mark.parametrize("reader", READERS)
def test_all_readers_make_the_same_table_of_the_same_pairs(tmp_path, reader):
    write(reader, tmp_path, "verb-order", [("the dog sat .", "sat dog the ."), ("a .", "b .")])
    write(reader, tmp_path, "adjunct_island", [("who sat ?", "who ?")])
    items, facts = load(reader, tmp_path, version="v1")
    rows = items.select("item_id", "category", "phenomenon", "good", "bad").rows()
    assert rows == [
        ("adjunct_island-00001", "island", "adjunct_island", "who sat ?", "who ?"),
        ("verb-order-00001", "other-verb", "verb-order", "the dog sat .", "sat dog the ."),
        ("verb-order-00002", "other-verb", "verb-order", "a .", "b ."),
    ]
    assert items["template"].equals(items["phenomenon"].rename("template"))
    assert items["contrast"].equals(items["phenomenon"].rename("contrast"))
    assert facts["version"] == "v1"
    file = next(tmp_path.glob("verb-order.*"))
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert facts["files"][file.name] == {"sha256": digest, "pairs": 2}
    alone, _ = load(reader, file)
    assert alone.rows() == items.filter(pl.col("phenomenon") == "verb-order").rows()


@pytest.mark.parametrize("reader", READERS)
def test_line_ends_byte_order_marks_and_empty_last_lines_change_nothing(tmp_path, reader):
    write(reader, tmp_path, "it", [("Zoë sat .", "Sat Zoë ."), ("a .", "b .")])
    file = next(tmp_path.iterdir())
    plain, (expected, _) = file.read_text(encoding="utf-8"), load(reader, tmp_path)
    assert expected["good"][0] == "Zoë sat ."
    for content in ("\ufeff" + plain, plain.replace("\n", "\r\n"), plain.rstrip(), plain + "\n\n"):
        file.write_bytes(content.encode())
        assert load(reader, tmp_path).items.equals(expected)


def test_the_good_member_may_stand_first(tmp_path):
    """POSH-BENCH and Zorro put the bad one first; the option turns every pair."""
    put(tmp_path, "wanna.txt", "Who does Ann wanna sing?\nWhen does Ann wanna sing?\n")
    published, _ = load("lines", tmp_path)
    assert published["good"].to_list() == ["When does Ann wanna sing?"]
    assert published["category"].to_list() == ["wanna"]
    turned, _ = load("lines", tmp_path, first="good")
    assert turned["good"].to_list() == published["bad"].to_list()
    assert turned["bad"].to_list() == published["good"].to_list()


def test_the_files_of_posh_bench_get_its_four_categories(tmp_path):
    names = [name for group in table10.suites()["posh"].values() for name in group]
    for name in names:
        put(tmp_path, f"{name.replace('-', '_')}.txt", "bad it is .\nit is good .\n")
    items, facts = load("lines", tmp_path, mapped=True)
    assert dict(items.group_by("category").len().iter_rows()) == {
        "island": 3, "question-formation": 3, "binding": 2, "wanna": 1,
    }  # fmt: skip
    assert facts["left_out"] == []
    ours = {name.replace("_", "-") for name in names}
    assert set(items["phenomenon"]) == ours  # whatever stands between the words
    asked, facts = load("lines", tmp_path, phenomena=["principle_a_command", "wanna"])
    assert set(asked["phenomenon"]) == {"principle-a-command", "wanna"}
    assert asked["item_id"][0] == "principle-a-command-00001"
    assert sorted(facts["files"]) == ["principle_a_command.txt", "wanna.txt"]
    assert table10.spelled("principle_A_c_command") == "principle_A_c_command"  # BLiMP's own


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("yes\tno\n", {}),
        ("no\tyes\n", {"columns": ["bad", "good"]}),
        ("7\tyes\tx\tno\n", {"columns": ["n", "good", "note", "bad"]}),
        ("bad\tgood\nno\tyes\n", {}),
        ("n\tsentence_good\tSentence_Bad\n7\tyes\tno\n", {"columns": ["bad", "good"]}),
        ("\ngood\tbad\n\nyes\tno\n", {}),
        ("good sentence\tBad_Sentence\nyes\tno\n", {}),
    ],
)
def test_columns_by_option_and_by_header(tmp_path, content, options):
    put(tmp_path, "it.tsv", content)
    items, _ = load("scamp", tmp_path, **options)
    assert items.select("item_id", "good", "bad").rows() == [("it-00001", "yes", "no")]


def test_a_line_break_and_a_space_at_one_end_are_text(tmp_path):
    """Scored as published; a space at the same end of both members is nobody's intention."""
    broken = record("A: who ?\nB: me .", "A: who ?\nB: he .")
    put(tmp_path, "it.jsonl", "\n".join([broken, record("a b ", "b a "), record("c d ", "d c")]))
    rows = load("blimp", tmp_path).items.select("good", "bad").rows()
    assert rows == [("A: who ?\nB: me .", "A: who ?\nB: he ."), ("a b", "b a"), ("c d ", "d c")]
    spaced = load("blimp", tmp_path, line_breaks="space").items["good"]
    assert spaced.to_list() == ["A: who ? B: me .", "a b", "c d "]


def test_members_are_spelt_as_published_or_as_the_corpora(tmp_path, caplog):
    odd = record("a’s cafe\u0301", "b\u200b c")
    put(tmp_path, "it.jsonl", f"{odd}\n{record('d e', 'e d')}\n")
    items = load("blimp", tmp_path).items
    assert items.select("good", "bad").row(0) == ("a’s cafe\u0301", "b\u200b c")
    pairs("it", items)
    assert "1 of 2 pairs: U+2019" in caplog.text or "1 of 2 pairs: U+0301" in caplog.text
    caplog.clear()
    items = load("blimp", tmp_path, spelling="corpora").items
    assert items.select("good", "bad").row(0) == ("a's caf\u00e9", "b c")
    pairs("it", items)
    assert not caplog.text


def test_quotation_marks_are_text(tmp_path):
    put(tmp_path, "it.tsv", '"yes\t"no" he said\n')
    assert load("scamp", tmp_path).items.select("good", "bad").row(0) == ('"yes', '"no" he said')


def test_what_a_line_says_of_itself_goes_before_the_file_name(tmp_path):
    lines = [
        record("a", "b", UID="one", linguistics_term="binding", pairID="9", other=[1]),
        record("c", "d"),
        record("e", "f", UID="one", linguistics_term="binding"),
    ]
    put(tmp_path, "it.jsonl", "\n".join(lines))
    items, _ = load("blimp", tmp_path)
    assert items.select("item_id", "category").rows() == [
        ("one-00001", "other-binding"), ("one-00003", "other-binding"), ("it-00002", "other"),
    ]  # fmt: skip
    assert load("blimp", tmp_path, categories="own").items["category"][0] == "binding"
    assert load("blimp", tmp_path, phenomena=["it"]).items["good"].to_list() == ["c"]


def test_parquet_files_below_folders_are_called_by_the_folder(tmp_path):
    file = tmp_path / "wh_island" / "train-00000-of-00001.parquet"
    file.parent.mkdir()
    pl.DataFrame({"sentence_good": ["a b"], "sentence_bad": ["b a"], "n": [1]}).write_parquet(file)
    put(tmp_path, ".cache/hidden.jsonl", record("x", "y"))
    row = load("blimp", tmp_path).items.row(0, named=True)
    assert (row["item_id"], row["category"], row["good"]) == ("wh_island-00001", "island", "a b")


# ---- which phenomena, which categories ---------------------------------------------------------


@pytest.mark.parametrize("reader", READERS)
def test_phenomena_are_chosen_and_only_their_files_watched(tmp_path, reader):
    for name in ("one", "two", "wh_island"):
        write(reader, tmp_path, name, [("a", "b")])
    (file,) = tmp_path.glob("two.*")
    assert set(load(reader, tmp_path, phenomena=["two"]).items["phenomenon"]) == {"two"}
    assert watched(reader, tmp_path, phenomena=["two"]) == [file.name, "table10.yaml"]
    own = watched(reader, tmp_path, phenomena=["two"], categories="own")
    assert own == [file.name]
    found = load(reader, tmp_path, mapped=True)
    assert found.items["phenomenon"].to_list() == ["wh_island"]
    assert found.facts["left_out"] == ["one", "two"]
    with pytest.raises(PoshgridError, match="no phenomenon 'tow'; did you mean 'two'"):
        load(reader, tmp_path, phenomena=["tow"])
    with pytest.raises(PoshgridError, match="'two' is not in Table 10"):
        load(reader, tmp_path, phenomena=["two"], mapped=True)


def test_table_10_gives_no_name_two_categories():
    entries = [
        (table10.key(name), category)
        for groups in table10.suites().values()
        for category, names in groups.items()
        for name in names
    ]
    assert len(entries) == 3 + 4 + 1 + 1 + 3 + 3 + 3 + 3 + 3 + 3 + 2 + 1
    assert len(set(entries)) == len({name for name, _ in entries})
    assert {category for _, category in entries} == {
        "island", "binding", "question-formation", "wanna",
    }  # fmt: skip
    assert table10.category("Complex-NP_island") == "island"
    assert table10.category("principle_A_case_1") is None


# ---- identical, repeated, dependent pairs ------------------------------------------------------


@pytest.mark.parametrize("reader", READERS)
def test_identical_pairs_are_kept_or_dropped_and_always_named(tmp_path, reader):
    write(reader, tmp_path, "it", [("a", "b"), ("c", "c"), ("a", "b"), ("b", "a")])
    kept, facts = load(reader, tmp_path)
    assert (facts["identical_pairs"], facts["repeated_pairs"]) == (["it-00002"], 1)
    assert kept.height == 4
    dropped, facts = load(reader, tmp_path, identical="drop")
    assert dropped["item_id"].to_list() == ["it-00001", "it-00003", "it-00004"]
    assert (facts["identical_pairs"], facts["identical"]) == (["it-00002"], "drop")


def test_neighbours_that_share_half_of_their_words_are_one_lexical_set():
    pairs = [
        ("1", "look at this purple thing .", "look at this purple things ."),
        ("2", "this purple thing went there .", "this purple things went there ."),  # 3 of 5
        ("3", "this soft arm went there .", "this soft arms went there ."),  # 1 of 7
        ("4", "is he there ?", "he is there ?"),  # no content word
        ("5", "these soft arms slept .", "these soft arm slept ."),  # after none: not 3 of 5
        ("6", "they didn't sleep softly .", "they don't sleep softly ."),
        ("7", "they sleep soundly .", "sleep they soundly ."),  # 1 of 3
        ("8", "look at a purple thing .", "look at a purple things ."),  # the first set again
    ]
    sets = pairwords.lexical_sets(pairs)
    purple = "look+purple+thing+things"
    assert sets == [
        purple, purple, "arm+arms+soft+went", "4", "arm+arms+slept+soft", "sleep+softly",
        "sleep+soundly", purple,
    ]  # fmt: skip


def test_exactly_half_is_enough():
    sets = pairwords.lexical_sets([("1", "dogs bark .", "bark dogs ."), ("2", "dogs .", "dogs")])
    assert sets == ["bark+dogs", "bark+dogs"]


# ---- how sentences are written -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("published", "running"),
    [
        ("who should William have ?", "Who should William have?"),
        ("your brother is n't thinking .", "Your brother isn't thinking."),
        ("who can n't care ?", "Who can't care?"),
        ("Can n't i go ?", "Can't I go?"),
        ("the cousin 's dog , i think , wo n't sit .", "The cousin's dog, I think, won't sit."),
        ("it is .5 of 'sand' .", "It is .5 of 'sand'."),
        ("Taxis are here .", "Taxis are here."),
        ("", ""),
    ],
)
def test_detokenised_sentences(published, running):
    assert pairwords.detokenise(published) == running
    assert pairwords.detokenise(running) == running


@pytest.mark.parametrize("reader", READERS)
def test_sentences_stay_as_published_unless_asked(tmp_path, reader):
    write(reader, tmp_path, "it", [("i did n't sit .", "i sit did n't .")])
    as_published, running = load(reader, tmp_path), load(reader, tmp_path, detokenise=True)
    assert as_published.items["good"][0] == "i did n't sit ."
    assert running.items.select("good", "bad").row(0) == ("I didn't sit.", "I sit didn't.")
    assert running.facts["detokenised"] is True
    keep = [name for name in PAIRS if name not in {"good", "bad"}]
    assert running.items.select(keep).equals(as_published.items.select(keep))


# ---- the Hugging Face hub, with a local stand-in -----------------------------------------------


@pytest.fixture
def dataset(monkeypatch):
    """A hub that holds one data set at one commit, and counts what is downloaded."""
    import huggingface_hub

    calls = []

    class Info:
        sha = "c0ffee"

    def dataset_info(name, *, revision, timeout):
        assert name == "someone/pairs"
        assert revision in {None, "v1"}
        return Info

    def snapshot_download(name, *, repo_type, revision, local_dir, allow_patterns):
        assert (repo_type, revision) == ("dataset", "c0ffee")
        assert allow_patterns == ["*.jsonl", "*.parquet"]
        calls.append(name)
        put(local_dir, "wh_island.jsonl", record("a b", "b a"))
        put(local_dir, ".cache/huggingface/lock.jsonl", "")

    monkeypatch.setattr(huggingface_hub, "dataset_info", dataset_info)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    return calls


def test_files_come_from_the_hub_once(tmp_path, dataset):
    path = tmp_path / "suites" / "pairs"
    options = {"hub": "someone/pairs", "revision": "v1"}
    for _ in range(2):
        items, facts = load("blimp", path, **options)
        assert items["item_id"].to_list() == ["wh_island-00001"]
        assert facts["hub"] == {"dataset": "someone/pairs", "revision": "v1", "commit": "c0ffee"}
    assert dataset == ["someone/pairs"]
    assert sorted(p.name for p in path.iterdir()) == [hub.MARK, "wh_island.jsonl"]
    assert [p.name for p in path.parent.iterdir()] == ["pairs"]
    assert watched("blimp", path, **options) == ["table10.yaml"]
    load("blimp", path, hub="someone/pairs")
    load("blimp", path, hub="someone/pairs", revision="c0ffee")
    with pytest.raises(PoshgridError, match="holds someone/pairs at v1, not someone/pairs at v2"):
        load("blimp", path, hub="someone/pairs", revision="v2")
    with pytest.raises(PoshgridError, match="not someone/others at the default branch"):
        load("blimp", path, hub="someone/others")


def test_files_put_there_by_hand_are_taken(tmp_path, dataset):
    put(tmp_path, "pairs/it.jsonl", record("a", "b"))
    items, facts = load("blimp", tmp_path / "pairs", hub="someone/pairs")
    assert items["item_id"].to_list() == ["it-00001"]
    assert facts["hub"]["commit"] == "put there by hand"
    assert dataset == []


@pytest.mark.parametrize("function", ["dataset_info", "snapshot_download"])
def test_a_hub_out_of_reach_leaves_nothing(tmp_path, monkeypatch, dataset, function):
    import huggingface_hub

    def fail(*args, local_dir=None, **kwargs):
        if local_dir:
            put(local_dir, "half.jsonl", "{")
        raise RuntimeError("Name or service\nnot known")

    monkeypatch.setattr(huggingface_hub, function, fail)
    path = tmp_path / "pairs"
    with pytest.raises(PoshgridError, match=r"someone/pairs \(Name or service not known\)") as info:
        load("blimp", path, hub="someone/pairs")
    assert f"put its .jsonl or .parquet files into {path} by hand" in str(info.value)
    assert "\n" not in str(info.value)
    assert list(tmp_path.iterdir()) == []


def test_a_dataset_without_pairs_leaves_nothing(tmp_path, monkeypatch, dataset):
    import huggingface_hub

    monkeypatch.setattr(
        huggingface_hub, "snapshot_download", lambda *_, local_dir, **__: put(local_dir, "a.md", "")
    )
    with pytest.raises(PoshgridError, match=r"holds no \.jsonl or \.parquet file"):
        load("blimp", tmp_path / "pairs", hub="someone/pairs")
    assert list(tmp_path.iterdir()) == []


# ---- options -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reader", "options", "message"),
    [
        ("lines", {"first": "worse"}, "first"),
        ("scamp", {"columns": ["good", "good"]}, "name good and bad once each"),
        ("blimp", {"revision": "v1"}, "revision belongs to hub"),
        ("blimp", {"hub": "a b"}, "hub"),
        ("lines", {"phenomena": []}, "at least one"),
        ("lines", {"hub": "nyu-mll/blimp"}, "hub"),
    ],
)
def test_wrong_options_are_refused_with_the_configuration(reader, options, message):
    with pytest.raises(ValidationError, match=message):
        plugins.options(SUITES, reader, options)


# ---- the real files ----------------------------------------------------------------------------

REAL = {"blimp": ("blimp", "blimp"), "zorro": ("lines", "zorro")} | {
    "scamp-plausible": ("scamp", "scamp_plausible")
}


@pytest.fixture(scope="module")
def real(shared):
    """Every real suite, read once."""
    if not (shared / "suites").is_dir():
        pytest.skip("real suites are absent: put them into suites of POSHGRID_SHARED")
    return {suite: load(r, shared / "suites" / folder) for suite, (r, folder) in REAL.items()}


@pytest.mark.parametrize(
    ("suite", "files", "pairs"),
    [("blimp", 67, 1_000), ("zorro", 23, 2_000), ("scamp-plausible", 67, 1_000)],
)
def test_real_suites_are_whole(real, suite, files, pairs):
    items, facts = real[suite]
    assert items["item_id"].n_unique() == items.height == files * pairs
    assert items.group_by("phenomenon").len()["len"].to_list() == [pairs] * files
    assert [file["pairs"] for file in facts["files"].values()] == [pairs] * files
    assert facts["malformed"] == []


def test_identical_and_repeated_pairs_that_are_really_there(real):
    assert {suite: facts["repeated_pairs"] for suite, (_, facts) in real.items()} == {
        "blimp": 1, "zorro": 0, "scamp-plausible": 0,
    }  # fmt: skip
    assert {suite: facts["identical_pairs"] for suite, (_, facts) in real.items()} == {
        "blimp": [
            *(f"passive_1-{n:05}" for n in (325, 811)),
            *(f"principle_A_case_2-{n:05}" for n in (106, 288, 373, 817, 968)),
        ],
        "zorro": [],
        "scamp-plausible": [],
    }


@pytest.mark.parametrize("suite", REAL)
def test_every_phenomenon_of_table_10_has_its_file(real, suite):
    items = real[suite].items
    named = {
        (table10.key(name), category)
        for category, names in table10.suites()[suite].items()
        for name in names
    }
    found = items.filter(~pl.col("category").str.starts_with("other"))
    rows = found.select("phenomenon", "category").unique().rows()
    assert {(table10.key(name), category) for name, category in rows} == named


def test_real_members_stand_on_their_side(real):
    """Where one look at a member says which of the two it is."""

    def sides(suite: str, phenomenon: str, good: str, bad: str) -> bool:
        items = real[suite].items.filter(pl.col("phenomenon") == phenomenon)
        both = pl.col("good").str.contains(good) & pl.col("bad").str.contains(bad)
        return items.height > 0 and items.select(both.all()).item()

    assert sides("zorro", "npi_licensing-only_npi_licensor", "^only", "^even")
    assert sides("scamp-plausible", "only_npi_licensor_present", "^only", "^even")
    assert sides("blimp", "only_npi_licensor_present", "^Only", "^Even")


def test_zorros_draws_are_its_lexical_sets(real):
    """Adjectives and nouns are drawn 125 times, for 16 pairs each; heads 250 times, for 8 each."""
    sets = real["zorro"].items.group_by("phenomenon", "lexical_set").len().sort("phenomenon")
    for phenomenon, draws in {
        "agreement_determiner_noun-across_1_adjective": 125,
        "agreement_subject_verb-across_prepositional_phrase": 250,
        "filler-gap-wh_question_subject": 1_000,
    }.items():
        sizes = sets.filter(pl.col("phenomenon") == phenomenon)["len"].to_list()
        assert sizes == [2_000 // draws] * draws


def test_running_text_of_the_real_suites_has_no_detached_marks(real):
    texts = [
        pairwords.detokenise(text)
        for suite in ("zorro", "scamp-plausible")
        for text in real[suite].items["good"][::7]
    ]
    assert all(text[0].isupper() and text[-1] in ".?" for text in texts)
    assert not [text for text in texts if " n't" in text or " '" in text or text[-2] == " "]
    assert not [text for text in texts if "cann't" in text.lower()]


def test_gzip_is_unpacked_where_the_ending_says_so(tmp_path):
    put(tmp_path, "it.txt.gz", gzip.compress(b"b\na\n"))
    items, _ = load("lines", tmp_path, suffix=".txt.gz")
    assert items.select("item_id", "good").rows() == [("it-00001", "a")]
