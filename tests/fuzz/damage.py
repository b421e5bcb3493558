"""How files go wrong: cut, damaged, mixed up, badly packed."""

from __future__ import annotations

import bz2
import gzip
import io
import zipfile
from collections.abc import Sequence

from hypothesis import strategies as st

NASTY = [
    b"", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\x80", b"\xe2\x80", b"\xed\xa0\x80", b"\r", b"\r\n",
    b"\n\n\n", b"\x0b", b"\x0c", b"\x1a", b"\x1b[31m", b"\x85", b"\xc2\x85", b"\xe2\x80\xa8",
    b"\xe2\x80\xae", b"\xe2\x81\xa6", b"\xcc\x81" * 50, b"\xc2\xa0", b" " * 2_000, b"x" * 3_000,
    b"a " * 2_000,
    b"\xf0\x9f\x98\x80", b"<", b">", b"<![CDATA[", b"]]>", b"<!--", b"-->", b"&", b"&#0;",
    b"&#xD800;", b"&#x110000;", b"&undefined;", b"&amp;lt;script&amp;gt;", b"<!DOCTYPE a [",
    b"<?xml version='1.0' encoding='utf-7'?>", b"<?xml version='1.1'?>", b"{", b"}", b"{{" * 500,
    b"}}" * 500, b"[[" * 500, b"]]", b"[" * 1_500, b"(" * 1_500, b")" * 50, b"<" * 1_500,
    b'"', b"'", b'"' * 99, b",", b"," * 500, b"\t", b"\t" * 99, b"|", b"||||", b"*", b"*:",
    b"%", b"@",
    b"@Begin", b"@End\n", b"@ID:\t|||||||||\n", b"@Participants:\n", b"*MOT:\t", b"[//]",
    b"<a> [/] ", b"\\",
    b"\\u0000", b"\\ud800", b"1e999", b"NaN", b"-", b"null", b"<|endoftext|>",
    b"*** START OF", b"*** END OF",
    b"__proto__", b"=1+1", b"<script>alert(1)</script>",
]  # fmt: skip


@st.composite
def damaged(draw, whole: bytes, changes: int = 4) -> bytes:
    """Some bytes with up to so many changes."""
    content = whole
    for _ in range(draw(st.integers(1, changes))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.sampled_from([0, 0, 1, 3, 10, 60])))
        kind = draw(st.sampled_from(["put", "cut", "rest", "twice", "mixed", "flip", "begin"]))
        if kind == "put":
            put = draw(st.one_of(st.sampled_from(NASTY), st.binary(max_size=6)))
            content = content[:start] + put + content[end:]
        elif kind == "cut":
            content = content[:start]
        elif kind == "rest":
            content = content[start:]
        elif kind == "begin":
            content = draw(st.sampled_from(NASTY)) + content
        elif kind == "twice":
            content = content[:end] + content[start:]
        elif kind == "mixed":
            at = draw(st.integers(0, len(content)))
            content = content[:at] + content[start:end] + content[at:]
        elif content:
            at = min(start, len(content) - 1)
            content = (
                content[:at] + bytes([content[at] ^ draw(st.integers(1, 255))]) + content[at + 1 :]
            )
    return content


def recoded(whole: bytes) -> st.SearchStrategy[bytes]:
    """A whole file in another encoding, with other line ends, or as nothing that is text."""
    text = whole.decode()
    return st.sampled_from([
        b"", b"\n", b" \n \n",
        text.encode("utf-16"), text.encode("utf-16-le"), text.encode("utf-32"),
        text.encode("utf-7"), ("é" + text).encode("latin-1", "replace"),
        text.replace("\n", "\r").encode(),
        text.replace("\n", "").encode(), whole * 3, gzip.compress(whole), bytes(range(256)) * 4,
        b"PK\x03\x04" + whole, b"PAR1" + whole + b"PAR1", b"%PDF-1.4\n" + whole, whole + b"\x1a",
    ])  # fmt: skip


def zipped(members: Sequence[tuple[str, bytes]]) -> bytes:
    """A zip archive with members of any name, twice or not."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}
