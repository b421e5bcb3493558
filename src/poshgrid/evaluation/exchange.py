"""Judgements of others, in the form in which those of POSH-BENCH were published.

The published form (xiulinyang/posh-bench) is a file of tab-separated values for each run and
phenomenon, a pair on a line: ``sentence1`` (bad), ``PPL1``, ``Sentence2`` (good), ``PPL2``,
``Correct``. Its PPL is the mean surprisal, in nats a token, and no perplexity; a pair is correct if
the good member's is the lower.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import NamedTuple

import polars as pl

from poshgrid.benchmark import items as suites
from poshgrid.benchmark.reading import pairfile, table10
from poshgrid.benchmark.reading.pairfile import Pair, PairOptions
from poshgrid.config import runs as points
from poshgrid.config import specs
from poshgrid.config.sizes import words
from poshgrid.errors import PoshgridError
from poshgrid.evaluation.schema import SCORES

COLUMNS = ("sentence1", "PPL1", "Sentence2", "PPL2", "Correct")
# gpt2_mini_baby_10Mf_32768_42_wanna.tsv: learner, base, size, f where filtered, vocabulary, seed
_PUBLISHED = re.compile(
    r"(?P<learner>[a-z0-9]+_[a-z]+)_(?P<base>[a-z]+)_(?P<size>[0-9.]+[KM])(?P<filtered>f?)"
    r"_[0-9]+_(?P<seed>[0-9]+)_(?P<phenomenon>.+)"
)


class Published(NamedTuple):
    """Judgements of others, as the stages that follow read them."""

    items: pl.DataFrame  # ITEMS
    runs: dict[str, pl.DataFrame]  # run -> SCORES
    cells: dict[str, specs.Cell]  # "condition/size" -> what its name tells


def read(folder: Path) -> Published:
    """Read judgements in the published form.

    Args:
        folder: the published files, or files called by their phenomenon, in a folder for each run
            (condition/size/learner/regimen/bias/seedN). In the name of a published file *f* after
            the size means that evidence was removed: condition baby-f.

    Returns:
        The pairs as the reader ``lines`` would number them; and scores whose members count as one
        token each, since the files tell means over tokens alone: margins are means, in nats a
        token, and ``reduction: sum`` says the same as ``mean``.

    Raises:
        PoshgridError: no such file, a name that tells no run, a line that is none, or runs that
            judged other pairs.
    """
    judged: dict[str, dict[str, pl.DataFrame]] = {}
    for path in _listed(folder):
        run, phenomenon = _named(path, folder)
        if phenomenon in judged.setdefault(run, {}):
            raise PoshgridError(f"{path}: a second file of {phenomenon} for {run}; keep one")
        judged[run][phenomenon] = _judgements(path)
    run, expected = next(iter(judged.items()))
    for other, tables in judged.items():
        if odd := sorted(tables.keys() ^ expected.keys()):
            raise PoshgridError(f"{folder}: {run} and {other} have not both {odd[0]}; add its file")
        for phenomenon, table in tables.items():
            if not table.select("good", "bad").equals(expected[phenomenon].select("good", "bad")):
                raise PoshgridError(
                    f"{folder}: {phenomenon}: {other} judged other pairs than {run}; keep one "
                    "suite's files"
                )
    rows = [
        row
        for phenomenon, table in sorted(expected.items())
        for row in pairfile.rows(
            phenomenon,
            [
                (n, Pair(good, bad, (n + 1, n + 1)))
                for n, (good, bad) in enumerate(table.select("good", "bad").iter_rows(), 1)
            ],
            PairOptions(),
        )
    ]
    items = suites.pairs(str(folder), pl.DataFrame(rows))
    runs = {}
    for name, tables in sorted(judged.items()):
        table = pl.concat(table for _, table in sorted(tables.items()))
        one = pl.lit(1)
        scores = table.select(
            items["item_id"], "good_logprob", "bad_logprob", step=None, good_tokens=one,
            bad_tokens=one,
        )  # fmt: skip
        runs[name] = scores.select(pl.col(column).cast(kind) for column, kind in SCORES.items())
    return Published(items, runs, dict(map(_cell, runs)))


def _listed(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise PoshgridError(f"{folder}: no such folder; name one with published judgements")
    found = sorted(folder.rglob("*.tsv"))
    if not found:
        raise PoshgridError(f"{folder}: holds no .tsv file; name a folder of judgements")
    return found


def _named(path: Path, folder: Path) -> tuple[str, str]:
    """Return the run and the phenomenon that a file's place or name tells."""
    # Bytes that are no UTF-8 become half characters in a name.
    if not str(path.relative_to(folder)).isprintable():
        raise PoshgridError(f"{str(path)!a}: its name is not all text; rename it")
    run = path.parent.relative_to(folder).as_posix()
    if run != ".":
        if specs.RUN.fullmatch(run):
            return run, path.stem
    elif match := _PUBLISHED.fullmatch(path.stem):
        condition = match["base"] + ("-f" if match["filtered"] else "")
        learner = match["learner"].replace("_", "-")
        point = points.Run(
            condition, match["size"], learner, points.RELEASED, "none", int(match["seed"])
        )
        if specs.RUN.fullmatch(point.name):
            return point.name, table10.spelled(match["phenomenon"])
    raise PoshgridError(
        f"{path}: its name tells no run; call it LEARNER_BASE_SIZE_VOCABULARY_SEED_PHENOMENON.tsv "
        "(gpt2_mini_baby_10M_32768_42_wanna.tsv), or put it in a folder "
        "condition/size/learner/regimen/bias/seedN"
    )


def _judgements(path: Path) -> pl.DataFrame:
    """Return the pairs of a file and the log-probabilities of both members, nats a token."""
    from poshgrid.corpora import textfile

    cells = [line.rstrip("\r\n").split("\t") for line in textfile.lines(path)]
    header, *lines = cells or [[]]
    if [name.casefold() for name in header] != [name.casefold() for name in COLUMNS]:
        raise PoshgridError(f"{path}: line 1: the columns must be {', '.join(COLUMNS)}")
    rows = []
    for number, row in enumerate(lines, 2):
        try:
            bad, of_bad, good, of_good, _ = row
            rows.append((good, bad, -float(of_good), -float(of_bad)))
        except ValueError:
            rows.append(("", "", math.nan, math.nan))
        if not all(map(math.isfinite, rows[-1][2:])):
            raise PoshgridError(
                f"{path}: line {number:,}: not a sentence and a number twice, and a word, with "
                "tabs between; compare the file with the published one"
            )
    return pl.DataFrame(rows, ["good", "bad", "good_logprob", "bad_logprob"], orient="row")


def _cell(run: str) -> tuple[str, specs.Cell]:
    """Return a run's cell, as far as its name tells."""
    point = points.Run.parse(run)
    filtered = point.condition.endswith("-f")
    try:
        size = words(point.size)
    except ValueError as error:
        raise PoshgridError(f"run {run}: {error}") from error
    cell = specs.Cell(words=size, source=point.condition.removesuffix("-f"), filtered=filtered)
    return f"{point.condition}/{point.size}", cell
