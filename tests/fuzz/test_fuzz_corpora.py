"""Corpora as no publisher should send them: a table, or one line; nothing between."""

from __future__ import annotations

import bz2
import gzip
import shutil
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid import plugins
from poshgrid.corpora.read import READERS, read_source
from poshgrid.corpora.schema import SOURCE
from poshgrid.errors import PoshgridError
from poshgrid.files import read_table
from tests.unit.corpora.reader_support import put, source_spec

from .support import GARBLING, damaged, promised, recoded, tried

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
    ("wikipedia-dump", "a.xml", WIKI),
    ("wikipedia-sentences", "a.csv", 'text\nThe dog sat .\n"A, b ."\n'),
]
NAMES = [f"{reader} {name}" for reader, name, _ in CORPORA]
every_corpus = pytest.mark.parametrize(("reader", "name", "good"), CORPORA, ids=NAMES)


def read(folder, reader, name, content, **source):
    """Read a source: check what comes of it, or the error."""
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
    suffix, pack = data.draw(st.sampled_from([(".gz", gzip.compress), (".bz2", bz2.compress)]))
    packed = pack(data.draw(damaged(good.encode(), 1)))
    read(tmp_path / "d", reader, name + suffix, data.draw(damaged(packed, 2)))


@pytest.mark.parametrize("name", ["a b.txt", "-rf.txt", "naïve.txt"])
@pytest.mark.parametrize("content", [b"The dog sat.\n", b"\xff\xfe"])
def test_names_on_the_disk(tmp_path, name, content):
    assert (read(tmp_path / "d", "text", name, content) is None) == (content == b"\xff\xfe")
