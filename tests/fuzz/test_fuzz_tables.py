"""Tables as no stage writes them: columns missing, renamed or of another type, and wild values."""

from __future__ import annotations

import io
import json
import shutil

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid.benchmark.schema import ITEMS, PARADIGMS
from poshgrid.corpora.schema import SENTENCES, SOURCE
from poshgrid.evaluation.schema import SCORES
from poshgrid.evidence.label import labels_of
from poshgrid.evidence.schema import CONDITION
from poshgrid.parsing.schema import PARSES
from poshgrid.rules.schema import RULES
from poshgrid.statistics.schema import COUNTS

from .support import poshgrid, tried
from .test_fuzz_commands import NAMES, READS, lay, specs_of_tiny

LABELS = labels_of(["binding", "question-formation"])
SCORED = "baby-f/20K/gpt2-tiny/packed/none/seed42/posh.parquet"
# Command -> option -> the table that is given, or file -> table of the folder that is
TABLES = {
    "mix": {"source": SOURCE},
    "parse": {"sentences": SENTENCES},
    "evidence": {"sentences": SENTENCES, "parses": PARSES},
    "condition": {"sentences": SENTENCES},
    "measure-collateral": {
        "sentences": SENTENCES,
        "condition": {"train.parquet": CONDITION},
        "evidence": LABELS.schema,
    },
    "audit": {"sentences": SENTENCES, "condition": {"train.parquet": CONDITION}},
    "tokenizer": {"condition": {"train.parquet": CONDITION}},
    "count": {"sentences": SENTENCES},
    "items": {"base": SENTENCES},
    "quality": {"items": ITEMS, "base": SENTENCES},
    "accuracy": {"items": ITEMS, "scores": {SCORED: SCORES}},
    "curves": {"items": ITEMS, "scores": {SCORED: SCORES}},
    "rules": {"items": ITEMS},
    "rule-shares": {"items": ITEMS, "rules": RULES, "scores": {SCORED: SCORES}},
    "deltas": {"items": ITEMS, "scores": {SCORED: SCORES}},
    "fit": {"counts": COUNTS},
    "measures": {"items": PARADIGMS},
}
TEXTS = ["", "The dog sat.", "train", "dev", "toy-baby", "20K", "baby-f", "x" * 500, "\u202e"]


def values(kind: pl.DataType) -> st.SearchStrategy[object]:
    """Values of a column, most of which no stage writes."""
    if kind.is_nested():
        return st.none() | st.lists(values(pl.datatypes.parse_into_dtype(kind.inner)), max_size=3)
    if kind == pl.String:
        return st.sampled_from([None, *TEXTS])
    if kind == pl.Boolean:
        return st.sampled_from([None, True, False])
    if kind.is_float():
        return st.sampled_from([None, 0.0, -1.0, -3.5, 1e308, float("nan"), float("inf")])
    return st.sampled_from([None, 0, 1, 2, 3, 100])


@st.composite
def wild(draw, schema) -> bytes:
    """A parquet table of a schema, or nearly."""
    rows = draw(st.integers(0, 6))
    columns = {
        name: draw(st.lists(values(kind() if isinstance(kind, type) else kind),
                            min_size=rows, max_size=rows))
        for name, kind in schema.items()
    }  # fmt: skip
    table = pl.DataFrame(columns, schema=schema)
    column = draw(st.sampled_from(table.columns))
    change = draw(st.sampled_from(["", "", "", "drop", "rename", "type"]))
    if change == "drop":
        table = table.drop(column)
    elif change == "rename":
        table = table.rename({column: f"{column}x"})
    elif change == "type":
        other = draw(st.sampled_from([1.5, "x", True, None]))
        table = table.with_columns(pl.lit(other).alias(column))
    out = io.BytesIO()
    table.write_parquet(out)
    return out.getvalue()


@pytest.mark.parametrize("command", sorted(TABLES))
@tried(8)
@given(st.data())
def test_commands_with_wild_tables(tmp_path, command, data):
    here = tmp_path / "it"
    shutil.rmtree(here, ignore_errors=True)
    spec = specs_of_tiny().get(command)
    arguments = ["--spec", spec] if spec else []
    for option, kind in READS[command].items():
        path, given_table = here / option, TABLES[command].get(option)
        if kind == "folder":
            for name, schema in (given_table or {}).items():
                lay(path / name, data.draw(wild(schema)))
        elif given_table:
            lay(path, data.draw(wild(given_table)))
        name = NAMES.get(command, "posh") if kind != "file" else ""
        arguments += [f"--{option}", f"{name}={path}" if kind.startswith("pair") else path]
    if command == "accuracy":  # or it would end before it reads a table
        for cell in json.loads(spec)["cells"]:
            statistics = here / "conditions" / cell / "statistics.json"
            lay(statistics, b'{"splits": {"train": {"words": 20000}}}')
    poshgrid(command, *arguments, "--output", here / "out" / "it")


def test_a_source_without_a_sentence(tmp_path):
    empty = io.BytesIO()
    pl.DataFrame(schema=SOURCE).write_parquet(empty)
    path = lay(tmp_path / "sentences.parquet", empty.getvalue())
    answer = poshgrid("mix", "--spec", specs_of_tiny()["mix"], "--source", f"toy-baby={path}",
                      "--output", tmp_path / "out/sentences.parquet")  # fmt: skip
    assert answer.lines == [f"{path}: source 'toy-baby' has no sentence; add text"]


def test_an_output_without_a_name(tmp_path):
    answer = poshgrid("evidence", "--spec", "{}", "--sentences", tmp_path, "--parses", tmp_path,
                      "--output", ".")  # fmt: skip
    assert answer.lines == [".: a folder; give --output a file"]
