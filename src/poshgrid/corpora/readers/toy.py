"""Sentences generated from the toy grammar."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from poshgrid.config.base import Positive, Seed
from poshgrid.core import plugins
from poshgrid.corpora import toy
from poshgrid.corpora.report import Report

SPLIT = False
ENGLISH = True


class Options(plugins.Options):
    """Which text to generate from the grammar."""

    register_: Literal["baby", "wiki"] = Field(
        "baby",
        alias="register",
        description="register of `resources/toy/grammar.yaml`: `baby` or `wiki`",
    )
    words: Positive = Field(100_000, description="Stop at so many words, separated by white space")
    seed: Seed = Field(42, description="another seed, another text")


def files(path: Path, options: Options) -> list[Path]:
    """Return the grammar's files; ``path`` is not used."""
    return toy.files()


def read(path: Path, options: Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (document, sentence) until ``options.words`` is reached."""
    words = 0
    for sentence in toy.sentences(options.register_, options.seed):
        if words >= options.words:
            return
        words += sentence.text.count(" ") + 1
        report.lines += 1
        yield sentence.document, sentence.text
