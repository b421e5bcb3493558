"""What the fuzz tests share: how many examples, how files go wrong, and what is promised.

The promise (``docs/safety.md``): whatever is put in, there is a result, or lines that a person can
act on; never a traceback.
"""

from __future__ import annotations

import gzip
import os
import re
import unicodedata

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from poshgrid.core.errors import PoshgridError

TIMES = int(os.environ.get("POSHGRID_FUZZ", "1"))
"""How many times as many examples as CI tries; more than 1: other ones at each run."""
SHRINK = bool(os.environ.get("POSHGRID_FUZZ_SHRINK"))
"""Whether a failing example is made as small as can be."""
GARBLING = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters and those that turn the text round: no sentence and no name has them."""
LONGEST = 1_000
"""Characters of a message: who repeats a megabyte of a broken file hides what is wrong."""

HOSTILE = [
    "", " ", ".", "..", "../../etc/passwd", "/etc/passwd", "~/x", "a/b", "a\\b", "a\0b", "-rf",
    "--help", "a b", "a\nb", "a\tb", "naïve", "子", "\u202eabc", "e\u0301", "x" * 65, "x" * 5_000,
    "CON", "nul", "con.txt", "a.", "a ", "a:b", "a*b", "a?b", "{x}", "{}", "$(id)", "`id`", "a;b",
    "a'b", 'a"b', "a|b", "%00", "\ud800", "<script>alert(1)</script>", "=cmd|' /C calc'!A0",
    ".hidden", "_", "٣M", "１０M",
]  # fmt: skip
"""Texts that are no good as a name of a file."""


def tried(examples: int) -> settings:
    """Settings of a fuzz test: so many examples in CI, the same at each run."""
    return settings(
        max_examples=examples * TIMES,
        derandomize=TIMES == 1,
        database=None,
        deadline=None,
        # To shrink an example takes hundreds of commands: that is for who mends it
        phases=list(Phase) if SHRINK else [Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def promised(error: PoshgridError) -> list[str]:
    """Return the lines of an error, each of them short, plain and not empty."""
    lines = str(error).split("\n")
    for line in lines:
        assert line.strip(), f"an empty line in {error!s}"
        assert len(line) <= LONGEST, f"{len(line):,} characters: {line[:200]} ..."
        strange = {c for c in line if unicodedata.category(c) in ("Cc", "Cs")}
        assert not strange, f"{line!r} would garble a terminal: {strange}"
        line.encode("utf-8")
    return lines


NASTY = [
    b"", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\x80", b"\xed\xa0\x80", b"\r", b"\n\n\n", b"\x0c",
    b"\x1a", b"\x1b[31m", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xae", b"\xcc\x81" * 50,
    b"\xc2\xa0", b" " * 2_000, b"x" * 3_000, b"a " * 2_000, b"\xf0\x9f\x98\x80", b"<", b">",
    b"<![CDATA[", b"]]>", b"<!--", b"-->", b"&", b"&#0;", b"&#xD800;", b"&undefined;",
    b"<!DOCTYPE a [", b"<?xml version='1.0' encoding='utf-7'?>", b"{", b"}", b"{{" * 500,
    b"}}" * 500, b"[[" * 500, b"]]", b"[" * 1_500, b"(" * 1_500, b")" * 50, b"<" * 1_500, b'"',
    b"'", b'"' * 99, b",", b"," * 500, b"\t" * 99, b"|", b"*:", b"%", b"@Begin", b"@End\n",
    b"@ID:\t|||||||||\n", b"@Participants:\n", b"*MOT:\t", b"[//]", b"<a> [/] ", b"\\u0000",
    b"1e999", b"NaN", b"null", b"<|endoftext|>", b"*** START OF", b"*** END OF", b"=1+1",
    b"<script>alert(1)</script>",
]  # fmt: skip


@st.composite
def damaged(draw, whole: bytes, changes: int = 4) -> bytes:
    """Some bytes with up to so many changes."""
    content = whole
    for _ in range(draw(st.integers(1, changes))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.sampled_from([0, 0, 1, 3, 10, 60])))
        kind = draw(st.sampled_from(["put", "cut", "rest", "twice", "mixed", "flip"]))
        if kind == "put":
            put = draw(st.one_of(st.sampled_from(NASTY), st.binary(max_size=6)))
            content = content[:start] + put + content[end:]
        elif kind == "cut":
            content = content[:start]
        elif kind == "rest":
            content = content[start:]
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
