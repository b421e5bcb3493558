"""A folder of suites and of scores whose outcome is known: what the stages of statistics read."""

import polars as pl

from poshgrid.benchmark.schema import PAIRS
from poshgrid.config import Scoring, specs
from poshgrid.core import files
from poshgrid.evaluation.heuristics.schema import HEURISTICS
from poshgrid.evaluation.schema import SCORES
from poshgrid.statistics import accuracy
from poshgrid.statistics.schema import ACCURACY, COUNTS


def items(rows):
    """Return items; a row names them, and what of them matters."""
    usual = {"category": "c", "phenomenon": "p", "template": "t", "cell": "", "joint": False,
             "contrast": "c", "good": "a", "bad": "b"}  # fmt: skip
    return pl.DataFrame([usual | row for row in rows], schema=PAIRS)


def pairs(phenomena):
    """Return items: phenomenon -> category and pairs; two pairs of a phenomenon share a set."""
    return items(
        {"item_id": f"{phenomenon}-{i:03}", "category": category, "phenomenon": phenomenon,
         "lexical_set": f"set{i // 2}"}
        for phenomenon, (category, n) in phenomena.items()
        for i in range(n)
    )  # fmt: skip


def chosen(path, rows):
    """Write what heuristics choose: item, heuristic, whether it is hierarchical, its choice."""
    files.write_table(pl.DataFrame(rows, schema=HEURISTICS, orient="row"), path, HEURISTICS)
    return path


def only(rows, **where):
    """Return the one row of a table that has these values."""
    (row,) = rows.filter(**where).to_dicts()
    return row


class Folder:
    """Suites of the same pairs, and scores of runs on them."""

    def __init__(self, folder, items, suites=("posh",)):
        self.folder, self.items, self.suites, self.runs = folder, items, suites, []
        for suite in suites:
            files.write_table(items, self.tables[suite], PAIRS)

    @property
    def tables(self):
        return {suite: self.folder / f"{suite}.parquet" for suite in self.suites}

    def add(self, run, margins, tokens=(5, 5)):
        """Add a run: step (None: kept) -> log P(good) - log P(bad) of each pair, nats."""
        rows = [
            (item, step, -10.0 + margin, -10.0, *tokens)
            for step, values in margins.items()
            for item, margin in zip(self.items["item_id"], values, strict=True)
        ]
        frame = pl.DataFrame(rows, schema=SCORES, orient="row")
        for suite in self.suites:  # neither the order of rows nor of runs may matter
            path = self.folder / "scores" / run / f"{suite}.parquet"
            files.write_table(frame.sample(fraction=1, shuffle=True, seed=1), path, SCORES)
        self.runs.append(run)
        return self

    def signs(self, right, ties=0):
        """Return margins: 1 for the first so many pairs of each phenomenon, 0 for so many, -1."""
        return [
            1 if i < right[phenomenon] else 0 if i < right[phenomenon] + ties else -1
            for (phenomenon,), rows in self.items.group_by("phenomenon", maintain_order=True)
            for i in range(rows.height)
        ]

    def judge(self, output="out", heuristics=None, **changed):
        """Return facts, counts and accuracies of the runs."""
        out, spec = self.folder / output, self.spec(**changed)
        facts = accuracy.accuracy(
            spec,
            self.folder / "scores",
            self.tables,
            self.folder / "conditions",
            out,
            heuristics or {},
        )
        counts = files.read_table(out / "counts.parquet", COUNTS)
        return facts, counts, files.read_table(out / "accuracy.parquet", ACCURACY)

    def spec(self, **changed):
        cells = {"baby/10M": specs.Cell(words=10_000_000, source="baby", filtered=False)}
        return specs.JudgementSpec(
            **{"scoring": Scoring(), "runs": self.runs, "cells": cells, **changed}
        )

    def words(self, cell, words):
        """Say how many words a cell's models were trained on."""
        path = self.folder / "conditions" / cell / "statistics.json"
        files.write_json(path, {"splits": {"train": {"words": words}}})
        return path
