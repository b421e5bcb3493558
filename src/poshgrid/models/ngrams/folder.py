"""The folder of an n-gram model: JSON and safetensors, so that reading it runs no code.

``config.json``, ``model.safetensors``, ``statistics.json``, ``README.md``: the same bytes for the
same sentences, whatever their order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from poshgrid import files
from poshgrid.errors import PoshgridError
from poshgrid.models.ngrams.estimate import SPECIALS, Tables

MODEL_TYPE = "poshgrid-ngram"
_CONFIG, _TENSORS = "config.json", "model.safetensors"
_REMEDY = "delete the folder and count again"


def write(output: Path, model: Tables, statistics: dict[str, Any]) -> None:
    """Write all files into a temporary folder, then rename each into place, ``config.json`` last.

    Args:
        output: the model's folder.
        model: what was estimated.
        statistics: what it was estimated from; see :func:`poshgrid.models.ngram.count`.

    Raises:
        PoshgridError: the folder cannot be written.
    """
    from safetensors.numpy import save_file

    tensors = {"vocabulary": np.frombuffer("\n".join(model.vocabulary).encode(), np.uint8)}
    for kind in ("keys", "logprobs", "backoffs"):
        tensors |= {f"{kind}.{n}": values for n, values in getattr(model, kind).items()}
    config = {
        "model_type": MODEL_TYPE,
        "order": model.order,
        "vocabulary_size": len(model.vocabulary),
        "ngrams": {str(n): len(values) for n, values in model.logprobs.items()},
    }
    with files.atomic_folder(output, last=_CONFIG) as temporary:
        save_file(tensors, temporary / _TENSORS)
        files.write_json(temporary / "statistics.json", statistics)
        files.write_text(temporary / "README.md", card(statistics))
        files.write_json(temporary / _CONFIG, config)


def read(folder: Path) -> Tables:
    """Read the model of a folder and check that its tables fit together.

    Raises:
        PoshgridError: the folder holds no whole n-gram model.
    """
    if not (folder / _CONFIG).is_file():
        raise PoshgridError(f"{folder}: no model ({_CONFIG} is missing); count it first")
    config = files.read_json(folder / _CONFIG)
    if not isinstance(config, dict) or config.get("model_type") != MODEL_TYPE:
        raise PoshgridError(
            f"{folder / _CONFIG}: not an n-gram model (model_type is not {MODEL_TYPE!r}); "
            "name the folder that poshgrid count has written"
        )
    path = folder / _TENSORS
    tensors = _tensors(path)
    try:
        order, sizes = int(config["order"]), {int(n): int(m) for n, m in config["ngrams"].items()}
        vocabulary = tensors.pop("vocabulary").tobytes().decode().split("\n")
        model = Tables(order, vocabulary)
        model.logprobs = {n: tensors.pop(f"logprobs.{n}") for n in range(1, order + 1)}
        model.keys = {n: tensors.pop(f"keys.{n}") for n in range(2, order + 1)}
        model.backoffs = {n: tensors.pop(f"backoffs.{n}") for n in range(1, order)}
        fits = (
            order >= 1
            and not tensors
            and {n: len(values) for n, values in model.logprobs.items()} == sizes
            and len(vocabulary) == config["vocabulary_size"]
            and _whole(model)
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise PoshgridError(
            f"{path}: broken, or of another version ({' '.join(repr(error).split())[:200]}); "
            f"{_REMEDY}"
        ) from error
    if not fits:
        raise PoshgridError(f"{path}: its tables do not fit {_CONFIG} or each other; {_REMEDY}")
    return model


def _tensors(path: Path) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return load_file(path)
    except FileNotFoundError as error:
        raise PoshgridError(f"{path}: not found; {_REMEDY}") from error
    except (SafetensorError, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise PoshgridError(f"{path}: not a safetensors file ({reason}); {_REMEDY}") from error


def _whole(model: Tables) -> bool:
    """Say whether the tables have the types and sizes of each other, and their keys ascend."""
    size = len(model.vocabulary)
    if tuple(model.vocabulary[: len(SPECIALS)]) != SPECIALS or len(set(model.vocabulary)) != size:
        return False
    shapes = {n: values.shape for n, values in model.logprobs.items()}
    keys = list(model.keys.values())
    real = [*model.logprobs.values(), *model.backoffs.values()]
    return (
        shapes[1] == (size,)
        and all(values.shape == shapes[n] for n, values in model.keys.items())
        and all(values.shape == shapes[n] for n, values in model.backoffs.items())
        and all(values.dtype == np.uint64 for values in keys)
        and all(values.dtype == np.float64 for values in real)
        and all(bool((values[1:] > values[:-1]).all()) for values in keys)
        and all(not np.isnan(values).any() for values in real)
    )


def card(statistics: dict[str, Any]) -> str:
    """Return the model card: Markdown below a YAML head that Hugging Face reads."""
    order = statistics["order"]
    how = (
        "relative frequencies; an unknown word counts as seen once (method A of Witten & Bell 1991)"
        if order == 1
        else "interpolated modified Kneser-Ney (Chen & Goodman 1999)"
    )
    rows = {
        "Order": order,
        "Estimation": how,
        "Size": statistics["size"] or "all training sentences of the table",
        "Sentences": f"{statistics['sentences']:,}",
        "Words": f"{statistics['words']:,}, punctuation marks among them",
        "Types": f"{statistics['types']:,}",
    }
    for n, number in statistics["ngrams"].items():
        discounts = statistics["discounts"].get(n, [])
        less = ", discounts " + ", ".join(f"{d:.3f}" for d in discounts) if discounts else ""
        rows[f"{n}-grams"] = f"{number:,}{less}"
    table = "\n".join(f"| {key} | {value} |" for key, value in rows.items())
    return f"""---
library_name: poshgrid
language: en
tags: [poshgrid, poverty-of-the-stimulus, n-gram]
---
# A model of word sequences alone: order {order}

A null of the poshgrid grid: what such a model solves can be solved without syntax.

| | |
|---|---|
{table}

Words are case-folded; letters and digits stay together over an apostrophe inside (*don't* is one
word), every other mark is a word of its own. A sentence is predicted from `<s>` up to and including
`</s>`. Scores are natural logarithms.

```python
from poshgrid.models.ngram import NGram

NGram.load(folder).score(["Who did the girl say that John likes?"])
```

`statistics.json` holds the numbers above.
"""
