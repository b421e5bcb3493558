"""The same faults in the files of every reader: missing, empty, binary, cut, badly packed."""

from __future__ import annotations

import bz2
import gzip

import pytest

from poshgrid import plugins
from poshgrid.corpora.read import READERS
from poshgrid.corpora.report import Report
from poshgrid.errors import PoshgridError
from tests.unit.corpora.reader_support import put, refused, table_of

CHAT = (
    "@UTF8\n@Begin\n@Participants:\tCHI Ann Target_Child, MOT Mother\n*MOT:\tthe dog sat .\n@End\n"
)
BOOK = (
    "*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\nThe dog sat.\n\n"
    "*** END OF THE PROJECT GUTENBERG EBOOK X ***\n"
)
TABLE = "gloss,type,speaker_code,speaker_role,transcript_id\nthe dog sat,declarative,MOT,Mother,1\n"
SPEECH = "<bncDoc><stext><u><s><w>the </w><w>dog </w><w>sat</w></s></u></stext></bncDoc>"
PAGE = "<page><title>A</title><ns>0</ns><revision><text>The dog sat.</text></revision></page>"
WHOLE = [
    ("babylm", "bnc_spoken.train", "The dog sat.\n"),
    ("bnc-xml", "a.xml", SPEECH),
    ("chat", "a.cha", CHAT),
    ("childes-db", "a.csv", TABLE),
    ("gutenberg", "a.txt", BOOK),
    ("opus", "a.txt", "The dog sat.\n"),
    ("opus", "a.xml", '<document id="1"><s id="1">The dog sat.</s></document>'),
    ("switchboard", "transcript", "A.1: The dog sat.\n"),
    ("switchboard-mrg", "a.mrg", "( (S (NP (DT The) (NN dog)) (VP (VBD sat))))\n"),
    ("text", "a.txt", "The dog sat.\n"),
    ("tinystories", "a.txt", "The dog sat.\n"),
    ("wikipedia-dump", "a.xml", f"<mediawiki>{PAGE}</mediawiki>"),
    ("wikipedia-sentences", "a.csv", "text\nThe dog sat .\n"),
]


def each(files):
    """Run a test for each of some files."""
    names = [f"{reader} {name}" for reader, name, _ in files]
    return pytest.mark.parametrize(("reader", "name", "good"), files, ids=names)


every_reader = each(WHOLE)
UNPACKED = [row for row in WHOLE if row[0] not in {"babylm", "tinystories"}]  # they go by names
PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress}


def test_no_reader_is_forgotten():
    assert {reader for reader, *_ in WHOLE} == set(plugins.names(READERS)) - {"toy"}


@every_reader
@pytest.mark.parametrize("pack", ["", ".gz"])
def test_the_files_are_good_before_they_are_broken(tmp_path, reader, name, good, pack):
    put(tmp_path, name + pack, PACKERS.get(pack, bytes)(good.encode()))
    frame, _ = table_of(tmp_path, reader, name + pack)
    assert [text.lower().rstrip(".") for text in frame["text"]] == ["the dog sat"]


def placed(name: str, fault: str) -> str:
    """The message for a fault; an XML parser has its own."""
    return "broken XML" if name.endswith(".xml") else fault


@every_reader
@pytest.mark.parametrize("pack", ["", ".gz"])
def test_files_that_are_no_text(tmp_path, reader, name, good, pack):
    whole, compress = good.encode(), PACKERS.get(pack, bytes)
    message = placed(name, r"line \d+: binary file \(a NUL byte\); give a text file")
    refused(tmp_path, reader, name + pack, compress(whole.replace(b"dog", b"dog\0")), message)
    message = placed(name, r"line \d+ or soon after: not UTF-8 .*`iconv")
    refused(tmp_path, reader, name + pack, compress(whole.replace(b"dog", b"d\xf4g")), message)


@every_reader
def test_files_that_are_missing_or_empty(tmp_path, reader, name, good):
    refused(tmp_path, reader, name, None, r"not found; check `data` and sources\[\]\.path")
    refused(tmp_path, reader, name, b"", "empty file; replace it or take it out")
    refused(tmp_path, reader, f"{name}.gz", gzip.compress(b""), "empty file; replace it")
    refused(tmp_path, reader, f"{name}.gz", b"", "empty file; replace it")


@every_reader
def test_packed_files_that_were_cut_or_damaged(tmp_path, reader, name, good):
    pack = ".gz"
    whole = PACKERS[pack](good.encode())
    broken = r"broken \.gz file "
    for length in (len(whole) - 1, len(whole) // 2, 5):
        refused(tmp_path, reader, name + pack, whole[:length], broken + r"\(")
    flipped = whole[:-6] + bytes([whole[-6] ^ 1]) + whole[-5:]
    refused(tmp_path, reader, name + pack, flipped, broken + r"\(.*\); download or pack it again")
    refused(tmp_path, reader, name + pack, good, broken + r"\(.*\); download or pack it again")


@every_reader
def test_a_byte_order_mark_and_other_line_ends_change_nothing(tmp_path, reader, name, good):
    module, found = plugins.load(READERS, reader), []
    for content in (good, "\ufeff" + good, good.replace("\n", "\r\n")):
        path = put(tmp_path, name, content)
        found.append(list(module.read(path, plugins.options(READERS, reader, {}), Report())))
    assert found[0] == found[1] == found[2] != []


@pytest.mark.parametrize("reader", sorted({reader for reader, *_ in WHOLE} - {"switchboard"}))
def test_a_folder_without_a_file_of_the_reader_is_named(tmp_path, reader):
    put(tmp_path, "here/notes.md", "not read")
    module = plugins.load(READERS, reader)
    with pytest.raises(PoshgridError, match=r"here: holds no \.\S+ .*; check sources\[\]\.path"):
        module.files(tmp_path / "here", plugins.options(READERS, reader, {}))
