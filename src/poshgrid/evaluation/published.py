"""Judgements of others, in the form in which those of POSH-BENCH were published.

The published form (xiulinyang/posh-bench) is a file of tab-separated values for each run and
phenomenon, a pair on a line: ``sentence1`` (bad), ``PPL1``, ``Sentence2`` (good), ``PPL2``,
``Correct``. Its PPL is the mean surprisal, in nats a token, and no perplexity; a pair is correct if
the good member's is the lower.
"""

from __future__ import annotations

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
from poshgrid.errors import PoshgridError, reason
from poshgrid.evaluation.schema import SCORES

COLUMNS = ("sentence1", "PPL1", "Sentence2", "PPL2", "Correct")
# gpt2_mini_baby_10Mf_32768_42_wanna.tsv: model, corpus, size, f where filtered, vocabulary, seed
_PUBLISHED = re.compile(
    r"(?P<model>[a-z0-9]+_[a-z]+)_(?P<corpus>[a-z]+)_(?P<size>[0-9.]+[KM])(?P<filtered>f?)"
    r"_[0-9]+_(?P<seed>[0-9]{1,10})_(?P<phenomenon>[\w-]+)"
)


class Published(NamedTuple):
    """Judgements of others, as the stages that follow read them."""

    items: pl.DataFrame  # ITEMS
    runs: dict[str, pl.DataFrame]  # run -> SCORES
    cells: dict[str, specs.Cell]  # "condition/size" -> what its name says


def read(folder: Path) -> Published:
    """Read judgements in the published form.

    Args:
        folder: the published files. In the name of a file *f* after the size means that evidence
            was removed: condition baby-f.

    Returns:
        The pairs as the reader ``lines`` would number them; and scores whose members count as one
        token each, since the files tell means over tokens alone: margins are means, in nats a
        token, and ``reduction: sum`` says the same as ``mean``.

    Raises:
        PoshgridError: no such file, a name that is not a run's, a malformed line, or runs that
            judged other pairs.
    """
    judged: dict[str, dict[str, pl.DataFrame]] = {}
    cells: dict[str, specs.Cell] = {}
    for path in sorted(folder.rglob("*.tsv")):
        run, phenomenon, cell = _named(path)
        judged.setdefault(run.name, {})[phenomenon] = _judgements(path)
        cells[f"{run.condition}/{run.size}"] = cell
    if not judged:
        raise PoshgridError(f"{folder}: holds no .tsv file; name a folder of judgements")
    run_name, expected = next(iter(judged.items()))
    for other, tables in judged.items():
        if odd := sorted(tables.keys() ^ expected.keys()):
            raise PoshgridError(
                f"{folder}: {run_name} and {other} have not both {odd[0]}; add its file"
            )
        for phenomenon, table in tables.items():
            if not table.select("good", "bad").equals(expected[phenomenon].select("good", "bad")):
                raise PoshgridError(
                    f"{folder}: {phenomenon}: {other} judged other pairs than {run_name}; keep one "
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
    return Published(items, runs, cells)


def _named(path: Path) -> tuple[points.Run, str, specs.Cell]:
    """Return the run, the phenomenon and the cell that a file's name gives."""
    match = _PUBLISHED.fullmatch(path.stem)
    if not match:
        raise PoshgridError(
            f"{str(path)!a}: its name is no run's; call it "
            "MODEL_BASE_SIZE_VOCABULARY_SEED_PHENOMENON.tsv (gpt2_mini_baby_10M_32768_42_wanna)"
        )
    try:
        size = words(match["size"])
    except ValueError as error:
        raise PoshgridError(f"{path}: {error}") from error
    filtered = bool(match["filtered"])
    condition, model = match["corpus"] + "-f" * filtered, match["model"].replace("_", "-")
    run = points.Run(condition, match["size"], model, points.RELEASED, "none", int(match["seed"]))
    cell = specs.Cell(words=size, source=match["corpus"], filtered=filtered)
    return run, table10.spelled(match["phenomenon"]), cell


def _judgements(path: Path) -> pl.DataFrame:
    """Return the pairs of a file and the log-probabilities of both members, nats a token."""
    try:
        table = pl.read_csv(path, separator="\t", quote_char=None, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise PoshgridError(
            f"{path}: {reason(error)}; compare the file with the published one"
        ) from error
    if [name.casefold() for name in table.columns] != [name.casefold() for name in COLUMNS]:
        raise PoshgridError(f"{path}: line 1: the columns must be {', '.join(COLUMNS)}")
    bad, of_bad, good, of_good, _ = (pl.col(name) for name in table.columns)
    table = table.select(
        good=good,
        bad=bad,
        good_logprob=-of_good.cast(pl.Float64, strict=False),
        bad_logprob=-of_bad.cast(pl.Float64, strict=False),
    )
    numbers = pl.all_horizontal(pl.col("good_logprob", "bad_logprob").is_finite())
    wrong = table.select(~numbers.fill_null(value=False)).to_series().arg_true()
    if len(wrong):
        raise PoshgridError(
            f"{path}: line {wrong[0] + 2:,}: not a sentence and a number twice, and a word, with "
            "tabs between; compare the file with the published one"
        )
    return table
