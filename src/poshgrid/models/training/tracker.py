"""Show a run's losses in TensorBoard as it trains, if it is installed.

It listens to the log line of each evaluation
(:meth:`poshgrid.models.training.progress.Progress.tell`), so that nothing of it is part of the
training: a tracker decides no weight, and one that fails costs a warning.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from poshgrid.core import logs
from poshgrid.core.errors import PoshgridError

log = logs.get(__name__)
EVALUATIONS = "poshgrid.models.training.progress"
"""The logger of the evaluations."""


@contextmanager
def tracking(word: str | None, run: str, folder: Path) -> Iterator[None]:
    """Show the evaluations of the run that is trained in the block.

    Args:
        word: ``tensorboard``, or None to show nothing.
        run: its name.
        folder: of all runs' events.

    Raises:
        PoshgridError: TensorBoard is not installed.
    """
    if word is None:
        yield
        return
    try:
        module = importlib.import_module("torch.utils.tensorboard")
    except ImportError as error:
        raise PoshgridError(
            "tracker: tensorboard is not installed; `pip install tensorboard`, or set it to null"
        ) from error
    with module.SummaryWriter(str(folder / run)) as writer:

        def show(record: logging.LogRecord) -> bool:
            """Write an evaluation; after a resume some are written again, with the same values."""
            line: dict[str, Any] = getattr(record, "evaluation", {})
            try:
                for name, value in line.items():
                    if value is not None:
                        writer.add_scalar(name, float(value), line["step"])
                writer.flush()
            except Exception as error:
                log.warning("the tracker failed (%r); training goes on", error)
            return True

        logger = logging.getLogger(EVALUATIONS)
        logger.setLevel(logging.INFO)
        logger.addFilter(show)
        try:
            yield
        finally:
            logger.removeFilter(show)
