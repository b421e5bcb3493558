"""JSON files of pairs: phenomenon -> [[good, bad], ...]."""

import json
from pathlib import Path

from poshgrid.benchmark.schema import Context, Loaded
from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.corpora.textfile import listed_below


class Options(plugins.Options):
    """What a suite says of its pairs."""

    category: str


def files(path: Path, options: Options) -> list[Path]:
    """Return the files that are read."""
    return listed_below(path, ".json")


def load(path: Path, options: Options, context: Context | None) -> Loaded:
    """Return the pairs with the columns of a suite."""
    import polars as pl

    from poshgrid.benchmark.schema import PAIRS

    rows = []
    for file in files(path, options):
        try:
            contents = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise PoshgridError(f"{file}: not JSON ({error}); correct the file") from error
        for phenomenon, pairs in contents.items():
            for number, (good, bad) in enumerate(pairs):
                rows.append({
                    "item_id": f"{phenomenon}-{number:04d}", "category": options.category,
                    "phenomenon": phenomenon, "template": phenomenon, "lexical_set": str(number),
                    "contrast": phenomenon, "good": good, "bad": bad,
                })  # fmt: skip
    return Loaded(pl.DataFrame(rows, schema=PAIRS))
