"""What the tests of all readers share: samples, a file put there, a source read or refused."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from poshgrid import plugins
from poshgrid.config import Source, specs
from poshgrid.corpora.read import read_source
from poshgrid.corpora.report import Report
from poshgrid.corpora.schema import SOURCE
from poshgrid.errors import PoshgridError
from poshgrid.files import read_json, read_table
from poshgrid.plugins import READERS

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
<s id="2">No.</s></document>
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
SAMPLES = [
    ("babylm", "bnc_spoken.train", LINES),
    ("babylm", "childes.train", "*MOT:\tthe dog sat .\n"),
    ("bnc-xml", "a.xml", BNC),
    ("chat", "a.cha", CHAT),
    ("childes-db", "a.csv", TABLE),
    ("gutenberg", "a.txt", BOOK),
    ("opus", "a.txt", LINES),
    ("opus", "a.xml", OPUS),
    ("switchboard", "transcript", SPEECH),
    ("text", "a.txt", LINES),
    ("tinystories", "a.txt", LINES),
    ("wikipedia-dump", "a.xml", WIKI),
    ("wikipedia-sentences", "a.csv", 'text\nThe dog sat .\n"A, b ."\n'),
]
"""A whole file of every format: reader, name, content."""
every_reader = pytest.mark.parametrize(
    ("reader", "name", "good"), SAMPLES, ids=[f"{reader} {name}" for reader, name, _ in SAMPLES]
)


def put(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file and the folders above it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def source_spec(reader: str, path: str = ".", **source) -> specs.SourceSpec:
    """A source of the configuration, named "it"."""
    return specs.SourceSpec(source=Source(name="it", reader=reader, path=path, **source))


def read(reader: str, path: Path, **options) -> tuple[list[tuple[str, str]], Report]:
    """What a reader yields, and its report."""
    module, report = plugins.load(READERS, reader), Report()
    return list(module.read(path, plugins.options(READERS, reader, options), report)), report


def table_of(data: Path, reader: str, path: str = ".", **source) -> tuple[pl.DataFrame, dict]:
    """What becomes of a source: its table of sentences, and its statistics."""
    output = data / "out" / "sentences.parquet"
    statistics = read_source(source_spec(reader, path, **source), data, output)
    assert read_json(output.with_name("statistics.json")) == statistics
    return read_table(output, SOURCE), statistics


def refused(
    data: Path, reader: str, name: str, content: str | bytes | None, message: str, **source
) -> None:
    """Check that a broken file ends in one line that names it, and leaves nothing half-written."""
    if content is not None:
        put(data, name, content)
    output = data / "out" / "sentences.parquet"
    with pytest.raises(PoshgridError, match=message) as caught:
        read_source(source_spec(reader, name, **source), data, output)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not output.parent.exists() or not list(output.parent.iterdir())
