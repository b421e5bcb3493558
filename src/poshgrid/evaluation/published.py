"""Read published judgements in the three formats of earlier studies.

- POSH-BENCH (xiulinyang/posh-bench): tab-separated values, a file for each run and phenomenon, a
  line for each pair: ``sentence1`` (bad), ``PPL1``, ``Sentence2`` (good), ``PPL2``, ``Correct``.
  PPL is not perplexity but mean surprisal, in nats per token. The file's name gives the run.
- Zorro (phueb/Zorro): ``probing_PHENOMENON_results_STEP.txt``, a line for each sentence with its
  cross-entropy, the bad member of a pair before the good one.
- Parasitic gaps (Pistotti/llm-poverty-of-stimulus): ``SUITE_stimuli.csv``, which the reader
  ``paradigm-csv`` reads, and ``SUITE_surprisals.csv``: a line for each set, a column for each
  condition with the surprisal of the critical region in bits.

The member with the lower number is preferred. The files have only means over tokens; therefore each
member counts as one token: margins are means, in nats per token, and ``reduction: sum`` gives the
same judgements as ``mean``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import polars as pl

from poshgrid.benchmark import items as suites
from poshgrid.benchmark.reading import table10, tablefile
from poshgrid.benchmark.suites import pairs, paradigm_csv
from poshgrid.config import specs
from poshgrid.config.base import path_name
from poshgrid.config.runs import GIVEN, PRETRAINED, RELEASED, Run
from poshgrid.config.sizes import words
from poshgrid.core.errors import PoshgridError
from poshgrid.corpora import textfile
from poshgrid.evaluation.schema import PARADIGM_SCORES, SCORES

COLUMNS = ("sentence1", "PPL1", "Sentence2", "PPL2", "Correct")
# gpt2_mini_baby_10Mf_32768_42_wanna.tsv: model, corpus, size, f if filtered, vocabulary, seed
_POSH = re.compile(
    r"(?P<model>[a-z0-9]+_[a-z]+)_(?P<corpus>[a-z]+)_(?P<size>[0-9.]+[KM])(?P<filtered>f?)"
    r"_[0-9]+_(?P<seed>[0-9]{1,10})_(?P<phenomenon>[\w-]+)"
)
_ZORRO = re.compile(r"probing_(?P<phenomenon>[\w-]+)_results_[0-9]+")
_SURPRISALS = "_surprisals.csv"

Tables = dict[str, pl.DataFrame]
"""Phenomenon -> good, bad, good_logprob, bad_logprob (nats per token)."""


class Published(NamedTuple):
    """Published judgements, as tables for the next stages."""

    items: dict[str, pl.DataFrame]  # suite -> PAIRS or PARADIGMS
    runs: dict[str, Tables]  # run -> suite -> SCORES or PARADIGM_SCORES
    cells: dict[str, specs.Cell]  # "condition/size" -> its facts, if the file names give them


def read(folder: Path, suite: str = "posh", model: str | None = None) -> Published:
    """Read published judgements.

    Args:
        folder: the published files, all in one format. In a file name of POSH-BENCH, *f* after the
            size means that evidence was removed: condition baby-f.
        suite: name of the suite of pairs; the file names give the suites of parasitic gaps.
        model: name of the model, if the files do not give it; default: the folder's name.

    Returns:
        Pairs, with the numbers that the reader ``pairs`` gives them, or sets of filler x gap; and
        the scores.

    Raises:
        PoshgridError: there is no file of a known format, a file name does not give a run, a line
            is malformed, or runs judged different items.
    """
    name = path_name(model or folder.resolve().name)
    run = Run(PRETRAINED, GIVEN, name, PRETRAINED, "none", 0).name
    judged: dict[str, Tables] = {}
    cells: dict[str, specs.Cell] = {}
    for path in sorted(folder.rglob("*.tsv")):
        of, phenomenon, cell = _named(path)
        judged.setdefault(of.name, {})[phenomenon] = _judgements(path)
        cells[f"{of.condition}/{of.size}"] = cell
    if judged:
        return _pairs(folder, suite, judged, cells)
    if files := sorted(folder.glob(f"*{_SURPRISALS}")):
        return _gaps(files, run)
    if files := [path for path in sorted(folder.glob("*.txt")) if _ZORRO.fullmatch(path.stem)]:
        return _pairs(folder, suite, {run: dict(map(_zorro, files))}, {})
    raise PoshgridError(
        f"{folder}: no judgements in a known format; name a folder of .tsv files of "
        f"POSH-BENCH, of Zorro's probing_*_results_*.txt, or of *{_SURPRISALS} and *_stimuli.csv"
    )


def _pairs(
    folder: Path, suite: str, judged: Mapping[str, Tables], cells: dict[str, specs.Cell]
) -> Published:
    """Return the judgements of pairs; raise if runs judged different pairs."""
    run_name, expected = next(iter(judged.items()))
    for other, tables in judged.items():
        if odd := sorted(tables.keys() ^ expected.keys()):
            raise PoshgridError(
                f"{folder}: only one of {run_name} and {other} has {odd[0]}; add its file"
            )
        for phenomenon, table in tables.items():
            if not table.select("good", "bad").equals(expected[phenomenon].select("good", "bad")):
                raise PoshgridError(
                    f"{folder}: {phenomenon}: {other} judged other pairs than {run_name}; keep one "
                    "suite's files"
                )
    rows = []
    for phenomenon, table in sorted(expected.items()):
        members = enumerate(table.select("good", "bad").iter_rows(), 1)
        numbered = [(n, pairs.Pair(good, bad, (n + 1, n + 1))) for n, (good, bad) in members]
        rows += pairs.rows(phenomenon, numbered, pairs.Options())
    items = suites.pairs(str(folder), pl.DataFrame(rows))
    runs = {}
    for name, tables in sorted(judged.items()):
        table = pl.concat(table for _, table in sorted(tables.items()))
        one = pl.lit(1)
        scores = table.select(
            items["item_id"], "good_logprob", "bad_logprob", step=None, good_tokens=one,
            bad_tokens=one,
        )  # fmt: skip
        runs[name] = {suite: scores.select(pl.col(c).cast(kind) for c, kind in SCORES.items())}
    return Published({suite: items}, runs, cells)


def _named(path: Path) -> tuple[Run, str, specs.Cell]:
    """Return the run, the phenomenon and the cell in the name of a file of POSH-BENCH."""
    match = _POSH.fullmatch(path.stem)
    if not match:
        raise PoshgridError(
            f"{str(path)!a}: its name does not give a run; call it "
            "MODEL_BASE_SIZE_VOCABULARY_SEED_PHENOMENON.tsv (gpt2_mini_baby_10M_32768_42_wanna)"
        )
    try:
        size = words(match["size"])
    except ValueError as error:
        raise PoshgridError(f"{path}: {error}") from error
    filtered = bool(match["filtered"])
    condition, model = match["corpus"] + "-f" * filtered, match["model"].replace("_", "-")
    run = Run(condition, match["size"], model, RELEASED, "none", int(match["seed"]))
    cell = specs.Cell(words=size, source=match["corpus"], filtered=filtered)
    return run, table10.spelled(match["phenomenon"]), cell


def _judgements(path: Path) -> pl.DataFrame:
    """Return the pairs of a file of POSH-BENCH and the log-probabilities of both members."""
    lines = [line.rstrip("\r\n").split("\t") for line in textfile.lines(path)] or [[]]
    if [name.casefold() for name in lines[0]] != [name.casefold() for name in COLUMNS]:
        raise PoshgridError(f"{path}: line 1: the columns must be {', '.join(COLUMNS)}")
    return _table(path, [row[:-1] for row in lines[1:]], first=2, lines=1)


def _zorro(path: Path) -> tuple[str, pl.DataFrame]:
    """Return the phenomenon of a file of Zorro, and its pairs with their log-probabilities."""
    match = _ZORRO.fullmatch(path.stem)
    lines = [line.rstrip().rpartition(" ")[::2] for line in textfile.lines(path)]
    rows = [[*bad, *good] for bad, good in zip_longest(lines[::2], lines[1::2], fillvalue=())]
    return table10.spelled(match["phenomenon"] if match else ""), _table(path, rows, 1, lines=2)


def _table(path: Path, rows: list[list[str]], first: int, lines: int) -> pl.DataFrame:
    """Return a table of pairs from rows of bad, its surprisal, good, its surprisal.

    Args:
        path: their file.
        rows: as written.
        first: number of the first pair's line.
        lines: number of lines for each pair.
    """
    table = []
    for number, row in enumerate(rows):
        try:
            bad, of_bad, good, of_good = row
            table.append((good, bad, -float(of_good), -float(of_bad)))
            if not all(map(math.isfinite, table[-1][2:])):
                raise ValueError
        except ValueError as error:
            raise PoshgridError(
                f"{path}: line {lines * number + first:,}: not a sentence and a number for each "
                "member of a pair; compare the file with the published one"
            ) from error
    of_scores = ("good_logprob", "bad_logprob")
    kinds = dict.fromkeys(("good", "bad"), pl.String()) | dict.fromkeys(of_scores, pl.Float64())
    return pl.DataFrame(table, kinds, orient="row")


class _Surprisals(paradigm_csv.Set, extra="allow"):
    """A set, and the surprisal of each condition in bits."""

    __pydantic_extra__: dict[str, float]


def _gaps(files: list[Path], run: str) -> Published:
    """Return sets of filler x gap and the log-probabilities of their critical regions."""
    items, scores = {}, {}
    for path in files:
        suite = path.name.removesuffix(_SURPRISALS)
        stimuli = path.with_name(f"{suite}_stimuli.csv")
        items[suite] = paradigm_csv.load(stimuli, paradigm_csv.Options()).items
        rows = []
        for row in tablefile.table(path):
            measured = row.read_as(_Surprisals)
            for name, bits in measured.__pydantic_extra__.items():
                try:
                    filler, gap = paradigm_csv.condition(name)
                except ValueError as error:
                    raise row.fault(str(error)) from error
                rows.append((measured.name, None, filler, gap, -bits * math.log(2), 1))
        scores[suite] = pl.DataFrame(rows, PARADIGM_SCORES, orient="row")
    return Published(items, {run: scores}, {})
