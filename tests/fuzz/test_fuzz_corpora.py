"""Corpora and suites as no publisher should send them: a table, or one line; nothing between."""

from __future__ import annotations

import json
import re
import shutil
import warnings

import polars.selectors as cs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid import plugins
from poshgrid.corpora.read import READERS, read_source
from poshgrid.corpora.schema import SOURCE
from poshgrid.errors import PoshgridError
from poshgrid.files import read_table
from tests.unit.corpora.reader_support import put, source_spec

from .damage import PACKERS, damaged, recoded, zipped
from .support import promised, tried

SUITES = "poshgrid.benchmark.suites"
# Control characters and those that turn the text round: no sentence and no name has them
GARBLING = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

CHAT = """@UTF8
@Begin
@Languages:\teng
@Participants:\tCHI Ann Target_Child, MOT Mary Mother
@ID:\teng|toy|CHI|2;03.|female|||Target_Child|||
@ID:\teng|toy|MOT||female|||Mother|||
*MOT:\t<where is> [//] where has &-um the (th)e dog gone@c ? \x15100_200\x15
%mor:\tadv|where aux|have det|the n|dog v|go ?
*CHI:\tdog xxx .
*MOT:\tyou saw it [= the dog] , didn't you [: did you] +/.
\tand you [/] you ran +"/.
*MOT:\t[- spa] qué [>] <dices tú> [<] !
@End
"""
BNC = """<?xml version="1.0" encoding="UTF-8"?>
<bncDoc xml:id="KB0"><teiHeader/><stext type="CONVRSN"><u who="A"><s n="1">
<w c5="AT0">The </w>
<w c5="NN1">dog </w><trunc>s</trunc><unclear/><w c5="VVD">sat</w><c c5="PUN">.</c></s>
<s n="2"><w>Er </w>
<mw><w>in </w><w>front </w></mw><gap/></s><s n="3"><w>No</w><c>.</c></s></u></stext></bncDoc>
"""
OPUS = """<?xml version="1.0" encoding="utf-8"?>
<document id="1"><s id="1"><time id="T1S" value="00:00:01,000"/>- The dog sat. <i>Here</i></s>
<s id="2"><w id="2.1">No</w><w id="2.2">.</w></s></document>
"""
WIKI = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" xml:lang="en"><siteinfo/>
<page><title>Dog</title><ns>0</ns><id>7</id><revision><text xml:space="preserve">'''Dogs''' are
[[animal|animals]].&lt;ref&gt;x&lt;/ref&gt; {{cite|a={{b}}}} A dog sat on the mat and barked at all
of us.\n\n== See ==\n* [[File:a.jpg|thumb|A [[cat]]]]\n{| class="x"\n|-\n| a || b\n|}
&lt;math&gt;x^2&lt;/math&gt;</text></revision></page>
<page><title>D</title><ns>0</ns><redirect title="Dog"/><revision><text>#REDIRECT [[Dog]]</text>
</revision></page></mediawiki>
"""
BOOK = """Title: Dogs

*** START OF THE PROJECT GUTENBERG EBOOK DOGS ***

CHAPTER I

The dog sat on the mat, and _barked_ at
all of us. "Who is it?" said Mr. Brown.

[Illustration: a dog]

*** END OF THE PROJECT GUTENBERG EBOOK DOGS ***
"""
TABLE = """gloss,type,speaker_code,speaker_role,transcript_id
the dog sat,declarative,MOT,Mother,1
"who, you",question,CHI,Target_Child,1
"""
STORIES = [{"story": "One day a dog sat.\\nIt barked.", "instruction": {}}, {"story": "The end."}]
LINES = "The dog sat.\nâ€œNo,â€ she said.\n<|endoftext|>\nWho is it?\n"
SPEECH = "FILENAME: 1\n\nA.1: Uh, the dog, [ the, + the ] dog sat. /\n\nB.2: {D Well, } yes -- /\n"
TREES = (
    "( (S (NP-SBJ (DT The) (NN dog)) (VP (VBD sat) (-NONE- *T*-1)) (. .)))\n( (CODE (SYM A1)))\n"
)
CORPORA = [
    ("babylm", "bnc_spoken.train", LINES),
    ("babylm", "childes.train", "*MOT:\tthe dog sat .\n"),
    ("bnc-xml", "a.xml", BNC),
    ("chat", "a.cha", CHAT),
    ("childes-db", "a.csv", TABLE),
    ("gutenberg", "a.txt", BOOK),
    ("opus", "a.txt", LINES),
    ("opus", "a.xml", OPUS),
    ("switchboard", "transcript", SPEECH),
    ("switchboard-mrg", "a.mrg", TREES),
    ("text", "a.txt", LINES),
    ("tinystories", "a.txt", LINES),
    ("tinystories", "a.jsonl", "".join(json.dumps(s) + "\n" for s in STORIES)),
    ("wikipedia-dump", "a.xml", WIKI),
    ("wikipedia-sentences", "a.csv", 'text\nThe dog sat .\n"A, b ."\n'),
]
NAMES = [f"{reader} {name}" for reader, name, _ in CORPORA]
every_corpus = pytest.mark.parametrize(("reader", "name", "good"), CORPORA, ids=NAMES)


def read(folder, reader, name, content, **source):
    """Read a source: hold what comes of it to the contract, or the error to the promise."""
    shutil.rmtree(folder, ignore_errors=True)
    put(folder, name, content)
    output = folder / "out" / "sentences.parquet"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read_source(source_spec(reader, name.split("/")[0], **source), folder, output)
    except PoshgridError as error:
        (line,) = promised(error)
        assert str(folder) in line, f"{line!r} names no file"
        assert ";" in line or ":" in line
        assert not output.parent.exists() or not list(output.parent.iterdir())
        return None
    table = read_table(output, SOURCE)
    for text, n_words in zip(table["text"], table["n_words"], strict=True):
        assert n_words == len(text.split(" ")) > 0
        assert not GARBLING.search(text), repr(text)
    return table


def test_no_reader_is_forgotten():
    assert {reader for reader, *_ in CORPORA} == set(plugins.names(READERS)) - {"toy"}


@every_corpus
def test_the_files_are_good_before_they_are_damaged(tmp_path, reader, name, good):
    assert read(tmp_path / "d", reader, name, good.encode()) is not None


@every_corpus
@tried(40)
@given(st.data())
def test_damaged_files(tmp_path, reader, name, good, data):
    whole = good.encode()
    content = data.draw(st.one_of(damaged(whole), damaged(whole), recoded(whole)))
    read(tmp_path / "d", reader, name, content)


@every_corpus
@tried(8)
@given(st.data())
def test_damaged_archives(tmp_path, reader, name, good, data):
    pack = data.draw(st.sampled_from([".gz", ".bz2"]))
    packed = PACKERS[pack](data.draw(damaged(good.encode(), 1)))
    read(tmp_path / "d", reader, name + pack, data.draw(damaged(packed, 2)))


@pytest.mark.parametrize("reader", sorted({reader for reader, *_ in CORPORA}))
@tried(12)
@given(st.data())
def test_a_file_of_another_format(tmp_path, reader, data):
    """Somebody has put the wrong reader, or the wrong file, into the configuration."""
    name = next(name for each, name, _ in CORPORA if each == reader)
    read(
        tmp_path / "d", reader, name, data.draw(st.sampled_from([t for *_, t in CORPORA])).encode()
    )


MEMBERS = st.sampled_from(
    ["a.cha", "b.cha", "../a.cha", "/a.cha", "x/../../a.cha", "a.cha/", "A.CHA", ".a.cha", "",
     "__MACOSX/._a.cha", "a\nb.cha", "naïve.cha", "x" * 300 + ".cha", "C:\\a.cha", "a.cha/b.cha"]
)  # fmt: skip


@tried(50)
@given(st.data())
def test_zip_archives(tmp_path, data):
    """Nothing is unpacked to the disk, whatever the members are called."""
    whole = CHAT.encode()
    members = data.draw(
        st.lists(st.tuples(MEMBERS, damaged(whole, 1) | st.just(whole)), max_size=3)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name that is there twice
        packed = zipped(members)
    content = data.draw(st.one_of(st.just(packed), damaged(packed, 2)))
    read(tmp_path / "d", "chat", "a.zip", content)
    left = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()}
    assert left <= {"d/a.zip", "d/out/sentences.parquet", "d/out/statistics.json"}


NAMES_ON_DISK = [
    "a b.txt",
    "-rf.txt",
    "a\nb.txt",
    "\x1b[31m.txt",
    "naïve.txt",
    "x" * 250 + ".txt",
    "{x}.txt",
]


@pytest.mark.parametrize("name", NAMES_ON_DISK)
@pytest.mark.parametrize("good", [True, False])
def test_names_on_the_disk(tmp_path, name, good):
    content = b"The dog sat.\n" if good else b"\xff\xfe"
    put(tmp_path, f"d/{name}", content)
    spec = source_spec("text", "d")
    output = tmp_path / "out" / "sentences.parquet"
    if good:
        read_source(spec, tmp_path, output)
        assert read_table(output, SOURCE)["text"].to_list() == ["The dog sat."]
        return
    with pytest.raises(PoshgridError) as caught:
        read_source(spec, tmp_path, output)
    assert "not UTF-8" in str(caught.value)


BLIMP = {
    "sentence_good": "The dog sat.",
    "sentence_bad": "The dog sit.",
    "UID": "agr",
    "linguistics_term": "x",
}
GRID = "".join(
    f"subj,{n},{c},{text}\n"
    for n in (1, 2)
    for c, text in [("PFPG", "I know who you met today."),
                    ("MFPG", "I know that you met today."),
                    ("PFMG", "I know who you met him today."),
                    ("MFMG", "I know that you met him today.")]
)  # fmt: skip
FILES = [
    ("blimp", "agr.jsonl", (json.dumps(BLIMP) + "\n") * 3),
    ("lines", "agr.txt", "The dog sit.\nThe dog sat.\n" * 3),
    ("scamp", "agr.tsv", "The dog sat.\tThe dog sit.\n" * 3),
    ("acceptability", "a.csv", "item_id,category,phenomenon,good,bad\n"
     "1,a,b,The dog sat.,The dog sit.\n"),
    ("choices", "a.csv", "item_id,category,phenomenon,block,stimulus,target,distractor1\n"
     "1,a,b,A,The dog is seen by the cat.,the cat sees the dog,the dog sees the cat\n"),
    ("completions", "a.csv", "item_id,category,phenomenon,prompt,accepted\n"
     "1,a,b,The dog,sat|sits\n"),
    ("paradigm-csv", "a.csv", "sentence_type,item_id,condition,full_sentence\n" + GRID),
]  # fmt: skip
every_suite = pytest.mark.parametrize(("reader", "name", "good"), FILES, ids=[r for r, *_ in FILES])


def load(folder, reader, name, content, **options):
    """Load a suite, or hold its refusal to the promise."""
    shutil.rmtree(folder, ignore_errors=True)
    path = put(folder, name, content)
    module = plugins.load(SUITES, reader)
    try:
        found = module.load(path, plugins.options(SUITES, reader, options), None)
    except PoshgridError as error:
        (line,) = promised(error)
        assert str(path) in line, f"{line!r} names no file"
        return None
    for column in found.items.select(cs.string()):
        garbling = [text for text in column.drop_nulls() if GARBLING.search(text)]
        assert not garbling, f"{column.name}: {garbling[:3]}"
    return found


def test_no_suite_that_is_read_is_forgotten():
    made = {"templates", "factorial", "paradigms"}
    assert {reader for reader, *_ in FILES} == set(plugins.names(SUITES)) - made


@every_suite
def test_the_suites_are_good_before_they_are_damaged(tmp_path, reader, name, good):
    assert load(tmp_path / "d", reader, name, good.encode()) is not None


@every_suite
@tried(40)
@given(st.data())
def test_damaged_suites(tmp_path, reader, name, good, data):
    whole = good.encode()
    content = data.draw(st.one_of(damaged(whole), damaged(whole), recoded(whole)))
    skip = (
        {"malformed": data.draw(st.sampled_from(["error", "skip"]))}
        if reader in {"blimp", "lines", "scamp"}
        else {}
    )
    load(tmp_path / "d", reader, name, content, **skip)


@tried(25)
@given(st.data())
def test_damaged_parquet(tmp_path, data):
    """Tables of stories and of pairs, and every table of our own."""
    import polars as pl

    from poshgrid.files import table_batches

    stories = {"text": ["The dog sat."] * 20}
    pairs = {"sentence_good": ["The dog sat."] * 20, "sentence_bad": ["Dog."] * 20}
    for reader, columns in (("tinystories", stories), ("blimp", pairs)):
        path = tmp_path / "whole.parquet"
        pl.DataFrame(columns).write_parquet(path)
        content = data.draw(damaged(path.read_bytes(), 2))
        use = read if reader == "tinystories" else load
        use(tmp_path / "d", reader, "a.parquet", content)
    rows = [("d", i, "The dog sat.", 3) for i in range(20)]
    pl.DataFrame(rows, schema=SOURCE, orient="row").write_parquet(path)
    path.write_bytes(data.draw(damaged(path.read_bytes(), 2)))
    for way in (read_table, lambda *given: list(table_batches(*given))):
        try:
            way(path, SOURCE)
        except PoshgridError as error:
            (line,) = promised(error)
            assert str(path) in line
