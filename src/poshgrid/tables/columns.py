"""What the columns of a table mean: the comments beside them in its schema."""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import itertools
import tokenize
from functools import cache
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
    said = _said(module, name)
    return {column: said.get(column) or _common(column, schema) for column in schema}


def tables(module: ModuleType) -> dict[str, str]:
    """Return the tables that a schema's module holds, and what each is: file, then its rows."""
    return {name: text for name, text in _strings(module).items() if text.startswith("``")}


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


@cache
def _strings(module: ModuleType) -> dict[str, str]:
    """Return the text under each name that a module gives a value."""
    body = ast.parse(inspect.getsource(module)).body
    found = {}
    for node, below in itertools.pairwise(body):
        name = _name(node)
        if name and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            found[name] = " ".join(str(below.value.value).split())
    return found


def _name(node: ast.stmt) -> str | None:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
    return None


@cache
def _said(module: ModuleType, name: str) -> dict[str, str]:
    """Return what the comments of a schema say, those of the schemas that it takes in too."""
    source = inspect.getsource(module)
    comments, alone = _comments(source)
    node = next(each for each in ast.parse(source).body if _name(each) == name)
    value = getattr(node, "value", None)
    if not isinstance(value, ast.Dict):
        return {}
    found: dict[str, str] = {}
    for key, kind in zip(value.keys, value.values, strict=True):
        if key is None:
            if isinstance(kind, ast.Name):  # **ANOTHER
                found |= _said(_home(module, kind.id), kind.id)
        elif isinstance(key, ast.Constant):
            first = key.lineno
            while first - 1 in alone:
                first -= 1
            lines = (comments.get(line) for line in range(first, key.lineno + 1))
            if text := " ".join(filter(None, lines)):
                found[str(key.value)] = text
    return found


def _home(module: ModuleType, name: str) -> ModuleType:
    """Return the module that gives a name its value: this one, or the one that it imports from."""
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ImportFrom) and any(each.name == name for each in node.names):
            return importlib.import_module(node.module or "")
    return module


def _comments(source: str) -> tuple[dict[int, str], set[int]]:
    """Return line -> its comment, and the lines that hold nothing else."""
    found, alone = {}, set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            found[token.start[0]] = token.string.lstrip("# ").rstrip()
            if not token.line[: token.start[1]].strip():
                alone.add(token.start[0])
    return found, alone
