"""What the columns of a table mean: the comments beside them in its schema."""

from __future__ import annotations

import importlib
import inspect
import re
from types import ModuleType

from poshgrid.files import Schema

COMMON = {
    "condition": "name of the condition",
    "size": 'as in the configuration, e.g. "10M"',
    "learner": "name of the learner",
    "regimen": 'name of the regimen; "untrained", "counted": nulls; "pretrained": given',
    "bias": 'inductive bias; "none"',
    "seed": "seed of the run",
    "suite": "name of the suite",
    "category": "phenomena of one principle, e.g. island",
    "phenomenon": "e.g. island-adjunct",
    "template": "form that the item was made from, or paradigm",
    "item_id": "as in the suite's items",
    "filter": "name of the filter",
    "reading": "how strictly the filter takes evidence",
    "rule": "as in the table of rules",
    "block": 'items that are passed together; "" without blocks',
    "option": "number of the option, from 0",
    "filler": '"who" rather than "that"',
    "gap": "nothing stands where the object would",
    "tokens": "tokens that the log-probability is a sum over",
    "mean": "mean",
    "sd": "standard deviation",
    "n_seeds": "seeds",
    "pairs": "pairs that each seed judged",
    "sentences": "sentences",
    "words": "words, divided by white space",
    "share_low": "2.5% quantile of it",
    "share_high": "97.5% quantile of it",
    "stars_fisher_holm": "the same of p_fisher_holm",
    "ess_bulk": "effective sample size of the bulk, draws",
    "ess_tail": "effective sample size of the tails, draws",
    "df": "degrees of freedom",
    "parameters": "weights of the model",
    "device": "device that it was trained on",
    "steps_per_epoch": "steps in one pass over the training split",
    "tokens_per_second": "predicted in training, a second",
    "dev_perplexity": "exp(dev_loss)",
    "test_loss": "nats per token, on the test split",
    "test_perplexity": "exp(test_loss)",
}
"""What a column is that its table says nothing of."""

_SCHEMA = r"^{}(?:: [\w.]+)? = \{{(.*?)\}}(?:  # fmt: skip)?$"
_TABLE = re.compile(
    r'^(\w+)(?:: [\w.]+)? = [^\n]*\n(?:[ })\]][^\n]*\n)*"""(``.*?)"""', re.MULTILINE | re.DOTALL
)
_COLUMN = re.compile(r'^ *(?:"([^"]+)": )?.*?(?:# (.*))?$')


def columns(module: ModuleType, name: str) -> dict[str, str]:
    """Return what each column of a table means, in the table's order.

    A column's meaning is the comment on its line, after comments that stand alone before it. What
    says nothing is one of ``COMMON``, or an end of an interval, or the same of the full condition.

    Args:
        module: that holds the schema.
        name: of the schema in it.

    Raises:
        KeyError: nothing says what a column means.
    """
    schema: Schema = getattr(module, name)
    commented = _comments(module, name)
    return {column: commented.get(column) or _common(column, schema) for column in schema}


def tables(module: ModuleType) -> dict[str, str]:
    """Return the tables that a schema's module holds, and what each is: file, then its rows."""
    found = _TABLE.finditer(inspect.getsource(module))
    return {match[1]: " ".join(match[2].split()) for match in found}


def _common(column: str, schema: Schema) -> str:
    if column in COMMON:
        return COMMON[column]
    if column.endswith("_full") and column.removesuffix("_full") in schema:
        return f"`{column.removesuffix('_full')}` of the full condition"
    start, _, end = column.rpartition("_")
    low = column.replace("high", "low")
    if low != column and low in schema:
        return f"upper end of the interval that begins at `{low}`"
    if end == "low" and start in schema:
        return f"lower end of the 95% interval of `{start}`"
    raise KeyError(column)


def _comments(module: ModuleType, name: str) -> dict[str, str]:
    """Return the comments on a schema's columns, those of schemas that it takes in too."""
    source = inspect.getsource(module)
    schema = re.search(_SCHEMA.format(name), source, re.MULTILINE | re.DOTALL)
    if schema is None:  # another module's
        home = re.search(rf"^from (\S+) import (?:\([^)]*)?\b{name}\b", source, re.MULTILINE)
        return _comments(importlib.import_module(home[1]), name) if home else {}
    comments: dict[str, str] = {}
    before: list[str] = []
    for line in schema[1].splitlines():
        ((column, text),) = _COLUMN.findall(line)
        for other in re.findall(r"\*\*(\w+)", line.partition("#")[0]):
            comments |= _comments(module, other)
        if column:
            comments[column] = " ".join(filter(None, [*before, text]))
        before = [*before, text] if text and line.lstrip().startswith("#") else []
    return comments
