"""What the fuzz tests share: how many examples, the command line in this process, and its promise.

The promise (``docs/safety.md``): whatever is put in, there is a result, or a status that is not
zero and lines that a person can act on; never a traceback.
"""

from __future__ import annotations

import contextlib
import io
import os
import unicodedata
from dataclasses import dataclass

import typer
from hypothesis import HealthCheck, Phase, settings

from poshgrid.cli import app
from poshgrid.errors import PoshgridError

TIMES = int(os.environ.get("POSHGRID_FUZZ", "1"))
"""How many times as many examples as CI tries; more than 1: other ones at each run."""
SHRINK = bool(os.environ.get("POSHGRID_FUZZ_SHRINK"))
"""Whether a failing example is made as small as can be."""
COMMAND = typer.main.get_command(app)
LONGEST = 1_000
"""Characters of a message: who repeats a megabyte of a broken file hides what is wrong."""

SCRIPT = "<script>alert(1)</script>"
HOSTILE = [
    "", " ", ".", "..", "../x", "../../etc/passwd", "/etc/passwd", "~/x", "a/b", "a\\b", "a\0b",
    "\0", "-rf", "--help", "a b", "a\nb", "a\tb", "naïve", "子", "\u202eabc", "e\u0301", "x" * 65,
    "x" * 255, "x" * 5_000, "CON", "nul", "Aux", "com1", "LPT9", "con.txt", "NUL.tar.gz", "a.",
    "a ", "a:b", "a*b", "a?b", "{x}", "{}", "$(id)", "`id`", "a;b", "a'b", 'a"b', "a|b",
    "%00", "\ud800",
    SCRIPT, "=cmd|' /C calc'!A0", ".hidden", "_", "٣M", "１０M",
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


@dataclass(frozen=True)
class Answer:
    """What a command made of its arguments."""

    status: int
    lines: list[str]
    """Of the error; none where there is a result."""
    output: str


def poshgrid(*arguments: object) -> Answer:
    """Run the command line in this process, and hold it to the promise.

    As ``cli.main`` does, a :class:`PoshgridError` is what a person reads and an ``OSError`` that
    names its file as well; any other exception would be an "internal error", and fails the test.
    """
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            COMMAND.main([str(each) for each in arguments], prog_name="poshgrid")
        except SystemExit as end:
            status = int(end.code or 0)
            assert status in (0, 2), out.getvalue()  # 2: typer has shown how it is used
            return Answer(status, [], out.getvalue())
        except PoshgridError as error:
            return Answer(1, promised(error), out.getvalue())
        except OSError as error:
            if not error.filename:
                raise
            return Answer(1, [f"{error.filename}: {error.strerror}; check it"], out.getvalue())
    return Answer(0, [], out.getvalue())


def promised(error: PoshgridError) -> list[str]:
    """Return the lines of an error, each held to what a person needs: short, plain, not empty."""
    lines = str(error).split("\n")
    for line in lines:
        assert line.strip(), f"an empty line in {error!s}"
        assert len(line) <= LONGEST, f"{len(line):,} characters: {line[:200]} ..."
        strange = {c for c in line if unicodedata.category(c) in ("Cc", "Cs")}
        assert not strange, f"{line!r} would garble a terminal: {strange}"
        line.encode("utf-8")
    return lines
