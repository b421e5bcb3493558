"""Export a suite's items for other tools: ``datasets``, lm-evaluation-harness and BabyLM.

- ``README.md``, ``items.parquet``: a dataset of the Hub, ``datasets.load_dataset(folder)``;
- for minimal pairs without a context, ``pairs/{phenomenon}.jsonl``: BLiMP's fields, for BabyLM's
  evaluation;
- in the same folder, tasks for lm-evaluation-harness, called from the suite's folder:
  ``lm_eval --include_path pairs``. It compares sums of log-probabilities, judges each pair by
  itself, and counts a tie as right.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from poshgrid.core import files
from poshgrid.core.errors import PoshgridError
from poshgrid.evaluation.judgements import JOINED
from poshgrid.report.export import card
from poshgrid.report.results import Results

_LONG = 100  # largest part of a file name, in bytes, that comes from data; file systems allow 255
FOLDER = "pairs"
"""Folder of the JSON lines and tasks, below a suite's folder."""


def export(results: Results, suite: str, output: Path) -> Path:
    """Write the folder of a suite.

    Args:
        results: with the suite.
        suite: its name.
        output: parent of the folder.

    Returns:
        The folder.

    Raises:
        PoshgridError: the suite is unknown, two phenomena would have the same file name, or the
            folder cannot be written.
    """
    task, items = results.task(suite), results.table(f"items-{suite}").collect()
    with files.atomic_folder(output / suite) as temporary:
        items.write_parquet(temporary / "items.parquet")
        # The harness's tasks score whole sentences
        whole = task == "pairs" and items["good_context"].max() == items["bad_context"].max() == 0
        if whole:
            _pairs(suite, items, temporary / FOLDER)
        files.write_text(temporary / "README.md", _card(suite, task, items, whole=whole))
    return output / suite


def _file_names(texts: Iterable[str]) -> dict[str, str]:
    """Return text -> a file name for it: letters, digits, ``+ . _ -``, and not too long.

    Args:
        texts: texts from users' files, e.g. phenomena.

    Raises:
        PoshgridError: two texts would have the same file name.
    """
    texts_of: dict[str, str] = {}
    for text in texts:
        plain = re.sub(r"[^\w.+-]+", "-", text).lstrip(".") or "-"
        name = plain.encode()[:_LONG].decode(errors="ignore")
        if name in texts_of:
            raise PoshgridError(f"{texts_of[name]!r} and {text!r} would both be {name}; rename one")
        texts_of[name] = text
    return {text: name for name, text in texts_of.items()}


def _pairs(suite: str, items: pl.DataFrame, folder: Path) -> None:
    """Write the JSON lines and the tasks."""
    folder.mkdir()
    tasks = _file_names(items["phenomenon"].unique(maintain_order=True))
    for phenomenon, name in tasks.items():
        rows = items.filter(phenomenon=phenomenon)
        lines = [json.dumps(row, ensure_ascii=False) for row in _lines(rows)]
        files.write_text(folder / f"{name}.jsonl", "".join(f"{line}\n" for line in lines))
        data = {"data_files": {"test": f"{FOLDER}/{name}.jsonl"}}  # from the suite's folder
        task = {"task": f"{suite}_{name}", "dataset_kwargs": data}
        _write_yaml(folder / f"{name}.yaml", {"include": "_pairs_yaml", **task})
    names = [f"{suite}_{name}" for name in tasks.values()]
    metrics = [{"metric": "acc", "weight_by_size": False}]
    group = {"group": suite, "task": names, "aggregate_metric_list": metrics}
    _write_yaml(folder / "_group.yaml", {**group, "metadata": {"version": 2.0}})
    shutil.copyfile(Path(__file__).with_name("tasks.yaml"), folder / "_pairs_yaml")


def _lines(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """Return pairs with the fields of BLiMP; pairs with one ``joint`` are judged together."""
    joint = pl.when("joint").then(pl.concat_str(JOINED, separator="\t")).otherwise(pl.lit(""))
    return rows.select(
        sentence_good="good",
        sentence_bad="bad",
        field="category",
        linguistics_term="phenomenon",
        UID="phenomenon",
        pair_id="item_id",
        template="template",
        lexical_set="lexical_set",
        cell="cell",
        joint=joint,
    ).to_dicts()


def _write_yaml(path: Path, content: dict[str, Any]) -> None:
    files.write_text(path, yaml.safe_dump(content, sort_keys=False, allow_unicode=True))


def _card(suite: str, task: str, items: pl.DataFrame, *, whole: bool) -> str:
    from huggingface_hub import DatasetCardData

    head = DatasetCardData(
        pretty_name=suite,
        language="en",
        tags=["poshgrid", "syntax", task],
        configs=[
            {"config_name": suite, "data_files": [{"split": "test", "path": "items.parquet"}]}
        ],
    ).to_yaml()
    counted = items.group_by("category", "phenomenon", maintain_order=True).agg(
        n=pl.col("item_id").n_unique()
    )
    return card("items", head=head, suite=suite, whole=whole, counted=counted.rows())
