"""Show a run's losses in TensorBoard as it trains, if somebody has installed it.

It listens to the log line of each evaluation (:meth:`poshgrid.training.progress.Progress.tell`), so
that nothing of it is part of the training: a tracker decides no weight, and one that fails costs a
warning.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from poshgrid import logs
from poshgrid.errors import PoshgridError

log = logs.get(__name__)
TOLD = "poshgrid.training.progress"
"""The logger of the evaluations."""
_SHOWN = ("train_loss", "bias_loss", "dev_loss", "learning_rate", "tokens_per_second", "epoch")


@contextmanager
def tracking(word: str | None, run: str, folder: Path) -> Iterator[None]:
    """Show the evaluations of the run that is trained in the block.

    Args:
        word: ``tensorboard``; none: nothing is shown.
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
    # What an earlier attempt wrote from the first step on is hidden: it is written again.
    handler = _Handler(lambda step: module.SummaryWriter(str(folder / run), purge_step=step))
    logger = logging.getLogger(TOLD)
    level = logger.level
    if not logger.isEnabledFor(logging.INFO):
        logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        handler.close()


class _Handler(logging.Handler):
    """Writes evaluations; the writer is opened at the first, whose step it is told."""

    def __init__(self, opened: Callable[[int], Any]) -> None:
        super().__init__(logging.INFO)
        self._opened, self._failed = opened, False
        self._writer: Any = None

    def emit(self, record: logging.LogRecord) -> None:
        line: dict[str, Any] | None = getattr(record, "evaluation", None)
        if line is None or self._failed:
            return
        try:
            self._writer = self._writer or self._opened(line["step"])
            for name in _SHOWN:
                if line[name] is not None:
                    self._writer.add_scalar(name, float(line[name]), line["step"])
            self._writer.flush()
        except Exception as error:
            self._failed = True
            what = f"{type(error).__name__}: {error}"
            log.warning("the tracker failed (%s); training goes on", what)

    def close(self) -> None:
        if self._writer is not None:
            with suppress(Exception):  # what was written is on the disk
                self._writer.close()
        super().close()
