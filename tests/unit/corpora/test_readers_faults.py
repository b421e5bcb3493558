"""The same faults in the files of every reader: missing, empty, binary, cut, badly packed."""

import bz2
import gzip

import pytest

from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.core.plugins import READERS
from tests.unit.corpora.reader_support import SAMPLES, every_reader, put, read, refused, table_of

READERS_OF_FILES = sorted({reader for reader, *_ in SAMPLES})


def test_no_reader_is_forgotten():
    assert {*plugins.names(READERS)} == {*READERS_OF_FILES, "toy"}


@every_reader
def test_the_files_are_good_before_they_are_broken(tmp_path, reader, name, good):
    plain, _ = table_of(tmp_path, reader, put(tmp_path, name, good).name)
    for ending, module in (("gz", gzip), ("bz2", bz2)):
        packed = put(tmp_path, f"{name}.{ending}", module.compress(good.encode()))
        assert table_of(tmp_path, reader, packed.name)[0].equals(plain)


@every_reader
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_files_that_are_no_text(tmp_path, reader, name, good, pack):
    name += ".gz" if pack is gzip.compress else ""
    for written, message in {
        b"dog\0": r"line \d+: binary file|broken XML",
        b"d\xf4g": r"line \d+ or soon after: not UTF-8 .*`iconv|broken XML",
    }.items():
        refused(tmp_path, reader, name, pack(good.encode().replace(b"dog", written)), message)


@every_reader
def test_files_that_are_missing_empty_or_cut(tmp_path, reader, name, good):
    refused(tmp_path, reader, name, None, "not found; check the path")
    refused(tmp_path, reader, name, b"", "empty file; replace it or remove it")
    packed = gzip.compress(good.encode())
    refused(tmp_path, reader, f"{name}.gz", gzip.compress(b""), "empty file")
    flipped = packed[:-6] + bytes([packed[-6] ^ 1]) + packed[-5:]
    for broken in (packed[:-1], packed[: len(packed) // 2], packed[:5], flipped, good.encode()):
        refused(tmp_path, reader, f"{name}.gz", broken, r"broken \.gz file .*download or pack it")


@every_reader
def test_a_byte_order_mark_and_other_line_ends_change_nothing(tmp_path, reader, name, good):
    plain, marked, windows = (
        read(reader, put(tmp_path, name, content))[0]
        for content in (good, "\ufeff" + good, good.replace("\n", "\r\n"))
    )
    assert plain == marked == windows != []


@pytest.mark.parametrize("reader", sorted({*READERS_OF_FILES} - {"switchboard"}))
def test_a_folder_without_a_file_of_the_reader_is_named(tmp_path, reader):
    put(tmp_path, "here/notes.md", "not read")
    with pytest.raises(PoshgridError, match=r"here: no file ends in \.\S+"):
        plugins.load(READERS, reader).files(tmp_path / "here", plugins.options(READERS, reader, {}))


def test_text_of_windows_notepad_is_named_by_its_encoding(tmp_path):
    refused(tmp_path, "text", "a.txt", "A dog.\n".encode("utf-16"), "line 1 .*`iconv -f utf-16 -t")
