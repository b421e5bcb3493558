"""The effects of filtering: the measures of FiCT, for every filtered condition and suite.

Patil et al., "Filtered Corpus Training (FiCT) Shows that Language Models Can Generalize from
Indirect Evidence": accuracy deltas (equation 1), probability deltas (equation 2), their
correlations (section 5.4), perplexity of unfiltered text (5.1) and paired t tests.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import files, logs
from poshgrid.config.specs import DeltasSpec
from poshgrid.errors import PoshgridError
from poshgrid.statistics import levels
from poshgrid.statistics.deltas import differences, paired
from poshgrid.statistics.schema import DELTA_TESTS, DELTAS, PERPLEXITY, RUN_AXES
from poshgrid.tables import formats

_MEASURED = [name for name in PERPLEXITY if name not in (*RUN_AXES, "seed")]

log = logs.get(__name__)


def deltas(
    spec: DeltasSpec,
    scores: Path,
    items: dict[str, Path],
    perplexity: dict[str, Path],
    output: Path,
) -> dict[str, Any]:
    """Compare filtered models with full models that are otherwise alike.

    A full model is trained on the same corpus without filters.

    Args:
        spec: the runs, the full condition of each filtered one, and the phenomena that filters are
            aimed at.
        scores: folder of score files: ``{run}/{suite}.parquet`` below it.
        items: suite -> its table of pairs.
        perplexity: run -> output of the stage ``perplexity``; a run may have none.
        output: folder for deltas, delta_tests and perplexity (.parquet, .csv).

    Returns:
        Number of tests; ``alone``: filtered points that have no row, because no full model is
        otherwise alike.

    Raises:
        PoshgridError: see :func:`judgements.judged`; a perplexity is missing or broken or is not
            what the stage ``perplexity`` writes.
    """
    output = Path(output)
    runs = levels.trained(spec.runs)
    judged = differences.read(runs, Path(scores), items, spec)
    rows = differences.deltas(judged, spec)
    read = _perplexities(perplexity)
    compared = paired.tests(rows, judged, set(spec.full.values()), read)
    alone = differences.alone(judged, spec)
    for point in alone:
        log.warning("%s: no models of the full corpus that are otherwise alike; left out", point)
    formats.write(rows, output, "deltas", DELTAS)
    formats.write(compared, output, "delta_tests", DELTA_TESTS)
    formats.write(read, output, "perplexity", PERPLEXITY)
    return {"tests": compared.height, "alone": alone}


def _perplexities(paths: dict[str, Path]) -> pl.DataFrame:
    """Return the perplexities of runs (``PERPLEXITY``), sorted by condition, words and the rest."""
    rows = []
    for run, path in paths.items():
        facts = files.read_json(path)
        try:
            rows.append({**levels.axes(run), **{key: facts[key] for key in _MEASURED}})
        except (KeyError, TypeError) as error:
            raise PoshgridError(
                f"{path}: not what the stage perplexity writes; delete it and run again"
            ) from error
    return levels.ordered(pl.DataFrame(rows, schema=PERPLEXITY, strict=False), "seed")
