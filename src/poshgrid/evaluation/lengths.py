"""Are all items short enough for the models to come: asked before anything is trained.

A model with positions sees so many tokens at a time, and sentences are never cut. How many tokens
an item has is known once there are a tokenizer and the suites: long before the first score.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from poshgrid import files
from poshgrid.benchmark import schema as benchmark
from poshgrid.config import specs
from poshgrid.errors import PoshgridError
from poshgrid.evaluation import tasks
from poshgrid.tokenization import tokenizer as tokenizers

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class _Longest(NamedTuple):
    """The longest sentence of a suite, without boundaries."""

    tokens: int
    item: str


def lengths(
    spec: specs.LengthsSpec, tokenizer: Path, items: dict[str, Path], output: Path
) -> dict[str, Any]:
    """Hold the longest sentence of each suite to what the models of a cell see.

    Args:
        spec: what they see, and the tasks of the suites.
        tokenizer: folder of the cell's tokenizer.
        items: suite -> its items.
        output: JSON file: suite -> ``tokens`` of its longest sentence, without boundaries, and the
            ``item`` that holds it.

    Returns:
        What is in the file.

    Raises:
        PoshgridError: a sentence is longer, one line for each learner and regimen; or a file is
            missing or broken.
    """
    cutter = tokenizers.load(tokenizer)
    longest = {
        suite: _longest(cutter, path, spec.tasks[suite]) for suite, path in sorted(items.items())
    }
    faults = [line for context in spec.contexts for line in _fault(context, spec, longest)]
    if faults:
        raise PoshgridError(*faults)
    found = {suite: each._asdict() for suite, each in longest.items()}
    files.write_json(output, found)
    return {"longest": found}


def _longest(cutter: Tokenizer, path: Path, task: str) -> _Longest:
    """Return the longest sentence of a suite, the first of several."""
    columns = tasks.TEXTS[task]
    table = files.read_table(path, benchmark.TASKS[task], ["item_id", *columns])
    if table.is_empty():
        raise PoshgridError(f"{path}: no items; make the suite again")
    cuts = (
        cutter.encode_batch_fast(table[column].to_list(), add_special_tokens=False)
        for column in columns
    )
    found = (
        _Longest(len(cut.ids), item)
        for of_column in cuts
        for item, cut in zip(table["item_id"], of_column, strict=True)
    )
    return max(found, key=lambda each: each.tokens)


def _fault(
    context: specs.Context, spec: specs.LengthsSpec, longest: dict[str, _Longest]
) -> list[str]:
    """Return what is wrong with the suite that is longest for a model; nothing, if all fit."""
    needed = {}
    for suite, each in longest.items():
        around = 2 if context.masked else int(spec.bos)
        if spec.tasks[suite] == "completions":
            if context.masked:
                continue
            around += tasks.TOKENS_WRITTEN
        needed[suite] = each.tokens + around
    suite = max(needed, key=lambda suite: needed[suite], default="")
    if not suite or needed[suite] <= context.tokens:
        return []
    return [
        f"{suite}: item {longest[suite].item}: {needed[suite]} tokens, but {context.learner} in "
        f"regimen {context.regimen} sees {context.tokens} at a time, and sentences are never cut: "
        f"set `positions` of regimen {context.regimen} to {needed[suite]}, or leave the item out "
        "of the suite"
    ]
