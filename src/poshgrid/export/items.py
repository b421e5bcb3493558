"""Items of a suite as a folder that other tools read: ``datasets``, lm-evaluation-harness, BabyLM.

- ``README.md``, ``items.parquet``: a dataset of the Hub, ``datasets.load_dataset(folder)``;
- of minimal pairs, ``pairs/{phenomenon}.jsonl``: BLiMP's fields, as BabyLM's evaluation reads them;
- and beside these, tasks of lm-evaluation-harness: ``lm_eval --include_path folder/pairs``.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from poshgrid import files
from poshgrid.analysis.results import Results
from poshgrid.evaluation.judgements import JOINED
from poshgrid.export import harness

FOLDER = "pairs"
"""Where jsonl and tasks lie, below a suite's folder."""
_TEMPLATE = """\
# What the tasks of this suite share. The sentences go to the model as they stand, after <bos>.
custom_dataset: !function pairs.dataset
test_split: test
output_type: multiple_choice
doc_to_text: ""
doc_to_choice: "{{[sentence_good, sentence_bad]}}"
doc_to_target: 0
target_delimiter: ""
num_fewshot: 0
process_results: !function pairs.judge
metric_list:
  - metric: acc
    aggregation: !function pairs.by_sum
    higher_is_better: true
  - metric: acc_mean
    aggregation: !function pairs.by_mean
    higher_is_better: true
metadata:
  version: 1.0
"""


def export(results: Results, suite: str, output: Path) -> Path:
    """Write the folder of a suite.

    Args:
        results: that hold its items.
        suite: its name.
        output: parent of the folder.

    Returns:
        The folder.

    Raises:
        PoshgridError: no such suite, two phenomena whose names give one file, or the folder cannot
            be written.
    """
    task, items = results.task(suite), results.items(suite).collect()
    with files.atomic_folder(output / suite) as temporary:
        items.write_parquet(temporary / "items.parquet")
        tasks = _pairs(suite, items, temporary / FOLDER) if task == "pairs" else []
        files.write_text(temporary / "README.md", _card(suite, task, items, tasks))
    return output / suite


def _pairs(suite: str, items: pl.DataFrame, folder: Path) -> list[str]:
    """Write jsonl and tasks; return the names of the tasks."""
    folder.mkdir()
    tasks = files.names(items["phenomenon"].unique(maintain_order=True), "")
    for phenomenon, name in tasks.items():
        rows = items.filter(phenomenon=phenomenon)
        lines = [json.dumps(each, ensure_ascii=False) for each in _lines(rows)]
        files.write_text(folder / f"{name}.jsonl", "".join(f"{line}\n" for line in lines))
        task = {"task": f"{suite}_{name}", "dataset_kwargs": {"file": f"{name}.jsonl"}}
        _write_yaml(folder / f"{name}.yaml", {"include": "_pairs_yaml", **task})
    metrics = [{"metric": each, "weight_by_size": False} for each in ("acc", "acc_mean")]
    names = [f"{suite}_{name}" for name in tasks.values()]
    group = {"group": suite, "task": names, "aggregate_metric_list": metrics}
    _write_yaml(folder / "_group.yaml", {**group, "metadata": {"version": 1.0}})
    files.write_text(folder / "_pairs_yaml", _TEMPLATE)
    shutil.copyfile(harness.__file__, folder / "pairs.py")
    return names


def _lines(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """Return pairs with BLiMP's names of fields; ``joint`` says which are judged as one."""
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


def _card(suite: str, task: str, items: pl.DataFrame, tasks: list[str]) -> str:
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
    rows = [f"| {c} | {p} | {n:,} |" for c, p, n in counted.iter_rows()]
    table = "\n".join(["| category | phenomenon | items |", "|---|---|---:|", *rows])
    return f"---\n{head}\n---\n# {suite}\n\n{_USE[task == 'pairs'].format(suite=suite)}\n{table}\n"


_LOADED = """\
Items of poshgrid ({suite}). Whoever publishes them adds a licence to the head of this page.

```python
datasets.load_dataset("this/folder", split="test")
```
"""
_USE = {
    False: _LOADED,
    True: _LOADED
    + """
```console
$ lm_eval --model hf --model_args pretrained=MODEL --include_path this/folder/pairs --tasks {suite}
```

`acc` compares sums of log-probabilities, `acc_mean` means over tokens; both begin after `<bos>` (or
`<eos>`, where a tokenizer has none), and a tie is half right. `pairs/*.jsonl` have BLiMP's fields,
for BabyLM's evaluation.
""",
}
